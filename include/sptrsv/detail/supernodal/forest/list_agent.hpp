// SPDX-License-Identifier: Apache-2.0
// The kernel that builds the arrays of forests.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/supernodal/analysis/supernodal_structure.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// An item of a forest before it is sorted: a row of a list (forward) or a column (backward). Its bits are a
/// word in which the last field is the highest.
struct alignas(8) forest_item {
  static constexpr int row_shift = 32;
  static constexpr int level_shift = 48;

  std::uint16_t number;     ///< among the rows of the lists or the columns of the forest
  std::uint16_t supernode;  ///< number in the forest
  std::uint16_t row;        ///< local number
  std::uint16_t level;      ///< of its supernode

  SPTRSV_DEVICE static forest_item of(std::int64_t level, std::int64_t row, std::int64_t supernode,
                                      std::int64_t number) {
    return {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(supernode),
            static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(level)};
  }
};

/// Builds the arrays of a forest, a block for each. The items are written in the order of the lists, and
/// sorted by levels and, forward, by rows; the order of equal ones stays. Forward, the columns are the last
/// level, in their order.
template <class Index, class Offset, bool Backward>
struct forest_list_agent {
  static constexpr int block_threads = 256;
  static constexpr int warps = block_threads / 32;
  static constexpr int lanes = 8;       ///< that read the rows of a supernode together
  static constexpr int digit_bits = 5;  ///< of a pass of the sort: a lane for each digit
  struct shared_storage {
    int counts[warps][32];
  };
  struct params {
    supernodes<Index> of;
    forests_view<Offset> to;     ///< the forests, and the arrays to be filled
    const forest_place* places;  ///< by supernode
    /// Two per row of the lists (forward) or per column; those of a forest begin at twice its `items`.
    forest_item* scratch;
    /// Forward, by column: the last level in which a product is added to it, counted from 1.
    std::int32_t* last_level;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const forest f = ctx.load_constant(p.to.forests + ctx.block_rank());
    const std::int64_t first = p.of.of_column(ctx, f.first);
    const std::int64_t last = p.of.of_column(ctx, f.first + f.columns - 1);
    const int count = Backward ? f.columns : f.rows;
    forest_item* from = p.scratch + 2 * f.items;
    forest_item* to = from + count;
    if constexpr (!Backward) {
      for (int i = ctx.thread_rank(); i < f.columns; i += block_threads) {
        ctx.store(p.last_level + f.first + i, std::int32_t{0});
      }
      ctx.barrier();
    }
    const auto tile = ctx.template group<lanes>();
    for (std::int64_t s = first + tile.index(); s <= last; s += block_threads / lanes) {
      list_supernode(ctx, tile, p, f, s, s - first, from);
    }
    ctx.barrier();
    if constexpr (!Backward) {
      sort(ctx, shared, from, to, count, forest_item::row_shift, f.columns + f.outside_count);
    }
    sort(ctx, shared, from, to, count, forest_item::level_shift, f.level_count);
    for (int i = ctx.thread_rank(); i < count; i += block_threads) {
      const forest_item item = ctx.load(from + i);
      begin_levels(ctx, p, f, i > 0 ? ctx.load(from + i - 1).level : -1, item.level, i);
      if constexpr (Backward) {
        ctx.store(p.to.columns + f.items + i, forest_column{item.row, item.supernode});
      } else {
        ctx.store(p.to.products + f.items + i, product_of(ctx, p, f, first, item));
      }
    }
    if (ctx.thread_rank() == 0) {
      const int before = count > 0 ? ctx.load(from + count - 1).level : -1;
      begin_levels(ctx, p, f, before, Backward ? f.level_count : f.level_count - 1, count);
      if constexpr (!Backward) {
        ctx.store(p.to.level_begin + f.levels + f.level_count, static_cast<std::int32_t>(count + f.columns));
      }
    }
    for (int j = ctx.thread_rank(); !Backward && j < f.columns; j += block_threads) {
      const supernode node = p.of.open(ctx, p.of.of_column(ctx, f.first + j));
      const bool is_last = ctx.load_relaxed(p.last_level + f.first + j) == 0;
      ctx.store(p.to.products + f.items + count + j,
                product_of(f, node, j, f.first + j - node.first, is_last));
    }
  }

 private:
  /// Writes where the levels after `before` begin, up to `level`.
  template <class Context>
  SPTRSV_DEVICE static void begin_levels(Context& ctx, const params& p, const forest& f, int before,
                                         int level, int item) {
    for (int l = before + 1; l <= level; ++l) {
      ctx.store(p.to.level_begin + f.levels + l, static_cast<std::int32_t>(item));
    }
  }

  /// Writes the items of a supernode, backward the supernode and the local numbers of its rows, forward the
  /// last level of each column, and, if it is a root, its outside rows. `number`: its number in the forest.
  template <class Context, class Tile>
  SPTRSV_DEVICE static void list_supernode(Context& ctx, const Tile& tile, const params& p, const forest& f,
                                           std::int64_t s, std::int64_t number, forest_item* items) {
    const supernode node = p.of.open(ctx, s);
    const forest_place place = ctx.load_constant(p.places + s);
    const std::int64_t root_begin = ctx.load_constant(p.of.rows_begin + place.root);
    const std::int64_t root_rows = ctx.load_constant(p.of.rows_begin + place.root + 1) - root_begin;
    for (std::int64_t t = tile.rank(); t < node.rows; t += Tile::lanes) {
      const std::int64_t e = node.rows_begin + t;
      const Index row = ctx.load_constant(p.of.rows + e);
      std::int64_t local = row - f.first;
      if (local >= f.columns) {
        local = place.outside + triangle_kernels::count_below(ctx, p.of.rows + root_begin, root_rows, row);
      }
      if (place.root == s) {
        ctx.store(p.to.outside_rows + f.outside + local - f.columns, static_cast<Offset>(e));
      }
      if constexpr (Backward) {
        ctx.store(p.to.local_rows + f.local_rows + e - f.rows_begin, static_cast<std::uint16_t>(local));
      } else {
        if (local < f.columns) {
          ctx.atomic_max(p.last_level + row, place.level + 1);
        }
        const std::int64_t item = e - f.rows_begin;
        ctx.store(items + item, forest_item::of(place.level, local, number, item));
      }
    }
    if (Backward && tile.rank() == 0) {
      ctx.store(p.to.nodes + f.nodes + number, node_of(f, node));
    }
    for (std::int64_t j = tile.rank(); Backward && j < node.columns; j += Tile::lanes) {
      const std::int64_t column = node.first - f.first + j;
      ctx.store(items + column, forest_item::of(place.level, column, number, column));
    }
  }

  /// Forward: returns the product of a row of the lists. All products with a column are known.
  template <class Context>
  SPTRSV_DEVICE static forest_product product_of(Context& ctx, const params& p, const forest& f,
                                                 std::int64_t first, const forest_item& item) {
    const supernode node = p.of.open(ctx, first + item.supernode);
    const std::int64_t row = node.columns + f.rows_begin + item.number - node.rows_begin;
    const bool is_last =
        item.row < f.columns && ctx.load_relaxed(p.last_level + f.first + item.row) == item.level + 1;
    return product_of(f, node, item.row, row, is_last);
  }
  /// Returns the product of a row of a panel. `row`: local number.
  SPTRSV_DEVICE static forest_product product_of(const forest& f, const supernode& node, int row,
                                                 std::int64_t panel_row_number, bool is_last) {
    const std::int64_t count = panel_row_entries(panel_row_number, node.columns) |
                               (is_last ? forest_product::is_last : 0) |
                               (panel_row_number < node.range_columns ? forest_product::is_guarded : 0);
    return {static_cast<std::uint16_t>(row),
            static_cast<std::uint16_t>(node.panel - f.panels + panel_row(panel_row_number, node.columns)),
            static_cast<std::uint16_t>(node.first - f.first), static_cast<std::uint16_t>(count)};
  }
  SPTRSV_DEVICE static forest_node node_of(const forest& f, const supernode& node) {
    return {static_cast<std::uint16_t>(node.first - f.first),
            static_cast<std::uint16_t>(node.columns),
            static_cast<std::uint16_t>(node.panel - f.panels),
            static_cast<std::uint16_t>(node.rows_begin - f.rows_begin),
            static_cast<std::uint16_t>(node.rows),
            static_cast<std::uint16_t>(node.range_columns - node.columns),
            {}};
  }

  /// Sorts the items by a field whose values are smaller than `limit`. Equal items keep their order. This is
  /// a radix sort, and each pass exchanges `from` and `to`. The last digit may contain bits of the next
  /// field; this does no harm, because the items are sorted by that field later. The caller calls a barrier
  /// before; the function ends with one.
  template <class Context>
  SPTRSV_DEVICE static void sort(Context& ctx, shared_storage& shared, forest_item*& from, forest_item*& to,
                                 int count, int shift, int limit) {
    for (int done = 0; ((limit - 1) >> done) > 0; done += digit_bits) {
      sort_by_digit(ctx, shared, from, to, count, shift + done);
      forest_item* const sorted = to;
      to = from;
      from = sorted;
    }
  }
  /// One pass. Warps take equal parts of the items. A lane counts those with the digit that is its rank.
  template <class Context>
  SPTRSV_DEVICE static void sort_by_digit(Context& ctx, shared_storage& shared, const forest_item* from,
                                          forest_item* to, int count, int shift) {
    const auto warp = ctx.template group<32>();
    const int part = (count + 32 * warps - 1) / (32 * warps) * 32;
    const int begin = warp.index() * part;
    const int end = begin + part < count ? begin + part : count;
    int found = 0;
    for (int first = begin; first < end; first += 32) {
      const digits_of_warp digits(ctx, warp, from, first, end, shift);
      found += simt::bit_count(digits.lanes_with(warp.rank()));
    }
    shared.counts[warp.index()][warp.rank()] = found;
    ctx.barrier();
    int next = 0;  // where the next item with the digit of the lane goes
    int all = 0;
    for (int w = 0; w < warps; ++w) {
      next += w < warp.index() ? shared.counts[w][warp.rank()] : 0;
      all += shared.counts[w][warp.rank()];
    }
    next += simt::exclusive_sum(warp, all);
    for (int first = begin; first < end; first += 32) {
      const digits_of_warp digits(ctx, warp, from, first, end, shift);
      const std::uint32_t before = (1u << warp.rank()) - 1u;
      const int at =
          warp.shuffle(next, digits.mine) + simt::bit_count(digits.lanes_with(digits.mine) & before);
      if (first + warp.rank() < end) {
        ctx.store(to + at, digits.item);
      }
      next += simt::bit_count(digits.lanes_with(warp.rank()));
    }
    ctx.barrier();
  }

  struct digits_of_warp {
    forest_item item{};
    int mine = 0;
    std::uint32_t present;           ///< lanes that have an item
    std::uint32_t bits[digit_bits];  ///< lanes whose digit has the bit

    template <class Context, class Warp>
    SPTRSV_DEVICE digits_of_warp(Context& ctx, const Warp& warp, const forest_item* items, int first, int end,
                                 int shift) {
      const bool has_item = first + warp.rank() < end;
      if (has_item) {
        item = ctx.load(items + first + warp.rank());
        mine = static_cast<int>(bit_cast<std::uint64_t>(item) >> shift & ((1u << digit_bits) - 1));
      }
      present = warp.ballot(has_item);
      SPTRSV_UNROLL
      for (int b = 0; b < digit_bits; ++b) {
        bits[b] = warp.ballot((mine >> b & 1) != 0);
      }
    }
    /// Returns the lanes whose item has a digit.
    [[nodiscard]] SPTRSV_DEVICE std::uint32_t lanes_with(int digit) const {
      std::uint32_t found = present;
      SPTRSV_UNROLL
      for (int b = 0; b < digit_bits; ++b) {
        found &= (digit >> b & 1) != 0 ? bits[b] : ~bits[b];
      }
      return found;
    }
  };
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
