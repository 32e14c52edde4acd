// The kernels that build the arrays of forests.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/supernodal/analysis/structure.hpp"
#include "sptrsv/detail/supernodal/forest/forests.hpp"

namespace sptrsv::detail::supernodal {

/// The input that the kernels below share: the supernodes, and the position of each one in its forest.
template <class Index>
struct forest_builder {
  supernodes<Index> of;
  const forest* forests;
  std::int64_t count;
  const forest_place* places;  ///< by supernode

  /// Returns the last forest whose `member` does not exceed `i`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t find(Context& ctx, std::int64_t forest::*member, std::int64_t i) const {
    std::int64_t low = 0;
    std::int64_t high = count;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (ctx.load_constant(&(forests[middle].*member)) <= i) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// Returns the local number of a row of the list of supernode `s`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t local_row(Context& ctx, const forest& f, std::int64_t s,
                                       std::int64_t row) const {
    if (row < f.first + f.columns) {
      return row - f.first;
    }
    const std::int64_t top = ctx.load_constant(&places[s].root);
    const std::int64_t begin = ctx.load_constant(of.rows_begin + top);
    const std::int64_t rows = ctx.load_constant(of.rows_begin + top + 1) - begin;
    return ctx.load_constant(&places[s].outside) +
           triangle_kernels::count_below(ctx, of.rows + begin, rows, static_cast<Index>(row));
  }
};

/// The keys by which the items of all forests are sorted.
struct forest_key {
  static constexpr int field_bits = 14;
  static_assert(forest_space::max_count < (1 << field_bits));

  /// `row`: local number.
  SPTRSV_HOST_DEVICE static constexpr std::uint64_t make(std::int64_t forest, std::int64_t level,
                                                         std::int64_t row) {
    return static_cast<std::uint64_t>((forest << field_bits | level) << field_bits | row);
  }
  SPTRSV_HOST_DEVICE static constexpr std::int64_t row(std::uint64_t key) {
    return static_cast<std::int64_t>(key & ((1u << field_bits) - 1));
  }
  SPTRSV_HOST_DEVICE static constexpr std::int64_t level(std::uint64_t key) { return row(key >> field_bits); }
};

/// A product before it is sorted: a row of a list, or, in a diagonal block, a column.
struct unsorted_product {
  std::int64_t supernode;
  std::int64_t panel_row;  ///< row of its panel
  std::int64_t row;        ///< row of the system
};

/// Opens product number `item` in the order of forests: first its rows of lists, then its columns.
template <class Context, class Index>
SPTRSV_DEVICE unsorted_product open_product(Context& ctx, const forest_builder<Index>& b, const forest& f,
                                            std::int64_t item) {
  const std::int64_t t = item - f.items;
  if (t >= f.rows) {
    const std::int64_t column = f.first + t - f.rows;
    const std::int64_t s = ctx.load_constant(b.of.supernode_of + column);
    return {s, column - ctx.load_constant(b.of.first + s), column};
  }
  const std::int64_t e = f.rows_begin + t;
  const std::int64_t s = triangle_kernels::major_of(ctx, b.of.rows_begin, b.of.count, e);
  const auto node = b.of.open(ctx, s);
  return {s, node.columns + e - node.rows_begin, static_cast<std::int64_t>(ctx.load_constant(b.of.rows + e))};
}

/// Writes the key of each product, and finds the last level in which a product is added to each column. Runs
/// once per product.
template <class Index, class Offset>
struct key_products {
  forest_builder<Index> b;
  std::uint64_t* keys;
  Offset* items;             ///< output: 0, 1, 2, ...
  std::int32_t* last_level;  ///< by column of the system; counted from 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t item) const {
    const std::int64_t number = b.find(ctx, &forest::items, item);
    const forest f = ctx.load_constant(b.forests + number);
    const auto product = open_product(ctx, b, f, item);
    const bool is_diagonal = item - f.items >= f.rows;
    const std::int32_t level =
        is_diagonal ? f.level_count - 1 : ctx.load_constant(&b.places[product.supernode].level);
    const std::int64_t row = b.local_row(ctx, f, product.supernode, product.row);
    if (!is_diagonal && row < f.columns) {
      ctx.atomic_max(last_level + product.row, level + 1);
    }
    ctx.store(keys + item, forest_key::make(number, level, row));
    ctx.store(items + item, static_cast<Offset>(item));
  }
};

/// Writes the products in their order. Runs once per product.
template <class Index, class Offset>
struct write_products {
  forest_builder<Index> b;
  const std::uint64_t* keys;  ///< sorted
  const Offset* items;        ///< in the order of keys
  const std::int32_t* last_level;
  forest_product* products;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t at) const {
    const forest f = ctx.load_constant(b.forests + b.find(ctx, &forest::items, at));
    const std::int64_t item = ctx.load_constant(items + at);
    const auto product = open_product(ctx, b, f, item);
    const auto node = b.of.open(ctx, product.supernode);
    const std::uint64_t key = ctx.load_constant(keys + at);
    const std::int64_t row = forest_key::row(key);
    const bool is_diagonal = product.panel_row < node.columns;
    bool is_last = false;
    if (row < f.columns) {
      const std::int64_t last = ctx.load_constant(last_level + product.row);
      is_last = last == (is_diagonal ? 0 : forest_key::level(key) + 1);
    }
    const std::int64_t count = panel_row_entries(product.panel_row, node.columns) |
                               (is_last ? forest_product::is_last : 0) |
                               (product.panel_row < node.range_columns ? forest_product::is_guarded : 0);
    ctx.store(
        products + at,
        forest_product{
            static_cast<std::uint16_t>(row),
            static_cast<std::uint16_t>(node.panel - f.panels + panel_row(product.panel_row, node.columns)),
            static_cast<std::uint16_t>(node.first - f.first), static_cast<std::uint16_t>(count)});
  }
};

/// Writes the key of each column. Runs once per column of a forest.
template <class Index>
struct key_columns {
  forest_builder<Index> b;
  std::uint64_t* keys;
  Index* items;  ///< output: 0, 1, 2, ...

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t item) const {
    const std::int64_t number = b.find(ctx, &forest::items, item);
    const forest f = ctx.load_constant(b.forests + number);
    const std::int64_t column = f.first + item - f.items;
    const std::int64_t level =
        ctx.load_constant(&b.places[ctx.load_constant(b.of.supernode_of + column)].level);
    ctx.store(keys + item, forest_key::make(number, level, column - f.first));
    ctx.store(items + item, static_cast<Index>(item));
  }
};

/// Writes the columns in their order. Runs once per column of a forest.
template <class Index>
struct write_columns {
  forest_builder<Index> b;
  const std::uint64_t* keys;  ///< sorted
  forest_column* columns;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t at) const {
    const forest f = ctx.load_constant(b.forests + b.find(ctx, &forest::items, at));
    const std::int64_t column = forest_key::row(ctx.load_constant(keys + at));
    const auto node = b.of.open(ctx, ctx.load_constant(b.of.supernode_of + f.first + column));
    ctx.store(columns + at, forest_column{static_cast<std::uint16_t>(column),
                                          static_cast<std::uint16_t>(node.first - f.first),
                                          static_cast<std::uint16_t>(node.columns),
                                          static_cast<std::uint16_t>(node.panel - f.panels),
                                          static_cast<std::uint16_t>(node.rows_begin - f.rows_begin),
                                          static_cast<std::uint16_t>(node.rows),
                                          static_cast<std::uint16_t>(node.range_columns - node.columns), 0});
  }
};

/// Writes the local number of each row of the lists of rows. Runs once per row of all lists.
template <class Index>
struct write_local_rows {
  forest_builder<Index> b;
  std::uint16_t* local_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t s = triangle_kernels::major_of(ctx, b.of.rows_begin, b.of.count, e);
    if (ctx.load_constant(&b.places[s].level) >= 0) {
      const forest f =
          ctx.load_constant(b.forests + b.find(ctx, &forest::first, ctx.load_constant(b.of.first + s)));
      ctx.store(local_rows + e,
                static_cast<std::uint16_t>(b.local_row(ctx, f, s, ctx.load_constant(b.of.rows + e))));
    }
  }
};

/// Writes the number of each outside row in the lists of rows. Runs once per supernode, by a tile of lanes.
template <class Index>
struct write_outside_rows {
  forest_builder<Index> b;
  std::int64_t* outside_rows;

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    const forest_place place = ctx.load_constant(b.places + s);
    if (place.root != s) {
      return;
    }
    const forest f =
        ctx.load_constant(b.forests + b.find(ctx, &forest::first, ctx.load_constant(b.of.first + s)));
    const std::int64_t begin = ctx.load_constant(b.of.rows_begin + s);
    const std::int64_t count = ctx.load_constant(b.of.rows_begin + s + 1) - begin;
    for (std::int64_t r = tile.rank(); r < count; r += Tile::lanes) {
      ctx.store(outside_rows + f.outside + place.outside - f.columns + r, begin + r);
    }
  }
};

/// Finds where each level begins. Runs once per level of each forest and once for its end.
template <class Index>
struct find_level_begin {
  forest_builder<Index> b;
  const std::uint64_t* keys;  ///< sorted
  std::int64_t items;         ///< of all forests
  std::int32_t* level_begin;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t number = b.find(ctx, &forest::levels, i);
    const forest f = ctx.load_constant(b.forests + number);
    const std::int64_t begin =
        triangle_kernels::count_below(ctx, keys, items, forest_key::make(number, i - f.levels, 0));
    ctx.store(level_begin + i, static_cast<std::int32_t>(begin - f.items));
  }
};

}  // namespace sptrsv::detail::supernodal
