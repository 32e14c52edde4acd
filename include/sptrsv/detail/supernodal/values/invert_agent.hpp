// SPDX-License-Identifier: Apache-2.0
// The kernel that inverts the diagonal blocks of wide supernodes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"
#include "sptrsv/detail/supernodal/values/panel_tiles.hpp"
#include "sptrsv/detail/supernodal/values/tile_product.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Rows or columns of a panel that one block computes.
struct panel_part {
  std::int64_t supernode;
  std::int64_t begin;  ///< the first of them
};

/// Supernodes of more columns than narrow_agent takes and at most so many have small blocks.
inline constexpr int small_columns = 16;

/// One block for `side` columns J of a diagonal block I + N: computes these columns of V = inv(I + N), which
/// do not depend on other columns. N comes from the stored matrix, its rows divided by their pivots. For
/// `side` rows I at a time, from J on:
///
///   1. Sum the products N_IL V_LJ over the rows L that have been computed.
///   2. Solve (I + N_II) V_IJ = E - sum, where E is the part of the identity: one thread per column.
///   3. Store V_IJ to the panel.
///
/// `Small`: supernodes of at most `small_columns` columns, whose blocks have fewer threads.
/// The block with the first columns sees all of N, and takes its rows into the norm. Entries that are zero by
/// structure take no part where values are not finite, see narrow_agent.
template <class Tuning, class Scalar, class Index, class Offset, bool Small = false>
struct invert_agent {
  static constexpr int side = Small || sizeof(Scalar) > 8 ? small_columns : 32;
  static constexpr int stride = side + 4;  ///< the lanes of a warp read rows from different banks
  static constexpr int block_threads = side * side / 4;
  using real = real_t<Scalar>;
  struct shared_storage {
    array_of<Scalar, side, stride> n;
    array_of<Scalar, side, stride> v;
    panel_column<Index, Offset> columns[Small ? small_columns : Tuning::max_width];
    array_of<bool, block_threads / 32> votes;
  };
  struct params {
    stored_panels<Scalar, Index, Offset> from;
    const panel_part* parts;
    Scalar* panels;
    block_norms<real>* norms;  ///< by supernode
  };

  /// Inverts or copies the part of a block. The steps stand in one function: barriers are between them.
  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const panel_part part = ctx.load_constant(p.parts + ctx.block_rank());
    supernode_team<Context, block_threads> team(ctx);
    panel_tiles<Context, Scalar, Index, Offset, block_threads> tiles(ctx, p.from, p.panels, part.supernode);
    const int k = tiles.columns();
    const int first = static_cast<int>(part.begin);
    const std::int64_t first_column = ctx.load_constant(p.from.of.first + part.supernode);
    tiles.open_columns(shared.columns, first, k, first);
    ctx.barrier();
    const auto load_n = [&](int row, int column) {
      return tiles.template load_stored<side>(
          shared.n, shared.columns, row, column,
          [&](const Scalar& v, int i) { return i < k ? p.from.scaled(ctx, v, first_column + i) : Scalar{}; });
    };
    for (int row = first; row < k; row += side) {
      tile_product<Context, Scalar, side, side, 4, 1> sums(ctx);
      real row_sum = 1;
      for (int l = first; l < row; l += side) {
        const bool finite_n = load_n(row, l);
        const bool finite_v = tiles.template load_inverse<side>(shared.v, l, first);
        if (!any_in_team(team, shared.votes, !finite_n || !finite_v)) {
          sums.template add<side>(shared.n, shared.v);
        } else {
          add_products_if(sums, shared.n, shared.v, side, [&](int i, int j) {
            return first + j <= l + i && tiles.depends(l + i, first + j);
          });
        }
        row_sum += sum_of_row(ctx, shared.n);
        ctx.barrier();
      }
      const bool finite_n = load_n(row, row);
      sums.for_each([&](int i, int j, const Scalar& sum) {
        const Scalar identity = row + i == first + j ? pivot_divisor<Scalar>::one() : Scalar{};
        shared.v[i][j] = identity - sum;
      });
      const bool is_finite = !any_in_team(team, shared.votes, !finite_n);
      if (ctx.thread_rank() < side) {
        const int j = ctx.thread_rank();
        if (is_finite && is_finite_column(shared.v, j)) {
          solve(shared.n, shared.v, j);
        } else {
          solve_by_structure(tiles, row, first, shared.n, shared.v, j);
        }
      }
      row_sum += sum_of_row(ctx, shared.n);
      if (first == 0 && ctx.thread_rank() < 32) {
        raise_norm(ctx, ctx.template group<32>(), &p.norms[part.supernode].of_block, row_sum);
      }
      ctx.barrier();
      if constexpr (Small) {
        // The block has all of V: measure_inverses() has nothing to do.
        if (ctx.thread_rank() < 32) {
          raise_norm(ctx, ctx.template group<32>(), &p.norms[part.supernode].of_inverse,
                     sum_of_row(ctx, shared.v));
        }
      }
      tiles.template store_inverse<side>(shared.v, row, first);
      if ((row + side) % 32 == 0) {
        tiles.advance_columns(shared.columns, first, k, row);
      }
      ctx.barrier();
    }
  }

 private:
  using tile = array_of<Scalar, side, stride>&;

  /// Returns the sum over the row of the tile that has the number of this thread; 0 if there is none.
  template <class Context>
  SPTRSV_DEVICE static real sum_of_row(Context& ctx, const array_of<Scalar, side, stride>& n) {
    real sum = 0;
    for (int l = 0; l < side && ctx.thread_rank() < side; ++l) {
      sum += magnitude(n[ctx.thread_rank()][l]);
    }
    return sum;
  }

  SPTRSV_DEVICE static bool is_finite_column(tile v, int j) {
    bool finite = true;
    for (int i = 0; i < side; ++i) {
      finite = finite && is_finite(v[i][j]);
    }
    return finite;
  }

  /// Solves for a column, `step` rows at a time, which it has in registers.
  SPTRSV_DEVICE static void solve(tile n, tile v, int j) {
    constexpr int step = 8;
    for (int begin = 0; begin < side; begin += step) {
      Scalar x[step];
      SPTRSV_UNROLL
      for (int i = 0; i < step; ++i) {
        x[i] = v[begin + i][j];
      }
      for (int l = 0; l < begin; ++l) {
        const Scalar known = v[l][j];
        SPTRSV_UNROLL
        for (int i = 0; i < step; ++i) {
          x[i] = x[i] - n[begin + i][l] * known;
        }
      }
      SPTRSV_UNROLL
      for (int l = 0; l < step; ++l) {
        SPTRSV_UNROLL
        for (int i = l + 1; i < step; ++i) {
          x[i] = x[i] - n[begin + i][begin + l] * x[l];
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < step; ++i) {
        v[begin + i][j] = x[i];
      }
    }
  }

  template <class Tiles>
  SPTRSV_DEVICE static void solve_by_structure(Tiles& tiles, int row, int first, tile n, tile v, int j) {
    const int end = tiles.columns() - row;
    for (int i = 0; i < side && i < end; ++i) {
      if (row + i <= first + j) {
        continue;  // the identity
      }
      Scalar sum = v[i][j];
      for (int l = 0; l < i; ++l) {
        if (first + j <= row + l && tiles.depends(row + l, first + j)) {
          sum = sum - n[i][l] * v[l][j];
        }
      }
      v[i][j] = tiles.depends(row + i, first + j) ? sum : Scalar{};
    }
  }
};

/// Takes rows of V into norms, if not small. Runs once per row of the parts of invert_agent, by a warp.
template <class Scalar, class Index>
struct measure_inverses {
  using real = real_t<Scalar>;

  supernodes<Index> of;
  const panel_part* parts;
  int rows;  ///< of each
  const Scalar* panels;
  block_norms<real>* norms;

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t i) const {
    const panel_part part = ctx.load_constant(parts + i / rows);
    const supernode node = of.open(ctx, part.supernode);
    const std::int64_t row = part.begin + i % rows;
    if (row >= node.columns) {
      return;
    }
    const Scalar* const entries = panels + node.panel + panel_row(row, node.columns);
    real sum = 0;
    for (std::int64_t j = warp.rank(); j < row; j += 32) {
      sum += magnitude(ctx.load_constant(entries + j));
    }
    raise_norm(ctx, warp, &norms[part.supernode].of_inverse,
               real{1} + simt::reduce(warp, sum, 32, simt::plus{}));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
