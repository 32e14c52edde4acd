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

/// Counts the steps of the pieces of long rows and the sources that are listed, or writes them. A block takes
/// one piece after the other, and each warp a share of the steps of its row. A lane has a step, and
/// intersects row k with the piece, cell by cell.
template <method Method, class Index, class Offset>
struct place_pieces_agent {
  static constexpr int block_threads = 128;
  static constexpr int shares = block_threads / 32;
  static constexpr int warps_per_processor = 32;
  struct shared_storage {};
  struct params {
    searched_rows<Method, Index, Offset> rows;
    needed_rows<Method, Index, Offset> needed;
    entry_cells cells;
    std::int64_t* starts;  ///< by piece and share: the number of its steps; after the scan those before
    std::int64_t* lists;   ///< the same for listed sources, with those of all steps before them
    const row_piece<Index>* pieces;
    operand_totals* totals;     ///< input: pieces; output: of pieces
    std::int64_t list;          ///< index of the first listed source
    Offset* sources;            ///< see elimination::needed_sources
    piece_step<Offset>* steps;  ///< null: they are counted
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t pieces = ctx.load_constant(&p.totals->pieces);
    const std::int64_t blocks = ctx.grid_blocks();
    counts all{};
    for (std::int64_t first = ctx.block_rank(); first < pieces; first += 32 * blocks) {
      const std::int64_t own = first + warp.rank() * blocks;
      std::uint32_t left = warp.ballot(own < pieces && is_cut(ctx, p, own));
      for (; left != 0; left &= left - 1) {
        place(ctx, warp, p, first + simt::lowest_bit(left) * blocks, all);
      }
    }
    if (p.steps == nullptr) {
      add(ctx, warp, all.operands, &p.totals->piece_operands);
      add(ctx, warp, warp.rank() == 0 ? all.steps : 0, &p.totals->steps);
      add(ctx, warp, warp.rank() == 0 ? all.listed : 0, &p.totals->listed);
    }
  }

 private:
  struct counts {
    std::int64_t operands;  ///< of this lane; the others are those of the warp
    std::int64_t steps;
    std::int64_t listed;
  };
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

    /// Returns the entry in the column of bit `bit`.
    [[nodiscard]] SPTRSV_DEVICE Offset entry(int bit) const {
      return first + static_cast<Offset>(simt::bit_count(columns & bits_below(bit)));
    }
  };
  /// Cells that are loaded together.
  static constexpr int cells_at_once = 4;

  template <class Context, class Warp>
  SPTRSV_DEVICE static void add(Context& ctx, const Warp& warp, std::int64_t own, std::int64_t* to) {
    own = simt::reduce(warp, own, 32, simt::plus{});
    if (warp.rank() == 0 && own > 0) {
      ctx.reduce_add(to, own);
    }
  }

  template <class Context>
  SPTRSV_DEVICE static bool is_cut(Context& ctx, const params& p, std::int64_t piece) {
    const Index r = ctx.load_constant(&p.pieces[piece].row);
    return p.rows.limits.pieces_of(triangle_kernels::row_length(ctx, p.rows.row_offsets, r),
                                   ctx.load_constant(p.rows.diagonal_slots + r)) > 1;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void place(Context& ctx, const Warp& warp, const params& p, std::int64_t number,
                                  counts& all) {
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
    const std::int64_t steps = below < end ? below : end;
    const std::int64_t share_steps = simt::ceil_div(steps, std::int64_t{32 * shares}) * 32;
    const std::int64_t begin_step = warp.index() * share_steps;
    const std::int64_t end_step = steps - begin_step < share_steps ? steps : begin_step + share_steps;
    const bool writes = p.steps != nullptr;
    const std::int64_t share = number * shares + warp.index();
    std::int64_t step = all.steps;
    std::int64_t listed = all.listed;
    if (writes) {
      step = ctx.load_constant(p.starts + share);
      listed = p.list + ctx.load_constant(p.lists + share) - ctx.load_constant(&p.totals->steps);
    }
    for (std::int64_t first = begin_step; first < end_step; first += 32) {
      const std::int64_t slot = first + warp.rank();
      const Index k = slot < end_step ? ctx.load_constant(p.rows.columns + row_begin + slot) : Index{-1};
      piece_step<Offset> own{};
      Offset last = 0;
      intersect(ctx, warp, p, cells, k, [&](const found_cell& cell, std::uint32_t hits, std::uint32_t slots) {
        own.first = own.slots != 0 ? own.first : cell.entry(simt::lowest_bit(hits));
        last = cell.entry(simt::highest_bit(hits));
        own.slots |= slots;
      });
      const int operands = simt::bit_count(own.slots);
      const bool is_kept = k >= 0 && (operands > 0 || slot >= piece.slot || has_all_steps);
      const bool is_listed = operands > 0 && last - own.first + 1 != operands;
      const std::uint32_t kept = warp.ballot(is_kept);
      std::int64_t own_list = listed + simt::exclusive_sum(warp, is_listed ? operands : 0);
      if (writes && is_kept) {
        own.first = is_listed ? own_list : own.first;
        own.source = source_of(ctx, p, k, row_begin + slot, slot >= piece.slot);
        ctx.store(p.steps + step + simt::bit_count(kept & bits_below(warp.rank())), own);
      }
      all.operands += operands;
      step += simt::bit_count(kept);
      listed = warp.shuffle(own_list + (is_listed ? operands : 0), 31);
      if (writes && warp.any(is_listed)) {
        intersect(ctx, warp, p, cells, is_listed ? k : Index{-1},
                  [&](const found_cell& cell, std::uint32_t hits, std::uint32_t) {
                    for (; hits != 0; hits &= hits - 1, ++own_list) {
                      ctx.store(p.sources + own_list,
                                ctx.load_constant(p.sources + cell.entry(simt::lowest_bit(hits))));
                    }
                  });
      }
    }
    if (!writes && warp.rank() == 0) {
      ctx.store(p.starts + share, step - all.steps);
      ctx.store(p.lists + share, listed - all.listed);
    }
    all.steps = step;
    all.listed = listed;
  }

  /// Returns the cells of the entries from `begin` to end - 1 in level order.
  template <class Context, class Warp>
  SPTRSV_DEVICE static piece_cells cells_of(Context& ctx, const Warp& warp, const params& p,
                                            std::int64_t begin, std::int64_t end) {
    const bool is_entry = begin + warp.rank() < end;
    const Index column = is_entry ? ctx.load_constant(p.rows.columns + begin + warp.rank()) : Index{-1};
    piece_cells own{0, static_cast<Index>(column >> 5), is_entry ? 1u << (column & 31) : 0u};
    const Index before = warp.shuffle(own.number, (warp.rank() + 31) % 32);
    own.heads = warp.ballot(is_entry && (warp.rank() == 0 || before != own.number));
    for (int distance = 1; distance < 32; distance *= 2) {  // then a head has the columns of all lanes behind
      const Index number = warp.shuffle(own.number, (warp.rank() + distance) % 32);
      const std::uint32_t columns = warp.shuffle(own.columns, (warp.rank() + distance) % 32);
      own.columns |= warp.rank() + distance < 32 && number == own.number ? columns : 0u;
    }
    return own;
  }

  /// Intersects row `k` with the piece: calls use(cell, hits, slots) for each cell with entries of both, one
  /// bit of `hits` for each of their columns, and of `slots` for each of their slots. k < 0: with no row.
  template <class Context, class Warp, class Use>
  SPTRSV_DEVICE static void intersect(Context& ctx, const Warp& warp, const params& p,
                                      const piece_cells& piece, Index k, const Use& use) {
    const bool has_cells = p.cells.cells != nullptr;
    const entry_range<Offset> in = has_cells || k < 0 ? entry_range<Offset>{} : p.needed.of(ctx, k);
    const std::int64_t own_cells = p.cells.begin(k < 0 ? 0 : k);
    for (std::uint32_t left = piece.heads; left != 0;) {
      found_cell cell[cells_at_once];
      std::uint32_t wanted[cells_at_once];  // columns of the piece
      int head[cells_at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < cells_at_once; ++i) {
        head[i] = left != 0 ? simt::lowest_bit(left) : 0;
        const Index number = warp.shuffle(piece.number, head[i]);
        const std::uint32_t columns = warp.shuffle(piece.columns, head[i]);
        wanted[i] = left != 0 ? columns : 0;
        left &= left - 1;
        cell[i] = {};
        if (wanted[i] != 0 && k >= 0 && number >= k >> 5) {
          cell[i] = has_cells ? load(ctx, p.cells.cells + own_cells + number) : search(ctx, p, in, number);
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < cells_at_once; ++i) {
        const std::uint32_t hits = cell[i].columns & wanted[i];
        if (hits != 0) {
          use(cell[i], hits, compressed(hits, wanted[i]) << head[i]);
        }
      }
    }
  }
  template <class Context>
  SPTRSV_DEVICE static found_cell load(Context& ctx, const entry_cell* at) {
    const entry_cell cell = ctx.load_constant(at);
    return {cell.columns, static_cast<Offset>(cell.first)};
  }
  /// Finds the cell with this number in a row without cells. `in`: the entries that are needed of the row.
  template <class Context>
  SPTRSV_DEVICE static found_cell search(Context& ctx, const params& p, const entry_range<Offset>& in,
                                         Index number) {
    const Index* const columns = p.needed.columns;
    const std::int64_t e =
        in.begin + triangle_kernels::count_below(ctx, columns + in.begin, in.end - in.begin, number << 5);
    const bool is_found = e < in.end && ctx.load_constant(columns + e) >> 5 == number;
    return {is_found ? columns_of_cell(ctx, columns, e, in.end) : 0u, static_cast<Offset>(e)};
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
      return static_cast<Offset>(r);
    } else {
      return ctx.load_constant(p.rows.sources + p.rows.diagonal_of(ctx, r));
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
