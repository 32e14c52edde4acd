// The choice of the level after which the hybrid path changes from one thread per row to partitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/detail/dataflow/partitioned/choose/cost.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/cost.hpp"

namespace sptrsv::detail::dataflow::hybrid {

/// A cut of the levels in two: the row_per_thread path solves the first ones, the partitioned path the rest.
struct level_cut {
  std::int64_t levels = 0;  ///< number of levels before the cut; 0 if there is no cut
  std::int64_t rows = 0;    ///< number of rows before the cut
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< predicted time of a solve
};

/// What the cost model knows of the partitioned path of the whole system.
struct partitioned_profile {
  const partitioned::partition_level* levels;  ///< its partition levels, ordered by level, then by partition
  std::size_t count;                           ///< number of partition levels
  std::int64_t partitions;
  partitioned::shape_values shape;
  double tile_ns;            ///< time of a tile of this shape
  double global_entries_ns;  ///< time of the entries that read x from global memory
  double nanoseconds;        ///< predicted time of a solve with all right-hand sides
};

/// Returns the number of rows before each level, and the number of all rows at the end. `levels`: ordered by
/// level.
inline std::vector<std::int64_t> level_offsets(const partitioned::partition_level* levels,
                                               std::size_t count) {
  std::vector<std::int64_t> offsets;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (levels[i].begins_level != 0) {
      offsets.push_back(rows);
    }
    rows += levels[i].rows;
  }
  offsets.push_back(rows);
  return offsets;
}

/// Returns, by level, the time that the partitioned path takes from this level on if all levels before it are
/// solved already: the longest path through the remaining partition levels, without the launch.
/// `level_offsets`: number of rows before each level, and the number of all rows at the end.
template <class Tuning, class Index>
std::vector<double> remaining_times(const partitioned_profile& p, const std::vector<Index>& level_offsets) {
  std::vector<double> times(level_offsets.size(), 0.0);
  std::vector<double> of_partition(static_cast<std::size_t>(p.partitions), 0.0);
  // By partition level: the longest path that begins when this partition level is solved.
  std::vector<float> successors(p.count, 0.0f);
  double longest = 0;
  auto level = level_offsets.size() - 1;
  auto rows = static_cast<std::int64_t>(level_offsets.back());
  for (std::size_t i = p.count; i-- > 0;) {
    const partitioned::partition_level& current = p.levels[i];
    double& time = of_partition[static_cast<std::size_t>(current.partition)];
    time = partitioned::level_nanoseconds<Tuning>(current, p.shape, p.tile_ns, 1) +
           std::max(time, static_cast<double>(successors[i]));
    if (current.need >= 0) {
      float& needed = successors[static_cast<std::size_t>(current.need)];
      needed = std::max(
          needed, static_cast<float>(time + partitioned::hand_off_nanoseconds<Tuning>(current, p.shape)));
    }
    longest = std::max(longest, time);
    rows -= current.rows;
    for (; level > 0 && rows <= static_cast<std::int64_t>(level_offsets[level - 1]); --level) {
      times[level - 1] = longest;
    }
  }
  return times;
}

/// Returns the same for a single partition, which solves level after level without hand-offs. `entries`:
/// number of entries of the whole system.
template <class Tuning, class Index>
std::vector<double> remaining_times_of_one_partition(const partitioned_profile& p,
                                                     const std::vector<Index>& level_offsets,
                                                     std::int64_t entries) {
  std::vector<double> times(level_offsets.size(), 0.0);
  const double row_ns = Tuning::partitioned_batched_global_entry_ns * static_cast<double>(entries) /
                        static_cast<double>(level_offsets.back());
  for (std::size_t level = level_offsets.size() - 1; level-- > 0;) {
    const auto rows = static_cast<std::int32_t>(level_offsets[level + 1] - level_offsets[level]);
    times[level] = times[level + 1] + row_ns * rows +
                   partitioned::level_nanoseconds<Tuning>(partitioned::partition_level{-1, rows, 0, 0, 0},
                                                          p.shape, p.tile_ns, 1);
  }
  return times;
}

/// Returns the cut with the smallest predicted time, whether or not it is faster than one path alone. A cut
/// needs at least two levels.
template <class Tuning, class Index>
level_cut best_cut(const partitioned_profile& p, const std::vector<Index>& level_offsets,
                   std::int64_t entries, std::size_t scalar_bytes, std::size_t index_bytes,
                   std::int64_t max_rhs) {
  const std::vector<double> times = remaining_times<Tuning>(p, level_offsets);
  const std::vector<double> of_one = remaining_times_of_one_partition<Tuning>(p, level_offsets, entries);
  // How much longer all right-hand sides take than one.
  const double rhs_factor =
      (p.nanoseconds - Tuning::partitioned_launch_ns) / (times[0] + p.global_entries_ns);
  const auto size = static_cast<double>(level_offsets.back());
  level_cut best;
  for (std::size_t level = 1; level + 1 < level_offsets.size(); ++level) {
    const auto rows = static_cast<std::int64_t>(level_offsets[level]);
    const double share = static_cast<double>(rows) / size;
    const double first = row_per_thread::solve_nanoseconds<Tuning>(
        rows, static_cast<std::int64_t>(share * static_cast<double>(entries)),
        static_cast<std::int64_t>(level), scalar_bytes, index_bytes, max_rhs);
    const double rest =
        std::min(rhs_factor * (times[level] + (1 - share) * p.global_entries_ns), of_one[level]);
    const double time = first + Tuning::partitioned_launch_ns + rest;
    if (time < best.nanoseconds) {
      best = {static_cast<std::int64_t>(level), rows, time};
    }
  }
  return best;
}

}  // namespace sptrsv::detail::dataflow::hybrid
