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
  std::int64_t first_operand;
  std::int64_t first_step;  ///< its first piece_step
  Index row;                ///< solve index
  Index slot;               ///< of its first entry
};

/// What one step of a long row, the elimination of its entry (i, k), does to a piece. Steps that do nothing
/// to it are left out. The entries of the piece that change have operands of the step, in the same order:
/// u_kj of entry (i, j), or l_jk for Cholesky: a_ij -= l_ik conj(l_jk).
template <class Offset>
struct piece_step {
  /// Index in the stored matrix of l_ik, or, if (i, k) is an entry of the piece, of the pivot of row k; for
  /// Cholesky of its reciprocal: the solve index of row k.
  Offset source;
  std::uint32_t slots;  ///< entries of the piece that change, one bit for each
};

/// The totals that the kernels of the analysis count. They are in device memory.
struct operand_totals {
  std::int64_t longest_row;    ///< entries
  std::int64_t longest_whole;  ///< of the rows that are not cut
  std::int64_t long_rows;      ///< rows that are cut
  std::int64_t pieces;         ///< of all rows, if rows are cut
  std::int64_t operands;
  std::int64_t steps;  ///< of pieces
};

/// The body of a scan over the rows in level order: cuts them into pieces.
template <class Index, class Offset>
struct cut_rows {
  std::int64_t size;  ///< rows
  const Offset* row_offsets;
  const Index* diagonal_slots;
  piece_limits limits;
  row_piece<Index>* pieces;  ///< output; one more than there are, without operands and steps
  operand_totals* totals;    ///< output: longest_row, longest_whole, long_rows, pieces

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
      ctx.store(pieces + before + p, row_piece<Index>{0, 0, static_cast<Index>(r), slot});
    }
    if (own.count > 1) {
      ctx.reduce_add(&totals->long_rows, std::int64_t{1});
    }
    if (r == size - 1) {
      ctx.store(pieces + before + own.count, row_piece<Index>{0, 0, static_cast<Index>(size), Index{0}});
      ctx.store(&totals->pieces, before + own.count);
    }
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish(Context& ctx, const Warp& warp, const row& own) const {
    simt::raise_largest(ctx, warp, own.count > 1 ? 0 : own.length, &totals->longest_whole);
    simt::raise_largest(ctx, warp, own.length, &totals->longest_row);
  }
};

/// The entries of a row in 32 columns that follow each other.
struct entry_cell {
  std::uint32_t columns;  ///< one bit for each entry
  std::uint32_t first;    ///< the first of them, in level order
};

/// Tells where the entries of rows are that other rows need: for LU those above the diagonal, for Cholesky
/// those below. Row k has one cell for each 32 columns from its diagonal on, or up to it, so that an entry is
/// found by one load.
template <method Method>
struct entry_cells {
  std::int64_t row_cells;  ///< cells of a whole row
  entry_cell* cells;       ///< null: there are none

  explicit entry_cells(std::int64_t size, entry_cell* at = nullptr)
      : row_cells(simt::ceil_div(size, std::int64_t{32})), cells(at) {}

  /// Returns the cells of column 0 of row `k`, or where they would be.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t begin(std::int64_t k) const {
    const std::int64_t own = k / 32;
    const std::int64_t of_diagonals = 16 * own * (own - 1) + k % 32 * own;  // sum of i / 32 for i < k
    return Method == method::lu ? k * row_cells - of_diagonals - own : of_diagonals + k;
  }
  /// Returns the number of cells of all rows.
  [[nodiscard]] std::int64_t count(std::int64_t size) const {
    return Method == method::lu ? begin(size) + size / 32 : begin(size);
  }
};

/// Writes the cells that have entries. Runs once per entry, see for_each_entry().
template <method Method, class Index, class Offset>
struct write_cells {
  searched_rows<Method, Index, Offset> rows;
  entry_cells<Method> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Offset diagonal = rows.diagonal_of(ctx, r);
    const auto needed = rows.beside(ctx, r, diagonal);
    const auto cell_of = [&](std::int64_t entry) {
      return static_cast<std::int64_t>(ctx.load_constant(rows.columns + entry)) / 32;
    };
    if (e < needed.begin || e >= needed.end) {
      return;
    }
    const std::int64_t cell = cell_of(e);
    if (e > needed.begin && cell_of(e - 1) == cell) {
      return;
    }
    entry_cell made{0, static_cast<std::uint32_t>(e)};
    for (std::int64_t next = e; next < needed.end && cell_of(next) == cell; ++next) {
      made.columns |= 1u << (ctx.load_constant(rows.columns + next) & 31);
    }
    ctx.store(to.cells + to.begin(ctx.load_constant(rows.columns + diagonal)) + cell, made);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
