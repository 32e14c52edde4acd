// The values of a plan: panels, diagonal, and the growth of the inverses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/supernodal/product_agent.hpp"
#include "sptrsv/detail/supernodal/scatter_agent.hpp"
#include "sptrsv/detail/supernodal/structure.hpp"

namespace sptrsv::detail::supernodal {

/// The maximum norms of U and inv(U) for the diagonal block U of a supernode, as bits, which compare as the
/// numbers do. If a value is not finite, all bits are set: this is NaN.
template <class Real>
struct block_norms {
  using word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

  word of_block;
  word of_inverse;

  /// Returns the condition number; NaN if a value is not finite.
  [[nodiscard]] SPTRSV_HOST_DEVICE Real growth() const {
    return bit_cast<Real>(of_block) * bit_cast<Real>(of_inverse);
  }
};

/// Takes the sum of a row of the diagonal block, with its unit diagonal, into a norm. Runs once per column.
template <class Scalar, class Index>
struct measure_norm {
  using norms = block_norms<real_t<Scalar>>;

  supernodes<Index> of;
  const Scalar* panels;
  norms* to;  ///< by supernode
  bool is_inverse;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const std::int64_t s = ctx.load_constant(of.supernode_of + column);
    const auto node = of.open(ctx, s);
    const std::int64_t row = column - node.first;
    if (row == 0) {
      return;  // a sum of 1, which is in every norm
    }
    const Scalar* const entries = panels + node.panel + panel_row(row, node.columns);
    real_t<Scalar> sum = 1;
    for (std::int64_t j = 0; j < row; ++j) {
      sum += magnitude(ctx.load_constant(entries + j));
    }
    using word = typename norms::word;
    ctx.atomic_max(is_inverse ? &to[s].of_inverse : &to[s].of_block,
                   is_finite(sum) ? bit_cast<word>(sum) : static_cast<word>(~word{0}));
  }
};

/// Sets both norms of each supernode to 1. Runs once per supernode.
template <class Real>
struct start_norms {
  block_norms<Real>* norms;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t s) const {
    const auto one = bit_cast<typename block_norms<Real>::word>(Real{1});
    ctx.store(norms + s, block_norms<Real>{one, one});
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
                     last < 0 ? static_cast<std::int64_t>(ctx.load_constant(first + s))
                              : last - static_cast<std::int64_t>(ctx.load_constant(first + s + 1)) + 1);
    }
  }
};

/// The row tiles of the launches of product_agent.
struct product_tiles {
  std::vector<row_tile> tiles;
  std::vector<std::int64_t> launches{0};  ///< where the tiles of each launch begin, and the end
};

/// Returns the tiles, of at most `rows` rows. The first launch has those below the diagonal blocks; then come
/// those in the diagonal blocks, from the last to the first of each block.
inline product_tiles list_product_tiles(const supernode_tree& tree, std::int64_t rows) {
  product_tiles made;
  std::int64_t widest = 0;
  for (std::int64_t s = 0; s < tree.count(); ++s) {
    const std::int64_t columns = tree.columns(s);
    widest = std::max(widest, columns);
    // A panel of one column is not changed by its inverse, which is 1.
    for (std::int64_t i = columns; columns > 1 && i < columns + tree.rows(s); i += rows) {
      made.tiles.push_back({s, i});
    }
  }
  made.launches.push_back(static_cast<std::int64_t>(made.tiles.size()));
  for (std::int64_t t = simt::ceil_div(widest, rows) - 1; t >= 0; --t) {
    for (std::int64_t s = 0; s < tree.count(); ++s) {
      if (tree.columns(s) > std::max<std::int64_t>(t * rows, 1)) {
        made.tiles.push_back({s, t * rows});
      }
    }
    made.launches.push_back(static_cast<std::int64_t>(made.tiles.size()));
  }
  return made;
}

/// Owns the panels of a plan, and what update_values needs.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class panel_values {
  using real = real_t<Scalar>;
  using product = product_agent<Tuning, Scalar, Index>;

 public:
  panel_values(const supernode_tree& tree, std::int64_t pivots, const Executor& on, memory_resource& resource)
      : columns_(tree.first.back()),
        entries_(tree.panel_begin.back()),
        // Bulk copies read up to the next multiple of 16 bytes.
        panels_(make_buffer<Scalar>(tree.panel_begin.back() + 16 / static_cast<std::int64_t>(sizeof(Scalar)),
                                    on, resource)),
        diagonal_(0, pivots, on, resource),
        norms_(make_buffer<block_norms<real>>(tree.count(), on, resource)),
        first_grown_(make_buffer<std::int64_t>(1, on, resource)) {
    product_tiles made = list_product_tiles(tree, product::rows);
    launches_ = std::move(made.launches);
    tiles_ = make_buffer<row_tile>(launches_.back(), on, resource);
    on.upload(tiles_.data(), made.tiles.data(), tiles_.bytes());
  }

  /// Computes the panels from the values of the stored matrix. `last`: see find_grown. Only enqueues.
  void update(const Scalar* stored, bool conjugated, const column_map<Index, Offset>& map,
              const supernodes<Index>& of, real max_growth, std::int64_t last, const Executor& on) {
    using scatter = scatter_agent<Scalar, Index, Offset>;
    on.fill_bytes(panels_.data(), 0, panels_.bytes());
    on.template launch<scatter>(simt::block_count(map.size, scatter::block_columns),
                                {map, of, stored, panels_.data(), conjugated});
    diagonal_.gather(stored, static_cast<const Offset*>(nullptr), map.diagonal_sources, conjugated, on);
    simt::for_each(on, of.count, start_norms<real>{norms_.data()});
    simt::for_each(on, map.size, measure_norm<Scalar, Index>{of, panels_.data(), norms_.data(), false});
    for (std::size_t i = 0; i + 1 < launches_.size(); ++i) {
      const std::int64_t tiles = launches_[i + 1] - launches_[i];
      if (tiles > 0) {
        on.template launch<product>(simt::block_count(tiles, 1),
                                    {of, tiles_.data() + launches_[i], panels_.data()});
      }
    }
    simt::for_each(on, map.size, measure_norm<Scalar, Index>{of, panels_.data(), norms_.data(), true});
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
    simt::for_each(on, of.count,
                   find_grown<real, Index>{norms_.data(), of.first, max_growth, last, first_grown_.data()});
  }

  /// Returns the smallest substitution index of a supernode whose growth is too large; -1 if there is none.
  /// Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    std::int64_t first = 0;
    on.download(&first, first_grown_.data(), sizeof(first));
    return first < columns_ ? first : -1;
  }

  /// Returns the norms of all supernodes. Synchronises.
  [[nodiscard]] std::vector<block_norms<real>> norms(const Executor& on) const {
    std::vector<block_norms<real>> found(norms_.size());
    on.download(found.data(), norms_.data(), norms_.bytes());
    return found;
  }

  [[nodiscard]] const Scalar* panels() const { return panels_.data(); }
  [[nodiscard]] const device_values<Scalar, Executor>& diagonal() const { return diagonal_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes() const {
    return panels_.bytes() + diagonal_.bytes() + norms_.bytes() + first_grown_.bytes() + tiles_.bytes();
  }

 private:
  std::int64_t columns_;  ///< of all supernodes
  std::int64_t entries_;  ///< of all panels
  buffer<Scalar> panels_;
  device_values<Scalar, Executor> diagonal_;
  buffer<block_norms<real>> norms_;
  buffer<std::int64_t> first_grown_;
  buffer<row_tile> tiles_;
  std::vector<std::int64_t> launches_;  ///< see product_tiles
};

}  // namespace sptrsv::detail::supernodal
