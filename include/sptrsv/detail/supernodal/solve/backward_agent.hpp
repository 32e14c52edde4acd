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
    auto* const panel_memory = static_cast<unsigned char*>(ctx.dynamic_shared());
    if (work.kind == task_kind::warps) {
      supernode_team<Context, 32> team(ctx);
      const int index = team.warp().index();
      if (index < work.end - work.begin) {
        const supernode node = ctx.load_constant(p.small + work.begin + index);
        task whole = work;
        whole.kind = task_kind::whole;
        whole.begin = 0;
        whole.end = node.height();
        solve(ctx, team, shared.start, p, node, whole, panel_memory + index * p.warp_bytes,
              &shared.arrivals[index], shared.z + index * 32 * Columns, shared.sums + index * 32 * Columns);
      }
      return;
    }
    if (work.kind == task_kind::pass) {
      p.pass(ctx, work.begin, work.end);
      return;
    }
    supernode_team<Context, block_threads> team(ctx);
    if (work.kind == task_kind::strip || work.kind == task_kind::last_strip) {
      solve_strip(ctx, team, shared.start, p, work, reinterpret_cast<Scalar*>(panel_memory), shared.z,
                  shared.sums);
      return;
    }
    solve(ctx, team, shared.start, p, work.node, work, panel_memory, &shared.arrivals[0], shared.z,
          shared.sums);
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
  /// rows round-robin. Each thread multiplies the entries that it has copied itself. `sums`: block_threads
  /// elements for each right-hand side; so `z`.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve_strip(Context& ctx, Team& team, const block_start& start, const params& p,
                                        const task& work, Scalar* memory, Scalar* z, Scalar* sums) {
    const supernode& node = work.node;
    const std::uint32_t half = start.half;
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
    array_of<Scalar, Columns> mine = {};
    for (int c = 0; c < Columns && is_last && has_column && c < p.x.columns; ++c) {
      mine[c] = sum_of_tiles(ctx, p, half, c, work, column, warp);
    }
    for (int begin = 0; begin < rows; begin += 32 * warps) {
      const int row = begin + lane * warps + warp;
      load_z(ctx, p, half, node, work.begin + row, work.end, z + team.rank(), block_threads);
      ctx.template wait_copies<0>();
      team.warp().sync();
      const int count = (rows - begin - warp + warps - 1) / warps;
      if (has_column) {
        product::add_strip(ctx, p, node, work.begin + begin + warp, count < 32 ? count : 32, column,
                           memory + (begin + warp) * strip_columns + lane, z + 32 * warp, mine);
      }
      team.warp().sync();  // z is read before it is written again
    }
    for (int c = 0; c < Columns; ++c) {
      sums[c * block_threads + team.rank()] = mine[c];
    }
    team.sync();
    for (int c = 0; c < Columns && warp == 0 && has_column && c < p.x.columns; ++c) {
      Scalar total{};
      SPTRSV_UNROLL
      for (int w = 0; w < warps; ++w) {
        total = total + sums[c * block_threads + w * 32 + lane];
      }
      if (is_last) {
        finish(ctx, p, half, c, node.first + column, pivot, total);
      } else {
        p.publish(ctx, half, c, p.size + work.partials + column, total);
      }
    }
    if (warp == 0 && has_column) {
      p.buffers.reset(ctx, half ^ 1u, is_last ? node.first + column : p.size + work.partials + column,
                      start.rhs_to_reset, 0, 1);
    }
  }

  /// Returns the sum for a column over the tiles first, first + warps, ...
  template <class Context>
  SPTRSV_DEVICE static Scalar sum_of_tiles(Context& ctx, const params& p, std::uint32_t half,
                                           std::int64_t rhs, const task& work, int column, int first) {
    return sum_handed_over<4, Scalar>(ctx, work, first, warps, [&](int t) {
      return p.buffers.component(half, rhs, p.size + work.partials + t * work.node.columns + column);
    });
  }

  /// Does a task of kind `whole` or `tile`. `z`, `sums`: Team::size elements for each right-hand side.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, const block_start& start, const params& p,
                                  const supernode& node, const task& work, unsigned char* panel_memory,
                                  std::uint64_t* arrival, Scalar* z, Scalar* sums) {
    const std::uint32_t half = start.half;
    const int k = static_cast<int>(node.columns);
    const std::int64_t first_entry = node.panel + panel_row(work.begin, k);
    const bool copies = Team::size == 32 || team.warp().index() == 0;
    if (copies) {
      copy_panel(ctx, p.panels, first_entry, node.panel + panel_row(work.end, k), panel_memory, arrival,
                 team.warp().rank());
    }
    const auto* const panel = copied_panel<Scalar>(first_entry, panel_memory);
    const int width = simt::ceil_power_of_two(k);
    const int column = team.rank() & (width - 1);
    const int group = team.rank() / width;
    const bool finishes = team.rank() < k;
    const auto pivot = p.pivot(ctx, node.first + (finishes ? team.rank() : 0));
    const Scalar* const entries = panel - panel_row(work.begin, k) + column;
    array_of<Scalar, Columns> mine = {};
    for (std::int64_t base = work.begin; base < work.end; base += Team::size) {
      load_z(ctx, p, half, node, base + team.rank(), work.end, z + team.rank(), Team::size);
      if (copies && base == work.begin) {
        ctx.wait_bulk(arrival, false);
      }
      team.sync();
      if (column < k) {
        product::template add_products<Team::size>(ctx, p, node, base, work.end, column, group,
                                                   Team::size / width, entries, z, mine);
      }
      team.sync();  // z is read before it is written again
    }
    for (int c = 0; c < Columns; ++c) {
      sums[c * Team::size + team.rank()] = mine[c];
    }
    team.sync();
    if (finishes) {
      for (int c = 0; c < Columns && c < p.x.columns; ++c) {
        Scalar total{};
        for (int at = team.rank(); at < Team::size; at += width) {
          total = total + sums[c * Team::size + at];
        }
        if (work.kind == task_kind::tile) {
          p.publish(ctx, half, c, p.size + work.partials + team.rank(), total);
        } else {
          finish(ctx, p, half, c, node.first + team.rank(), pivot, total);
        }
      }
    }
    if (finishes) {
      const std::int64_t at = work.kind == task_kind::tile ? p.size + work.partials : node.first;
      p.buffers.reset(ctx, half ^ 1u, at + team.rank(), start.rhs_to_reset, 0, 1);
    }
  }

  /// Stores z of row `i` of the panel to z[0], z[stride], ...
  template <class Context>
  SPTRSV_DEVICE static void load_z(Context& ctx, const params& p, std::uint32_t half, const supernode& node,
                                   std::int64_t i, std::int64_t end, Scalar* z, int stride) {
    if (i >= end) {
      return;
    }
    const std::int64_t column =
        i < node.columns ? node.first + i : load_index(ctx, p.of.rows + node.rows_begin + i - node.columns);
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
