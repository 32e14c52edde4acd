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
  device_levels<Index> rest_levels;
  buffer<Index> rest_level_of_row;  ///< level of each row of `rest`, counted from 1
};

namespace cut_kernels {

/// Marks the rows of the first levels with 1. Runs once per row and once for the end.
template <class Index>
struct mark_first_rows {
  std::int64_t size;
  const Index* level_of_row;  ///< by row, counted from 1
  Index last_level;
  Index* is_first;  ///< by row, size + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(is_first + row,
              row < size && ctx.load_constant(level_of_row + row) <= last_level ? Index{1} : Index{0});
  }
};

/// Numbers the rows of each half. Runs once per row.
template <class Index>
struct number_rows {
  const Index* firsts_before;  ///< by row: number of rows of the first levels before it
  std::int64_t rest_size;
  const Index* substitution_indices;  ///< by row; null: a row is its substitution index
  const Index* level_of_row;
  Index last_level;
  /// Indexed by the half, then by the row of the half: its row of the whole, and its substitution index.
  Index* rows[2];
  Index* half_substitution_indices[2];
  Index* rest_level_of_row;  ///< by row of the rest, counted from 1
  Index* solve_indices;      ///< by row: its column index in the rest

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Index level = ctx.load_constant(level_of_row + row);
    const Index firsts = ctx.load_constant(firsts_before + row);
    const int half = level <= last_level ? 0 : 1;
    const Index number = half == 0 ? firsts : static_cast<Index>(row) - firsts;
    ctx.store(rows[half] + number, static_cast<Index>(row));
    ctx.store(half_substitution_indices[half] + number, substitution_indices == nullptr
                                                            ? static_cast<Index>(row)
                                                            : ctx.load_constant(substitution_indices + row));
    ctx.store(solve_indices + row, half == 0 ? static_cast<Index>(rest_size + number) : number);
    if (half == 1) {
      ctx.store(rest_level_of_row + number, static_cast<Index>(level - last_level));
    }
  }
};

/// Subtracts `what` from each element.
template <class Index>
struct subtract {
  const Index* from;
  Index what;
  Index* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, static_cast<Index>(ctx.load_constant(from + i) - what));
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
/// `level_of_row` counts from 1. Synchronises.
template <class Index, class Offset, class Executor>
cut_triangle<Index, Offset> cut_after_level(const split_triangle<Index, Offset>& split,
                                            const device_levels<Index>& levels,
                                            const buffer<Index>& level_of_row, std::int64_t first_levels,
                                            std::int64_t first_rows, const Executor& on,
                                            const analysis_memory& memory) {
  const device_triangle<Index, Offset>& t = split.triangle;
  const std::int64_t rest_rows = t.size - first_rows;
  const auto last_level = static_cast<Index>(first_levels);
  cut_triangle<Index, Offset> made;
  made.first.has_partial_rows = made.rest.has_partial_rows = split.has_partial_rows;
  made.first.substitution_indices = make_buffer<Index>(first_rows, on, memory.kept);
  made.rest.substitution_indices = make_buffer<Index>(rest_rows, on, memory.kept);
  made.rest_level_of_row = make_buffer<Index>(rest_rows, on, memory.kept);
  buffer<Index> firsts_before = make_buffer<Index>(t.size + 1, on, memory.kept);
  const buffer<Index> rows_of_first = make_buffer<Index>(first_rows, on, memory.kept);
  const buffer<Index> rows_of_rest = make_buffer<Index>(rest_rows, on, memory.kept);
  const buffer<Index> solve_indices = make_buffer<Index>(t.size, on, memory.kept);
  simt::for_each(
      on, t.size + 1,
      cut_kernels::mark_first_rows<Index>{t.size, level_of_row.data(), last_level, firsts_before.data()});
  on.exclusive_scan(firsts_before.data(), firsts_before.data(), t.size + 1, memory.scratch);
  cut_kernels::number_rows<Index> body{};
  body.firsts_before = firsts_before.data();
  body.rest_size = rest_rows;
  body.substitution_indices = split.substitution_indices.data();
  body.level_of_row = level_of_row.data();
  body.last_level = last_level;
  body.rows[0] = rows_of_first.data();
  body.rows[1] = rows_of_rest.data();
  body.half_substitution_indices[0] = made.first.substitution_indices.data();
  body.half_substitution_indices[1] = made.rest.substitution_indices.data();
  body.rest_level_of_row = made.rest_level_of_row.data();
  body.solve_indices = solve_indices.data();
  simt::for_each(on, t.size, body);
  firsts_before = {};
  made.first.triangle =
      select_rows(t,
                  row_selection<Index>{first_rows, rows_of_first.data(), solve_indices.data(),
                                       static_cast<Index>(rest_rows), true},
                  on, memory);
  made.rest.triangle = select_rows(
      t, row_selection<Index>{rest_rows, rows_of_rest.data(), solve_indices.data(), 0, true}, on, memory);

  const auto take_levels = [&](std::int64_t first, std::int64_t count, std::int64_t first_solve_index,
                               std::int64_t first_row, std::int64_t rows) {
    device_levels<Index> taken;
    taken.count = count;
    taken.level_offsets = make_buffer<Index>(count + 1, on, memory.kept);
    taken.rows = make_buffer<Index>(rows, on, memory.kept);
    simt::for_each(on, count + 1,
                   cut_kernels::subtract<Index>{levels.level_offsets.data() + first,
                                                static_cast<Index>(first_row), taken.level_offsets.data()});
    simt::for_each(
        on, rows,
        cut_kernels::translate_rows<Index>{levels.rows.data() + first_row, solve_indices.data(),
                                           static_cast<Index>(first_solve_index), taken.rows.data()});
    return taken;
  };
  made.first_levels = take_levels(0, first_levels, rest_rows, 0, first_rows);
  made.rest_levels = take_levels(first_levels, levels.count - first_levels, 0, first_rows, rest_rows);
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
