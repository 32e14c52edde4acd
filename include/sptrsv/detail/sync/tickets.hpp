// How blocks share the work of a solve: tickets that are never reset.
//
// Blocks draw tickets in the order in which they start. Solve number s of a workspace draws s * blocks ...
// (s + 1) * blocks - 1, so a ticket tells the solve's number and the block's work: no solve needs a kernel or
// a memset to begin, and a captured solve can be replayed. CUDA promises progress only to blocks that have
// started: a block may wait for those with smaller tickets, and for no other.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory_resource.hpp"

namespace sptrsv::detail {

inline constexpr std::int64_t all_finite = INT64_MAX;

struct solve_ticket {
  unsigned long long solve;  ///< how many solves went before
  std::int64_t block;        ///< in the order of starting
};

/// One thread of the block calls it. `tickets` starts at 0 and has a cache line of its own: every block
/// writes it. `blocks`: of all launches of a solve.
template <class Context>
SPTRSV_DEVICE solve_ticket draw_ticket(Context& ctx, unsigned long long* tickets, std::uint32_t blocks) {
  const unsigned long long ticket = ctx.atomic_add(tickets, 1ull);
  const unsigned long long solve = ticket / blocks;
  return {solve, static_cast<std::int64_t>(ticket - solve * blocks)};
}
template <class Context>
SPTRSV_DEVICE solve_ticket draw_ticket(Context& ctx, unsigned long long* tickets) {
  return draw_ticket(ctx, tickets, ctx.grid_blocks());
}

/// What a policy needs that has nothing else to keep from solve to solve.
struct ticket_state {
  alignas(128) unsigned long long tickets;
  alignas(128) std::int64_t
      first_nonfinite[2];  ///< by solve, odd and even: the first position whose x is not finite

  template <class Context>
  SPTRSV_DEVICE void record_nonfinite(Context& ctx, std::uint32_t parity, std::int64_t substitution_index) {
    ctx.atomic_min(&first_nonfinite[parity], substitution_index);
  }
};

/// A block's work in a solve; in shared memory.
struct ticket_slot {
  std::int64_t block;
  std::uint32_t parity;  ///< of the solve's number
};

/// One thread of the block calls it; the others may read `slot` after a barrier.
template <class Context>
SPTRSV_DEVICE void take_block(Context& ctx, ticket_slot& slot, ticket_state* state) {
  const solve_ticket drawn = draw_ticket(ctx, &state->tickets);
  slot.block = drawn.block;
  slot.parity = static_cast<std::uint32_t>(drawn.solve % 2);
  if (drawn.block == 0) {
    ctx.store(&state->first_nonfinite[slot.parity ^ 1u], all_finite);
  }
}

/// The state's owner, for one solve in flight.
class ticket_storage {
 public:
  template <class Executor>
  ticket_storage(const Executor& on, memory_resource& resource) : state_(1, resource, on.stream()) {
    const ticket_state start{0, {all_finite, all_finite}};
    on.upload(state_.data(), &start, sizeof(start));
  }

  [[nodiscard]] ticket_state* data() const { return state_.data(); }

  /// Of the last solve, whose launches had `blocks` blocks; -1 if none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    ticket_state state;
    on.download(&state, state_.data(), sizeof(state));
    const std::int64_t bad = state.first_nonfinite[(state.tickets / blocks + 1) % 2];
    return bad == all_finite ? -1 : bad;
  }

 private:
  buffer<ticket_state> state_;
};

}  // namespace sptrsv::detail
