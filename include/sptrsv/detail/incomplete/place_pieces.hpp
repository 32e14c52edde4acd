// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation that find steps and operands of long rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_pieces.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Where the operands and steps of entries begin, after the scan of their counts.
struct piece_starts {
  std::int64_t* operands;  ///< by entry, and the total; before the scan: the counts
  std::int64_t* steps;     ///< the same
};

/// Counts the steps of the pieces of long rows and their operands, or writes them. A block takes one piece
/// after the other, and each warp a share of its steps. The counts of a share belong to an entry of the
/// piece. A lane has an entry of the piece, and looks in each step of the share for the operand that changes
/// it.
template <method Method, class Index, class Offset>
struct place_pieces_agent {
  static constexpr int block_threads = 256;
  static constexpr int warps = block_threads / 32;
  struct shared_storage {};
  struct params {
    searched_rows<Method, Index, Offset> rows;
    entry_cells<Method> cells;
    piece_starts starts;
    const row_piece<Index>* pieces;
    const operand_totals* totals;
    operand<Index, Offset>* operands;
    piece_step<Offset>* steps;  ///< null: operands and steps are counted
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t pieces = ctx.load_constant(&p.totals->pieces);
    for (std::int64_t q = ctx.block_rank(); q < pieces; q += ctx.grid_blocks()) {
      const row_piece<Index> piece = ctx.load_constant(p.pieces + q);
      const row_piece<Index> next = ctx.load_constant(p.pieces + q + 1);
      const std::int64_t length = triangle_kernels::row_length(ctx, p.rows.row_offsets, piece.row);
      const auto below = static_cast<std::int64_t>(ctx.load_constant(p.rows.diagonal_slots + piece.row));
      if (p.rows.limits.pieces_of(length, below) == 1) {
        continue;
      }
      share of;
      of.row_begin = static_cast<std::int64_t>(ctx.load_constant(p.rows.row_offsets + piece.row));
      of.begin = piece.slot;
      of.end = next.row == piece.row ? static_cast<std::int64_t>(next.slot) : length;
      of.below = below;
      const std::int64_t shares = of.end - of.begin < warps ? of.end - of.begin : warps;
      const std::int64_t steps = below < of.end ? below : of.end;  // those that may change the piece
      if (warp.index() < shares) {
        of.entry = of.row_begin + of.begin + warp.index();
        of.first_step = warp.index() * steps / shares;
        of.end_step = (warp.index() + 1) * steps / shares;
        place(ctx, warp, p, of);
      }
    }
  }

 private:
  /// A share of the steps of a piece. Slots are those of the row.
  struct share {
    std::int64_t row_begin;   ///< first entry of the row
    std::int64_t begin;       ///< first slot of the piece
    std::int64_t end;         ///< one past the last one
    std::int64_t below;       ///< slot of the diagonal
    std::int64_t entry;       ///< the entry with the counts of the share
    std::int64_t first_step;  ///< first slot of the steps
    std::int64_t end_step;    ///< one past the last one
  };
  /// The entries of the row that a step of this lane, or of all lanes, needs.
  struct needed_entries {
    std::uint32_t columns;  ///< see entry_cell
    Offset first;
  };
  /// The entry of a lane.
  struct lane_entry {
    bool is_entry;  ///< whether steps may change it
    Index column;
    std::int64_t slot;
    std::uint32_t cells;   ///< Cholesky: where those of row `column` begin
    Index known;           ///< Cholesky: number of the cell that is loaded; -1: none
    needed_entries found;  ///< what is loaded
  };
  /// A step of each lane.
  struct lane_step {
    std::int64_t slot;
    Index column;         ///< k of entry (i, k)
    std::uint32_t cells;  ///< LU: where those of row k begin
  };
  /// Steps whose cells are loaded together.
  static constexpr int steps_at_once = 4;

  template <class Context, class Warp>
  SPTRSV_DEVICE static void place(Context& ctx, const Warp& warp, const params& p, const share& of) {
    const bool writes = p.steps != nullptr;
    const bool has_all_steps = Method == method::cholesky && of.begin <= of.below && of.below < of.end;
    lane_entry own{};
    own.slot = of.begin + warp.rank();
    own.is_entry = own.slot < of.end && (Method == method::lu || own.slot < of.below);
    own.column = ctx.load_constant(p.rows.columns + of.row_begin + (own.is_entry ? own.slot : 0));
    own.cells = static_cast<std::uint32_t>(p.cells.begin(own.column));
    own.known = -1;
    std::int64_t next = writes ? ctx.load_constant(p.starts.operands + of.entry) : 0;
    std::int64_t next_step = writes ? ctx.load_constant(p.starts.steps + of.entry) : 0;
    for (std::int64_t first = of.first_step; first < of.end_step; first += 32) {
      const int count = of.end_step - first < 32 ? static_cast<int>(of.end_step - first) : 32;
      lane_step step{first + (warp.rank() < count ? warp.rank() : 0), 0, 0};
      step.column = ctx.load_constant(p.rows.columns + of.row_begin + step.slot);
      step.cells = static_cast<std::uint32_t>(p.cells.begin(step.column));
      std::uint32_t slots = 0;  // entries that the step of this lane changes
      for (int s = 0; s < count; s += steps_at_once) {
        place_steps(ctx, warp, p, of, s, count, step, own, slots, next);
      }
      const bool is_kept = warp.rank() < count && (slots != 0 || step.slot >= of.begin || has_all_steps);
      const std::uint32_t kept = warp.ballot(is_kept);
      if (writes && is_kept) {
        ctx.store(p.steps + next_step + simt::bit_count(kept & bits_below(warp.rank())),
                  piece_step<Offset>{source_of(ctx, p, of, step), slots});
      }
      next_step += simt::bit_count(kept);
    }
    if (!writes && warp.rank() == 0) {
      ctx.store(p.starts.operands + of.entry, next);
      ctx.store(p.starts.steps + of.entry, next_step);
    }
  }

  /// Finds the operands of the steps number `begin` to begin + steps_at_once - 1 of the `count` steps of the
  /// lanes, and writes them from `next` on. `slots`: output of the lane with the step: the entries of the
  /// piece that it changes, one bit for each.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void place_steps(Context& ctx, const Warp& warp, const params& p, const share& of,
                                        int begin, int count, const lane_step& step, lane_entry& own,
                                        std::uint32_t& slots, std::int64_t& next) {
    needed_entries found[steps_at_once];
    int bit[steps_at_once];
    SPTRSV_UNROLL
    for (int i = 0; i < steps_at_once; ++i) {
      const int s = begin + i;
      const Index k = warp.shuffle(step.column, s);
      const std::uint32_t cells = warp.shuffle(step.cells, s);
      bit[i] = static_cast<int>((Method == method::lu ? own.column : k) & 31);
      if (p.cells.cells != nullptr) {
        found[i] = load_cell(ctx, p, k, cells, own);
      } else {
        found[i] = search(ctx, p, k, bit[i], own);
      }
      found[i].columns = s < count ? found[i].columns : 0;
    }
    SPTRSV_UNROLL
    for (int i = 0; i < steps_at_once; ++i) {
      const bool is_found = (found[i].columns >> bit[i] & 1u) != 0;
      const std::uint32_t changed = warp.ballot(is_found);
      if (p.steps != nullptr && is_found) {
        const Offset e =
            found[i].first + static_cast<Offset>(simt::bit_count(found[i].columns & bits_below(bit[i])));
        ctx.store(p.operands + next + simt::bit_count(changed & bits_below(warp.rank())),
                  operand<Index, Offset>{ctx.load_constant(p.rows.sources + e),
                                         static_cast<Index>(own.slot - of.begin)});
      }
      slots = warp.rank() == begin + i ? changed : slots;
      next += simt::bit_count(changed);
    }
  }

  /// Loads the cell with the operand of this lane in the elimination of column k, if there is one: for LU
  /// u_kj, for Cholesky l_jk, where j is the column of the entry. `cells`: for LU, where those of row k
  /// begin.
  template <class Context>
  SPTRSV_DEVICE static needed_entries load_cell(Context& ctx, const params& p, Index k, std::uint32_t cells,
                                                lane_entry& own) {
    const Index number = (Method == method::lu ? own.column : k) >> 5;
    if (Method == method::lu || own.known != number) {
      const bool is_there =
          own.is_entry && (Method == method::lu ? own.column > k : number <= own.column >> 5);
      const std::uint32_t at =
          (Method == method::lu ? cells : own.cells) + static_cast<std::uint32_t>(number);
      const auto cell = is_there ? ctx.load_constant(p.cells.cells + at) : entry_cell{};
      own.found = {cell.columns, static_cast<Offset>(cell.first)};
      own.known = number;
    }
    return own.found;
  }
  /// Does the same by a search. The result has one entry at most, which has the bit `bit`.
  template <class Context>
  SPTRSV_DEVICE static needed_entries search(Context& ctx, const params& p, Index k, int bit,
                                             const lane_entry& own) {
    if (!own.is_entry || own.column <= k) {
      return {};
    }
    const Index row = ctx.load_constant(p.rows.solve_index_of_row + (Method == method::lu ? k : own.column));
    auto in = p.rows.beside(ctx, row, p.rows.diagonal_of(ctx, row));
    const bool is_found = p.rows.search(ctx, in, Method == method::lu ? own.column : k);
    return {is_found ? 1u << bit : 0u, in.begin};
  }

  /// Returns piece_step::source of a step.
  template <class Context>
  SPTRSV_DEVICE static Offset source_of(Context& ctx, const params& p, const share& of,
                                        const lane_step& step) {
    if (step.slot < of.begin) {
      return ctx.load_constant(p.rows.sources + of.row_begin + step.slot);
    }
    const Index r = ctx.load_constant(p.rows.solve_index_of_row + step.column);
    if (Method == method::cholesky) {
      return static_cast<Offset>(r);
    }
    return ctx.load_constant(p.rows.sources + p.rows.diagonal_of(ctx, r));
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
    piece.first_step = ctx.load_constant(starts.steps + e);
    ctx.store(pieces + q, piece);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
