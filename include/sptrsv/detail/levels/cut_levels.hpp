// SPDX-License-Identifier: Apache-2.0
// Cuts a triangle in two after one of its levels.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/level_order.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// One half of a triangle: rows in the order of substitution.
template <class Index, class Offset>
struct half_triangle {
  split_triangle<Index, Offset> split;
  row_levels<Index> levels;  ///< without the numbers, which the caller has
  buffer<Index> rows;        ///< by row of the half: the row of the whole
};

/// The rows of the first levels and the remaining rows.
template <class Index, class Offset>
struct cut_triangle {
  half_triangle<Index, Offset> first;
  /// Columns below the number of rows of `rest` are rows of `rest`. Column rest size + k is row k of `first`.
  half_triangle<Index, Offset> rest;
};

/// The arrays of a half that number_rows writes, by row of the half; see half_triangle.
template <class Index>
struct half_rows {
  Index* rows;
  Index* substitution_indices;
  Index* level_of_row;  ///< counted from 1
};

/// The body of a scan over all rows, which counts those of the first levels: numbers the rows of each half.
template <class Index>
struct number_rows {
  std::int64_t rest_size;
  const Index* substitution_indices;  ///< by row; null: a row is its substitution index
  const Index* level_of_row;          ///< by row, counted from 1
  Index last_level;                   ///< of the first half
  half_rows<Index> first;
  half_rows<Index> rest;
  Index* solve_indices;  ///< by row: its column index in the rest

  struct numbered_row {
    std::int64_t count;  ///< 1 if the row belongs to the first half
    Index level;
  };

  template <class Context>
  SPTRSV_DEVICE numbered_row load(Context& ctx, std::int64_t row) const {
    const Index level = ctx.load_constant(level_of_row + row);
    return {level <= last_level ? 1 : 0, level};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t row, const numbered_row& own,
                           std::int64_t firsts_before) const {
    const bool is_first = own.count != 0;
    const half_rows<Index>& half = is_first ? first : rest;
    const auto number = static_cast<Index>(is_first ? firsts_before : row - firsts_before);
    ctx.store(half.rows + number, static_cast<Index>(row));
    ctx.store(half.substitution_indices + number, substitution_indices == nullptr
                                                      ? static_cast<Index>(row)
                                                      : ctx.load_constant(substitution_indices + row));
    ctx.store(half.level_of_row + number, static_cast<Index>(is_first ? own.level : own.level - last_level));
    ctx.store(solve_indices + row, is_first ? static_cast<Index>(rest_size + number) : number);
  }
};

/// Writes the sources of the entries of a half. Runs once per entry, see for_each_entry().
template <class Index, class Offset>
struct move_sources {
  moved_entries<Index, Offset> of;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    ctx.store(of.moved.sources + e, ctx.load_constant(of.old.sources + of.old_entry(ctx, r, e)));
  }
};

/// Returns a half of `rows` rows and `levels` levels with an empty triangle and unwritten arrays.
template <class Index, class Offset, class Executor>
half_triangle<Index, Offset> make_half(std::int64_t rows, std::int64_t levels, bool has_partial_rows,
                                       const Executor& on, const analysis_memory& memory) {
  half_triangle<Index, Offset> half;
  half.split.has_partial_rows = has_partial_rows;
  half.split.substitution_indices = make_buffer<Index>(rows, on, memory.kept);
  half.levels.count = levels;
  half.levels.of_row = make_buffer<Index>(rows, on, memory.kept);
  half.rows = make_buffer<Index>(rows, on, memory.kept);
  return half;
}

/// Cuts the triangle after its first `first_levels` levels, which hold `first_rows` rows, fewer than all. The
/// entries of the halves have no sources yet: see take_sources(). Synchronises.
template <class Index, class Offset, class Executor>
cut_triangle<Index, Offset> cut_after_level(const split_triangle<Index, Offset>& split,
                                            const row_levels<Index>& levels, std::int64_t first_levels,
                                            std::int64_t first_rows, const Executor& on,
                                            const analysis_memory& memory) {
  const device_triangle<Index, Offset>& t = split.triangle;
  const std::int64_t rest_rows = t.size - first_rows;
  cut_triangle<Index, Offset> made{
      make_half<Index, Offset>(first_rows, first_levels, split.has_partial_rows, on, memory),
      make_half<Index, Offset>(rest_rows, levels.count - first_levels, split.has_partial_rows, on, memory)};
  const auto solve_indices = make_buffer<Index>(t.size, on, memory.kept);
  const auto rows_of = [](const half_triangle<Index, Offset>& part) {
    return half_rows<Index>{part.rows.data(), part.split.substitution_indices.data(),
                            part.levels.of_row.data()};
  };
  scan(on, t.size,
       number_rows<Index>{rest_rows, split.substitution_indices.data(), levels.of_row.data(),
                          static_cast<Index>(first_levels), rows_of(made.first), rows_of(made.rest),
                          solve_indices.data()},
       memory);
  const auto select = [&](half_triangle<Index, Offset>& part, std::int64_t first_solve_index,
                          std::int64_t entries) {
    part.split.triangle =
        select_rows(t,
                    row_selection<Index>{count_of(part.rows), part.rows.data(), solve_indices.data(), entries,
                                         true, static_cast<Index>(first_solve_index)},
                    on, memory);
  };
  select(made.first, rest_rows, -1);
  select(made.rest, 0, t.entries() - made.first.split.triangle.entries());
  return made;
}

/// Gives the entries of a half their sources, and frees its rows of the whole. `whole`: the triangle that was
/// cut; its columns may be freed, so that the columns and the sources of the halves take memory in turn.
template <class Index, class Offset, class Executor>
void take_sources(half_triangle<Index, Offset>& half, const device_triangle<Index, Offset>& whole,
                  const Executor& on, memory_resource& memory) {
  device_triangle<Index, Offset>& t = half.split.triangle;
  t.sources = make_buffer<Offset>(t.entries(), on, memory);
  triangle_kernels::for_each_entry(on, t.row_offsets.data(), t.size, t.entries(),
                                   move_sources<Index, Offset>{{whole.view(), t.view(), half.rows.data()}});
  half.rows = {};
}

/// Renumbers the columns of the rest that are rows of the first half: row r becomes the solve index
/// solve_index_of_first[r]. Runs once per entry of the rest.
template <class Index>
struct renumber_first_columns {
  std::int64_t rest_size;
  const Index* solve_index_of_first;
  Index* columns;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const auto column = static_cast<std::int64_t>(ctx.load(columns + e));
    if (column >= rest_size) {
      ctx.store(columns + e,
                static_cast<Index>(rest_size + ctx.load_constant(solve_index_of_first + column - rest_size)));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
