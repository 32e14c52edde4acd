// SPDX-License-Identifier: Apache-2.0
// The kernels of self_scheduled: SLFR and SLFC (Algorithms 3 and 4, section 4.2) of Li and Zhang, Efficient
// Parallel Implementations of Sparse Triangular Solves for GPU Architectures, 2020. Arrays have the paper's
// names; line numbers are those of the paper's kernels SLFR and SLFC (section 4.3).
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/base/prefetched_entries.hpp"
#include "sptrsv/detail/papers/self_scheduled/unknown.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::SPTRSV_ABI::detail::self_scheduled {

/// The frame of SLFR and SLFC. `Solve` is solve_row (SLFR) or solve_column (SLFC). One tile of `Lanes` lanes
/// solves one unknown; one sweep over its row or column solves `Columns` right-hand sides. `OneRhs`: the
/// solve has a single right-hand side, and `Columns` is 1.
///
///   1. Draw a ticket per block: tile t takes unknown wid = ticket * unknowns_per_block + t.
///   2. Load what does not depend on x (the constructor of `Solve`).
///   3. Wait until the unknown's counter has reached its in-degree (line 13 of both kernels).
///   4. Solve the unknown and count for the unknowns that depend on it (`Solve`).
///   5. Set the counter back to zero for the next solve.
///
/// Progress: an unknown waits only for unknowns with smaller wid. They are in blocks with smaller tickets,
/// which have started, or in this block; tiles of one warp do not block one another (when_ready).
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns, bool OneRhs,
          template <class, class, class, class, int, int, bool> class Solve>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_processor =
      Tuning::warps_per_processor / (Columns == 1 && sizeof(Scalar) <= 8 ? 1 : 2);
  static constexpr int unknowns_per_block = block_threads / Lanes;
  using params = system_params<Scalar, Index, Offset>;
  using shared_storage = block_ticket;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    start_block(ctx, start, p.buffers.state);
    const std::int64_t wid = start.block * unknowns_per_block + tile.index();
    const bool present = wid < p.size;
    Solve<Tuning, Scalar, Index, Offset, Lanes, Columns, OneRhs> solve(ctx, p, present ? wid : p.size - 1,
                                                                       tile.rank());
    when_ready(ctx, tile, p, present, wid, solve.in_degree(), [&] {
      solve(ctx, tile, p, start.half);
      if (tile.rank() == 0) {
        p.buffers.restore_count(ctx, wid, solve.in_degree());
      }
    });
  }

 private:
  /// Calls `work` when the unknown's counter has reached `in_degree` (line 13 of both kernels): one lane
  /// polls, the other lanes wait for it. The counter counts up and not down as in the paper, so zero is its
  /// value before every solve.
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
class solve_row {
  using params = system_params<Scalar, Index, Offset>;

 public:
  template <class Context>
  SPTRSV_DEVICE solve_row(Context& ctx, const params& p, std::int64_t wid, int rank)
      : solve_row(ctx, p, span<Offset>(ctx, p.offsets, wid), span<Offset>(ctx, p.ib, wid),
                  unknown<Scalar, Index, Offset, Columns, OneRhs>(ctx, p, wid), rank) {}

  SPTRSV_DEVICE Index in_degree() const { return length_; }

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, const params& p, std::uint32_t half) {
    Scalar x{};
    for (std::int64_t first = 0; first < unknown_.columns(p); first += Columns) {
      if (first > 0) {
        finish(ctx, tile, p, first - Columns, x, half);
        unknown_.load_rhs(ctx, p, first, tile.rank());
      }
      array_of<Scalar, Columns> sums = {};
      row_.for_each(ctx, 0, [&](Index column, Scalar value) {  // lines 15 and 16
        for (int k = 0; k < Columns; ++k) {
          if (first + k < unknown_.columns(p)) {
            sums[k] = sums[k] + value * ctx.load(p.buffers.value(column, first + k));
          }
        }
      });
      Scalar sum{};
      for (int k = 0; k < Columns; ++k) {  // lines 17 to 22
        const Scalar total = simt::reduce(tile, sums[k], Lanes, simt::plus{});
        sum = tile.rank() == k ? total : sum;
      }
      if (unknown_.finishes(p, first, tile.rank())) {
        x = pivot_(p.alpha * unknown_.b - sum);
        ctx.store(p.buffers.value(unknown_.wid, first + tile.rank()), x);  // line 24
      }
    }
    tile.sync();
    if (column_.has(0)) {
      ctx.fence_release();  // line 25, by the lanes that count: x is visible before a counter says so
    }
    column_.for_each(ctx, 0,
                     [&](Index j, Scalar) { ctx.reduce_add(p.buffers.counts + j, Index{1}); });  // line 28
    finish(ctx, tile, p, (unknown_.columns(p) - 1) / Columns * Columns, x, half);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE solve_row(Context& ctx, const params& p, const span<Offset>& row, const span<Offset>& column,
                          const unknown<Scalar, Index, Offset, Columns, OneRhs>& loading, int rank)
      : unknown_(loading),
        length_(static_cast<Index>(row.end - row.begin)),
        row_(ctx, p.indices, p.values, row.begin, row.end, rank),
        column_(ctx, p.jb, static_cast<const Scalar*>(nullptr), column.begin, column.end, rank) {
    unknown_.load_rhs(ctx, p, 0, rank);
    pivot_ = pivot_divisor<Scalar>(unknown_.diagonal);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void finish(Context& ctx, const Tile& tile, const params& p, std::int64_t first, Scalar x,
                            std::uint32_t half) const {
    if (unknown_.finishes(p, first, tile.rank())) {
      unknown_.store(ctx, p, first + tile.rank(), x, half);
    }
  }

  unknown<Scalar, Index, Offset, Columns, OneRhs> unknown_;
  Index length_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> row_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead, false> column_;
  pivot_divisor<Scalar> pivot_{pivot_divisor<Scalar>::one()};
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
class solve_column {
  using params = system_params<Scalar, Index, Offset>;

 public:
  template <class Context>
  SPTRSV_DEVICE solve_column(Context& ctx, const params& p, std::int64_t wid, int rank)
      : solve_column(ctx, p, span<Offset>(ctx, p.offsets, wid), ctx.load_constant(p.in_degree + wid),
                     unknown<Scalar, Index, Offset, Columns, OneRhs>(ctx, p, wid), rank) {}

  SPTRSV_DEVICE Index in_degree() const { return in_degree_; }

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, const params& p, std::uint32_t half) {
    Scalar x{};
    for (std::int64_t first = 0; first < unknown_.columns(p); first += Columns) {
      if (first > 0) {
        finish(ctx, tile, p, first - Columns, x, half);
        unknown_.load_rhs(ctx, p, first, tile.rank());
      }
      if (unknown_.finishes(p, first, tile.rank())) {  // line 14
        const Scalar sum = in_degree_ > 0 ? p.buffers.sum(ctx, unknown_.wid, first + tile.rank()) : Scalar{};
        x = pivot_(p.alpha * unknown_.b - sum);
      }
      array_of<Scalar, Columns> xi;
      for (int k = 0; k < Columns; ++k) {  // line 16, by shuffles instead of shared memory
        xi[k] = tile.shuffle(x, k);
      }
      column_.for_each(ctx, 0, [&](Index j, Scalar value) {  // lines 17 and 18
        for (int k = 0; k < Columns; ++k) {
          if (first + k < unknown_.columns(p)) {
            add_words(ctx, p.buffers.value(j, first + k), value * xi[k]);
          }
        }
      });
    }
    if (column_.has(0)) {
      ctx.fence_release();  // line 19, once for all entries
    }
    column_.for_each(ctx, 0,
                     [&](Index j, Scalar) { ctx.reduce_add(p.buffers.counts + j, Index{1}); });  // line 20
    finish(ctx, tile, p, (unknown_.columns(p) - 1) / Columns * Columns, x, half);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE solve_column(Context& ctx, const params& p, const span<Offset>& column, Index in_degree,
                             const unknown<Scalar, Index, Offset, Columns, OneRhs>& loading, int rank)
      : unknown_(loading),
        in_degree_(in_degree),
        column_(ctx, p.indices, p.values, column.begin, column.end, rank) {
    unknown_.load_rhs(ctx, p, 0, rank);
    pivot_ = pivot_divisor<Scalar>(unknown_.diagonal);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void finish(Context& ctx, const Tile& tile, const params& p, std::int64_t first, Scalar x,
                            std::uint32_t half) const {
    if (unknown_.finishes(p, first, tile.rank())) {  // line 22
      if (in_degree_ > 0) {
        p.buffers.restore_sum(ctx, unknown_.wid, first + tile.rank());
      }
      unknown_.store(ctx, p, first + tile.rank(), x, half);
    }
  }

  unknown<Scalar, Index, Offset, Columns, OneRhs> unknown_;
  Index in_degree_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> column_;
  pivot_divisor<Scalar> pivot_{pivot_divisor<Scalar>::one()};
};

}  // namespace sptrsv::SPTRSV_ABI::detail::self_scheduled
