// SPDX-License-Identifier: Apache-2.0
// The pieces of long rows of an incomplete factorisation, and where the entries are that they need, by
// column: found by one load, and not by a search.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/incomplete/operands.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// A whole row, or consecutive entries of a long row. The pieces of a row follow each other, and the rows are
/// in level order.
template <class Index>
struct row_piece {
  std::int64_t first_step;  ///< its first piece_step
  Index row;                ///< solve index
  Index slot;               ///< of its first entry
};

/// What one step of a long row, the elimination of its entry (i, k), does to a piece. Steps that do nothing
/// to it are left out. The entries of the piece that change have operands of the step, in the same order:
/// u_kj of entry (i, j), or l_jk for Cholesky: a_ij -= l_ik conj(l_jk). Where they are is not written down
/// for each of them if the needed entries of row k have them one after the other, as nearly complete factors
/// do.
template <class Offset>
struct piece_step {
  std::int64_t first;  ///< index of the first operand's source among elimination::needed_sources
  /// Index in the stored matrix of l_ik, or, if (i, k) is an entry of the piece, of the pivot of row k; for
  /// Cholesky of its reciprocal: the solve index of row k.
  Offset source;
  std::uint32_t slots;  ///< entries of the piece that change, one bit for each
};

/// The totals that the kernels of the analysis count. They are in device memory.
struct operand_totals {
  std::int64_t longest_row;     ///< entries
  std::int64_t longest_whole;   ///< of the rows that are not cut
  std::int64_t long_rows;       ///< rows that are cut
  std::int64_t pieces;          ///< of all rows, if rows are cut
  std::int64_t operands;        ///< of whole rows
  std::int64_t steps;           ///< of pieces
  std::int64_t piece_operands;  ///< of steps of pieces
  std::int64_t listed;          ///< of these, the sources that are listed
};

/// The body of a scan over the rows in level order: cuts them into pieces.
template <class Index, class Offset>
struct cut_rows {
  std::int64_t size;  ///< rows
  const Offset* row_offsets;
  const Index* diagonal_slots;
  piece_limits limits;
  row_piece<Index>* pieces;  ///< output; one more than there are, without steps
  operand_totals* totals;    ///< output: longest_whole, long_rows, pieces

  struct row {
    std::int64_t count;  ///< pieces
    std::int64_t length;
  };

  template <class Context>
  SPTRSV_DEVICE row load(Context& ctx, std::int64_t r) const {
    const std::int64_t length = triangle_kernels::row_length(ctx, row_offsets, r);
    return {limits.pieces_of(length, ctx.load_constant(diagonal_slots + r)), length};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const row& own, std::int64_t before) const {
    for (std::int64_t p = 0; p < own.count; ++p) {
      const auto slot = static_cast<Index>(piece_limits::begin(p, own.length, own.count));
      ctx.store(pieces + before + p, row_piece<Index>{0, static_cast<Index>(r), slot});
    }
    if (own.count > 1) {
      ctx.reduce_add(&totals->long_rows, std::int64_t{1});
    }
    if (r == size - 1) {
      ctx.store(pieces + before + own.count, row_piece<Index>{0, static_cast<Index>(size), Index{0}});
      ctx.store(&totals->pieces, before + own.count);
    }
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish(Context& ctx, const Warp& warp, const row& own) const {
    simt::raise_largest(ctx, warp, own.count > 1 ? 0 : own.length, &totals->longest_whole);
  }
};

/// The entries that steps need of each row k, the candidates for operands, with ascending columns j: for LU
/// u_kj, for Cholesky l_jk, which are sorted by columns for this. Numbers of rows and columns are those of A.
template <method Method, class Index, class Offset>
struct needed_rows {
  searched_rows<Method, Index, Offset> rows;
  const Offset* offsets;  ///< Cholesky: by column k
  const Index* columns;   ///< j, by needed entry; for LU by entry in level order

  template <class Context>
  SPTRSV_DEVICE entry_range<Offset> of(Context& ctx, Index k) const {
    if constexpr (Method == method::lu) {
      const Index r = ctx.load_constant(rows.solve_index_of_row + k);
      return rows.beside(ctx, r, rows.diagonal_of(ctx, r));
    } else {
      return {ctx.load_constant(offsets + k), ctx.load_constant(offsets + k + 1)};
    }
  }
};

/// The entries of a row in 32 columns that follow each other.
struct entry_cell {
  std::uint32_t columns;  ///< one bit for each entry
  std::uint32_t first;    ///< the first of them
};

/// Returns the columns of the entries from `e` on that are in the cell of entry `e`, one bit for each.
template <class Context, class Index>
SPTRSV_DEVICE std::uint32_t columns_of_cell(Context& ctx, const Index* columns, std::int64_t e,
                                            std::int64_t end) {
  const auto column = [&](std::int64_t entry) { return ctx.load_constant(columns + entry); };
  std::uint32_t found = 0;
  for (const Index cell = column(e) >> 5; e < end && column(e) >> 5 == cell; ++e) {
    found |= 1u << (column(e) & 31);
  }
  return found;
}

/// Tells where needed entries are: row k has one cell for each 32 columns from its diagonal on, so that an
/// entry is found by one load, and not by a search.
struct entry_cells {
  std::int64_t row_cells;  ///< cells of a whole row
  entry_cell* cells;       ///< null: there are none

  explicit entry_cells(std::int64_t size, entry_cell* at = nullptr)
      : row_cells(simt::ceil_div(size, std::int64_t{32})), cells(at) {}

  /// Returns the cells of column 0 of row `k`, or where they would be.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t begin(std::int64_t k) const {
    const std::int64_t own = k / 32;
    return k * row_cells - 16 * own * (own - 1) - k % 32 * own - own;  // the sum of i / 32 for i < k, and own
  }
  /// Returns the number of cells of all rows.
  [[nodiscard]] std::int64_t count(std::int64_t size) const { return begin(size) + size / 32; }
};

/// Writes the cells that have entries. Runs once per needed entry, for LU per entry; see for_each_entry().
template <method Method, class Index, class Offset>
struct write_cells {
  needed_rows<Method, Index, Offset> needed;
  entry_cells to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    entry_range<Offset> in;
    std::int64_t k = r;
    if constexpr (Method == method::lu) {
      const Offset diagonal = needed.rows.diagonal_of(ctx, r);
      in = needed.rows.beside(ctx, r, diagonal);
      k = ctx.load_constant(needed.columns + diagonal);
    } else {
      in = needed.of(ctx, static_cast<Index>(r));
    }
    const auto cell_of = [&](std::int64_t entry) {
      return static_cast<std::int64_t>(ctx.load_constant(needed.columns + entry)) / 32;
    };
    if (e < in.begin || e >= in.end || (e > in.begin && cell_of(e - 1) == cell_of(e))) {
      return;
    }
    ctx.store(to.cells + to.begin(k) + cell_of(e),
              entry_cell{columns_of_cell(ctx, needed.columns, e, in.end), static_cast<std::uint32_t>(e)});
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
