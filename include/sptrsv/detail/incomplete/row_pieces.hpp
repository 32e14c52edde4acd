// SPDX-License-Identifier: Apache-2.0
// The pieces of long rows of an incomplete factorisation.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// The limits that decide which rows are cut into pieces. One warp computes one piece.
struct piece_limits {
  std::int64_t whole;  ///< entries of the longest row with steps that is not cut
  std::int64_t piece;  ///< entries of a piece of a longer row, at most; at most 32
  /// Entries of the longest row that is cut: the operands of a row are searched in time that grows with the
  /// square of its length.
  std::int64_t longest;

  /// Returns the number of pieces of a row; 1 if the row is not cut. `length`: its entries; `below`: those
  /// below the diagonal, which have steps.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t pieces_of(std::int64_t length, std::int64_t below) const {
    return length <= whole || length > longest || below == 0 ? 1 : simt::ceil_div(length, piece);
  }
  /// Returns the slot in its row where piece `p` begins.
  SPTRSV_HOST_DEVICE static std::int64_t begin(std::int64_t p, std::int64_t length, std::int64_t pieces) {
    return p * length / pieces;
  }
};

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

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
