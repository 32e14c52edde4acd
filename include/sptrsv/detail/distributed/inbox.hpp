// What a PE receives from others in a solve: flagged values in three buffers that consecutive solves share.
//
// Solve number s of a workspace uses buffer s mod 3 and resets buffer (s - 1) mod 3, which the solve before
// has read. A PE may run ahead of another one. So before it stores anything in solve s, it waits until all
// others have begun solve s - 1: then they have completed solve s - 2, which has reset buffer s mod 3. PEs
// that keep step do not wait for that. With two buffers they would, in every solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/nonfinite.hpp"
#include "sptrsv/detail/simt/context.hpp"
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

  /// Reads a value of the own inbox once.
  template <class Context>
  SPTRSV_DEVICE typename flag::reading try_load(Context& ctx, int buffer, std::int64_t rhs,
                                                std::int64_t index) const {
    auto scope = ctx.system_scope();
    return flag::try_load(scope, component(own, buffer, rhs, index));
  }
  /// Waits for a value of the own inbox that was read once.
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, int buffer, std::int64_t rhs, std::int64_t index,
                            const typename flag::reading& seen) const {
    auto scope = ctx.system_scope();
    return flag::wait(scope, component(own, buffer, rhs, index), seen);
  }
  /// Waits for a value of the own inbox.
  template <class Context>
  SPTRSV_DEVICE Scalar wait(Context& ctx, int buffer, std::int64_t rhs, std::int64_t index) const {
    return wait(ctx, buffer, rhs, index, try_load(ctx, buffer, rhs, index));
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

/// A warp in a solve.
struct pe_solve {
  unsigned long long number;  ///< of the solve
  std::int64_t task;          ///< that the warp does first
  std::int64_t rhs_to_reset;  ///< right-hand sides of the solve before
  int buffer;                 ///< of the solve
  int buffer_to_reset;
};

/// Draws a ticket for lane 0. The lanes of the warp call it together.
template <class Context, class Warp>
SPTRSV_DEVICE unsigned long long draw_ticket(Context& ctx, const Warp& warp, pe_state* state) {
  return warp.rank() == 0 ? ctx.atomic_add(&state->tickets, 1ull) : 0;
}

/// Draws the first ticket of a warp, and waits until all other PEs have begun the solve before. The lanes of
/// the warp call it together. `tickets`: of a solve.
template <class Context, class Warp, class Scalar>
SPTRSV_DEVICE pe_solve begin_solve(Context& ctx, const Warp& warp, const inboxes<Scalar>& in,
                                   unsigned long long tickets, std::int64_t columns) {
  const unsigned long long ticket = warp.shuffle(draw_ticket(ctx, warp, in.state), 0);
  pe_solve begun;
  begun.number = ticket / tickets;
  begun.task = static_cast<std::int64_t>(ticket - begun.number * tickets);
  begun.buffer = static_cast<int>(begun.number % inbox_buffers);
  begun.buffer_to_reset = static_cast<int>((begun.number + 2) % inbox_buffers);
  begun.rhs_to_reset = ctx.load(&in.state->used_rhs[begun.buffer_to_reset]);
  auto scope = ctx.system_scope();
  if (begun.task == 0 && warp.rank() == 0) {
    ctx.store(&in.state->used_rhs[begun.buffer], columns);
    ctx.store(&in.state->first_nonfinite[(begun.number + 1) % inbox_buffers], all_finite);
    scope.fence();  // what earlier solves have reset is reset for all
    for (int pe = 0; pe < in.size; ++pe) {
      if (pe != in.rank) {
        scope.store_relaxed(ctx.load_constant(in.begun_of_pe + pe) + in.rank,
                            std::uint64_t{begun.number + 1});
      }
    }
  }
  if (in.size > 1 && begun.number >= inbox_buffers) {
    for (int pe = warp.rank(); pe < in.size; pe += 32) {
      const std::uint64_t* const others = in.own_begun + pe;
      while (pe != in.rank && scope.load_relaxed(others) < begun.number) {
        scope.pause(others);
      }
    }
    scope.fence();
    warp.sync();
  }
  return begun;
}

}  // namespace sptrsv::detail::distributed
