// SPDX-License-Identifier: Apache-2.0
// Splits long rows. A long row hands its first entries to partial rows of equal length and keeps one entry
// per partial row, with factor -1. This repeats until rows are short enough.
//
// A partial row has no right-hand side, no component of x and a unit pivot: its value is minus the sum of its
// products. This way many warps share the work of a row that would keep one warp busy for long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// A triangle whose long rows may be split: some of its rows are partial rows then.
template <class Index, class Offset>
struct split_triangle {
  device_triangle<Index, Offset> triangle;  ///< sources may be minus_one_source, diagonal sources -1
  bool has_partial_rows = false;
  /// By row: its substitution index in the system, -1: a partial row. Empty: the two are the same.
  buffer<Index> substitution_indices;
};

/// Returns the number of partial rows of an old row.
template <class Index, class Offset>
struct count_parts {
  triangle_view<Index, Offset> old;
  triangle_kernels::split_limits limits;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t row) const {
    return limits.partial_rows_of(triangle_kernels::row_length(ctx, old.row_offsets, row));
  }
};

/// The body of a scan over the old rows, which counts their partial rows: writes offset, substitution index
/// and diagonal source of the new rows that each old row becomes, and the entries of the row for its partial
/// rows, which are its first entries. Each partial row adds one such entry: the number of entries before a
/// new row follows from the number of partial rows before it.
template <class Index, class Offset>
struct make_rows {
  triangle_view<Index, Offset> old;
  triangle_view<Index, Offset> made;  ///< output
  triangle_kernels::split_limits limits;
  const Index* old_substitution_indices;  ///< by old row; null: a row is its substitution index
  Index* substitution_indices;            ///< output by new row
  Index* parts_before;                    ///< output by old row: the partial rows of the rows before it

  struct old_row {
    std::int64_t count;  ///< partial rows
    Offset begin;
    Offset end;
  };

  template <class Context>
  SPTRSV_DEVICE old_row load(Context& ctx, std::int64_t row) const {
    const Offset begin = ctx.load_constant(old.row_offsets + row);
    const Offset end = ctx.load_constant(old.row_offsets + row + 1);
    return {limits.partial_rows_of(static_cast<std::int64_t>(end - begin)), begin, end};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t row, const old_row& own, std::int64_t before) const {
    ctx.store(parts_before + row, static_cast<Index>(before));
    const std::int64_t first = row + before;  // the first new row
    const std::int64_t to = first + own.count;
    const std::int64_t first_entry = static_cast<std::int64_t>(own.begin) + before;
    const std::int64_t own_entries = first_entry + own.count * limits.part;
    for (std::int64_t part = 0; part < own.count; ++part) {
      ctx.store(made.row_offsets + first + part, static_cast<Offset>(first_entry + part * limits.part));
      ctx.store(substitution_indices + first + part, Index{-1});
      if (old.diagonal_sources != nullptr) {
        ctx.store(made.diagonal_sources + first + part, Offset{-1});
      }
      ctx.store(made.columns + own_entries + part, static_cast<Index>(first + part));
      ctx.store(made.sources + own_entries + part, static_cast<Offset>(triangle_kernels::minus_one_source));
    }
    ctx.store(made.row_offsets + to, static_cast<Offset>(own_entries));
    ctx.store(substitution_indices + to, old_substitution_indices == nullptr
                                             ? static_cast<Index>(row)
                                             : ctx.load_constant(old_substitution_indices + row));
    if (old.diagonal_sources != nullptr) {
      ctx.store(made.diagonal_sources + to, ctx.load_constant(old.diagonal_sources + row));
    }
    if (row == old.size - 1) {
      ctx.store(made.row_offsets + to + 1,
                static_cast<Offset>(static_cast<std::int64_t>(own.end) + before + own.count));
    }
  }
};

/// Moves the entries: partial rows take the first ones of their row. See for_each_entry().
template <class Index, class Offset>
struct hand_over_entries {
  triangle_view<Index, Offset> old;
  triangle_view<Index, Offset> made;
  triangle_kernels::split_limits limits;
  const Index* parts_before;  ///< see make_rows

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    const std::int64_t k = e - load_index(ctx, old.row_offsets + row);
    const std::int64_t parts = count_parts<Index, Offset>{old, limits}(ctx, row);
    const std::int64_t own = new_row(ctx, row);
    const bool handed_over = k < parts * limits.part;
    const std::int64_t to = handed_over ? own - parts + k / limits.part : own;
    const std::int64_t at = handed_over ? k % limits.part : parts + k - parts * limits.part;
    const std::int64_t slot = load_index(ctx, made.row_offsets + to) + at;
    const auto column = load_index(ctx, old.columns + e);
    ctx.store(made.columns + slot, static_cast<Index>(new_row(ctx, column)));
    ctx.store(made.sources + slot, ctx.load_constant(old.sources + e));
  }

 private:
  /// Returns the new index of an old row. Its partial rows come directly before it.
  template <class Context>
  SPTRSV_DEVICE std::int64_t new_row(Context& ctx, std::int64_t row) const {
    return row + load_index(ctx, parts_before + row) + count_parts<Index, Offset>{old, limits}(ctx, row);
  }
};

/// Splits rows once. `substitution_indices`: of the rows of `t`; empty at the first split. Synchronises.
template <class Index, class Offset, class Executor>
split_triangle<Index, Offset> split_once(const device_triangle<Index, Offset>& t,
                                         const buffer<Index>& substitution_indices,
                                         const triangle_kernels::split_limits& limits, const Executor& on,
                                         const analysis_memory& memory) {
  const auto expect_countable = [](std::int64_t rows, std::int64_t entries) {
    SPTRSV_EXPECTS(rows <= max_count<Index> && entries <= max_count<Offset>, errc::unsupported,
                   "splitting long rows adds rows: ", rows, " rows and ", entries,
                   " entries do not fit the index and offset types");
  };
  expect_countable(t.entries() / limits.part, t.entries());  // the scan must not overflow
  const auto parts_before = make_buffer<Index>(t.size + 1, on, memory.scratch);
  auto added = static_cast<Index>(t.partial_rows);
  if (!(t.counted == limits)) {
    scan(on, t.size + 1,
         sum_values<Index, count_parts<Index, Offset>>{{t.view(), limits}, t.size, parts_before.data()},
         memory);
    added = last_of(parts_before, on);
  }

  split_triangle<Index, Offset> made;
  made.has_partial_rows = true;
  device_triangle<Index, Offset>& n = made.triangle;
  n.size = t.size + static_cast<std::int64_t>(added);
  expect_countable(n.size, t.entries() + static_cast<std::int64_t>(added));
  // The entries for partial rows have no sources and come first.
  n.rows_are_stored_runs = t.rows_are_stored_runs;
  n.row_offsets = make_buffer<Offset>(n.size + 1, on, memory.kept);
  n.columns = make_buffer<Index>(t.entries() + added, on, memory.kept);
  n.sources = make_buffer<Offset>(t.entries() + added, on, memory.kept);
  n.diagonal_sources = make_buffer<Offset>(t.diagonal_sources.size() == 0 ? 0 : n.size, on, memory.kept);
  made.substitution_indices = make_buffer<Index>(n.size, on, memory.kept);
  scan(on, t.size,
       make_rows<Index, Offset>{t.view(), n.view(), limits, substitution_indices.data(),
                                made.substitution_indices.data(), parts_before.data()},
       memory);
  triangle_kernels::for_each_entry(
      on, t.row_offsets.data(), t.size, t.entries(),
      hand_over_entries<Index, Offset>{t.view(), n.view(), limits, parts_before.data()});
  // A row with many partial rows keeps as many entries for them and may still be long.
  n.longest_row =
      std::max(std::min(t.longest_row, limits.whole), t.longest_row < limits.part * (limits.part - 1)
                                                          ? 2 * limits.part - 3
                                                          : t.longest_row / limits.part + limits.part - 1);
  return made;
}

/// Splits rows of more than `limits.whole` entries, until none has more than the larger one of `limits.whole`
/// and 2 * limits.part - 3 entries. A row of q * limits.part + r entries with q + r > limits.part keeps q + r
/// entries: a round for such rows only would cost more than it saves. Moves from `triangle` if none is long.
/// Synchronises.
template <class Index, class Offset, class Executor>
split_triangle<Index, Offset> split_long_rows(device_triangle<Index, Offset>& triangle,
                                              const triangle_kernels::split_limits& limits,
                                              const Executor& on, const analysis_memory& memory) {
  if (triangle.longest_row <= limits.whole) {
    return {std::move(triangle), false, {}};
  }
  split_triangle<Index, Offset> split = split_once(triangle, buffer<Index>(), limits, on, memory);
  const std::int64_t longest = std::max(limits.whole, 2 * limits.part - 3);
  while (split.triangle.longest_row > longest) {
    split = split_once(split.triangle, split.substitution_indices, limits, on, memory);
  }
  return split;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
