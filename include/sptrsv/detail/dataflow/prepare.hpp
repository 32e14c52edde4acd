// SPDX-License-Identifier: Apache-2.0
// The first step of an analysis: the triangle of a system, its long rows split, and its levels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/dataflow/request.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// A triangle as the paths take it, in scratch memory.
template <class Index, class Offset>
struct prepared_system {
  std::int64_t entries = 0;      ///< before rows were split; without the pivots
  std::int64_t longest_row = 0;  ///< entries of the longest row before rows were split; without its pivot
  bool has_partial_rows = false;
  triangle_kernels::split_limits limits{};  ///< with which rows were split
  split_triangle<Index, Offset> split;      ///< the rows that are solved
  device_triangle<Index, Offset>
      before_split;                         ///< empty if no row was split, or if it is not needed any more
  std::optional<row_levels<Index>> levels;  ///< of the rows that are solved; empty: they are not known

  [[nodiscard]] const device_triangle<Index, Offset>& rows() const { return split.triangle; }
  /// Returns the triangle without partial rows.
  [[nodiscard]] const device_triangle<Index, Offset>& whole() const {
    return has_partial_rows ? before_split : split.triangle;
  }
};

/// Prepares N systems that are stored in one matrix; steps of two share launches and waits. The path
/// single_block takes the rows as they are. Synchronises. Throws for the first offending row.
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
    made[k].has_partial_rows =
        triangle.longest_row > limits.whole && systems[k].policy.path != Policy::path_type::single_block;
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
                                    on, scratch);
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
