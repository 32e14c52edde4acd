// SPDX-License-Identifier: Apache-2.0
// The lists of the parts of panels that the blocks of invert_agent and product_agent compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"
#include "sptrsv/detail/supernodal/values/invert_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The sizes of the parts of a supernode with more than `narrow` columns. A part for invert_agent is `side`
/// columns of the diagonal block. A part for product_agent is `rows` rows of the panel; at least one of them
/// is below the diagonal block.
struct part_sizes {
  std::int64_t narrow;
  std::int64_t side;
  std::int64_t rows;
  std::int64_t max_width;  ///< of a supernode

  [[nodiscard]] SPTRSV_HOST_DEVICE bool is_wide(const supernode& node) const { return node.columns > narrow; }
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t column_parts(const supernode& node) const {
    return (node.columns + side - 1) / side;
  }
  /// Returns the first row of the first part with rows below the diagonal block.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t first_row(const supernode& node) const {
    return node.columns / rows * rows;
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t row_parts(const supernode& node) const {
    return (node.height() - first_row(node) + rows - 1) / rows;
  }
  /// Returns the number of the width of a supernode, the widest one first.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t class_of(const supernode& node) const {
    return max_width - node.columns;
  }
};

/// Counts the parts by the widths of their supernodes: first those of columns, then those of rows. Runs once
/// per supernode.
template <class Index>
struct count_parts {
  supernodes<Index> of;
  part_sizes sizes;
  std::int64_t* counts;  ///< 2 max_width

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t s) const {
    const supernode node = of.open(ctx, s);
    if (sizes.is_wide(node)) {
      std::int64_t* const of_class = counts + sizes.class_of(node);
      ctx.reduce_add(of_class, sizes.column_parts(node));
      ctx.reduce_add(of_class + sizes.max_width, sizes.row_parts(node));
    }
  }
};

/// Writes the parts. Those of one width have no fixed order. Runs once per supernode, by a tile of lanes.
template <class Index>
struct write_parts {
  supernodes<Index> of;
  part_sizes sizes;
  std::int64_t* next;  ///< where the next part of each kind and width goes
  panel_part* parts;

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    const supernode node = of.open(ctx, s);
    if (sizes.is_wide(node)) {
      std::int64_t* const of_class = next + sizes.class_of(node);
      write(ctx, tile, s, of_class, sizes.column_parts(node), 0, sizes.side);
      write(ctx, tile, s, of_class + sizes.max_width, sizes.row_parts(node), sizes.first_row(node),
            sizes.rows);
    }
  }

 private:
  template <class Context, class Tile>
  SPTRSV_DEVICE void write(Context& ctx, const Tile& tile, std::int64_t s, std::int64_t* at,
                           std::int64_t count, std::int64_t begin, std::int64_t step) const {
    const std::int64_t first =
        tile.shuffle(tile.rank() == 0 ? ctx.atomic_add(at, count) : std::int64_t{0}, 0);
    for (std::int64_t i = tile.rank(); i < count; i += Tile::lanes) {
      ctx.store(parts + first + i, panel_part{s, begin + i * step});
    }
  }
};

/// Parts of one kind, the widest supernodes first.
struct part_range {
  const panel_part* parts;
  std::int64_t count;
  std::int64_t wide;  ///< the first so many are of supernodes with more than `small_columns` columns

  [[nodiscard]] const panel_part* small_parts() const { return parts + wide; }
  [[nodiscard]] std::int64_t small() const { return count - wide; }
};

/// The parts of a plan.
struct part_lists {
  buffer<panel_part> parts;
  part_range columns{};  ///< for invert_agent
  part_range rows{};     ///< for product_agent
};

/// Lists the parts. `tree`: null if the host does not have the supernodes; the device counts the parts then.
/// Synchronises.
template <class Index, class Executor>
part_lists list_parts(const supernode_tree<Index>* tree, const supernodes<Index>& of, const part_sizes& sizes,
                      const Executor& on, memory_resource& resource) {
  const auto width = static_cast<std::size_t>(sizes.max_width);
  std::vector<std::int64_t> before(2 * width + 1);  // by kind and width, and for the end
  const auto next = make_buffer<std::int64_t>(2 * sizes.max_width + 1, on, resource);
  if (tree != nullptr) {
    for (std::int64_t s = 0; s < tree->count(); ++s) {
      const supernode node = tree->node(s);
      if (sizes.is_wide(node)) {
        const std::size_t of_class = at(sizes.class_of(node));
        before[of_class + 1] += sizes.column_parts(node);
        before[width + of_class + 1] += sizes.row_parts(node);
      }
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    on.upload(next.data(), before.data(), next.bytes());
  } else {
    on.fill_bytes(next.data(), 0, next.bytes());
    simt::for_each(on, of.count, count_parts<Index>{of, sizes, next.data()});
    on.exclusive_scan(next.data(), next.data(), 2 * sizes.max_width + 1, resource);
    on.download(before.data(), next.data(), next.bytes());
  }
  const std::size_t small = width > small_columns ? width - small_columns : 0;  // their first class
  part_lists made{make_buffer<panel_part>(before.back(), on, resource)};
  made.columns = {made.parts.data(), before[width], before[small]};
  made.rows = {made.parts.data() + before[width], before.back() - before[width],
               before[width + small] - before[width]};
  simt::for_each_by_tile<8>(on, of.count, write_parts<Index>{of, sizes, next.data(), made.parts.data()});
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
