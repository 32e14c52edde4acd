// SPDX-License-Identifier: Apache-2.0
// The kernel that computes the rows below the diagonal blocks of wide supernodes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"
#include "sptrsv/detail/supernodal/values/invert_agent.hpp"
#include "sptrsv/detail/supernodal/values/panel_tiles.hpp"
#include "sptrsv/detail/supernodal/values/tile_product.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// One block for `rows` rows R of a panel: computes W = -C_R V, where C comes from the stored matrix and V
/// from the panel.
///
///   1. If the panel has more than `depth` columns, store -C_R to the panel, unless blocks share the part.
///   2. For `columns` columns J at a time, from the first to the last: sum the products -C_RL V_LJ, with
///      `depth` columns L at a time, from J on, and store the result. It overwrites -C_RJ, which is not
///      needed any more.
///
/// Entries that are zero by structure take no part where values are not finite, see narrow_agent.
///
/// `Small`: see invert_agent.
template <class Tuning, class Scalar, class Index, class Offset, bool Small = false>
struct product_agent {
  static constexpr int rows = Tuning::product_rows;
  static constexpr int most_columns =
      sizeof(Scalar) > 8 ? Tuning::product_columns / 2 : Tuning::product_columns;
  static constexpr int columns = Small && most_columns > small_columns ? small_columns : most_columns;
  static constexpr int depth = columns < 32 ? columns : (sizeof(Scalar) > 8 ? 16 : 32);
  static constexpr int elements = rows * columns;
  static_assert(
      elements >= 32 && (rows & (rows - 1)) == 0 && columns > 0 && (columns & (columns - 1)) == 0,
      "supernodal_tuning: product_rows and product_columns must be powers of two whose product is at "
      "least 64");
  static constexpr int thread_columns = elements >= 512 && columns >= 4 ? 4 : 1;
  static constexpr int per_thread = elements >= 512 ? 16 : elements >= 64 ? 2 : 1;
  static constexpr int thread_rows = per_thread / thread_columns;
  static constexpr int block_threads = elements / per_thread;
  static constexpr int warps_per_processor = 16;
  static_assert(rows % thread_rows == 0 && block_threads <= 1024,
                "supernodal_tuning: product_rows and product_columns are out of proportion");

  struct shared_storage {
    // The rows are so long that the lanes of a warp read from different banks.
    array_of<Scalar, rows, depth + 4> w;
    array_of<Scalar, depth, columns + 4> v;
    panel_column<Index, Offset> columns_of_c[Small ? small_columns : Tuning::max_width];
    array_of<bool, block_threads / 32> votes;
  };
  struct params {
    stored_panels<Scalar, Index, Offset> from;
    const panel_part* parts;
    Scalar* panels;
    /// 1, or max_strips: several blocks share the columns of a part. Then they read C where it is stored.
    std::uint32_t strips;
  };
  /// The strips of `columns` columns that the widest panel has.
  static constexpr std::uint32_t max_strips = (Tuning::max_width + columns - 1) / columns;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const panel_part part = ctx.load_constant(p.parts + ctx.block_rank() / p.strips);
    supernode_team<Context, block_threads> team(ctx);
    panel_tiles<Context, Scalar, Index, Offset, block_threads> tiles(ctx, p.from, p.panels, part.supernode);
    const int k = tiles.columns();
    const int begin = static_cast<int>(part.begin);
    const bool is_shared = p.strips > 1;
    const int first_column = is_shared ? static_cast<int>(ctx.block_rank() % p.strips) * columns : 0;
    const int end_column = is_shared && first_column + columns < k ? first_column + columns : k;
    if (first_column >= k) {
      return;
    }
    tiles.open_columns(shared.columns_of_c, 0, k, begin);
    ctx.barrier();
    const auto load_c = [&](int first) {
      return tiles.template load_stored<depth>(shared.w, shared.columns_of_c, begin, first,
                                               [](const Scalar& v, int) { return Scalar{} - v; });
    };
    const bool stores_c = k > depth && !is_shared;
    for (int first = 0; stores_c && first < k; first += depth) {
      load_c(first);
      ctx.barrier();
      for (int e = ctx.thread_rank(); e < rows * depth; e += block_threads) {
        tiles.store_below(begin + e / depth, first + e % depth, shared.w[e / depth][e % depth]);
      }
      ctx.barrier();
    }
    for (int first = first_column; first < end_column; first += columns) {
      tile_product<Context, Scalar, rows, columns, thread_rows, thread_columns> sums(ctx);
      bool all_finite = true;
      for (int l = first; l < k; l += depth) {
        const bool finite_w = stores_c ? tiles.template load_below<depth>(shared.w, begin, l) : load_c(l);
        const bool finite_v = tiles.template load_inverse<columns>(shared.v, l, first);
        const bool finite = !any_in_team(team, shared.votes, !finite_w || !finite_v);
        if (finite) {
          sums.template add<depth>(shared.w, shared.v);
        } else {
          add_products_if(sums, shared.w, shared.v, k - l < depth ? k - l : depth, [&](int i, int j) {
            return first + j <= l + i && tiles.depends(l + i, first + j);
          });
        }
        all_finite = all_finite && finite;
        ctx.barrier();
      }
      sums.for_each([&](int i, int j, const Scalar& sum) {
        const bool is_entry = all_finite || first + j >= k || tiles.depends(begin + i, first + j);
        tiles.store_below(begin + i, first + j, is_entry ? sum : Scalar{});
      });
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
