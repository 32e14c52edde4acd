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

template <class Index>
class group_sequence {
 public:
  /// `worker` is the index of the warp in the launch, of `workers` warps. All lanes call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE group_sequence(Context& ctx, const Warp& warp, const assignment<Index>& a,
                               std::uint32_t worker, std::uint32_t workers, bool by_ticket,
                               std::uint32_t parity)
      : a_(a),
        at_(worker),
        end_(static_cast<std::uint32_t>(a.groups)),
        step_(by_ticket ? parity | tickets : workers) {
    if (by_ticket) {
      draw(ctx, warp);
    } else if (queued()) {
      at_ = static_cast<std::uint32_t>(ctx.load_constant(a.queue_first + worker));
      end_ = static_cast<std::uint32_t>(ctx.load_constant(a.queue_first + worker + 1));
      step_ = 1;
    }
  }

  SPTRSV_DEVICE bool has_group() const { return at_ < end_; }

  template <class Context>
  SPTRSV_DEVICE std::int64_t group(Context& ctx) const {
    const bool listed = queued() && (step_ & tickets) == 0;
    return a_.first_group + (listed ? load_index(ctx, a_.queue + at_) : at_);
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE void next(Context& ctx, const Warp& warp) {
    if ((step_ & tickets) != 0) {
      draw(ctx, warp);
    } else {
      at_ += step_;
    }
  }

 private:
  static constexpr std::uint32_t tickets = std::uint32_t{1} << 31;

  SPTRSV_DEVICE bool queued() const { return a_.queue_first != nullptr; }

  template <class Context, class Warp>
  SPTRSV_DEVICE void draw(Context& ctx, const Warp& warp) {
    at_ = draw_warp_ticket(ctx, warp, &a_.state->tickets[step_ & 1u]);
  }

  const assignment<Index>& a_;
  std::uint32_t at_;
  std::uint32_t end_;
  /// Distance to the warp's next group; by ticket: `tickets` | parity of the solve.
  std::uint32_t step_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
