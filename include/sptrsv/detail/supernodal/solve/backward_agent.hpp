// SPDX-License-Identifier: Apache-2.0
// The kernel that solves C^T x = alpha b, supernode by supernode, from the roots of the tree to its leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/forest/forest_solver.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"
#include "sptrsv/detail/supernodal/solve/sweep_products.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Solves up to `Columns` right-hand sides in one sweep. For a supernode with the columns J and the rows R
/// below it, in the letters of panels.hpp:
///
///   1. Begin to copy the panel to shared memory.
///   2. For each row of the panel: z = alpha b in the diagonal block, and x below it, which other supernodes
///      hand over. The team takes as many rows at a time as it has threads.
///   3. For each column, one thread of each group adds its share of the column of the panel times z.
///   4. For each column, add the sums of the groups, divide by the pivot, hand over x and store it.
///   5. Reset x in the other half of the double buffer to pending.
///
/// A large panel is shared by tiles of the rows of its diagonal block and strips of the columns below it.
/// They hand over their sums to the last strips, which do steps 4 and 5. These have the rows of the parent,
/// so that one hop lies between the parent's x and the supernode's. A component of x is stored after all
/// tiles of its supernode have read b, so x may be b. The last blocks solve forests; see backward_forest.
///
/// Progress: the tasks that a task waits for have smaller tickets.
///
/// `Params`: solve_params, or a struct derived from it whose functions `load_b`, `store_x`, `publish`,
/// `poll`, `wait`, `pass` and `complete` replace those of solve_params.
template <class Tuning, class Scalar, class Index, class Offset, int Columns,
          class Params = solve_params<Scalar, Index, Offset>>
struct backward_agent {
  using product = backward_product<Tuning, Scalar, Index, Offset, Columns>;
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = product::warps;
  static_assert(Tuning::tile_bytes >= strip_columns * static_cast<int>(sizeof(Scalar)),
                "supernodal_tuning: tile_bytes must hold 32 entries");
  static constexpr int warps_per_processor = Tuning::warps_per_processor / (Columns == 1 ? 1 : 2);
  static_assert(Tuning::max_width <= block_threads,
                "supernodal_tuning: max_width must not be larger than block_threads");
  static constexpr int arrival_count = std::max(warps, forest_space::arrivals(true));
  struct shared_storage {
    array_of<std::uint64_t, arrival_count> arrivals;
    block_start start;
    array_of<Scalar, Columns * block_threads> z;
    array_of<Scalar, Columns * block_threads> sums;
  };
  using params = Params;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    begin_arrivals(ctx, shared.arrivals);
    start_block(ctx, shared.start, p.buffers.state, p.x.columns);
    do_task(ctx, shared, p);
  }

  /// Does the task of the ticket in `shared.start`, after a barrier. The words for copies are prepared.
  template <class Context>
  SPTRSV_DEVICE static void do_task(Context& ctx, shared_storage& shared, const params& p) {
    if (shared.start.block >= p.task_count) {
      solve_forest<backward_forest<Context, Tuning, Scalar, Params>, true>(
          ctx, p, shared.start, shared.start.block - p.task_count, shared.arrivals);
      return;
    }
    const task work = ctx.load_constant(p.tasks + shared.start.block);
    if (work.kind == task_kind::warps) {
      supernode_team<Context, 32> team(ctx);
      if (team.index() < work.end - work.begin) {
        const supernode node = ctx.load_constant(p.small + work.begin + team.index());
        solve(ctx, team, shared, p, node, 0, node.height(), -1);
      }
      return;
    }
    if (work.kind == task_kind::pass) {
      p.pass(ctx, work.begin, work.end);
      return;
    }
    supernode_team<Context, block_threads> team(ctx);
    if (work.kind == task_kind::strip || work.kind == task_kind::last_strip) {
      solve_strip(ctx, team, shared, p, work);
      return;
    }
    solve(ctx, team, shared, p, work.node, work.begin, work.end,
          work.kind == task_kind::tile ? p.size + work.partials : -1);
  }

 private:
  /// Divides by the pivot, and hands over and stores a component of x.
  template <class Context>
  SPTRSV_DEVICE static void finish(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                                   std::int64_t column, const pivot_divisor<Scalar>& pivot, Scalar sum) {
    const Scalar solved = p.complete(ctx, half, rhs, column, pivot(sum));
    p.publish(ctx, half, rhs, column, solved);
    p.store_x(ctx, column, rhs, half, p.size - 1 - column, solved);
  }

  /// Does a task of kind `strip` or `last_strip`: a lane of each warp for each column, the warps take the
  /// rows round-robin. Each thread multiplies the entries that it has copied itself.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve_strip(Context& ctx, Team& team, shared_storage& shared, const params& p,
                                        const task& work) {
    auto* const memory = static_cast<Scalar*>(ctx.dynamic_shared());
    const supernode& node = work.node;
    const std::uint32_t half = shared.start.half;
    const int k = static_cast<int>(node.columns);
    const int lane = team.warp().rank();
    const int warp = team.warp().index();
    const int column = work.column + lane;
    const bool has_column = column < k;
    const bool is_last = work.kind == task_kind::last_strip;
    const int rows = static_cast<int>(work.end - work.begin);
    const Scalar* const entries = p.panels + node.panel + panel_row(work.begin, k) + column;
    for (int i = warp; i < rows; i += warps) {
      if (has_column) {
        ctx.template copy_async<sizeof(Scalar)>(memory + i * strip_columns + lane,
                                                entries + static_cast<std::int64_t>(i) * k);
      }
    }
    ctx.commit_copies();
    const auto pivot = p.pivot(ctx, node.first + (has_column ? column : 0));
    typename product::unknown mine{};
    for (int c = 0; c < Columns && is_last && has_column && c < p.x.columns; ++c) {
      rhs_value(mine, c) = sum_of_tiles<4, Scalar>(
          ctx, p, work, column, warp, warps, [&](std::int64_t i) { return p.buffers.component(half, c, i); });
    }
    for (int begin = 0; begin < rows; begin += 32 * warps) {
      const int row = begin + lane * warps + warp;
      load_z(ctx, p, half, node, work.begin + row, work.end, shared.z + team.rank(), block_threads);
      ctx.template wait_copies<0>();
      team.warp().sync();
      const int count = (rows - begin - warp + warps - 1) / warps;
      if (has_column) {
        product::add_strip(ctx, p, node, work.begin + begin + warp, count < 32 ? count : 32, column,
                           memory + (begin + warp) * strip_columns + lane, shared.z + 32 * warp, mine);
      }
      team.warp().sync();  // z is read before it is written again
    }
    for (int c = 0; c < Columns; ++c) {
      shared.sums[c * block_threads + team.rank()] = rhs_value(mine, c);
    }
    team.sync();
    for (int c = 0; c < Columns && warp == 0 && has_column && c < p.x.columns; ++c) {
      Scalar total{};
      SPTRSV_UNROLL
      for (int w = 0; w < warps; ++w) {
        total = total + shared.sums[c * block_threads + w * 32 + lane];
      }
      if (is_last) {
        finish(ctx, p, half, c, node.first + column, pivot, total);
      } else {
        p.publish(ctx, half, c, p.size + work.partials + column, total);
      }
    }
    if (warp == 0 && has_column) {
      p.buffers.reset(ctx, half ^ 1u, is_last ? node.first + column : p.size + work.partials + column,
                      shared.start.rhs_to_reset, 0, 1);
    }
  }

  /// Multiplies the rows [begin, end) of the panel, and solves for the columns. `partials`: where the sums
  /// are handed over instead, because other blocks multiply other rows; -1: nowhere.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, shared_storage& shared, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end,
                                  std::int64_t partials) {
    const std::uint32_t half = shared.start.half;
    const int k = static_cast<int>(node.columns);
    std::uint64_t* const arrival = &shared.arrivals[team.index()];
    const Scalar* const panel = copy_rows(ctx, team, p, node, begin, end, arrival);
    // Team::size elements for each right-hand side:
    Scalar* const z = shared.z + team.index() * 32 * Columns;
    Scalar* const sums = shared.sums + team.index() * 32 * Columns;
    const int width = simt::ceil_power_of_two(k);
    const int column = team.rank() & (width - 1);
    const int group = team.rank() / width;
    const bool finishes = team.rank() < k;
    const auto pivot = p.pivot(ctx, node.first + (finishes ? team.rank() : 0));
    typename product::unknown mine{};
    for (std::int64_t base = begin; base < end; base += Team::size) {
      load_z(ctx, p, half, node, base + team.rank(), end, z + team.rank(), Team::size);
      if (team.warp_index() == 0 && base == begin) {
        ctx.wait_bulk(arrival, false);
      }
      team.sync();
      if (column < k) {
        product::template add_products<Team::size>(ctx, p, node, base, end, column, group, Team::size / width,
                                                   panel + column, z, mine);
      }
      team.sync();  // z is read before it is written again
    }
    for (int c = 0; c < Columns; ++c) {
      sums[c * Team::size + team.rank()] = rhs_value(mine, c);
    }
    team.sync();
    if (finishes) {
      for (int c = 0; c < Columns && c < p.x.columns; ++c) {
        Scalar total{};
        for (int at = team.rank(); at < Team::size; at += width) {
          total = total + sums[c * Team::size + at];
        }
        if (partials >= 0) {
          p.publish(ctx, half, c, partials + team.rank(), total);
        } else {
          finish(ctx, p, half, c, node.first + team.rank(), pivot, total);
        }
      }
      const std::int64_t at = partials >= 0 ? partials : node.first;
      p.buffers.reset(ctx, half ^ 1u, at + team.rank(), shared.start.rhs_to_reset, 0, 1);
    }
  }

  /// Stores z of row `i` of the panel to z[0], z[stride], ...
  template <class Context>
  SPTRSV_DEVICE static void load_z(Context& ctx, const params& p, std::uint32_t half, const supernode& node,
                                   std::int64_t i, std::int64_t end, Scalar* z, int stride) {
    if (i >= end) {
      return;
    }
    const std::int64_t column = p.of.row_of(ctx, node, i);
    for (int c = 0; c < Columns; ++c) {
      Scalar v{};
      if (c < p.x.columns) {
        v = i < node.columns ? p.load_b(ctx, column, c) : p.wait(ctx, half, c, column);
      }
      z[c * stride] = v;
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
