// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides: shared memory, and the parts of panels there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The dynamic shared memory of a block. It holds parts of panels, for the block or in equal parts for its
/// warps; then a pack with a row for each column of the supernode, or for each row of the panel that a team
/// takes at once; then products of warps.
template <class Tuning, class Scalar>
struct pack_space {
  static constexpr int threads = Tuning::pack_block_threads;
  static constexpr int warps = threads / 32;
  static constexpr int slack = 32;  ///< bytes more, because copies begin and end at multiples of 16 bytes
  static constexpr int scalar = static_cast<int>(sizeof(Scalar));
  static constexpr int pack_bytes = (threads + 4) * pack_width * scalar;
  static constexpr int product_bytes = threads * 2 * scalar;
  static_assert(Tuning::max_width <= threads,
                "supernodal_tuning: max_width must not be larger than pack_block_threads");
  static_assert(
      Tuning::pack_tile_bytes % (16 * warps) == 0 && Tuning::pack_tile_bytes / warps > slack,
      "supernodal_tuning: pack_tile_bytes must be a multiple of 16 for each warp, and more than 32");
  static_assert(Tuning::pack_tile_bytes >= Tuning::max_width * scalar,
                "supernodal_tuning: pack_tile_bytes must hold a row of max_width entries");

  int tile_bytes;  ///< for parts of panels, without gaps

  /// Returns the memory for a GPU that leaves `available` bytes to a block.
  static pack_space of(std::int64_t available) {
    const std::int64_t left = (available - pack_bytes - product_bytes - slack) * 16 / 17;
    return {static_cast<int>(std::min<std::int64_t>(left, Tuning::pack_tile_bytes) / (16 * warps) *
                             (16 * warps))};
  }
  [[nodiscard]] int bytes() const { return panel_bytes(tile_bytes) + pack_bytes + product_bytes; }
  /// Returns what a task may have. `sum_columns`: of a task of kind `sums`.
  [[nodiscard]] task_limits limits(std::int64_t sum_columns) const {
    return {threads,          (tile_bytes / warps - slack) / scalar, tile_bytes / scalar, sum_columns, 0, 0,
            Tuning::lookahead};
  }

  /// Returns the size of the parts of panels with the gaps of tile_stride, which are at most a 16th.
  SPTRSV_HOST_DEVICE static constexpr int panel_bytes(int tile_bytes) {
    return tile_bytes + (tile_bytes / 16 + 15) / 16 * 16 + slack;
  }
};

/// The shared memory of a team: see pack_space.
template <class Scalar>
struct pack_memory {
  unsigned char* panel;
  Scalar* pack;
  rhs_pair<Scalar>* products;

  /// Returns the memory of a team. `products` is that of the block; a team of one warp has no use for it.
  template <class Space, class Context, class Team>
  SPTRSV_DEVICE static pack_memory of(Context& ctx, const Team& team, int tile_bytes) {
    auto* const panel = static_cast<unsigned char*>(ctx.dynamic_shared());
    auto* const pack = panel + Space::panel_bytes(tile_bytes);
    return {panel + team.index() * (tile_bytes / Space::warps),
            reinterpret_cast<Scalar*>(pack) + team.index() * 32 * pack_width,
            reinterpret_cast<rhs_pair<Scalar>*>(pack + Space::pack_bytes)};
  }
};

/// Some rows of a panel, in shared memory. Rows of the diagonal block keep their numbers in the panel. If the
/// part begins below the diagonal block, its first row has number `columns`: rows there all look alike.
template <class Scalar>
struct pack_panel {
  const Scalar* entries;  ///< of row `begin`
  int columns;            ///< of the supernode
  int begin;
  int end;
  int stride;            ///< distance of two rows; 0 if the rows stand as in the panel
  std::int64_t skipped;  ///< number of a row in the panel, less the number here

  /// Names the rows [first, last) of the panel of a supernode with `k` columns.
  SPTRSV_DEVICE pack_panel(std::int64_t k, std::int64_t first, std::int64_t last)
      : entries(nullptr),
        columns(static_cast<int>(k)),
        begin(static_cast<int>(first < k ? first : k)),
        end(begin + static_cast<int>(last - first)),
        stride(0),
        skipped(first - begin) {}

  [[nodiscard]] SPTRSV_DEVICE int length(int i) const { return i < columns ? i : columns; }
  [[nodiscard]] SPTRSV_DEVICE const Scalar* row(int i) const {
    return entries + (stride > 0 ? (i - begin) * stride : in_panel(i) - in_panel(begin));
  }
  /// Returns the entries of a row below the diagonal block.
  [[nodiscard]] SPTRSV_DEVICE const Scalar* row_below(int i) const {
    const int first = begin < columns ? columns : begin;
    return row(first) + (i - first) * (stride > 0 ? stride : columns);
  }

 private:
  [[nodiscard]] SPTRSV_DEVICE int in_panel(int i) const {
    return i < columns ? i * (i - 1) / 2 : columns * (columns - 1) / 2 + (i - columns) * columns;
  }
};

/// The distance of the rows of a tile in shared memory, for a panel of `columns` columns; 0 if the rows stand
/// as in the panel. Four lanes with one column each read four rows at a time, without bank conflicts if the
/// distance is an odd multiple of four. A multiple of eight would be slow.
SPTRSV_HOST_DEVICE constexpr int tile_stride(int columns) {
  return columns >= 64 && columns % 8 == 0 ? columns + 4 : 0;
}

/// Begins to copy a part of the panel at `panel` to shared memory, and sets where its entries will be. All
/// threads of the team call it.
template <class Context, class Team, class Scalar>
SPTRSV_DEVICE void copy_part(Context& ctx, Team& team, const Scalar* panels, std::int64_t panel,
                             pack_panel<Scalar>& part, unsigned char* space, std::uint64_t* arrival) {
  const int lane = team.warp().rank();
  const std::int64_t k = part.columns;
  const std::int64_t first = panel + panel_row(part.begin + part.skipped, k);
  if (part.stride > 0) {
    part.entries = reinterpret_cast<const Scalar*>(space);
    for (int i = part.begin + team.warp_index(); i < part.end; i += Team::size / 32) {
      const Scalar* const from = panels + panel + panel_row(i + part.skipped, k);
      Scalar* const to = reinterpret_cast<Scalar*>(space) + (i - part.begin) * part.stride;
      for (int j = lane; j < part.length(i); j += 32) {
        ctx.template copy_async<sizeof(Scalar)>(to + j, from + j);
      }
    }
    ctx.commit_copies();
  } else {
    part.entries = copied_panel<Scalar>(first, space);
    if (team.warp_index() == 0) {
      copy_panel(ctx, panels, first, panel + panel_row(part.end + part.skipped, k), space, arrival, lane);
    }
  }
}
/// Waits for the copy of copy_part. All threads of the team call it, and see the copy after a sync.
template <class Context, class Team, class Scalar>
SPTRSV_DEVICE void wait_part(Context& ctx, const Team& team, const pack_panel<Scalar>& part,
                             const std::uint64_t* arrival) {
  if (part.stride > 0) {
    ctx.template wait_copies<0>();
  } else if (team.warp_index() == 0) {
    ctx.wait_bulk(arrival, false);
  }
}

/// Does the task of a block, whose threads all call it. `Agent`: pack_forward_agent or pack_backward_agent.
template <class Agent, class Context>
SPTRSV_DEVICE void run_pack_block(Context& ctx, pack_shared<Agent::warps>& shared,
                                  const typename Agent::params& p) {
  begin_arrivals(ctx, shared.arrivals);
  start_block(ctx, shared.start, p.packs.state, pack_count(p.x.columns));
  if (shared.start.block == 0 && ctx.thread_rank() == 0) {
    ctx.store(p.found_tickets, ctx.load(p.sweep_tickets));
  }
  const auto warp = ctx.template group<32>();
  const auto block = static_cast<std::uint32_t>(shared.start.block);
  const task loaded = ctx.load_constant(p.tasks + block / p.sharers);
  if (warp.rank() == 0) {
    if (warp.index() == 0) {
      shared.work = loaded;
      shared.sharer = block % p.sharers;
    }
    if (loaded.kind == task_kind::warps && loaded.begin + warp.index() < loaded.end) {
      shared.small[warp.index()] = ctx.load_constant(p.small + loaded.begin + warp.index());
    }
  }
  ctx.barrier();
  const task& work = shared.work;
  if (work.kind == task_kind::warps) {
    supernode_team<Context, 32> team(ctx);
    if (team.index() < work.end - work.begin) {
      const supernode& node = shared.small[team.index()];
      Agent::solve(ctx, team, shared, p, node, 0, node.height(), false);
    }
    return;
  }
  supernode_team<Context, Agent::block_threads> team(ctx);
  if (work.kind == task_kind::sums) {
    Agent::sum(ctx, team, shared, p);
    return;
  }
  Agent::solve(ctx, team, shared, p, work.node, work.begin, work.end, work.kind == task_kind::tile);
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
