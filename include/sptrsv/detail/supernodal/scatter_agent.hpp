// The kernel that brings the values of the stored matrix into the panels.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::detail::supernodal {

/// Where the values of the columns of C go.
template <class Index, class Offset>
struct column_map {
  std::int64_t size;
  const Offset* column_offsets;    ///< by column, size + 1
  const Offset* sources;           ///< by entry: its index in the stored matrix
  const Offset* diagonal_sources;  ///< by column: that of the diagonal entry; null if the diagonal is unit
  const Index* begun;              ///< by column, size + 1: how many fundamental supernodes begin before it
  const Index* first;              ///< by fundamental supernode, count + 1: its first column
  const Offset* rows_begin;        ///< by fundamental supernode: where its rows begin in panel_rows
  const Index* panel_rows;         ///< see find_panel_rows
};

/// Writes I + N, without its diagonal, and -C_RJ into the panels, whose other entries are zero; one warp per
/// column. Rows of the diagonal block are divided by their pivots.
template <class Scalar, class Index, class Offset>
struct scatter_agent {
  static constexpr int block_threads = 256;
  static constexpr int block_columns = block_threads / 32;
  struct shared_storage {};
  struct params {
    column_map<Index, Offset> map;
    supernodes<Index> of;
    const Scalar* values;  ///< of the stored matrix
    Scalar* panels;
    bool conjugated;

    template <class Context>
    SPTRSV_DEVICE Scalar value(Context& ctx, Offset source) const {
      const Scalar v = ctx.load_constant(values + source);
      return conjugated ? conjugate(v) : v;
    }
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const column_map<Index, Offset>& map = p.map;
    const std::int64_t column = static_cast<std::int64_t>(ctx.block_rank()) * block_columns + warp.index();
    if (column >= map.size) {
      return;
    }
    const auto node =
        p.of.open(ctx, static_cast<std::int64_t>(ctx.load_constant(p.of.supernode_of + column)));
    const std::int64_t fundamental = static_cast<std::int64_t>(ctx.load_constant(map.begun + column + 1)) - 1;
    // The first rows are the further columns of the fundamental supernode; the others are in its list.
    const std::int64_t in_block =
        static_cast<std::int64_t>(ctx.load_constant(map.first + fundamental + 1)) - 1 - column;
    const Index* const below = map.panel_rows + ctx.load_constant(map.rows_begin + fundamental);
    const std::int64_t begin = ctx.load_constant(map.column_offsets + column);
    const std::int64_t count =
        static_cast<std::int64_t>(ctx.load_constant(map.column_offsets + column + 1)) - begin;
    for (std::int64_t t = warp.rank(); t < count; t += 32) {
      const std::int64_t at = t < in_block
                                  ? column + 1 + t
                                  : static_cast<std::int64_t>(ctx.load_constant(below + (t - in_block)));
      const std::int64_t row = at - node.first;
      Scalar v = p.value(ctx, ctx.load_constant(map.sources + begin + t));
      if (row >= node.columns) {
        v = Scalar{} - v;
      } else if (map.diagonal_sources != nullptr) {
        v = divide(v, p.value(ctx, ctx.load_constant(map.diagonal_sources + at)));
      }
      ctx.store(p.panels + node.panel + panel_row(row, node.columns) + (column - node.first), v);
    }
  }
};

}  // namespace sptrsv::detail::supernodal
