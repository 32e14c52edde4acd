// SPDX-License-Identifier: Apache-2.0
// The kernels of self_scheduled: SLFR and SLFC (Algorithms 3 and 4, section 4.2) of Li and Zhang, Efficient
// Parallel Implementations of Sparse Triangular Solves for GPU Architectures, 2020. Arrays have the paper's
// names; line numbers are those of the paper's kernels SLFR and SLFC (section 4.3).
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/self_scheduled/self_scheduled_unknown.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/counted_unknowns.hpp"

namespace sptrsv::SPTRSV_ABI::detail::self_scheduled {

/// SLFR, Algorithm 3: one tile solves one row.
///
///   1. Load the row, the column's pattern, the pivot and b ahead of the wait (constructor).
///   2. Multiply the entries of the row with the solved components; a lane takes every Lanes-th entry
///      (lines 15 and 16).
///   3. Add the lanes' sums (lines 17 to 22).
///   4. Lane k solves right-hand side first + k and stores it for other unknowns (line 24).
///   5. Fence (line 25), then count for each row that the column has an entry in (line 28).
///   6. Store the user's x, which no thread waits for.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns, bool OneRhs>
struct solve_row {
  using params = system_params<Scalar, Index, Offset>;
  static constexpr bool stores_x = true;  ///< for other unknowns

  span<Offset> of_row;
  span<Offset> of_column;
  unknown<Scalar, Index, Offset, Columns, OneRhs> of;
  Index in_degree;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> row;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead, false> column;

  template <class Context>
  SPTRSV_DEVICE solve_row(Context& ctx, const params& p, std::int64_t wid, int rank)
      : of_row(ctx, p.offsets, wid),
        of_column(ctx, p.ib, wid),
        of(ctx, p, wid),
        in_degree(static_cast<Index>(of_row.end - of_row.begin)),
        row(ctx, p.indices, p.values, of_row.begin, of_row.end, rank),
        column(ctx, p.jb, static_cast<const Scalar*>(nullptr), of_column.begin, of_column.end, rank) {
    of.begin(ctx, p, rank);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void sweep(Context& ctx, const Tile& tile, const params& p, std::int64_t first, Scalar& x) {
    array_of<Scalar, Columns> sums = {};
    row.for_each(ctx, 0, [&](Index j, Scalar value) {  // lines 15 and 16
      for (int k = 0; k < Columns; ++k) {
        if (first + k < of.columns(p)) {
          sums[k] = sums[k] + value * ctx.load(p.buffers.value(j, first + k));
        }
      }
    });
    Scalar sum{};
    for (int k = 0; k < Columns; ++k) {  // lines 17 to 22
      const Scalar total = simt::reduce(tile, sums[k], Lanes, simt::plus{});
      sum = tile.rank() == k ? total : sum;
    }
    if (of.finishes(p, first, tile.rank())) {
      x = of.pivot(p.alpha * of.b - sum);
      ctx.store(p.buffers.value(of.wid, first + tile.rank()), x);  // line 24
    }
  }
};

/// SLFC, Algorithm 4: one tile solves one column.
///
///   1. Load the column, the pivot and b ahead of the wait (constructor).
///   2. Lane k takes the sum of the updates for right-hand side first + k and solves it (line 14).
///   3. Shuffle the solution to all lanes (line 16).
///   4. Add value * x to the sum of each row that the column has an entry in, by atomics (lines 17 and 18).
///   5. Fence (line 19), then count for these rows (line 20).
///   6. Set the sum back to zero and store the user's x (line 22), which no thread waits for.
///
/// In the paper x starts as the right-hand side. Here sums start at zero and step 2 adds the right-hand side,
/// so no launch has to initialise x.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns, bool OneRhs>
struct solve_column {
  using params = system_params<Scalar, Index, Offset>;
  static constexpr bool stores_x = false;

  span<Offset> of_column;
  Index in_degree;
  unknown<Scalar, Index, Offset, Columns, OneRhs> of;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> column;

  template <class Context>
  SPTRSV_DEVICE solve_column(Context& ctx, const params& p, std::int64_t wid, int rank)
      : of_column(ctx, p.offsets, wid),
        in_degree(ctx.load_constant(p.in_degree + wid)),
        of(ctx, p, wid),
        column(ctx, p.indices, p.values, of_column.begin, of_column.end, rank) {
    of.begin(ctx, p, rank);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void sweep(Context& ctx, const Tile& tile, const params& p, std::int64_t first, Scalar& x) {
    if (of.finishes(p, first, tile.rank())) {  // line 14
      const Scalar sum = in_degree > 0 ? p.buffers.sum(ctx, of.wid, first + tile.rank()) : Scalar{};
      x = of.pivot(p.alpha * of.b - sum);
    }
    array_of<Scalar, Columns> xi;
    for (int k = 0; k < Columns; ++k) {  // line 16, by shuffles instead of shared memory
      xi[k] = tile.shuffle(x, k);
    }
    column.for_each(ctx, 0, [&](Index j, Scalar value) {  // lines 17 and 18
      for (int k = 0; k < Columns; ++k) {
        if (first + k < of.columns(p)) {
          add_words(ctx, p.buffers.value(j, first + k), value * xi[k]);
        }
      }
    });
  }
  template <class Context>
  SPTRSV_DEVICE void restore(Context& ctx, const params& p, std::int64_t rhs) const {
    if (in_degree > 0) {
      p.buffers.restore_sum(ctx, of.wid, rhs);
    }
  }
};

/// The frame of SLFR (`ByRows`) and SLFC. One tile of `Lanes` lanes solves one unknown; one sweep over its
/// row or column solves `rhs_per_sweep` right-hand sides. `OneRhs`: the solve has a single right-hand side.
///
///   1. Draw a ticket per block: tile t takes unknown wid = ticket * unknowns_per_block + t.
///   2. Load what does not depend on x (the constructor of `solver`).
///   3. Wait until the unknown's counter has reached its in-degree (line 13 of both kernels).
///   4. Solve the unknown and count for the unknowns that depend on it (`solver`).
///   5. Set the counter back to zero for the next solve.
///
/// Progress: an unknown waits only for unknowns with smaller wid. They are in blocks with smaller tickets,
/// which have started, or in this block; tiles of one warp do not block one another (when_ready).
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, bool OneRhs, bool ByRows>
struct agent {
  static constexpr int rhs_per_sweep = OneRhs ? 1 : Tuning::rhs_per_sweep;
  using solver =
      std::conditional_t<ByRows, solve_row<Tuning, Scalar, Index, Offset, Lanes, rhs_per_sweep, OneRhs>,
                         solve_column<Tuning, Scalar, Index, Offset, Lanes, rhs_per_sweep, OneRhs>>;
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_processor =
      Tuning::warps_per_processor / (rhs_per_sweep == 1 && sizeof(Scalar) <= 8 ? 1 : 2);
  static constexpr int unknowns_per_block = block_threads / Lanes;
  using params = system_params<Scalar, Index, Offset>;
  using shared_storage = block_ticket;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    start_block(ctx, start, p.buffers.state);
    const std::int64_t wid = start.block * unknowns_per_block + tile.index();
    const bool present = wid < p.size;
    solver solve(ctx, p, present ? wid : p.size - 1, tile.rank());
    when_ready(ctx, tile, p, present, wid, solve.in_degree, [&] {
      solve_unknown(ctx, tile, p, solve, start.half);
      if (tile.rank() == 0) {
        p.buffers.restore_count(ctx, wid, solve.in_degree);
      }
    });
  }

 private:
  /// Solves the unknown sweep by sweep, counts for those that depend on it, and stores the user's x.
  template <class Context, class Tile>
  SPTRSV_DEVICE static void solve_unknown(Context& ctx, const Tile& tile, const params& p, solver& solve,
                                          std::uint32_t half) {
    auto& unknown = solve.of;
    Scalar x{};
    const auto finish = [&](std::int64_t first) {
      if (unknown.finishes(p, first, tile.rank())) {
        if constexpr (!solver::stores_x) {
          solve.restore(ctx, p, first + tile.rank());
        }
        p.store_x(ctx, unknown.row(p), static_cast<std::int64_t>(unknown.substitution_index), half,
                  first + tile.rank(), x);
      }
    };
    for (std::int64_t first = 0; first < unknown.columns(p); first += rhs_per_sweep) {
      if (first > 0) {
        finish(first - rhs_per_sweep);
        unknown.load_rhs(ctx, p, first, tile.rank());
      }
      solve.sweep(ctx, tile, p, first, x);
    }
    if constexpr (solver::stores_x) {
      tile.sync();
    }
    if (solve.column.has(0)) {
      // Line 25 (SLFR), 19 (SLFC): what the sweeps have stored is visible before a counter says so.
      ctx.fence_release();
    }
    solve.column.for_each(ctx, 0, [&](Index j, Scalar) {
      ctx.reduce_add(p.buffers.counts + j, Index{1});  // line 28 (SLFR), 20 (SLFC)
    });
    finish((unknown.columns(p) - 1) / rhs_per_sweep * rhs_per_sweep);
  }

  /// Calls `work` when the unknown's counter has reached `in_degree` (line 13 of both kernels). The counter
  /// counts up and not down as in the paper, so zero is its value before every solve.
  template <class Context, class Tile, class Work>
  SPTRSV_DEVICE static void when_ready(Context& ctx, const Tile& tile, const params& p, bool present,
                                       std::int64_t wid, Index in_degree, Work work) {
    if constexpr (Lanes == 32) {
      if (present) {
        if (tile.rank() == 0) {
          p.buffers.wait(ctx, wid, in_degree);
        }
        tile.sync();
        work();
      }
    } else {
      // Unknowns of one warp may depend on one another. All tiles of the warp go through this loop together:
      // a tile that is ready works at once, and no tile waits in a loop of its own.
      const auto warp = ctx.template group<32>();
      bool waits = present;
      while (warp.any(waits)) {
        bool ready = waits && in_degree == 0;
        if (waits && in_degree > 0 && tile.rank() == 0) {
          ready = ctx.load_relaxed(p.buffers.counts + wid) == in_degree;
        }
        if (waits && tile.any(ready)) {
          if (in_degree > 0 && tile.rank() == 0) {
            ctx.fence_acquire();
          }
          tile.sync();
          work();
          waits = false;
        } else if (waits && tile.rank() == 0) {
          ctx.pause(p.buffers.counts + wid);
        }
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::self_scheduled
