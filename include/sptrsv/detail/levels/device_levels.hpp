// SPDX-License-Identifier: Apache-2.0
// Levels on the device: the level of each row, and the rows in level order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/levels/level_searches.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Rows in level order, in device memory, ascending within a level. Level l holds
/// rows[level_offsets[l]] ... rows[level_offsets[l + 1] - 1].
template <class Index>
struct device_levels {
  std::int64_t count = 0;
  buffer<Index> level_offsets;  ///< count + 1
  buffer<Index> rows;           ///< by solve index: the row; size elements
  buffer<Index> solve_indices;  ///< by row: the solve index; empty if it is not wanted

  [[nodiscard]] std::size_t bytes() const {
    return level_offsets.bytes() + rows.bytes() + solve_indices.bytes();
  }
};

/// Finds where each level begins, and the solve index of each row. `LevelOf`: returns the level, counted from
/// 0, by the key of a row. Runs once per row in level order.
template <class Key, class Index, class LevelOf>
struct find_level_offsets {
  const Key* sorted_keys;  ///< by solve index; the levels ascend
  LevelOf level_of;
  const Index* rows;     ///< by solve index; used for solve_indices only; null without them
  Index* level_offsets;  ///< by level, count + 1
  Index* solve_indices;  ///< by row; null: they are not wanted
  std::int64_t size;
  std::int64_t count;  ///< number of levels

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t p) const {
    if (solve_indices != nullptr) {
      ctx.store(solve_indices + ctx.load_constant(rows + p), static_cast<Index>(p));
    }
    const std::int64_t level = level_of(ctx.load_constant(sorted_keys + p));
    if (p == 0 || level_of(ctx.load_constant(sorted_keys + p - 1)) != level) {
      ctx.store(level_offsets + level, static_cast<Index>(p));
    }
    if (p == 0) {
      ctx.store(level_offsets + count, static_cast<Index>(size));
    }
  }
};

/// Finds the offsets, and the solve indices if they are wanted, of rows that have been sorted by their keys.
template <class Key, class Index, class LevelOf, class Executor>
void finish_levels(const device_levels<Index>& levels, const buffer<Key>& sorted_keys,
                   const LevelOf& level_of, const Executor& on) {
  const auto size = static_cast<std::int64_t>(levels.rows.size());
  simt::for_each(on, size,
                 find_level_offsets<Key, Index, LevelOf>{sorted_keys.data(), level_of, levels.rows.data(),
                                                         levels.level_offsets.data(),
                                                         levels.solve_indices.data(), size, levels.count});
}

/// The level of a row by its level counted from 1.
struct level_from_one {
  template <class Index>
  SPTRSV_HOST_DEVICE std::int64_t operator()(Index level) const {
    return static_cast<std::int64_t>(level) - 1;
  }
};

/// Finds the level of each row of N triangles: one more than the largest level of the rows that it needs. The
/// arrays are in scratch memory. `counts_blocks`: whether row_levels::count_of_blocks is wanted. `limit`:
/// when a search is given up; without it, as soon as that saves time. All have rows, or none. Synchronises.
template <std::size_t N, class Index, class Offset, class Executor>
std::array<row_levels<Index>, N> levels_of_rows(
    const std::array<const device_triangle<Index, Offset>*, N>& triangles, bool counts_blocks,
    const Executor& on, const analysis_memory& memory, const std::optional<search_limit>& limit = {}) {
  if (triangles[0]->size == 0) {
    return {};
  }
  using searches_type = level_searches<N, Index, Offset, Executor>;
  const auto states = make_buffer<level_search>(2 * N, on, memory.scratch);
  std::array<typename searches_type::search, N> searches;
  for (std::size_t k = 0; k < N; ++k) {
    const auto& t = *triangles[k];
    searches[k] = {&t, states.data() + 2 * k, limit ? *limit : limit_of_search(t.size, t.entries()), {}};
  }
  searches_type levels(searches, counts_blocks, on, memory);
  for (std::size_t k = 0; k < N; ++k) {
    simt::for_each(on, triangles[k]->size, levels.start(k, searches[k].state));
  }
  levels.launch();
  level_search found[2 * N];
  on.download(found, states.data(), sizeof(found));
  auto optional = levels.finish([&](std::size_t k) { return found + 2 * k; });
  std::array<row_levels<Index>, N> made;
  std::transform(optional.begin(), optional.end(), made.begin(), [](auto& of) { return std::move(*of); });
  return made;
}
/// Does the same for one triangle.
template <class Index, class Offset, class Executor>
row_levels<Index> levels_of_rows(const device_triangle<Index, Offset>& t, const Executor& on,
                                 const analysis_memory& memory, bool counts_blocks = false,
                                 const std::optional<search_limit>& limit = {}) {
  return std::move(levels_of_rows(std::array{&t}, counts_blocks, on, memory, limit)[0]);
}

template <class Index, class Offset>
struct triangle_with_levels {
  device_triangle<Index, Offset> triangle;
  std::optional<row_levels<Index>> levels;
  triangle_kernels::report found{};  ///< if the host waited once
};

template <class Index, class Offset>
struct start_rows_and_levels {
  triangle_kernels::start_rows<Index, Offset> rows;
  start_levels<Index> levels;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    rows(ctx, row);
    if (levels.levels != nullptr) {
      levels(ctx, row);
    }
  }
};

/// Entries of a stored matrix, at most, for which the host waits once for a triangle and its levels: the
/// arrays of the entries then have room for all entries of the stored matrix.
inline constexpr std::int64_t entries_of_one_wait = std::int64_t{1} << 20;

/// Builds N triangles of a matrix as triangle_builder does. For a small matrix that is sorted by rows of all
/// systems, it also finds the levels of those whose rows are `wanted`, see levels_of_rows(): one wait for the
/// device serves all. The first `Searched` triangles are searched. `limits`: of triangle_builder.
/// Synchronises.
///
/// For a small matrix `enqueue_more` is called before the wait, with the triangles, the levels of the first
/// one and the reports of all, which are on the device. It may enqueue work that the reports decide on, and
/// that counts in report::more. The function is long because its steps share what one wait is for.
template <std::size_t Searched, std::size_t N, class Index, class Offset, class Executor, class EnqueueMore>
std::array<triangle_with_levels<Index, Offset>, N> build_with_levels(
    const pattern_view<Index, Offset>& a, const std::array<triangle_form, N>& forms,
    const triangle_kernels::split_limits& limits, const triangle_kernels::whole_rows& wanted,
    bool counts_blocks, const Executor& on, const analysis_memory& memory, const EnqueueMore& enqueue_more) {
  const triangle_builder<N, Index, Offset, Executor> builder(a, forms, limits, on, memory);
  std::array<triangle_with_levels<Index, Offset>, N> made;
  const bool is_transposed = std::any_of(forms.begin(), forms.end(), [](auto& f) { return f.transposed; });
  if (is_transposed || a.size == 0 || a.entries > entries_of_one_wait) {
    auto t = builder.build();
    for (std::size_t k = 0; k < N; ++k) {
      made[k].triangle = std::move(t[k]);
    }
    return made;
  }
  using searches_type = level_searches<Searched, Index, Offset, Executor>;
  auto t = builder.allocate_rows();
  std::array<typename searches_type::search, Searched> searches;
  for (std::size_t k = 0; k < Searched; ++k) {
    auto* const report = builder.report_on_device(k);
    searches[k] = {&t[k], report->searches, limit_of_search(a.size, a.entries), {report, wanted}};
  }
  searches_type levels(searches, counts_blocks, on, memory);
  simt::all_of<start_rows_and_levels<Index, Offset>, N> start{};
  for (std::size_t k = 0; k < N; ++k) {
    start.of[k] = {builder.start_rows(t, k), k < Searched ? levels.start(k, nullptr) : start_levels<Index>{}};
  }
  simt::for_each(on, a.size, start);
  builder.measure_rows(t);
  builder.write_ascending_entries(t, [&](std::size_t) { return a.entries; }, {builder.report_on_device(0)});
  levels.launch();
  enqueue_more(t, levels.of(0), builder.report_on_device(0));
  const auto found = builder.read_reports();
  for (std::size_t k = 0; k < N; ++k) {
    if (builder.ascends(found, k)) {
      t[k].columns.shrink(at(found[k].entries));
      t[k].sources.shrink(at(found[k].entries));
    }
    builder.complete(t, found, k);
  }
  auto of_rows = levels.finish([&](std::size_t k) {
    const bool has_levels =
        builder.ascends(found, k) && wanted.have(found[k].longest_row, found[k].split_rows);
    return has_levels ? found[k].searches : nullptr;
  });
  for (std::size_t k = 0; k < N; ++k) {
    made[k].triangle = std::move(t[k]);
    made[k].found = found[k];
    if (k < Searched) {
      made[k].levels = std::move(of_rows[k]);
    }
  }
  return made;
}

/// Returns room for `size` rows in `count` levels; the offsets are written if there are no rows.
/// `with_solve_indices`: whether the solve index of each row is wanted, too; it is in scratch memory.
template <class Index, class Executor>
device_levels<Index> make_levels(std::int64_t size, std::int64_t count, bool with_solve_indices,
                                 const Executor& on, const analysis_memory& memory) {
  device_levels<Index> made;
  made.count = count;
  made.level_offsets = make_buffer<Index>(count + 1, on, memory.kept);
  made.rows = make_buffer<Index>(size, on, memory.kept);
  if (with_solve_indices) {
    made.solve_indices = make_buffer<Index>(size, on, memory.scratch);
  }
  if (size == 0) {
    on.fill_bytes(made.level_offsets.data(), 0, made.level_offsets.bytes());
  }
  return made;
}

/// Writes the rows in level order to `rows`. Returns their levels, which are in scratch memory.
/// `most_levels`: at least the number of levels.
template <class Index, class Executor>
buffer<Index> sort_by_level(const row_levels<Index>& levels, std::int64_t most_levels,
                            const buffer<Index>& rows, const Executor& on, const analysis_memory& memory) {
  const auto size = static_cast<std::int64_t>(rows.size());
  auto sorted_levels = make_buffer<Index>(size, on, memory.scratch);
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.of_row.data()),
                reinterpret_cast<key*>(sorted_levels.data()), levels.numbers.data(), rows.data(), size,
                bits_for(static_cast<std::uint64_t>(most_levels) + 1), memory.scratch);
  return sorted_levels;
}

/// Returns the rows in level order. `with_solve_indices`: see make_levels().
template <class Index, class Executor>
device_levels<Index> order_by_level(const row_levels<Index>& levels, const Executor& on,
                                    const analysis_memory& memory, bool with_solve_indices = false) {
  const auto size = static_cast<std::int64_t>(levels.of_row.size());
  auto result = make_levels<Index>(size, levels.count, with_solve_indices, on, memory);
  if (size == 0) {
    return result;
  }
  finish_levels(result, sort_by_level(levels, levels.count, result.rows, on, memory), level_from_one{}, on);
  return result;
}

/// Finds the levels of a triangle and returns its rows in level order. Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      const analysis_memory& memory) {
  return order_by_level(levels_of_rows(t, on, memory), on, memory);
}

}  // namespace sptrsv::SPTRSV_ABI::detail
