// Who solves which groups of nodes in a launch, and why nobody waits for ever.
//
// Groups stand in topological order: a group waits for groups before it only. With a warp for each group,
// blocks take them by ticket. Groups that are assigned to warps may be solved as assigned only if all blocks
// of the launch run at the same time, and CUDA does not promise that: the block that draws the last ticket
// knows that all have started; a block that has looked for it long enough gives up. Whichever comes first
// decides for all, and where a block gave up warps take the groups one after the other by ticket.
#pragma once

#include <cstdint>

#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::detail::schemes {

enum class decision : std::uint32_t { none, as_assigned, by_ticket };

/// Of a launch of assigned groups whose rows wait; by solve, odd and even. Starts at 0.
struct assignment_state {
  std::uint32_t decided[2];
  std::uint32_t claims[2];   ///< blocks that wanted to decide
  std::uint32_t tickets[2];  ///< groups taken
};

/// Of one launch.
template <class Index>
struct assignment {
  std::int64_t first_group;
  std::int64_t groups;       ///< fewer than 2^30, and so are the warps
  std::int64_t first_block;  ///< blocks of the solve's launches before
  std::uint32_t blocks;
  const Index* queue_first;  ///< of each warp, and the end, in `queue`; null: round robin, which for a warp
                             ///< for each group is one round
  const Index* queue;        ///< groups, counted from the launch's first
  assignment_state* state;   ///< null where rows wait for nothing
};

/// One thread of each block calls it. Returns whether groups are solved as assigned.
template <class Context, class Index>
SPTRSV_DEVICE bool decide(Context& ctx, const assignment<Index>& a, std::int64_t block, std::uint32_t parity,
                          int patience) {
  assignment_state& state = *a.state;
  if (block == 0) {  // for the next solve; the last one is over
    ctx.store_relaxed(&state.decided[parity ^ 1u], std::uint32_t{0});
    ctx.store_relaxed(&state.claims[parity ^ 1u], std::uint32_t{0});
    ctx.store_relaxed(&state.tickets[parity ^ 1u], std::uint32_t{0});
  }
  std::uint32_t* const decided = &state.decided[parity];
  const bool all_started = block + 1 == a.blocks;
  std::uint32_t seen = ctx.load_relaxed(decided);
  for (int looks = 0; !all_started && seen == 0 && looks < patience; ++looks) {
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

/// The groups of one warp, one after the other.
template <class Index>
class turn {
 public:
  /// `worker`: the warp's number in the launch, of `workers`. All lanes call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE turn(Context& ctx, const Warp& warp, const assignment<Index>& a, std::uint32_t worker,
                     std::uint32_t workers, bool by_ticket, std::uint32_t parity)
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
    return a_.first_group + (listed ? static_cast<std::int64_t>(ctx.load_constant(a_.queue + at_)) : at_);
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
  std::uint32_t step_;  ///< `tickets` and the parity of the solve: groups are drawn
};

}  // namespace sptrsv::detail::schemes
