// What a PE receives from others in a solve: flagged values in three buffers that consecutive solves share.
//
// Solve number s of a workspace uses buffer s mod 3 and resets buffer (s - 1) mod 3, which the solve before
// has read. A PE may run ahead of another one. So before it stores anything in solve s, it waits until all
// others have begun solve s - 1: then they have completed solve s - 2, which has reset buffer s mod 3. PEs
// that keep step do not wait for that. With two buffers they would, in every solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/nonfinite.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::detail::distributed {

inline constexpr int inbox_buffers = 3;

/// The state that consecutive solves share on a PE; it is in device memory.
struct pe_state {
  alignas(128) unsigned long long tickets;            ///< drawn so far
  alignas(128) std::int64_t used_rhs[inbox_buffers];  ///< by buffer: right-hand sides of the solve
  std::int64_t first_nonfinite[inbox_buffers];        ///< likewise: smallest index whose x is not finite
};

/// The inboxes of all PEs as a kernel of one of them sees them. In a buffer the values of a right-hand side
/// stand together: x by substitution index, then b by substitution index, then partial sums.
template <class Scalar>
struct inboxes {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  int rank;
  int size;
  word* own;
  std::uint64_t* own_begun;           ///< by PE: how many solves it has begun
  word* const* of_pe;                 ///< by PE, in device memory
  std::uint64_t* const* begun_of_pe;  ///< by PE: its own_begun
  pe_state* state;
  std::int64_t values;  ///< of one right-hand side
  std::int64_t max_rhs;

  template <class Word>
  SPTRSV_DEVICE Word* component(Word* inbox, int buffer, std::int64_t rhs, std::int64_t index) const {
    return flag::address(inbox, (buffer * max_rhs + rhs) * values + index);
  }

  /// Waits for a value of the own inbox.
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, int buffer, std::int64_t rhs, std::int64_t index) const {
    auto scope = ctx.system_scope();
    const auto* const at = component(own, buffer, rhs, index);
    return flag::wait(scope, at, flag::try_load(scope, at));
  }
  /// Stores a value into the inbox of a PE, which may be this one.
  template <class Context>
  SPTRSV_DEVICE void send(Context& ctx, int pe, int buffer, std::int64_t rhs, std::int64_t index,
                          Scalar v) const {
    auto scope = ctx.system_scope();
    word* const to = pe == rank ? own : ctx.load_constant(of_pe + pe);
    flag::publish(scope, component(to, buffer, rhs, index), v);
  }
  template <class Context>
  SPTRSV_DEVICE void reset(Context& ctx, int buffer, std::int64_t columns, std::int64_t index) const {
    for (std::int64_t k = 0; k < columns; ++k) {
      flag::reset(ctx, component(own, buffer, k, index));
    }
  }
};

/// The share of a block in a solve; in shared memory.
struct pe_start {
  std::int64_t block;         ///< number of the block in the solve, in the order of starting
  std::int64_t rhs_to_reset;  ///< right-hand sides of the solve before
  int buffer;                 ///< of the solve
  int buffer_to_reset;
  unsigned long long solve;
};

/// Draws a ticket, and waits until all other PEs have begun the solve before. All threads of the block call
/// it.
template <class Context, class Scalar>
SPTRSV_DEVICE void start_block(Context& ctx, pe_start& start, const inboxes<Scalar>& in,
                               std::int64_t columns) {
  if (ctx.thread_rank() == 0) {
    const solve_ticket drawn = draw_solve_ticket(ctx, &in.state->tickets, ctx.grid_blocks());
    start.block = drawn.block;
    start.solve = drawn.solve;
    start.buffer = static_cast<int>(drawn.solve % inbox_buffers);
    start.buffer_to_reset = static_cast<int>((drawn.solve + 2) % inbox_buffers);
    start.rhs_to_reset = ctx.load(&in.state->used_rhs[start.buffer_to_reset]);
    if (drawn.block == 0) {
      ctx.store(&in.state->used_rhs[start.buffer], columns);
      ctx.store(&in.state->first_nonfinite[(drawn.solve + 1) % inbox_buffers], all_finite);
      ctx.system_scope().fence();  // what earlier solves have reset is reset for all
      for (int pe = 0; pe < in.size; ++pe) {
        if (pe != in.rank) {
          ctx.system_scope().store_relaxed(ctx.load_constant(in.begun_of_pe + pe) + in.rank,
                                           std::uint64_t{drawn.solve + 1});
        }
      }
    }
  }
  ctx.barrier();
  for (int pe = ctx.thread_rank(); pe < in.size && start.solve >= inbox_buffers; pe += ctx.block_threads()) {
    const std::uint64_t* const begun = in.own_begun + pe;
    while (pe != in.rank && ctx.system_scope().load_relaxed(begun) < start.solve) {
      ctx.pause(begun);
    }
    ctx.system_scope().fence();
  }
  ctx.barrier();
}

}  // namespace sptrsv::detail::distributed
