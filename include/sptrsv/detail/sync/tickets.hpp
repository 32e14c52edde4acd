// SPDX-License-Identifier: Apache-2.0
// How blocks and warps share the work of a launch or a solve: tickets.
//
// Blocks draw tickets in the order in which they start. CUDA promises progress only to blocks that have
// started: a block may wait for blocks with smaller tickets, and for no others.
//
// The functions stand in three layers:
//
//   draw_block_ticket, draw_warp_ticket   a counter that starts at 0 in each launch
//   draw_solve_ticket                     a counter that is never reset and serves all solves of a workspace
//   take_block, start_block               the same with the state that consecutive solves share
//
// Solve number s of a workspace draws the tickets s * blocks ... (s + 1) * blocks - 1, so a ticket gives the
// number of the solve and the number of the block in the solve. No solve needs a kernel or a memset to begin,
// and a captured solve can be replayed.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the number of this block in the order in which the blocks of the launch start. `counter` starts at
/// 0. All threads of the block call it; `slot` is in shared memory and is not written again before a barrier.
template <class Context>
SPTRSV_DEVICE std::uint32_t draw_block_ticket(Context& ctx, std::uint32_t& slot, std::uint32_t* counter) {
  if (ctx.thread_rank() == 0) {
    slot = ctx.atomic_add(counter, 1u);
  }
  ctx.barrier();
  return slot;
}

/// Returns how many tickets other warps have drawn from `counter` before. All lanes of the warp call it.
template <class Context, class Warp>
SPTRSV_DEVICE std::uint32_t draw_warp_ticket(Context& ctx, const Warp& warp, std::uint32_t* counter) {
  return warp.shuffle(warp.rank() == 0 ? ctx.atomic_add(counter, 1u) : 0u, 0);
}

/// What a ticket of a solve says.
struct solve_ticket {
  unsigned long long solve;  ///< how many solves of the workspace went before
  std::int64_t block;        ///< number of the block in the solve, in the order of starting
};

/// Returns what the ticket with this number says. `blocks`: of all launches of a solve.
SPTRSV_DEVICE solve_ticket read_solve_ticket(unsigned long long number, std::uint32_t blocks) {
  const unsigned long long solve = number / blocks;
  return {solve, static_cast<std::int64_t>(number - solve * blocks)};
}

/// Draws a ticket for the block of the calling thread. `tickets` starts at 0 and has a cache line of its own,
/// because every block writes it. `blocks`: of all launches of a solve.
template <class Context>
SPTRSV_DEVICE solve_ticket draw_solve_ticket(Context& ctx, unsigned long long* tickets,
                                             std::uint32_t blocks) {
  return read_solve_ticket(ctx.atomic_add(tickets, 1ull), blocks);
}

/// Substitution index that stands for "every component is finite": atomic_min replaces it by any index.
inline constexpr std::int64_t all_finite = INT64_MAX;

/// Returns the index as the interface reports it: -1 if every component is finite.
inline std::int64_t reported_index(std::int64_t first_nonfinite) {
  return first_nonfinite == all_finite ? -1 : first_nonfinite;
}

/// What consecutive solves of a workspace share, in device memory. Pairs are indexed by the solve mod 2.
struct solve_state {
  alignas(128) unsigned long long tickets;  ///< drawn so far
  alignas(128) std::int64_t used_rhs[2];    ///< right-hand sides of the solve; double buffers only
  std::int64_t first_nonfinite[2];          ///< smallest substitution index whose x is not finite
  std::uint32_t status_flag;                ///< for questions of status(), see simt::any_of

  /// Records that the component at `substitution_index` is not finite.
  template <class Context>
  SPTRSV_DEVICE void record_nonfinite(Context& ctx, std::uint32_t half, std::int64_t substitution_index) {
    ctx.atomic_min(&first_nonfinite[half], substitution_index);
  }
};

/// The share of a block in a solve; in shared memory.
struct block_ticket {
  std::int64_t block;  ///< number of the block in the solve, in the order of starting
  std::uint32_t half;  ///< number of the solve mod 2
};

/// Stores the share of the block that drew `drawn` to `to`. The first block of a solve prepares the state for
/// the next solve. One thread of the block calls it; the others may read `to` after a barrier.
template <class Context>
SPTRSV_DEVICE void take_block(Context& ctx, block_ticket& to, solve_state* state, const solve_ticket& drawn) {
  to.block = drawn.block;
  to.half = static_cast<std::uint32_t>(drawn.solve % 2);
  if (drawn.block == 0) {
    ctx.store(&state->first_nonfinite[to.half ^ 1u], all_finite);
  }
}
/// Does the same with a ticket that it draws; returns the solve's number. `blocks`: of all launches of it.
template <class Context>
SPTRSV_DEVICE unsigned long long take_block(Context& ctx, block_ticket& to, solve_state* state,
                                            std::uint32_t blocks) {
  const solve_ticket drawn = draw_solve_ticket(ctx, &state->tickets, blocks);
  take_block(ctx, to, state, drawn);
  return drawn.solve;
}

/// Calls take_block on one thread and waits. All threads of the block call it. The solve is one launch.
template <class Context>
SPTRSV_DEVICE void start_block(Context& ctx, block_ticket& to, solve_state* state) {
  if (ctx.thread_rank() == 0) {
    take_block(ctx, to, state, ctx.grid_blocks());
  }
  ctx.barrier();
}

/// Owns the solve_state of a workspace, which serves one solve at a time. reset() initialises it.
class solve_state_storage {
 public:
  template <class Executor>
  solve_state_storage(const Executor& on, memory_resource& resource)
      : state_(make_buffer<solve_state>(1, on, resource)) {}

  template <class Executor>
  void reset(const Executor& on) {
    const solve_state start{0, {0, 0}, {all_finite, all_finite}, 0};
    on.upload(state_.data(), &start, sizeof(start));
  }

  [[nodiscard]] solve_state* state() const { return state_.data(); }
  /// Returns the word of device memory for questions of status(), see simt::any_of.
  [[nodiscard]] std::uint32_t* status_flag() const { return &state_.data()->status_flag; }

  /// Returns the smallest substitution index whose x is not finite in the last solve; -1 if there is none.
  /// `blocks`: of all launches of a solve. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    const solve_state state = download_value(state_.data(), on);
    return reported_index(state.first_nonfinite[(state.tickets / blocks + 1) % 2]);
  }

 private:
  buffer<solve_state> state_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
