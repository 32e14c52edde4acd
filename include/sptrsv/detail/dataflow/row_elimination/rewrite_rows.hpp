// SPDX-License-Identifier: Apache-2.0
// Rewriting of rows by one warp for each (see runs.hpp), and the order in which they are rewritten: by their
// levels in the runs, those of all runs together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/runs.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

using triangle_kernels::row_length;

/// Writes, for each row, its level in its run, counted from 1, as a key to sort by, and the state of a row
/// that is not rewritten. Writes the numbers 0, 1, 2, ..., too.
template <class Index, class Offset, class Real>
struct start_rows {
  const Offset* row_offsets;
  runs<Index> in;
  Index* positions;
  Index* numbers;
  Offset* slots;  ///< of the rewritten row: none yet
  Offset* lengths;
  Offset* rhs_lengths;
  Real* inverse_sums;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(positions + row, in.position(ctx, row));
    ctx.store(numbers + row, static_cast<Index>(row));
    ctx.store(slots + row, Offset{0});
    ctx.store(rhs_lengths + row, Offset{0});
    ctx.store(lengths + row, static_cast<Offset>(row_length(ctx, row_offsets, row)));
    ctx.store(inverse_sums + row, Real{1});
  }
};

/// The rows by their levels in the runs.
template <class Index>
struct row_positions {
  buffer<Index> order;         ///< the rows
  std::vector<Index> offsets;  ///< where those of each level begin in the order

  /// Calls visit(rows, count) for the rows of each level but the first, level by level.
  template <class Visit>
  void for_later(const Visit& visit) const {
    for (std::size_t i = 1; i + 1 < offsets.size(); ++i) {
      const std::int64_t count = std::int64_t{offsets[i + 1]} - offsets[i];
      if (count > 0) {
        visit(order.data() + offsets[i], count);
      }
    }
  }
};

/// Sorts the rows by their levels in the runs, as start_rows wrote them. Runs have `positions.count` levels
/// or fewer. Synchronises.
template <class Index, class Executor>
row_positions<Index> sort_by_position(const row_levels<Index>& positions, const Executor& on,
                                      const analysis_memory& memory) {
  device_levels<Index> sorted;
  sorted.count = positions.count;
  sorted.level_offsets = make_buffer<Index>(positions.count + 1, on, memory.scratch);
  sorted.rows = make_buffer<Index>(count_of(positions.of_row), on, memory.kept);
  on.fill_bytes(sorted.level_offsets.data(), 0xff, sorted.level_offsets.bytes());
  finish_levels(sorted, sort_by_level(positions, positions.count, sorted.rows, on, memory), level_from_one{},
                on);
  row_positions<Index> made{std::move(sorted.rows), download_array(sorted.level_offsets, on)};
  for (std::size_t i = made.offsets.size() - 1; i-- > 0;) {
    if (made.offsets[i] < 0) {  // no run has so many levels
      made.offsets[i] = made.offsets[i + 1];
    }
  }
  return made;
}

/// Bounds the length of a rewritten row, its entries and those of its right-hand side together: 0 if it
/// cannot be rewritten. Runs once per row: level by level of the runs, or for all rows, which then get the
/// largest bounds.
template <class Index, class Offset>
struct bound_lengths {
  const Index* listed;  ///< rows; null: all rows, in their order
  triangle_view<Index, Offset> triangle;
  runs<Index> in;
  double fill;
  Offset least;
  Offset longest_row;
  Offset* bounds;  ///< by row; 0 for rows that are not rewritten

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t row = listed == nullptr ? i : static_cast<std::int64_t>(ctx.load_constant(listed + i));
    const Offset begin = ctx.load_constant(triangle.row_offsets + row);
    const Offset end = ctx.load_constant(triangle.row_offsets + row + 1);
    const Index first_level = in.first_level(ctx, row);
    const Offset length = end - begin;
    const auto filled = static_cast<Offset>(fill * static_cast<double>(length));
    const Offset most = length > longest_row ? Offset{0} : filled < least ? least : filled;
    Offset bound = listed == nullptr ? most : length;
    for (Offset e = begin; e < end && bound < most; ++e) {
      const Index column = ctx.load_constant(triangle.columns + e);
      if (ctx.load_constant(in.levels + column) >= first_level) {
        const Offset merged = ctx.load(bounds + column);
        bound += merged > 0 ? merged : static_cast<Offset>(row_length(ctx, triangle.row_offsets, column));
      }
    }
    ctx.store(bounds + row, bound < most ? bound : most);
  }
};

/// Counts of rewritten rows. Warps add to several, since additions to one address wait for each other.
struct rewritten_counts {
  static constexpr int parts = 32;

  std::int64_t rows;
  std::int64_t entries;      ///< more than before they were rewritten
  std::int64_t rhs_entries;  ///< of their right-hand sides
  std::int64_t unused;
};

/// Chooses the rows that are rewritten, and lists their columns. Runs once per listed row, by a warp.
template <class Scalar, class Index, class Offset>
struct choose_row {
  const Index* listed;  ///< rows
  valued_triangle<Scalar, Index, Offset> triangle;
  runs<Index> in;
  real_t<Scalar> max_growth;
  const Offset* slots;  ///< rows + 1: where the columns of a rewritten row and then of its rhs are listed
  Index* columns;
  Offset* lengths;               ///< by row: entries
  Offset* rhs_lengths;           ///< by row: entries of the right-hand side; 0 if it is not rewritten
  real_t<Scalar>* inverse_sums;  ///< by row
  rewritten_counts* counts;      ///< rewritten_counts::parts of them, which start at 0

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t task) const {
    const std::int64_t row = static_cast<std::int64_t>(ctx.load_constant(listed + task));
    const Offset slot = ctx.load_constant(slots + row);
    const Offset max_count = ctx.load_constant(slots + row + 1) - slot;
    if (max_count == 0) {
      return;  // it is too long
    }
    const auto r = open_row(ctx, warp, triangle, in, row);
    if (r.eliminated == 0 || r.eliminated > most_eliminated) {
      return;
    }
    const auto e = eliminate(ctx, warp, triangle, row, r, inverse_sums);
    bool is_rewritten = e.is_finite && e.growth() <= max_growth;
    Offset length = 0;
    Offset rhs_length = 0;
    if (is_rewritten) {
      length = list_columns(ctx, warp, r, false, slot, max_count);
      rhs_length = length > max_count ? Offset{0}
                                      : list_columns(ctx, warp, r, true, slot + length, max_count - length);
      is_rewritten = length + rhs_length <= max_count;
    }
    if (is_rewritten && warp.rank() == 0) {
      ctx.store(lengths + row, length);
      ctx.store(rhs_lengths + row, rhs_length);
      ctx.store(inverse_sums + row, e.inverse_sum);
      rewritten_counts* const part = counts + task % rewritten_counts::parts;
      ctx.atomic_add(&part->rows, std::int64_t{1});
      ctx.atomic_add(&part->entries,
                     static_cast<std::int64_t>(length) - static_cast<std::int64_t>(r.end - r.begin));
      ctx.atomic_add(&part->rhs_entries, static_cast<std::int64_t>(rhs_length));
    }
  }

 private:
  /// Lists the columns of the rewritten row, or those of its right-hand side, and returns their number. If
  /// there are more than `max_count`, it stops.
  template <class Context, class Warp>
  SPTRSV_DEVICE Offset list_columns(Context& ctx, const Warp& warp, const run_row<Index, Offset>& r,
                                    bool of_rhs, Offset slot, Offset max_count) const {
    part_of_list<Index, Offset> list{triangle.of.columns, r.begin, r.begin, warp.rank() == 0, of_rhs,
                                     r.first_level,       in};
    if (warp.rank() == 0) {
      list.end = r.end;
    } else if (r.has_entry) {
      const Offset rhs_length = ctx.load(rhs_lengths + r.needs);
      if (rhs_length > 0) {
        const Offset length = ctx.load(lengths + r.needs);
        list.columns = columns;
        list.next = ctx.load_constant(slots + r.needs) + (of_rhs ? length : Offset{0});
        list.end = list.next + (of_rhs ? rhs_length : length);
      } else if (!of_rhs) {
        list.next = ctx.load_constant(triangle.of.row_offsets + r.needs);
        list.end = ctx.load_constant(triangle.of.row_offsets + r.needs + 1);
      }
    }
    return merge(ctx, warp, list, columns, slot, max_count);
  }
};

/// A matrix by rows whose values are computed.
template <class Scalar, class Index, class Offset>
struct computed_rows {
  const Offset* row_offsets;
  const Index* columns;
  Scalar* values;
};

/// Writes the values of the rows that are not rewritten, and all pivots. Runs once per entry of the rewritten
/// system, see triangle_kernels::for_each_entry().
template <class Scalar, class Index, class Offset>
struct copy_values {
  valued_triangle<Scalar, Index, Offset> triangle;
  computed_rows<Scalar, Index, Offset> rows;  ///< the rewritten system, with its pivots unless they are unit
  const Offset* rhs_offsets;                  ///< of the entries of the right-hand sides

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    if (triangle.of.diagonal_sources != nullptr &&
        e + 1 == static_cast<std::int64_t>(ctx.load_constant(rows.row_offsets + row + 1))) {
      ctx.store(rows.values + e, triangle.pivot(ctx, row));
    } else if (ctx.load_constant(rhs_offsets + row) == ctx.load_constant(rhs_offsets + row + 1)) {
      const Offset number = static_cast<Offset>(e) - ctx.load_constant(rows.row_offsets + row);
      ctx.store(rows.values + e,
                triangle.entry(ctx, row, ctx.load_constant(triangle.of.row_offsets + row) + number));
    }
  }
};

/// Computes the values of rewritten rows and of their right-hand sides. Runs once per listed row, by a warp.
template <class Scalar, class Index, class Offset>
struct rewrite_row {
  const Index* listed;  ///< rows
  valued_triangle<Scalar, Index, Offset> triangle;
  runs<Index> in;
  real_t<Scalar> max_growth;
  computed_rows<Scalar, Index, Offset> rows;  ///< the rewritten system, with pivots unless they are unit
  computed_rows<Scalar, Index, Offset> rhs;   ///< w_ij of the right-hand sides
  real_t<Scalar>* inverse_sums;               ///< by row
  std::int64_t* first_grown;  ///< the first rewritten row whose growth is too large; starts beyond all rows

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t task) const {
    const std::int64_t row = static_cast<std::int64_t>(ctx.load_constant(listed + task));
    if (ctx.load_constant(rhs.row_offsets + row) == ctx.load_constant(rhs.row_offsets + row + 1)) {
      return;
    }
    const auto r = open_row(ctx, warp, triangle, in, row);
    const auto e = eliminate(ctx, warp, triangle, row, r, inverse_sums);
    const Offset pivots = triangle.of.diagonal_sources == nullptr ? 0 : 1;
    const bool rows_are_finite = combine(ctx, warp, rows, pivots, row, r, false, e.factor);
    const bool rhs_are_finite = combine(ctx, warp, rhs, Offset{0}, row, r, true, e.factor);
    if (warp.rank() == 0) {
      ctx.store(inverse_sums + row, e.inverse_sum);
      if (!(rows_are_finite && rhs_are_finite && e.is_finite && e.growth() <= max_growth)) {
        ctx.atomic_min(first_grown, row);
      }
    }
  }

 private:
  /// Computes the values of the rewritten row in `of`, which is `rows` or `rhs`; returns whether they are
  /// finite. `pivots`: pivots of a row of `of`.
  template <class Context, class Warp>
  SPTRSV_DEVICE bool combine(Context& ctx, const Warp& warp, const computed_rows<Scalar, Index, Offset>& of,
                             Offset pivots, std::int64_t row, const run_row<Index, Offset>& r, bool of_rhs,
                             Scalar factor) const {
    eliminated_row<Scalar, Offset> eliminated{0, 0, factor};
    if (r.has_entry) {
      eliminated.begin = ctx.load_constant(of.row_offsets + r.needs);
      eliminated.end = ctx.load_constant(of.row_offsets + r.needs + 1) - pivots;
    }
    // The row's entries of the same run go to its right-hand side. The rewritten row may have such a column
    // nevertheless: from a row that is kept.
    return combine_rows(
        ctx, warp, of.columns, of.values, ctx.load_constant(of.row_offsets + row),
        ctx.load_constant(of.row_offsets + row + 1) - pivots, eliminated, r.eliminated, [&](Index column) {
          const Offset e = in.eliminates(ctx, r.first_level, column) == of_rhs
                               ? find_column(ctx, triangle.of.columns, r.begin, r.end, column)
                               : r.end;
          if (e == r.end) {
            return Scalar{};
          }
          const Scalar entry = triangle.entry(ctx, row, e);
          return of_rhs ? divide(entry, triangle.pivot(ctx, static_cast<std::int64_t>(column))) : entry;
        });
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
