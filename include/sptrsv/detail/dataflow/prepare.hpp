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
  split_triangle<Index, Offset> split;  ///< the rows that are solved
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
  const auto take = [&](std::size_t k, device_triangle<Index, Offset>&& triangle) {
    made[k].entries = triangle.entries();
    made[k].longest_row = triangle.longest_row;
    if (triangle.longest_row > longest_whole_row<tuning> &&
        systems[k].policy.path != Policy::path_type::single_block) {
      made[k].split = split_long_rows(triangle, tuning::longest_row, on, scratch);
      made[k].before_split = std::move(triangle);
      made[k].has_partial_rows = true;
    } else {
      made[k].split.triangle = std::move(triangle);
    }
  };
  if (!needs_levels) {
    auto triangles = triangle_builder<N, Index, Offset, Executor>(stored, forms, 0, on, scratch).build();
    for (std::size_t k = 0; k < N; ++k) {
      take(k, std::move(triangles[k]));
    }
    return made;
  }
  auto built = build_with_levels(stored, forms, {tuning::longest_row, longest_whole_row<tuning>},
                                 counts_blocks, on, scratch);
  for (std::size_t k = 0; k < N; ++k) {
    take(k, std::move(built[k].triangle));
    made[k].levels = std::move(built[k].levels);
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
    if (!systems[k].counts_blocks()) {
      made[k].levels->count_of_blocks = 0;  // it was counted for the other system
    }
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
