// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation that find steps and operands of long rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operands.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Where the operands and steps of entries begin, after the scan of their counts.
struct piece_starts {
  std::int64_t* operands;   ///< by entry, and the total; before the scan: the counts
  std::int64_t* steps;      ///< by entry, and the total; plus scan_begin
  std::int64_t scan_begin;  ///< the total of the operands, which the scan goes on from
};

/// Counts the steps of the pieces of long rows and their operands, or writes them. A warp takes an entry
/// after the other, each far from the last one. An entry stands for a share of the steps of its piece: its
/// piece has as many shares as entries. A lane has an entry of the piece, and looks in each step of the share
/// for the operand that changes it.
template <method Method, class Index, class Offset>
struct place_pieces_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    place_operands<Method, Index, Offset> operands;
    std::int64_t entries;
    piece_starts starts;
    piece_step<Offset>* to;  ///< used if operands are written
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    constexpr std::int64_t block_warps = block_threads / 32;
    const Offset* const row_offsets = p.operands.steps.row_offsets;
    for (std::int64_t e = ctx.block_rank() * block_warps + warp.index(); e < p.entries;
         e += ctx.grid_blocks() * block_warps) {
      const std::int64_t r =
          triangle_kernels::count_below(ctx, row_offsets + 1, p.operands.size, static_cast<Offset>(e + 1));
      const std::int64_t length = triangle_kernels::row_length(ctx, row_offsets, r);
      const std::int64_t pieces =
          p.operands.limits.pieces_of(length, ctx.load_constant(p.operands.steps.diagonal_slots + r));
      if (pieces > 1) {
        const std::int64_t slot = e - static_cast<std::int64_t>(ctx.load_constant(row_offsets + r));
        const std::int64_t piece = ((slot + 1) * pieces - 1) / length;
        place(ctx, warp, p, r, e,
              {piece_limits::begin(piece, length, pieces), piece_limits::begin(piece + 1, length, pieces),
               slot});
      }
    }
  }

 private:
  using range = typename find_operands<Method, Index, Offset>::range;
  struct share {
    std::int64_t begin;  ///< first slot of the piece
    std::int64_t end;    ///< one past the last one
    std::int64_t slot;   ///< of the entry that stands for the share
  };

  template <class Context, class Warp>
  SPTRSV_DEVICE static void place(Context& ctx, const Warp& warp, const params& p, std::int64_t r,
                                  std::int64_t e, const share& of) {
    const auto& steps = p.operands.steps;
    const Offset* const sources = p.operands.sources;
    const bool writes = p.operands.to != nullptr;
    const std::int64_t row_begin = e - of.slot;
    const auto below = static_cast<std::int64_t>(ctx.load_constant(steps.diagonal_slots + r));
    const std::int64_t all = below < of.end ? below : of.end;  // steps that may change the piece
    const std::int64_t shares = of.end - of.begin;
    const bool has_all_steps = Method == method::cholesky && of.begin <= below && below < of.end;
    const std::int64_t own = of.begin + warp.rank();  // slot of this lane
    const bool is_entry = own < of.end && (Method == method::lu || own < below);
    const Index column = ctx.load_constant(steps.columns + row_begin + (is_entry ? own : 0));
    const range of_column = Method == method::lu ? range{} : lower_part(ctx, steps, column);
    std::int64_t next = writes ? ctx.load_constant(p.starts.operands + e) : 0;
    std::int64_t next_step = writes ? ctx.load_constant(p.starts.steps + e) - p.starts.scan_begin : 0;
    for (std::int64_t t = (of.slot - of.begin) * all / shares; t < (of.slot - of.begin + 1) * all / shares;
         ++t) {
      const auto step = steps.step_of(ctx, r, row_begin + t);
      range searched = Method == method::lu ? step.other : of_column;
      const Index wanted = Method == method::lu ? column : ctx.load_constant(steps.columns + row_begin + t);
      const bool is_found = is_entry && own > t && steps.search(ctx, searched, wanted);
      const std::uint32_t slots = warp.ballot(is_found);
      if (slots == 0 && t < of.begin && !has_all_steps) {
        continue;
      }
      if (writes) {
        if (is_found) {
          ctx.store(p.operands.to + next + simt::bit_count(slots & ((1u << warp.rank()) - 1)),
                    operand<Index, Offset>{ctx.load_constant(sources + searched.begin),
                                           static_cast<Index>(own - of.begin)});
        }
        if (warp.rank() == 0) {
          const Offset pivot =
              Method == method::lu ? ctx.load_constant(sources + step.pivot) : static_cast<Offset>(step.k);
          ctx.store(
              p.to + next_step,
              piece_step<Offset>{t < of.begin ? ctx.load_constant(sources + row_begin + t) : pivot, slots});
        }
      }
      next += simt::bit_count(slots);
      ++next_step;
    }
    if (!writes && warp.rank() == 0) {
      ctx.store(p.starts.operands + e, next);
      ctx.store(p.starts.steps + e, next_step);
    }
  }

  /// Returns the entries before the diagonal of the row with the number `column`.
  template <class Context>
  SPTRSV_DEVICE static range lower_part(Context& ctx, const find_operands<Method, Index, Offset>& steps,
                                        Index column) {
    const Index r = ctx.load_constant(steps.solve_index_of_row + column);
    const Offset begin = ctx.load_constant(steps.row_offsets + r);
    return {begin, begin + static_cast<Offset>(ctx.load_constant(steps.diagonal_slots + r)), begin};
  }
};

/// Writes where the operands and steps of each piece begin. Runs once per piece and for the end.
template <class Index, class Offset>
struct start_pieces {
  const Offset* row_offsets;
  piece_starts starts;
  row_piece<Index>* pieces;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t q) const {
    row_piece<Index> piece = ctx.load(pieces + q);
    const auto e = static_cast<std::int64_t>(ctx.load_constant(row_offsets + piece.row)) + piece.slot;
    piece.first_operand = ctx.load_constant(starts.operands + e);
    piece.first_step = ctx.load_constant(starts.steps + e) - starts.scan_begin;
    ctx.store(pieces + q, piece);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
