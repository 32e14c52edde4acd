// SPDX-License-Identifier: Apache-2.0
// The values of a plan: panels, diagonal, and the growth of the inverses; and the lists of the parts of
// panels that the blocks of invert_agent and product_agent compute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/analysis/supernodal_structure.hpp"
#include "sptrsv/detail/supernodal/values/invert_agent.hpp"
#include "sptrsv/detail/supernodal/values/narrow_agent.hpp"
#include "sptrsv/detail/supernodal/values/product_agent.hpp"

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

/// Counts the parts by width: first those of columns, then those of rows. Runs once per supernode.
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

struct part_lists {
  buffer<panel_part> parts;
  part_range columns{};  ///< for invert_agent
  part_range rows{};     ///< for product_agent
};

/// Lists the parts. Without `tree`, which may be null, the device counts them. Synchronises.
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

/// Computes the pivots of the columns of C, if the diagonal is stored, sets both norms of each supernode to
/// 1, and says that none has grown. Runs once per column, at least once; a supernode has at least one column.
template <class Scalar, class Index, class Offset>
struct start_values {
  stored_panels<Scalar, Index, Offset> from;
  std::int64_t columns;
  Scalar* pivots;  ///< null: the diagonal is unit
  block_norms<real_t<Scalar>>* norms;
  std::int64_t* first_grown;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    if (pivots != nullptr && column < columns) {
      std::int64_t fundamental = 0;
      std::int64_t begin = 0;
      if (from.stored.shift != nullptr) {
        fundamental = triangle_kernels::major_of(ctx, from.masks.first, from.masks.fundamental_count, column);
        begin = ctx.load_constant(from.masks.first + fundamental);
      }
      const auto opened = from.stored.open(ctx, column, fundamental, begin);
      ctx.store(pivots + column, from.stored.pivot(ctx, column, opened));
    }
    if (column < from.of.count) {
      ctx.store(norms + column, block_norms<real_t<Scalar>>::of_one());
    }
    if (column == 0) {
      ctx.store(first_grown, std::int64_t{INT64_MAX});
    }
  }
};

/// Finds the first supernode whose growth is too large. Runs once per supernode.
template <class Real, class Index>
struct find_grown {
  const block_norms<Real>* norms;
  const Index* first;  ///< by supernode: its first column
  Real max_growth;
  std::int64_t last;          ///< the largest substitution index if substitution goes backward; otherwise -1
  std::int64_t* first_grown;  ///< substitution index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t s) const {
    if (!(ctx.load_constant(norms + s).growth() <= max_growth)) {
      // Backward, the last column of the supernode comes first.
      ctx.atomic_min(first_grown,
                     last < 0 ? load_index(ctx, first + s) : last - load_index(ctx, first + s + 1) + 1);
    }
  }
};

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class panel_values {
  using real = real_t<Scalar>;
  using narrow = narrow_agent<Scalar, Index, Offset>;
  using invert = invert_agent<Tuning, Scalar, Index, Offset>;
  using product = product_agent<Tuning, Scalar, Index, Offset>;
  using small_invert = invert_agent<Tuning, Scalar, Index, Offset, true>;
  using small_product = product_agent<Tuning, Scalar, Index, Offset, true>;

 public:
  static constexpr part_sizes parts{narrow::max_columns, invert::side, product::rows, Tuning::max_width};

  /// `lists`: see `parts`. `entries`: of all panels. `columns`: of all supernodes.
  panel_values(part_lists lists, std::int64_t supernodes, std::int64_t columns, std::int64_t entries,
               std::int64_t pivots, double max_growth, const Executor& on, memory_resource& resource)
      : columns_(columns),
        entries_(entries),
        max_growth_(static_cast<real>(
            std::min<double>(max_growth, static_cast<double>(std::numeric_limits<real>::max()) / 2))),
        panels_(make_buffer<Scalar>(entries_ + tail, on, resource)),
        diagonal_(0, pivots, on, resource),
        norms_(make_buffer<block_norms<real>>(supernodes, on, resource)),
        first_grown_(make_buffer<std::int64_t>(1, on, resource)),
        lists_(std::move(lists)) {
    on.fill_bytes(panels_.data() + entries_, 0, tail * sizeof(Scalar));
  }

  /// Computes the panels from the values of the stored matrix. `last`: see find_grown. Only enqueues.
  void update(const stored_values<Scalar, Index, Offset>& stored, const supernodes<Index>& of,
              const row_masks<Index>& masks, std::int64_t last, const Executor& on) {
    const stored_panels<Scalar, Index, Offset> from{of, masks, stored, diagonal_.diagonal()};
    simt::for_each(on, std::max<std::int64_t>(columns_, 1),
                   start_values<Scalar, Index, Offset>{from, columns_, diagonal_.diagonal(), norms_.data(),
                                                       first_grown_.data()});
    on.template launch<narrow>(simt::block_count(of.count, narrow::warps),
                               {from, panels_.data(), norms_.data()});
    const auto launch = [&](auto agent, const panel_part* list, std::int64_t blocks, auto rest) {
      if (blocks > 0) {
        on.template launch<decltype(agent)>(simt::block_count(blocks, 1), {from, list, panels_.data(), rest});
      }
    };
    const part_range& columns = lists_.columns;
    launch(invert{}, columns.parts, columns.wide, norms_.data());
    launch(small_invert{}, columns.small_parts(), columns.small(), norms_.data());
    simt::for_each_by_tile<32>(
        on, columns.wide * invert::side,
        measure_inverses<Scalar, Index>{of, columns.parts, invert::side, panels_.data(), norms_.data()});
    // One block takes long for a wide panel. If there are few, others would be idle.
    const part_range& rows = lists_.rows;
    const std::uint32_t strips = rows.wide <= Tuning::shared_products ? product::max_strips : 1;
    launch(product{}, rows.parts, rows.wide * strips, strips);
    launch(small_product{}, rows.small_parts(), rows.small(), std::uint32_t{1});
    simt::for_each(on, of.count,
                   find_grown<real, Index>{norms_.data(), of.first, max_growth_, last, first_grown_.data()});
  }

  /// Returns the smallest substitution index with too large a growth; -1: none. Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    const std::int64_t first = download_value(first_grown_.data(), on);
    return first < columns_ ? first : -1;
  }

  /// Returns the supernodes with too large a growth. Synchronises.
  [[nodiscard]] std::vector<std::int64_t> grown(const Executor& on) const {
    std::vector<std::int64_t> found;
    const auto norms = download_array(norms_, on);
    for (std::size_t s = 0; s < norms.size(); ++s) {
      if (!(norms[s].growth() <= max_growth_)) {
        found.push_back(static_cast<std::int64_t>(s));
      }
    }
    return found;
  }

  [[nodiscard]] const Scalar* panels() const { return panels_.data(); }
  [[nodiscard]] const device_values<Scalar, Executor>& diagonal() const { return diagonal_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes() const {
    return panels_.bytes() + diagonal_.bytes() + norms_.bytes() + first_grown_.bytes() + lists_.parts.bytes();
  }

 private:
  /// Entries behind the panels: bulk copies read up to the next multiple of 16 bytes.
  static constexpr std::int64_t tail = 16 / static_cast<std::int64_t>(sizeof(Scalar));

  std::int64_t columns_;  ///< of all supernodes
  std::int64_t entries_;  ///< of all panels
  real max_growth_;
  buffer<Scalar> panels_;
  device_values<Scalar, Executor> diagonal_;
  buffer<block_norms<real>> norms_;
  buffer<std::int64_t> first_grown_;
  part_lists lists_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
