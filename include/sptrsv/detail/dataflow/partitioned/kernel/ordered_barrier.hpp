// SPDX-License-Identifier: Apache-2.0
// The barrier through which the warp groups of a block solve their tiles in order.
#pragma once

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// A sequence barrier, as CUTLASS's OrderedSequenceBarrier: one named barrier for each warp group. wait()
/// returns when the group before has called arrive_next(); what that group stored to shared memory is then
/// visible.
///
/// A group always arrives at the next one, even if no tile is left for it: a condition would be on the
/// critical path of every tile. Before the first tile the last group arrives for the first one, and after the
/// last tile the group that would be next takes the arrival for which there is no tile.
template <class Shape, class Context, int WarpGroups>
class ordered_barrier {
 public:
  /// `warp_group`: the thread's group, in a register that the compiler cannot derive, as a shuffle gives it.
  /// Otherwise the compiler computes the numbers of the barriers after each wait.
  template <class Warp>
  SPTRSV_DEVICE ordered_barrier(Context& ctx, const Warp& warp, int warp_group)
      : ctx_(ctx),
        own_(warp.shuffle(1 + warp_group, 0)),
        next_(warp.shuffle(warp_group + 1 == WarpGroups ? 1 : 2 + warp_group, 0)) {}

  SPTRSV_DEVICE void wait() const { ctx_.template barrier_wait<2 * Shape::threads>(own_); }
  SPTRSV_DEVICE void arrive_next() const { ctx_.template barrier_arrive<2 * Shape::threads>(next_); }

 private:
  Context& ctx_;
  int own_;   ///< number of the group's own barrier
  int next_;  ///< number of the next group's barrier
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
