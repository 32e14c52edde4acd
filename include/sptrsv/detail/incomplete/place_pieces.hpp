// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation that find the steps of long rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_pieces.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Returns the bits of `from` at the places of the bits of `of`, without gaps between these.
SPTRSV_DEVICE std::uint32_t compressed(std::uint32_t from, std::uint32_t of) {
  const std::uint32_t run = of != 0 ? of >> simt::lowest_bit(of) : 0;
  if ((run & (run + 1)) == 0) {
    return of != 0 ? from >> simt::lowest_bit(of) : 0;
  }
  std::uint32_t made = 0;
  for (std::uint32_t left = from; left != 0; left &= left - 1) {
    made |= 1u << simt::bit_count(of & ((left & (0 - left)) - 1));
  }
  return made;
}

/// Counts the steps of the pieces of long rows, or writes them. A block takes one piece after the other, and
/// each warp a share of the steps of its row. A lane has a step, and intersects row k with the piece, cell by
/// cell.
template <method Method, class Index, class Offset>
struct place_pieces_agent {
  static constexpr int block_threads = 256;
  static constexpr int shares = block_threads / 32;
  struct shared_storage {};
  struct params {
    searched_rows<Method, Index, Offset> rows;
    needed_rows<Method, Index, Offset> needed;
    entry_cells cells;
    std::int64_t* starts;  ///< by piece and share: where its steps begin; before the scan their number
    const row_piece<Index>* pieces;
    operand_totals* totals;     ///< input: pieces; output: piece_operands
    piece_step<Offset>* steps;  ///< null: they are counted
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t pieces = ctx.load_constant(&p.totals->pieces);
    const std::int64_t blocks = ctx.grid_blocks();
    std::int64_t operands = 0;
    for (std::int64_t first = ctx.block_rank(); first < pieces; first += 32 * blocks) {
      const std::int64_t own = first + warp.rank() * blocks;
      std::uint32_t left = warp.ballot(own < pieces && is_cut(ctx, p, own));
      for (; left != 0; left &= left - 1) {
        place(ctx, warp, p, first + simt::lowest_bit(left) * blocks, operands);
      }
    }
    operands = simt::reduce(warp, operands, 32, simt::plus{});
    if (p.steps == nullptr && warp.rank() == 0 && operands > 0) {
      ctx.reduce_add(&p.totals->piece_operands, operands);
    }
  }

 private:
  using step_type = piece_step<Offset>;
  /// The entries of a piece that steps may change, by the cells of their columns.
  struct piece_cells {
    std::uint32_t heads;    ///< lanes whose entry is the first one of a cell
    Index number;           ///< of the cell of the entry of this lane
    std::uint32_t columns;  ///< of this cell, if the lane is a head
  };
  /// The entries of row k in a cell; see entry_cell.
  struct found_cell {
    std::uint32_t columns;
    Offset first;

    SPTRSV_DEVICE static found_cell of(const entry_cell& cell) {
      return {cell.columns, static_cast<Offset>(cell.first)};
    }
  };
  /// Cells that are loaded together.
  static constexpr int cells_at_once = 4;

  template <class Context>
  SPTRSV_DEVICE static bool is_cut(Context& ctx, const params& p, std::int64_t piece) {
    const Index r = ctx.load_constant(&p.pieces[piece].row);
    return p.rows.limits.pieces_of(triangle_kernels::row_length(ctx, p.rows.row_offsets, r),
                                   ctx.load_constant(p.rows.diagonal_slots + r)) > 1;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void place(Context& ctx, const Warp& warp, const params& p, std::int64_t number,
                                  std::int64_t& operands) {
    const row_piece<Index> piece = ctx.load_constant(p.pieces + number);
    const row_piece<Index> next = ctx.load_constant(p.pieces + number + 1);
    const auto row_begin = static_cast<std::int64_t>(ctx.load_constant(p.rows.row_offsets + piece.row));
    const auto below = static_cast<std::int64_t>(ctx.load_constant(p.rows.diagonal_slots + piece.row));
    const std::int64_t end = next.row == piece.row
                                 ? static_cast<std::int64_t>(next.slot)
                                 : triangle_kernels::row_length(ctx, p.rows.row_offsets, piece.row);
    const bool has_all_steps = Method == method::cholesky && piece.slot <= below && below < end;
    const piece_cells cells = cells_of(ctx, warp, p, row_begin + piece.slot,
                                       row_begin + (Method == method::lu || end < below ? end : below));
    const std::int64_t all_steps = below < end ? below : end;
    const std::int64_t share_steps = simt::ceil_div(all_steps, std::int64_t{32 * shares}) * 32;
    const std::int64_t begin_step = warp.index() * share_steps;
    const std::int64_t end_step = all_steps - begin_step < share_steps ? all_steps : begin_step + share_steps;
    std::int64_t* const start = p.starts + number * shares + warp.index();
    const bool writes = p.steps != nullptr;
    std::int64_t at = writes ? ctx.load_constant(start) : 0;
    for (std::int64_t first = begin_step; first < end_step; first += 32) {
      const std::int64_t slot = first + warp.rank();
      const bool is_step = slot < end_step;
      const Index k = is_step ? ctx.load_constant(p.rows.columns + row_begin + slot) : Index{-1};
      step_type last{};
      const int parts = find(ctx, warp, p, cells, k, [&](int, const step_type& part) {
        last = part;
        operands += simt::bit_count(part.slots);
      });
      const bool is_kept = is_step && (parts > 0 || slot >= piece.slot || has_all_steps);
      const int count = is_kept && parts == 0 ? 1 : parts;
      const std::int64_t own = at + simt::exclusive_sum(warp, count);
      at = warp.shuffle(own + count, 31);
      if (!writes) {
        continue;
      }
      const Offset source = is_kept ? source_of(ctx, p, k, row_begin + slot, slot >= piece.slot) : Offset{0};
      if (is_kept && parts <= 1) {
        last.source = source;
        ctx.store(p.steps + own, last);
      }
      if (warp.any(parts > 1)) {
        static_cast<void>(find(ctx, warp, p, cells, k, [&](int number_of_part, step_type part) {
          part.source = number_of_part == 0 ? source : step_type::goes_on;
          ctx.store(p.steps + own + number_of_part, part);
        }));
      }
    }
    if (!writes && warp.rank() == 0) {
      ctx.store(start, at);
    }
  }

  /// Returns the cells of the entries from `begin` to end - 1 in level order.
  template <class Context, class Warp>
  SPTRSV_DEVICE static piece_cells cells_of(Context& ctx, const Warp& warp, const params& p,
                                            std::int64_t begin, std::int64_t end) {
    const std::int64_t e = begin + warp.rank();
    piece_cells own{0, static_cast<Index>(e < end ? ctx.load_constant(p.rows.columns + e) >> 5 : -1), 0};
    const Index before = warp.shuffle(own.number, (warp.rank() + 31) % 32);
    const bool is_head = e < end && (warp.rank() == 0 || before != own.number);
    own.columns = is_head ? columns_of_cell(ctx, p.rows.columns, e, end) : 0;
    own.heads = warp.ballot(is_head);
    return own;
  }

  /// Calls use(i, part) for each part i of the step of this lane, the elimination of column `k`, without its
  /// source. Returns the number of parts. k < 0: there is no step.
  template <class Context, class Warp, class Use>
  SPTRSV_DEVICE static int find(Context& ctx, const Warp& warp, const params& p, const piece_cells& piece,
                                Index k, const Use& use) {
    const bool has_cells = p.cells.cells != nullptr;
    const entry_range<Offset> in = has_cells || k < 0 ? entry_range<Offset>{} : p.needed.of(ctx, k);
    const std::int64_t own_cells = p.cells.begin(k < 0 ? 0 : k);
    step_type part{};
    int parts = 0;
    for (std::uint32_t left = piece.heads; left != 0;) {
      found_cell cell[cells_at_once];
      std::uint32_t wanted[cells_at_once];  // columns of the piece
      int head[cells_at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < cells_at_once; ++i) {
        head[i] = left != 0 ? simt::lowest_bit(left) : -1;
        left &= left - 1;
        const Index number = warp.shuffle(piece.number, head[i] & 31);
        wanted[i] = head[i] >= 0 ? warp.shuffle(piece.columns, head[i]) : 0;
        cell[i] = {};
        if (wanted[i] != 0 && k >= 0 && number >= k >> 5) {
          cell[i] = has_cells ? found_cell::of(ctx.load_constant(p.cells.cells + own_cells + number))
                              : search(ctx, p, in, number);
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < cells_at_once; ++i) {
        const std::uint32_t hits = cell[i].columns & wanted[i];
        if (hits == 0) {
          continue;
        }
        const std::uint32_t before = bits_below(simt::lowest_bit(hits));
        const auto first = static_cast<Offset>(cell[i].first + simt::bit_count(cell[i].columns & before));
        const std::uint32_t operands = compressed(hits, cell[i].columns & ~before);
        if (part.slots != 0 && first - part.first + simt::highest_bit(operands) > 31) {
          use(parts++, part);
          part = {};
        }
        part.first = part.slots != 0 ? part.first : first;
        part.slots |= compressed(hits, wanted[i]) << head[i];
        part.operands |= operands << (first - part.first);
      }
    }
    if (part.slots != 0) {
      use(parts++, part);
    }
    return parts;
  }
  /// Finds the cell with this number in a row without cells. `in`: the entries that are needed of the row.
  template <class Context>
  SPTRSV_DEVICE static found_cell search(Context& ctx, const params& p, const entry_range<Offset>& in,
                                         Index number) {
    const Index* const columns = p.needed.columns;
    const std::int64_t e =
        in.begin + triangle_kernels::count_below(ctx, columns + in.begin, in.end - in.begin, number << 5);
    if (e >= in.end || ctx.load_constant(columns + e) >> 5 != number) {
      return {};
    }
    return {columns_of_cell(ctx, columns, e, in.end), static_cast<Offset>(e)};
  }

  /// Returns piece_step::source of the step of entry `e`, which is in column `k`. `is_inside`: whether it is
  /// in the piece.
  template <class Context>
  SPTRSV_DEVICE static Offset source_of(Context& ctx, const params& p, Index k, std::int64_t e,
                                        bool is_inside) {
    if (!is_inside) {
      return ctx.load_constant(p.rows.sources + e);
    }
    const Index r = ctx.load_constant(p.rows.solve_index_of_row + k);
    if constexpr (Method == method::cholesky) {
      return step_type::of_pivot(static_cast<Offset>(r));
    } else {
      return step_type::of_pivot(ctx.load_constant(p.rows.sources + p.rows.diagonal_of(ctx, r)));
    }
  }
};

/// Writes where the steps of each piece begin, and of the end. Runs once per piece.
template <class Index>
struct start_pieces {
  std::int64_t shares;  ///< of a piece
  const std::int64_t* starts;
  row_piece<Index>* pieces;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t q) const {
    ctx.store(&pieces[q].first_step, ctx.load_constant(starts + q * shares));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
