// SPDX-License-Identifier: Apache-2.0
// The hybrid path: the first levels by row_per_thread, the rest by the partitioned path; and the choice of
// the level after which it changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid {

/// A cut of the levels in two: the row_per_thread path solves the first ones, the partitioned path the rest.
struct level_cut {
  std::int64_t levels = 0;  ///< number of levels before the cut; 0 if there is no cut
  std::int64_t rows = 0;    ///< number of rows before the cut
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< predicted time of a solve
};

/// What the cost model knows of the partitioned path of the whole system.
struct partitioned_profile {
  const partitioned::level_counts* cells;  ///< of its table: by level, then by partition
  std::int64_t levels;
  std::int64_t partitions;
  partitioned::costed_shape shape;
  partitioned::cost_constants constants;
  double nanoseconds;  ///< predicted time of a solve with all right-hand sides

  [[nodiscard]] const partitioned::level_counts& cell(std::int64_t level, std::int64_t partition) const {
    return cells[level * partitions + partition];
  }
  /// Returns the time of the entries that read x from global memory.
  [[nodiscard]] double global_entries_ns() const {
    std::vector<std::int64_t> of_partition(at(partitions), 0);
    for (std::int64_t level = 0; level < levels; ++level) {
      for (std::int64_t partition = 0; partition < partitions; ++partition) {
        of_partition[at(partition)] += cell(level, partition).global_entries;
      }
    }
    const std::int64_t most = *std::max_element(of_partition.begin(), of_partition.end());
    return shape.global_entry_nanoseconds(most, constants);
  }
};

/// Returns the number of rows before each level, and the number of all rows at the end.
inline std::vector<std::int64_t> level_offsets(const partitioned_profile& p) {
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t level = 0; level < p.levels; ++level) {
    offsets.push_back(offsets.back());
    for (std::int64_t partition = 0; partition < p.partitions; ++partition) {
      offsets.back() += p.cell(level, partition).rows;
    }
  }
  return offsets;
}

/// Returns, by level, the time that the partitioned path takes from this level on if all levels before it are
/// solved already: the longest path through the remaining partition levels, without the launch.
inline std::vector<double> remaining_times(const partitioned_profile& p) {
  std::vector<double> times(at(p.levels) + 1, 0.0);
  std::vector<double> of_partition(at(p.partitions), 0.0);
  // By cell: the longest path that begins when this partition level is solved.
  std::vector<float> successors(at(p.levels * p.partitions), 0.0f);
  double longest = 0;
  for (std::int64_t level = p.levels; level-- > 0;) {
    for (std::int64_t partition = 0; partition < p.partitions; ++partition) {
      const partitioned::level_counts& current = p.cell(level, partition);
      if (current.rows == 0) {
        continue;
      }
      double& time = of_partition[at(partition)];
      const float successor = successors[at(level * p.partitions + partition)];
      time = static_cast<double>(p.shape.level_nanoseconds(current, p.constants)) +
             std::max(time, static_cast<double>(successor));
      if (current.needs_other()) {
        float& needed = successors[at(current.needed_level() * p.partitions + current.needed_partition())];
        needed =
            std::max(needed, static_cast<float>(time) + p.shape.hand_off_nanoseconds(current, p.constants));
      }
      longest = std::max(longest, time);
    }
    times[at(level)] = longest;
  }
  return times;
}

/// Returns the cut with the smallest predicted time, whether or not it is faster than one path alone. A cut
/// needs at least two levels. `entries`: number of entries of the whole system.
inline level_cut best_cut(const partitioned_profile& p, const std::vector<std::int64_t>& level_offsets,
                          std::int64_t entries, const row_per_thread::solve_costs& row_per_thread) {
  const std::vector<double> times = remaining_times(p);
  const double global_entries_ns = p.global_entries_ns();
  // How much longer all right-hand sides take than one.
  const double rhs_factor = (p.nanoseconds - p.constants.launch) / (times[0] + global_entries_ns);
  const auto size = static_cast<double>(level_offsets.back());
  const double row_ns = p.constants.batched_global_entry * static_cast<double>(entries) / size;
  double of_one = 0;  // the time of the rest as a single partition, which solves it without hand-offs
  level_cut best;
  for (std::size_t level = level_offsets.size() - 1; level-- > 1;) {
    const std::int64_t rows = level_offsets[level];
    const auto own_rows = static_cast<std::int32_t>(level_offsets[level + 1] - rows);
    of_one += row_ns * own_rows;
    of_one += static_cast<double>(
        p.shape.level_nanoseconds(partitioned::level_counts{own_rows, 0, 0, 0}, p.constants));
    const double share = static_cast<double>(rows) / size;
    const double first = row_per_thread.nanoseconds(
        static_cast<double>(rows), share * static_cast<double>(entries), static_cast<double>(level));
    const double rest = std::min(rhs_factor * (times[level] + (1 - share) * global_entries_ns), of_one);
    const double time = first + p.constants.launch + rest;
    if (time <= best.nanoseconds) {  // of equal times, that with the fewest levels before the cut
      best = {static_cast<std::int64_t>(level), rows, time};
    }
  }
  return best;
}

/// Two launches, which share the tickets and the double buffer of a workspace: the first one has the first
/// solve indices (see launch_share).
template <class First, class Rest, class Scalar, class Executor>
class path {
 public:
  static constexpr const char* name = "hybrid";
  using workspace = typename Rest::workspace;

  path(First&& first, Rest&& rest) : first_(std::move(first)), rest_(std::move(rest)) {
    first_.share({0, blocks(), rest_.solve_size()});
    rest_.share({first_.blocks(), blocks(), 0});
  }

  void update_values(const Scalar* values, const Executor& on) {
    first_.update_values(values, on);
    rest_.update_values(values, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(solve_size(), rest_.buffer_columns(), on, resource);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    first_.solve(alpha, b, x, scratch, on);
    rest_.solve(alpha, b, x, scratch, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return first_.is_zero_pivot(substitution_index, scratch, on) ||
           rest_.is_zero_pivot(substitution_index, scratch, on);
  }

  void describe(solver_info& info) const {
    first_.describe(info);
    rest_.describe(info);
    info.workspace_bytes = workspace::bytes(solve_size(), rest_.buffer_columns());
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const { return first_.blocks() + rest_.blocks(); }
  [[nodiscard]] std::int64_t solve_size() const { return first_.solve_size() + rest_.solve_size(); }

  First first_;
  Rest rest_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid
