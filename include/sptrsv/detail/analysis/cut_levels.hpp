// Cuts a triangle in two after one of its levels.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::detail {

/// The rows of the first levels and the remaining rows, each half in the order of substitution.
template <class Index, class Offset>
struct cut_triangle {
  split_triangle<Index, Offset> first;
  device_levels<Index> first_levels;
  /// Columns below the number of rows of `rest` are rows of `rest`. Column rest size + k is row k of `first`.
  split_triangle<Index, Offset> rest;
  row_levels<Index> rest_levels;  ///< without the numbers, which the caller has
};

namespace cut_kernels {

/// The body of a scan over the rows of the whole, which counts the rows of the first levels: numbers the rows
/// of each half.
template <class Index>
struct number_rows {
  std::int64_t rest_size;
  const Index* substitution_indices;  ///< by row; null: a row is its substitution index
  const Index* level_of_row;          ///< by row, counted from 1
  Index last_level;                   ///< of the first half
  /// Indexed by the half, then by the row of the half: its row of the whole, and its substitution index.
  Index* rows[2];
  Index* half_substitution_indices[2];
  Index* rest_level_of_row;  ///< by row of the rest, counted from 1
  Index* solve_indices;      ///< by row: its column index in the rest

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
    const int half = own.count != 0 ? 0 : 1;
    const auto number = static_cast<Index>(half == 0 ? firsts_before : row - firsts_before);
    ctx.store(rows[half] + number, static_cast<Index>(row));
    ctx.store(half_substitution_indices[half] + number, substitution_indices == nullptr
                                                            ? static_cast<Index>(row)
                                                            : ctx.load_constant(substitution_indices + row));
    ctx.store(solve_indices + row, half == 0 ? static_cast<Index>(rest_size + number) : number);
    if (half == 1) {
      ctx.store(rest_level_of_row + number, static_cast<Index>(own.level - last_level));
    }
  }
};

/// Translates rows of the whole to rows of a half. Runs once per row in level order.
template <class Index>
struct translate_rows {
  const Index* rows;           ///< by solve index: the row of the whole
  const Index* solve_indices;  ///< by row of the whole, from number_rows
  Index first_solve_index;     ///< solve index of the first row of the half
  Index* numbers;              ///< output by solve index: the row of the half

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(numbers + i, static_cast<Index>(ctx.load_constant(solve_indices + ctx.load_constant(rows + i)) -
                                              first_solve_index));
  }
};

}  // namespace cut_kernels

/// Cuts the triangle after its first `first_levels` levels, which hold `first_rows` rows, fewer than all.
/// `order`: its rows in level order. Synchronises.
template <class Index, class Offset, class Executor>
cut_triangle<Index, Offset> cut_after_level(const split_triangle<Index, Offset>& split,
                                            const row_levels<Index>& levels,
                                            const device_levels<Index>& order, std::int64_t first_levels,
                                            std::int64_t first_rows, const Executor& on,
                                            const analysis_memory& memory) {
  const device_triangle<Index, Offset>& t = split.triangle;
  const std::int64_t rest_rows = t.size - first_rows;
  cut_triangle<Index, Offset> made;
  made.first.has_partial_rows = made.rest.has_partial_rows = split.has_partial_rows;
  made.first.substitution_indices = make_buffer<Index>(first_rows, on, memory.kept);
  made.rest.substitution_indices = make_buffer<Index>(rest_rows, on, memory.kept);
  made.rest_levels.count = levels.count - first_levels;
  made.rest_levels.of_row = make_buffer<Index>(rest_rows, on, memory.kept);
  const buffer<Index> rows_of_first = make_buffer<Index>(first_rows, on, memory.kept);
  const buffer<Index> rows_of_rest = make_buffer<Index>(rest_rows, on, memory.kept);
  const buffer<Index> solve_indices = make_buffer<Index>(t.size, on, memory.kept);
  cut_kernels::number_rows<Index> body{};
  body.rest_size = rest_rows;
  body.substitution_indices = split.substitution_indices.data();
  body.level_of_row = levels.of_row.data();
  body.last_level = static_cast<Index>(first_levels);
  body.rows[0] = rows_of_first.data();
  body.rows[1] = rows_of_rest.data();
  body.half_substitution_indices[0] = made.first.substitution_indices.data();
  body.half_substitution_indices[1] = made.rest.substitution_indices.data();
  body.rest_level_of_row = made.rest_levels.of_row.data();
  body.solve_indices = solve_indices.data();
  scan(on, t.size, body, memory);
  made.first.triangle =
      select_rows(t,
                  row_selection<Index>{first_rows, rows_of_first.data(), solve_indices.data(),
                                       static_cast<Index>(rest_rows), true},
                  on, memory);
  made.rest.triangle = select_rows(
      t, row_selection<Index>{rest_rows, rows_of_rest.data(), solve_indices.data(), 0, true}, on, memory);

  made.first_levels.count = first_levels;
  made.first_levels.level_offsets = make_buffer<Index>(first_levels + 1, on, memory.kept);
  on.copy(made.first_levels.level_offsets.data(), order.level_offsets.data(),
          made.first_levels.level_offsets.bytes());
  made.first_levels.rows = make_buffer<Index>(first_rows, on, memory.kept);
  simt::for_each(
      on, first_rows,
      cut_kernels::translate_rows<Index>{order.rows.data(), solve_indices.data(),
                                         static_cast<Index>(rest_rows), made.first_levels.rows.data()});
  return made;
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

}  // namespace sptrsv::detail
