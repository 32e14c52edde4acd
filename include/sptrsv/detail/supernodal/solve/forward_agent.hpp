// SPDX-License-Identifier: Apache-2.0
// The kernel that solves C x = alpha b, supernode by supernode, from the leaves of the tree to its roots.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/forest/forest_solver.hpp"
#include "sptrsv/detail/supernodal/solve/contributions.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"
#include "sptrsv/detail/supernodal/solve/sweep_products.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Solves up to `Columns` right-hand sides in one sweep. For a supernode with the columns J and the rows R
/// below it, in the letters of panels.hpp:
///
///   1. Begin to copy the panel to shared memory, and load what else does not depend on other supernodes.
///   2. For each column: f = alpha b + the contributions of other supernodes; g = f / pivot. All g of the
///      supernode stand in shared memory then.
///   3. For each row of the diagonal block: x = g + the row of V times g.
///   4. For each row below: hand over the row of -C_RJ V times g, plus the contributions that other
///      supernodes sent to this row of J, as the contribution of J.
///   5. Reset the contributions in the other half of the double buffer to pending.
///
/// A supernode sends each contribution to its parent, if this has the row, and otherwise to the supernode
/// that has the row as a column. A large panel is shared by tiles. Each of them computes all g, so that no
/// task stands between the contributions and the tiles, but takes alpha b from a task of kind `sums`, because
/// x may be b. Where many contributions are added to a column, this task adds them, too. The first blocks
/// solve forests; see forward_forest.
///
/// Progress: the tasks that a task waits for have smaller tickets.
///
/// `Params`: solve_params, or a struct derived from it whose functions `sum_number`, `load_b`, `store_x`,
/// `publish`, `poll`, `wait`, `pass` and `pass_sum` replace those of solve_params.
template <class Tuning, class Scalar, class Index, class Offset, int Columns,
          class Params = solve_params<Scalar, Index, Offset>>
struct forward_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = Tuning::warps_per_processor / (Columns == 1 ? 1 : 2);
  static constexpr int capacity = Tuning::max_width > block_threads ? Tuning::max_width : block_threads;
  static constexpr int arrival_count = std::max(warps, forest_space::arrivals(false));
  struct shared_storage {
    array_of<std::uint64_t, arrival_count> arrivals;
    block_start start;
    array_of<Scalar, Columns * capacity> g;
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
    if (shared.start.block < p.forests.count) {
      solve_forest<forward_forest<Context, Tuning, Scalar, Params>, false>(
          ctx, p, shared.start, shared.start.block, shared.arrivals);
      return;
    }
    const task work = ctx.load_constant(p.tasks + shared.start.block - p.forests.count);
    if (work.kind == task_kind::warps) {
      supernode_team<Context, 32> team(ctx);
      if (team.index() < work.end - work.begin) {
        const supernode node = ctx.load_constant(p.small + work.begin + team.index());
        solve<32>(ctx, team, shared, p, node, 0, node.height(), false);
      }
      return;
    }
    if (work.kind == task_kind::pass) {
      p.pass(ctx, work.begin, work.end);
      return;
    }
    if (work.kind == task_kind::sums) {
      sum(ctx, shared.start, p, work.node, work.begin + ctx.thread_rank(), work.end);
      return;
    }
    supernode_team<Context, block_threads> team(ctx);
    solve<capacity>(ctx, team, shared, p, work.node, work.begin, work.end, work.kind == task_kind::tile);
  }

 private:
  using contribution_list = contributions<Scalar, Offset>;
  using readings = typename contribution_list::readings;
  template <class Context>
  using one_rhs = sweep_rhs<Context, Params>;
  using product = forward_product<Tuning, Scalar, Index, Offset, Columns>;
  using lane_share = typename product::lane_share;

  /// Begins the sums for a column; one thread. Adds the contributions if the tiles do not.
  template <class Context>
  SPTRSV_DEVICE static void sum(Context& ctx, const block_start& start, const params& p,
                                const supernode& node, std::int64_t column, std::int64_t end) {
    if (column >= end) {
      return;
    }
    const auto list = contribution_list::open(ctx, p, p.sum_number(node, column));
    const std::int64_t at = p.rows + node.first + column;
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      Scalar v = p.load_b(ctx, node.first + column, rhs);
      if (list.is_long()) {
        v = list.add(one_rhs<Context>{ctx, p, start.half, rhs}, {}, v);
      }
      p.publish(ctx, start.half, rhs, at, v);
    }
    p.buffers.reset(ctx, start.half ^ 1u, at, start.rhs_to_reset, 0, 1);
  }

  /// Solves for the rows [begin, end) of the panel. `is_tile`: other blocks solve for other rows. The team
  /// has `Capacity` elements of g for each right-hand side. The function is long because its steps share
  /// registers and barriers of the team.
  template <int Capacity, class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, shared_storage& shared, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end, bool is_tile) {
    const block_start& start = shared.start;
    const std::uint32_t half = start.half;
    const int k = static_cast<int>(node.columns);
    std::uint64_t* const arrival = &shared.arrivals[team.index()];
    const Scalar* const panel = copy_rows(ctx, team, p, node, begin, end, arrival);
    Scalar* const g = shared.g + team.index() * 32 * Columns;

    // Each warp takes up to max_rows rows at a time, but not more than its share.
    const lane_share lanes(k, team.warp().rank());
    const std::int64_t share = simt::ceil_div(end - begin, Team::size / 32);
    const int step = share > lane_share::max_rows ? lane_share::max_rows : static_cast<int>(share);
    std::int64_t row = begin + team.rank() / 32 * step;
    const auto rows_from = [&](std::int64_t i) {
      return end <= i ? 0 : end - i < step ? static_cast<int>(end - i) : step;
    };
    const auto sum_of_row = [&](std::int64_t i, int finished) {
      return finished >= 0 && i + finished >= k ? p.sum_number(node, i + finished) : -1;
    };
    const std::int64_t rhs = lanes.rhs();
    const bool has_rhs = rhs < p.x.columns;
    const one_rhs<Context> of_lane{ctx, p, half, has_rhs ? rhs : 0};
    auto below = contribution_list::open(ctx, p, sum_of_row(row, lanes.finished_row(rows_from(row))));
    auto own = contribution_list::open(ctx, p, team.rank() < k ? p.sum_number(node, team.rank()) : -1);
    auto below_seen = below.try_load(of_lane);
    const auto own_seen = own.try_load(one_rhs<Context>{ctx, p, half, 0});
    for (int j = team.rank(); j < k; j += Team::size) {
      const bool is_open = j == team.rank();
      if (!is_open) {
        own = contribution_list::open(ctx, p, p.sum_number(node, j));
      }
      load_g<Capacity>(ctx, p, half, node.first + j, is_tile, begin == 0, own, is_open ? &own_seen : nullptr,
                       g + j);
    }
    if (team.warp_index() == 0) {
      ctx.wait_bulk(arrival, false);
    }
    team.sync();
    for (bool is_open = true; row < end; is_open = false, row += Team::size / 32 * step) {
      const int rows = rows_from(row);
      const int finished = lanes.finished_row(rows);
      if (!is_open) {
        below = contribution_list::open(ctx, p, sum_of_row(row, finished));
        below_seen = below.try_load(of_lane);
      }
      below.poll(of_lane, below_seen);
      const Scalar sum =
          product::template multiply<Capacity>(ctx, team.warp(), p, node, lanes, row, rows, panel, g);
      const std::int64_t i = row + finished;
      if (finished >= 0 && has_rhs && i < k) {
        p.store_x(ctx, node.first + i, rhs, half, node.first + i, g[lanes.rhs() * Capacity + i] + sum);
      } else if (finished >= 0 && has_rhs) {
        p.publish(ctx, half, rhs, node.rows_begin + i - k, below.add(of_lane, below_seen, sum));
      }
    }
    for (std::int64_t i = (begin > k ? begin : k) + team.rank(); i < end; i += Team::size) {
      p.buffers.reset(ctx, half ^ 1u, node.rows_begin + i - k, start.rhs_to_reset, 0, 1);
    }
  }

  /// Computes g of a column, and stores it to g[0], g[Capacity], ... `list`: its contributions.
  /// `is_first`: the team has the first rows of the panel. `seen`: those of the first right-hand side, if
  /// they have been loaded; otherwise null.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static void load_g(Context& ctx, const params& p, std::uint32_t half, std::int64_t column,
                                   bool is_tile, bool is_first, const contribution_list& list,
                                   const readings* seen, Scalar* g) {
    const auto pivot = p.pivot(ctx, column);
    for (int c = 0; c < Columns; ++c) {
      Scalar v{};
      if (c < p.x.columns) {
        const one_rhs<Context> rhs{ctx, p, half, c};
        const auto loaded = c > 0 || seen == nullptr ? list.try_load(rhs) : *seen;
        v = is_tile ? p.wait(ctx, half, c, p.rows + column) : p.load_b(ctx, column, c);
        v = is_tile && list.is_long() ? v : list.add(rhs, loaded, v);
        if (is_first) {
          p.pass_sum(ctx, c, column, v);
        }
        v = pivot(v);
      }
      g[c * Capacity] = v;
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
