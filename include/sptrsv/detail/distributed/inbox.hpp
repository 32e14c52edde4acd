// SPDX-License-Identifier: Apache-2.0
// The values that a PE receives from other PEs: they are flagged, and consecutive solves share three buffers.
//
// Solve number s uses buffer s mod 3 and resets buffer (s - 1) mod 3, which the solve before has read. A PE
// may run ahead of another one. So before a block stores anything to another PE in solve s, it waits until
// all others have begun solve s - 1: then they have completed solve s - 2, which has reset buffer s mod 3.
// PEs that keep step do not wait for that. With two buffers they would, in every solve.
//
// The host knows the number of the solve, because it enqueues the solves one after the other. The kernel sees
// the buffer of the solve and the one that it resets as the two halves of a double_buffer.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

inline constexpr int inbox_buffers = 3;

/// The state that consecutive solves share on a PE; it is in device memory.
struct pe_state {
  alignas(128) unsigned long long tickets;  ///< drawn so far
  /// By number of the call of solve mod 2: smallest substitution index whose x is not finite. A call with
  /// many right-hand sides enqueues several solves.
  alignas(128) std::int64_t first_nonfinite[2];
};

/// The inboxes of all PEs as a kernel of one of them sees them.
template <class Scalar>
struct inboxes {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  int rank;
  int size;
  word* const* of_pe;        ///< by PE, in device memory: its inbox
  std::uint64_t* own_begun;  ///< by PE: how many solves it has begun
  std::uint64_t solve;       ///< number of the solve
  std::int64_t buffer;       ///< index of the first value of the buffer of the solve in each inbox
  std::int64_t values;       ///< of one right-hand side in a buffer

  /// Stores a value into the inbox of another PE.
  template <class Context>
  SPTRSV_DEVICE void send(Context& ctx, int pe, std::int64_t rhs, std::int64_t index, Scalar v) const {
    auto scope = ctx.system_scope();
    flag::publish(scope, flag::address(ctx.load_constant(of_pe + pe), buffer + rhs * values + index), v);
  }

  /// Waits until the others are ready for what this PE sends. One thread of a block calls it; the others may
  /// send after a barrier.
  template <class Context>
  SPTRSV_DEVICE void wait_for_others(Context& ctx) const {
    if (solve < inbox_buffers) {
      return;
    }
    auto scope = ctx.system_scope();
    for (int pe = 0; pe < size; ++pe) {
      const std::uint64_t* const others = own_begun + pe;
      while (pe != rank && scope.load_relaxed(others) < solve) {
        scope.pause(others);
      }
    }
    scope.fence();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
