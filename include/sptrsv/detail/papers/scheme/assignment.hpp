// SPDX-License-Identifier: Apache-2.0
// Which warp solves which groups of nodes in a launch, and why the launch cannot deadlock.
//
// Groups are in topological order: a group waits for earlier groups only. If each warp solves one group,
// blocks take the groups by ticket, and a block waits only for blocks that have started. Groups that are
// assigned to warps may be solved as assigned only if all blocks of the launch are resident at the same time.
// CUDA does not guarantee this, so the blocks of a launch decide it together:
//
//   - the block that draws the last ticket knows that all blocks have started and votes for "as assigned";
//   - a block that has polled for the decision `patience` times votes for "by ticket".
//
// The first vote decides for all blocks. By ticket, each warp draws one group after the other, in order.
#pragma once

#include <cstdint>

#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// How the groups of a launch are solved; `none`: not decided yet.
enum class decision : std::uint32_t { none, as_assigned, by_ticket };

/// State of a launch with assigned groups that wait, by the parity of the solve; starts at 0.
struct assignment_state {
  std::uint32_t decided[2];  ///< value of `decision`
  std::uint32_t claims[2];   ///< number of blocks that voted
  std::uint32_t tickets[2];  ///< number of groups taken by ticket
};

/// The groups of one launch.
template <class Index>
struct assignment {
  std::int64_t first_group;
  std::int64_t groups;       ///< number of groups; fewer than 2^30, as are the warps
  std::int64_t first_block;  ///< number of blocks in earlier launches of the solve
  std::uint32_t blocks;
  /// By warp: index of its first group in `queue`; one more for the end. Null: round-robin over the warps,
  /// which gives each warp one group if there are as many warps as groups.
  const Index* queue_first;
  const Index* queue;       ///< of all launches: group indices, relative to first_group
  assignment_state* state;  ///< null if no row of the launch waits
};

/// Returns whether the groups of this launch are solved as assigned. One thread of each block calls it.
template <class Context, class Index>
SPTRSV_DEVICE bool decide(Context& ctx, const assignment<Index>& a, std::int64_t block, std::uint32_t parity,
                          int patience) {
  assignment_state& state = *a.state;
  if (block == 0) {  // for the next solve; the previous one has ended
    ctx.store_relaxed(&state.decided[parity ^ 1u], std::uint32_t{0});
    ctx.store_relaxed(&state.claims[parity ^ 1u], std::uint32_t{0});
    ctx.store_relaxed(&state.tickets[parity ^ 1u], std::uint32_t{0});
  }
  std::uint32_t* const decided = &state.decided[parity];
  const bool all_started = block + 1 == a.blocks;
  std::uint32_t seen = ctx.load_relaxed(decided);
  for (int polls = 0; !all_started && seen == 0 && polls < patience; ++polls) {
    seen = ctx.load_relaxed(decided);
  }
  if (seen == 0) {
    if (ctx.atomic_add(&state.claims[parity], 1u) == 0) {
      seen = static_cast<std::uint32_t>(all_started ? decision::as_assigned : decision::by_ticket);
      ctx.store_relaxed(decided, seen);
    } else {
      seen = simt::wait_until(ctx, decided, [](std::uint32_t v) { return v != 0; });
    }
  }
  return seen == static_cast<std::uint32_t>(decision::as_assigned);
}

/// Calls `solve(group)` for the groups of a warp, as assigned or by ticket. `worker` is the index of the warp
/// in the launch, of `workers` warps; `parity`: of the solve, in shared memory. All lanes call it.
template <class Context, class Warp, class Index, class Solve>
SPTRSV_DEVICE void for_each_group(Context& ctx, const Warp& warp, const assignment<Index>& a,
                                  std::uint32_t worker, std::uint32_t workers, bool by_ticket,
                                  const std::uint32_t& parity, const Solve& solve) {
  const auto draw = [&] { return draw_warp_ticket(ctx, warp, &a.state->tickets[parity]); };
  std::uint32_t at = worker;
  auto end = static_cast<std::uint32_t>(a.groups);
  std::uint32_t step = by_ticket ? 0 : workers;  // to the next group; 0: by ticket
  if (by_ticket) {
    at = draw();
  } else if (a.queue_first != nullptr) {
    at = static_cast<std::uint32_t>(ctx.load_constant(a.queue_first + worker));
    end = static_cast<std::uint32_t>(ctx.load_constant(a.queue_first + worker + 1));
    step = 1;
  }
  for (; at < end; at = step == 0 ? draw() : at + step) {
    const bool is_queued = step != 0 && a.queue_first != nullptr;
    solve(a.first_group + (is_queued ? load_index(ctx, a.queue + at) : at));
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
