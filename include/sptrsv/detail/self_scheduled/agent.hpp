// The kernels of self_scheduled: SLFR and SLFC of Li and Zhang, Efficient Parallel Implementations of Sparse
// Triangular Solves for GPU Architectures, 2020, sections 4.2 and 4.3. Names of arrays are those of the
// paper.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/prefetched_entries.hpp"
#include "sptrsv/detail/self_scheduled/unknown.hpp"

namespace sptrsv::detail::self_scheduled {

/// What SLFR and SLFC share: the block's work, the wait, and line 28 of SLFR, which is line 20 of SLFC.
/// `Solve` is one of the two below. `Lanes` lanes take an unknown; `Columns` right-hand sides are solved in
/// one sweep.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns,
          template <class, class, class, class, int, int> class Solve>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_processor =
      Tuning::warps_per_processor / (Columns == 1 && sizeof(Scalar) <= 8 ? 1 : 2);
  static constexpr int unknowns_per_block = block_threads / Lanes;
  static_assert(Columns <= Lanes);
  using params = system_params<Scalar, Index, Offset>;
  using shared_storage = block_ticket;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    start_block(ctx, start, p.unknowns.state);
    const std::int64_t wid = start.block * unknowns_per_block + tile.index();
    const bool present = wid < p.size;
    Solve<Tuning, Scalar, Index, Offset, Lanes, Columns> solve(ctx, p, present ? wid : p.size - 1,
                                                               tile.rank());
    when_ready(ctx, tile, p, present, wid, solve.in_degree(), [&] {
      solve(ctx, tile, p, start.half);
      if (tile.rank() == 0) {
        p.unknowns.restore_count(ctx, wid, solve.in_degree());
      }
    });
  }

 private:
  /// Line 13 of both kernels: one lane spins, the others wait for it. The counter counts up, so that it is
  /// zero again for the next solve when it is set back.
  template <class Context, class Tile, class Work>
  SPTRSV_DEVICE static void when_ready(Context& ctx, const Tile& tile, const params& p, bool present,
                                       std::int64_t wid, Index in_degree, Work work) {
    if constexpr (Lanes == 32) {
      if (present) {
        if (tile.rank() == 0) {
          p.unknowns.wait(ctx, wid, in_degree);
        }
        tile.sync();
        work();
      }
    } else {
      // Unknowns of one warp may need each other: whichever is ready goes first, no part of the warp waits
      // inside the loop.
      const auto warp = ctx.template group<32>();
      bool waits = present;
      while (warp.any(waits)) {
        bool ready = waits && in_degree == 0;
        if (waits && in_degree > 0 && tile.rank() == 0) {
          ready = ctx.load_relaxed(p.unknowns.counts + wid) == in_degree;
        }
        if (waits && tile.any(ready)) {
          if (in_degree > 0 && tile.rank() == 0) {
            ctx.fence_acquire();
          }
          tile.sync();
          work();
          waits = false;
        } else if (waits && tile.rank() == 0) {
          ctx.pause(p.unknowns.counts + wid);
        }
      }
    }
  }
};

/// SLFR, Algorithm 3: gathers the solutions that the row needs, then counts for those that need this one. All
/// that does not depend on x is loaded at construction. The user's x, for which nobody waits, is stored last.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns>
class solve_row {
  using params = system_params<Scalar, Index, Offset>;

 public:
  template <class Context>
  SPTRSV_DEVICE solve_row(Context& ctx, const params& p, std::int64_t wid, int rank)
      : solve_row(ctx, p, span<Offset>(ctx, p.ia, wid), span<Offset>(ctx, p.ib, wid),
                  unknown<Scalar, Index, Offset, Columns>(ctx, p, wid), rank) {}

  SPTRSV_DEVICE Index in_degree() const { return length_; }

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, const params& p, std::uint32_t half) {
    Scalar x{};
    for (std::int64_t first = 0; first < unknown_.columns(p); first += Columns) {
      if (first > 0) {
        finish(ctx, tile, p, first - Columns, x, half);
        unknown_.load_rhs(ctx, p, first, tile.rank());
      }
      Scalar sums[Columns] = {};
      row_.for_each(ctx, 0, [&](Index column, Scalar value) {  // lines 15 and 16
        for (int k = 0; k < Columns; ++k) {
          if (first + k < unknown_.columns(p)) {
            sums[k] = sums[k] + value * ctx.load(p.unknowns.value(column, first + k));
          }
        }
      });
      Scalar sum{};
      for (int k = 0; k < Columns; ++k) {  // lines 17 to 22
        const Scalar total = simt::tile_sum(tile, sums[k], Lanes);
        sum = tile.rank() == k ? total : sum;
      }
      if (unknown_.finishes(p, first, tile.rank())) {
        x = pivot_(p.alpha * unknown_.b - sum);
        ctx.store(p.unknowns.value(unknown_.wid, first + tile.rank()), x);  // line 24
      }
    }
    tile.sync();
    if (column_.has(0)) {
      ctx.fence_release();  // line 25, by the lanes that count: x is there before anybody counts it
    }
    column_.for_each(ctx, 0,
                     [&](Index j, Scalar) { ctx.reduce_add(p.unknowns.counts + j, Index{1}); });  // line 28
    finish(ctx, tile, p, (unknown_.columns(p) - 1) / Columns * Columns, x, half);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE solve_row(Context& ctx, const params& p, const span<Offset>& row, const span<Offset>& column,
                          const unknown<Scalar, Index, Offset, Columns>& loading, int rank)
      : unknown_(loading),
        length_(static_cast<Index>(row.end - row.begin)),
        row_(ctx, p.ja, p.values, row.begin, row.end, rank),
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

  unknown<Scalar, Index, Offset, Columns> unknown_;
  Index length_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> row_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead, false> column_;
  pivot_divisor<Scalar> pivot_{pivot_divisor<Scalar>::one()};
};

/// SLFC, Algorithm 4: adds its column, scaled by the solution, to the sums of those that need it, and counts
/// for them. x is not set to the right-hand side before the solve: sums start at zero, and whoever divides
/// adds the right-hand side. What nobody waits for is stored last.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns>
class solve_column {
  using params = system_params<Scalar, Index, Offset>;

 public:
  template <class Context>
  SPTRSV_DEVICE solve_column(Context& ctx, const params& p, std::int64_t wid, int rank)
      : solve_column(ctx, p, span<Offset>(ctx, p.ib, wid), ctx.load_constant(p.in_degree + wid),
                     unknown<Scalar, Index, Offset, Columns>(ctx, p, wid), rank) {}

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
        const Scalar sum = in_degree_ > 0 ? p.unknowns.sum(ctx, unknown_.wid, first + tile.rank()) : Scalar{};
        x = pivot_(p.alpha * unknown_.b - sum);
      }
      Scalar xi[Columns];
      for (int k = 0; k < Columns; ++k) {  // line 16, by shuffles instead of shared memory
        xi[k] = tile.shuffle(x, k);
      }
      column_.for_each(ctx, 0, [&](Index j, Scalar value) {  // lines 17 and 18
        for (int k = 0; k < Columns; ++k) {
          if (first + k < unknown_.columns(p)) {
            add_words(ctx, p.unknowns.value(j, first + k), value * xi[k]);
          }
        }
      });
    }
    if (column_.has(0)) {
      ctx.fence_release();  // line 19, once for all entries
    }
    column_.for_each(ctx, 0,
                     [&](Index j, Scalar) { ctx.reduce_add(p.unknowns.counts + j, Index{1}); });  // line 20
    finish(ctx, tile, p, (unknown_.columns(p) - 1) / Columns * Columns, x, half);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE solve_column(Context& ctx, const params& p, const span<Offset>& column, Index in_degree,
                             const unknown<Scalar, Index, Offset, Columns>& loading, int rank)
      : unknown_(loading),
        in_degree_(in_degree),
        column_(ctx, p.jb, p.values, column.begin, column.end, rank) {
    unknown_.load_rhs(ctx, p, 0, rank);
    pivot_ = pivot_divisor<Scalar>(unknown_.diagonal);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE void finish(Context& ctx, const Tile& tile, const params& p, std::int64_t first, Scalar x,
                            std::uint32_t half) const {
    if (unknown_.finishes(p, first, tile.rank())) {  // line 22
      if (in_degree_ > 0) {
        p.unknowns.restore_sum(ctx, unknown_.wid, first + tile.rank());
      }
      unknown_.store(ctx, p, first + tile.rank(), x, half);
    }
  }

  unknown<Scalar, Index, Offset, Columns> unknown_;
  Index in_degree_;
  prefetched_entries<Scalar, Index, Offset, Lanes, Tuning::entries_ahead> column_;
  pivot_divisor<Scalar> pivot_{pivot_divisor<Scalar>::one()};
};

}  // namespace sptrsv::detail::self_scheduled
