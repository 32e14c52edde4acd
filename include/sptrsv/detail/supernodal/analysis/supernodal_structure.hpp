// SPDX-License-Identifier: Apache-2.0
// The supernodes of a plan in device memory: their lists of rows, and the maps that bring values into panels.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/supernodal/analysis/device_tree.hpp"
#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Writes the lists of rows: other columns of the merged range, then the rows below it. Once per row.
template <class Index, class Offset>
struct write_rows {
  column_view<Index, Offset> c;
  supernodes<Index> of;
  Index* rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t s = triangle_kernels::major_of(ctx, of.rows_begin, of.count, e);
    const std::int64_t t = e - ctx.load_constant(of.rows_begin + s);
    const std::int64_t end = ctx.load_constant(of.first + s + 1);
    const std::int64_t all = ctx.load_constant(of.range_end + s);
    ctx.store(rows + e, t < all - end
                            ? static_cast<Index>(end + t)
                            : static_cast<Index>(c.row(ctx, c.begin(ctx, all - 1), t - (all - end))));
  }
};

/// Writes the first descendant of each column. Runs once per column.
template <class Index>
struct find_first_descendant {
  const Index* begun;                   ///< by column: how many fundamental supernodes begin before it
  const Index* fundamental_descendant;  ///< by fundamental supernode
  Index* first_descendant;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const Index fundamental = ctx.load_constant(begun + column + 1) - Index{1};
    ctx.store(first_descendant + column, ctx.load_constant(fundamental_descendant + fundamental));
  }
};

/// Finds first fundamental supernodes, and where masks begin, in a scan. Per supernode and for the end.
template <class Index>
struct place_masks {
  supernodes<Index> of;
  const Index* begun;  ///< by column: how many fundamental supernodes begin before it
  Index* fundamental;
  std::int64_t* mask_begin;

  struct masks {
    Index fundamental;
    std::int64_t count;  ///< words
  };
  template <class Context>
  SPTRSV_DEVICE masks load(Context& ctx, std::int64_t s) const {
    if (s == of.count) {
      return {0, 0};
    }
    const supernode node = of.open(ctx, s);
    const Index first = ctx.load_constant(begun + node.first + 1) - Index{1};
    return {first, static_cast<std::int64_t>(ctx.load_constant(begun + node.first + node.columns) - first) *
                       mask_words(node.height())};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t s, const masks& found, std::int64_t before) const {
    if (s < of.count) {
      ctx.store(fundamental + s, found.fundamental);
    }
    ctx.store(mask_begin + s, before);
  }
};

/// Writes the masks, see row_masks. Runs once per fundamental supernode, by a warp.
template <class Index, class Offset>
struct write_masks {
  column_view<Index, Offset> c;
  supernodes<Index> of;
  row_masks<Index> masks;
  std::uint32_t* words;

  /// The rows of a fundamental supernode: its own columns and the entries of its last column.
  struct column_rows {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t below_begin;
    std::int64_t below_count;
  };

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t f) const {
    column_rows rows{};
    rows.begin = ctx.load_constant(masks.first + f);
    rows.end = ctx.load_constant(masks.first + f + 1);
    rows.below_begin = c.begin(ctx, rows.end - 1);
    rows.below_count = c.count(ctx, rows.end - 1);
    std::int64_t s = of.of_column(ctx, rows.begin);
    do {
      write(ctx, warp, rows, of.open(ctx, s),
            ctx.load_constant(masks.begin + s) +
                (f - ctx.load_constant(masks.fundamental + s)) * mask_words(of.open(ctx, s).height()));
      ++s;
    } while (s < of.count && load_index(ctx, of.first + s) < rows.end);
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE void write(Context& ctx, const Warp& warp, const column_rows& rows, const supernode& node,
                           std::int64_t mask) const {
    const std::int64_t height = node.height();
    const std::int64_t lead = rows.begin > node.first ? rows.begin - node.first : 0;
    const bool has_all = rows.end - node.first + rows.below_count == height;
    std::int64_t passed = 0;  // rows below the fundamental supernode that have been found
    std::int64_t total = 0;
    for (std::int64_t w = 0; w * 32 < height; ++w) {
      const std::int64_t i = w * 32 + warp.rank();
      bool is_set = i >= lead && i < height;
      if (!has_all) {
        const std::int64_t row = of.row_of(ctx, node, i < height ? i : height - 1);
        const bool is_below = finds(ctx, warp, rows, passed, row) && i < height;
        passed += simt::bit_count(warp.ballot(is_below));
        is_set = is_below || (is_set && row < rows.end);
      }
      const std::uint32_t bits = warp.ballot(is_set);
      if (warp.rank() == 0) {
        const std::int64_t at = masks.word_index(mask, w);
        if (w % 8 == 0 && w > 0) {
          ctx.store(words + at - 1, static_cast<std::uint32_t>(total));
        }
        ctx.store(words + at, bits);
      }
      total += simt::bit_count(bits);
    }
  }

  /// Returns whether `row`, which ascends with the lanes, is among the next 32 rows below the fundamental
  /// supernode. All rows that come before them have been found.
  template <class Context, class Warp>
  SPTRSV_DEVICE bool finds(Context& ctx, const Warp& warp, const column_rows& rows, std::int64_t passed,
                           std::int64_t row) const {
    const std::int64_t t = passed + warp.rank();
    const std::int64_t mine = t < rows.below_count ? c.row(ctx, rows.below_begin, t) : c.size;
    int before = 0;
    for (int step = 16; step > 0; step /= 2) {
      before += warp.shuffle(mine, before + step - 1) < row ? step : 0;
    }
    return warp.shuffle(mine, before) == row;
  }
};

template <class Index>
struct device_structure : device_tree<Index> {
  using device_tree<Index>::of;
  row_masks<Index> masks{};

  /// Takes the supernodes of `tree`, and finds their lists of rows and what is known of columns.
  /// `first_descendant`: by fundamental supernode, see merged_supernodes. Synchronises.
  template <class Offset, class Executor>
  device_structure(device_tree<Index>&& tree, const Index* first_descendant,
                   const device_fundamental<Index>& f, const column_view<Index, Offset>& c,
                   simt::scan_words& scans, const Executor& on, memory_resource& resource)
      : device_tree<Index>(std::move(tree)) {
    const auto make = [&](auto element, std::int64_t count) {
      return this->template make<decltype(element)>(count, on, resource);
    };
    Index* const lists = make(Index{}, this->rows);
    Index* const descendants = make(Index{}, c.size);
    Index* const fundamental = make(Index{}, of.count);
    std::int64_t* const mask_begin = make(std::int64_t{}, of.count + 1);
    scans.scan(on, of.count + 1, place_masks<Index>{of, f.begun.data(), fundamental, mask_begin});
    std::uint32_t* const words = make(std::uint32_t{}, download_value(mask_begin + of.count, on));
    masks = {words, mask_begin, fundamental, f.first.data(), f.count};
    simt::for_each(on, c.size, find_first_descendant<Index>{f.begun.data(), first_descendant, descendants});
    simt::for_each(on, this->rows, write_rows<Index, Offset>{c, of, lists});
    of.rows = lists;
    of.first_descendant = descendants;
    simt::for_each_by_tile<32>(on, f.count, write_masks<Index, Offset>{c, of, masks, words});
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
