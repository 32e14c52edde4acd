// SPDX-License-Identifier: Apache-2.0
// An analysis of dataflow begins with a request: a system, and how it is to be solved. The first step makes
// of it the system's triangle with its long rows split, and its levels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// The limits that the predicted time of a plan must stay under, or the plan is not wanted.
struct time_limits {
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< of all paths but row_per_thread
  /// Of the row_per_thread path, if `nanoseconds` is finite; a plan within it is preferred. 0: not wanted.
  double row_per_thread = 0;
  /// True if the system was rewritten by levels. Its rows then need recent components.
  bool is_rewritten = false;

  [[nodiscard]] bool any() const { return nanoseconds < std::numeric_limits<double>::infinity(); }
};

/// Which rows are split: most of the time, and where levels are wide and many rows would be split. One thread
/// takes a trip to memory for every few entries of a row, but a partial row costs a hand-off.
template <class Tuning>
inline constexpr triangle_kernels::split_limits long_rows{Tuning::partial_row, Tuning::longest_row};
template <class Tuning>
inline constexpr triangle_kernels::split_limits wide_long_rows{Tuning::wide_partial_row,
                                                               Tuning::wide_longest_row};

/// A system that is to be solved. `Policy`: a policy::basic_dataflow; `Scalar`: of the values.
template <class Policy, class Scalar, class Index, class Offset>
struct request {
  using tuning = typename Policy::tuning;
  using path_name = typename Policy::path_type;
  static_assert(tuning::partial_row >= 4 && tuning::longest_row >= tuning::partial_row &&
                    tuning::wide_partial_row >= tuning::partial_row &&
                    tuning::wide_longest_row >= std::max(tuning::longest_row, tuning::wide_partial_row) &&
                    2 * tuning::wide_longest_row <= partitioned::slice_head::max_global_width,
                "dataflow_tuning: partial_row and longest_row must be at least 4 and at most 2047, and "
                "not larger than wide_partial_row and wide_longest_row");

  Policy policy;
  pattern_view<Index, Offset> stored;
  triangle_form form;
  std::int64_t max_rhs;
  time_limits limits{};

  /// Returns whether predicted times decide on the path.
  [[nodiscard]] bool by_time() const { return policy.path == path_name::automatic; }
  /// Returns whether the row_per_thread path is the only one that is considered.
  [[nodiscard]] bool is_row_per_thread_only() const {
    return policy.path == path_name::row_per_thread || tuning::entries != entry_storage::as_values;
  }
  /// Returns whether a path is asked for that takes the rows as they are, by a schedule that the host makes.
  [[nodiscard]] bool is_scheduled() const {
    return policy.path == path_name::single_block || policy.path == path_name::natural_blocks;
  }
  /// Returns whether the levels are needed before the path is chosen.
  [[nodiscard]] bool needs_levels() const { return !is_row_per_thread_only() && !is_scheduled(); }
  /// Returns whether the row_per_thread path takes the rows in level order.
  [[nodiscard]] bool has_level_order() const {
    return policy.order == decltype(policy.order)::levels || by_time();
  }
  /// Returns whether the number of levels that runs of rows would leave is wanted: for the system as it is,
  /// if runs of rows alone may be tried, or if rows are short. This takes a second search for levels.
  [[nodiscard]] bool counts_blocks() const {
    const auto entries = static_cast<double>(stored.entries - (form.unit ? 0 : stored.size));
    return !policy.exact_order && by_time() && !limits.any() &&
           (policy.run_levels == 1 ||
            entries <= tuning::entries_of_short_rows * static_cast<double>(stored.size));
  }

  /// Returns whether levels have so few rows on average that the single_block path is considered.
  [[nodiscard]] bool is_narrow(std::int64_t levels) const {
    return static_cast<double>(stored.size) <=
           tuning::single_block_rows_per_level * static_cast<double>(levels);
  }
  /// Returns whether rows stand in blocks so often, and levels are so narrow, that the natural_blocks path is
  /// considered: if a row has the columns of the row before it and this row, it has an entry more.
  [[nodiscard]] bool may_have_blocks(const device_triangle<Index, Offset>& rows, std::int64_t levels) const {
    const auto size = static_cast<double>(rows.size);
    return by_time() && !limits.any() && max_rhs <= tuning::natural_blocks_max_rhs &&
           rows.size <= triangle_kernels::most_rows_to_compare &&
           size <= tuning::natural_blocks_rows_per_level * static_cast<double>(levels) &&
           static_cast<double>(rows.longer_rows) >= 0.9 * (1 - 1 / tuning::natural_block_rows) * size;
  }
  /// Returns whether the schedule of a single_block or natural_blocks solve can be made: its row numbers have
  /// 32 bits, and each right-hand side takes one thread block.
  [[nodiscard]] bool has_schedule() const {
    return stored.size < (std::int64_t{1} << 31) - 2 && max_rhs < std::int64_t{1} << 31;
  }
  [[nodiscard]] double row_per_thread_nanoseconds(const device_triangle<Index, Offset>& rows,
                                                  std::int64_t levels) const {
    const auto costs = row_per_thread::solve_costs::of<tuning>(sizeof(Scalar), sizeof(Index), max_rhs);
    const auto size = static_cast<double>(rows.size);
    const auto entries = static_cast<double>(rows.entries());
    const auto hops = static_cast<double>(levels);
    return limits.is_rewritten ? costs.template rewritten_nanoseconds<tuning>(size, entries, hops)
                               : costs.nanoseconds(size, entries, hops);
  }
  /// Returns whether the row_per_thread path is likely to be chosen: for a small system with wide levels, and
  /// few levels or rows of several entries, which need other partitions. Its rows are then put in order while
  /// the device predicts the times of the partitioned path. If another path is chosen, this was in vain.
  [[nodiscard]] bool expects_row_per_thread(const device_triangle<Index, Offset>& rows,
                                            std::int64_t levels) const {
    return by_time() && !limits.any() && rows.entries() <= tuning::partitioned_small_entries &&
           rows.entries() <= max_count<Offset> / row_per_thread::slice_rows &&
           rows.size >= tuning::wide_enough_for_rows * levels &&
           (levels <= 4 || 4 * rows.entries() >= 9 * rows.size);
  }
  /// Returns the triangles whose levels may be wanted before it is known which rows are split.
  [[nodiscard]] triangle_kernels::whole_rows whole_rows() const {
    return {
        long_rows<tuning>.whole, wide_long_rows<tuning>.whole,
        static_cast<std::int64_t>(std::ceil(tuning::wide_split_share * static_cast<double>(stored.size)))};
  }
  /// Returns which rows of the system are split. `levels`: with the partial rows or without; 0: not known.
  [[nodiscard]] triangle_kernels::split_limits limits_of_rows(const device_triangle<Index, Offset>& rows,
                                                              std::int64_t levels) const {
    return rows.split_rows >= whole_rows().many && rows.size >= tuning::wide_split_level * levels
               ? wide_long_rows<tuning>
               : long_rows<tuning>;
  }
  /// Returns whether the row_per_thread path is taken without a prediction of others: few levels, which are
  /// wide. No such system was solved faster on another path.
  [[nodiscard]] bool is_flat(const device_triangle<Index, Offset>& rows, std::int64_t levels) const {
    return by_time() && !limits.any() && levels <= tuning::flat_levels &&
           rows.size >= tuning::wide_enough_for_rows * levels;
  }
  /// No gain was measured with several right-hand sides, so these need an explicit request.
  [[nodiscard]] bool may_be_hybrid() const {
    return policy.path == path_name::hybrid || (by_time() && max_rhs == 1);
  }
};

/// A triangle as the paths take it, in scratch memory.
template <class Index, class Offset>
struct prepared_system {
  std::int64_t entries = 0;      ///< before rows were split; without the pivots
  std::int64_t longest_row = 0;  ///< entries of the longest row before rows were split; without its pivot
  bool has_partial_rows = false;
  triangle_kernels::split_limits limits{};      ///< with which rows were split
  split_triangle<Index, Offset> split;          ///< the rows that are solved
  device_triangle<Index, Offset> before_split;  ///< empty if no row was split, or if it is not needed
  std::optional<row_levels<Index>> levels;      ///< of the rows that are solved; empty: they are not known

  [[nodiscard]] const device_triangle<Index, Offset>& rows() const { return split.triangle; }
  /// Returns the triangle without partial rows.
  [[nodiscard]] const device_triangle<Index, Offset>& whole() const {
    return has_partial_rows ? before_split : split.triangle;
  }
};

/// Prepares N systems that are stored in one matrix; steps of two share launches and waits. The path
/// single_block takes the rows as they are. Synchronises. Throws for the first offending row. The function
/// is long because each wait serves several steps, which parts of it would hide.
template <std::size_t N, class Policy, class Scalar, class Index, class Offset, class Executor>
std::array<prepared_system<Index, Offset>, N> prepare(
    const std::array<request<Policy, Scalar, Index, Offset>, N>& systems, const Executor& on,
    const analysis_memory& memory) {
  using tuning = typename Policy::tuning;
  const analysis_memory scratch = memory.all_scratch();
  const pattern_view<Index, Offset>& stored = systems[0].stored;
  std::array<triangle_form, N> forms;
  std::transform(systems.begin(), systems.end(), forms.begin(), [](const auto& of) { return of.form; });
  const bool needs_levels = systems[0].needs_levels();
  const bool counts_blocks =
      std::any_of(systems.begin(), systems.end(), [](const auto& of) { return of.counts_blocks(); });
  std::array<prepared_system<Index, Offset>, N> made;
  const auto take = [&](std::size_t k, device_triangle<Index, Offset> triangle,
                        const triangle_kernels::split_limits& limits) {
    made[k].entries = triangle.entries();
    made[k].longest_row = triangle.longest_row;
    made[k].has_partial_rows = triangle.longest_row > limits.whole && !systems[k].is_scheduled();
    if (made[k].has_partial_rows) {
      made[k].levels.reset();
      made[k].limits = limits;
      made[k].split = split_long_rows(triangle, limits, on, scratch);
      made[k].before_split = std::move(triangle);
    } else {
      made[k].split = {std::move(triangle), false, {}};
    }
  };
  if (!needs_levels) {
    auto triangles =
        triangle_builder<N, Index, Offset, Executor>(stored, forms, long_rows<tuning>, on, scratch).build();
    for (std::size_t k = 0; k < N; ++k) {
      const auto limits = systems[k].limits_of_rows(triangles[k], 0);
      take(k, std::move(triangles[k]), limits);
    }
    return made;
  }
  auto built = build_with_levels<N>(stored, forms, long_rows<tuning>, systems[0].whole_rows(), counts_blocks,
                                    on, scratch, [](const auto&...) {});
  for (std::size_t k = 0; k < N; ++k) {
    made[k].levels = std::move(built[k].levels);
    const auto limits = made[k].levels ? systems[k].limits_of_rows(built[k].triangle, made[k].levels->count)
                                       : long_rows<tuning>;
    take(k, std::move(built[k].triangle), limits);
  }
  if (std::none_of(made.begin(), made.end(), [](const auto& of) { return of.levels.has_value(); })) {
    std::array<const device_triangle<Index, Offset>*, N> rows;
    std::transform(made.begin(), made.end(), rows.begin(), [](const auto& of) { return &of.rows(); });
    auto levels = levels_of_rows(rows, counts_blocks, on, memory);
    for (std::size_t k = 0; k < N; ++k) {
      made[k].levels = std::move(levels[k]);
    }
  }
  for (std::size_t k = 0; k < N; ++k) {
    if (!made[k].levels) {
      made[k].levels = levels_of_rows(made[k].rows(), on, memory, counts_blocks);
    }
    if (made[k].has_partial_rows) {
      const auto limits = systems[k].limits_of_rows(made[k].before_split, made[k].levels->count);
      if (!(limits == made[k].limits)) {
        take(k, std::move(made[k].before_split), limits);
        made[k].levels = levels_of_rows(made[k].rows(), on, memory, counts_blocks);
      }
    }
    if (!systems[k].counts_blocks()) {
      made[k].levels->count_of_blocks = 0;  // it was counted for the other system
    }
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
