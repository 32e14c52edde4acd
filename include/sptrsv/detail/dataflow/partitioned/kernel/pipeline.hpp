// SPDX-License-Identifier: Apache-2.0
// How the warps of a block work together: the software pipeline that brings the packed slices of a warp to
// shared memory before it solves them, and the barrier through which warp groups solve their tiles in order.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/layout/partitioned_shared_memory.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// Three stages in shared memory, private to a warp. Stage 0 holds the slice of the current tile, stage 1
/// that of the warp's next tile, and stage 2 is being filled for the tile after that; advance() renumbers
/// them. All lanes of the warp call each function together.
template <class Scalar, class Shape, class Context, class Warp>
class pipeline {
  using layout = shared_layout<Scalar, Shape>;
  static_assert(layout::stages == 3);

 public:
  SPTRSV_DEVICE pipeline(Context& ctx, const Warp& warp, int lane, unsigned char* begin)
      : ctx_(ctx),
        warp_(warp),
        lane_(lane),
        stages_{begin, begin + layout::stage_bytes, begin + 2 * layout::stage_bytes} {}

  /// Prepares the arrival counters of bulk copies. A barrier of the block must follow before all else.
  SPTRSV_DEVICE void begin() const {
    if (Shape::streams && lane_ < layout::stages) {
      ctx_.begin_bulk(arrival(stages_[0] + lane_ * layout::stage_bytes));
    }
  }

  SPTRSV_DEVICE void read_from(const unsigned char* packed_slices) { packed_slices_ = packed_slices; }

  SPTRSV_DEVICE unsigned char* stage(int number) const { return stages_[number]; }
  /// Returns the head of the packed slice that the stage holds.
  SPTRSV_DEVICE const slice_head& slice(int number) const {
    return *reinterpret_cast<const slice_head*>(stage(number));
  }
  SPTRSV_DEVICE void advance() {
    unsigned char* const first = stages_[0];
    stages_[0] = stages_[1];
    stages_[1] = stages_[2];
    stages_[2] = first;
    arrivals_ = (arrivals_ >> 1 | arrivals_ << 2) & 7;
  }
  /// Returns the packed slice in global memory. `slice`: its offset in units of 16 bytes.
  SPTRSV_DEVICE const unsigned char* in_global_memory(std::uint32_t slice) const {
    return packed_slices_ + static_cast<std::int64_t>(slice) * 16;
  }

  /// Begins to copy `bytes` of a packed slice to a stage, as one group of asynchronous copies.
  SPTRSV_DEVICE void copy(int to_stage, std::uint32_t slice, int bytes) const {
    if constexpr (Shape::streams) {
      ctx_.copy_bulk(stage(to_stage), in_global_memory(slice), bytes, arrival(stage(to_stage)), lane_);
    } else {
      unsigned char* const to = stage(to_stage) + 16 * lane_;
      // The shuffle keeps the address in a register; otherwise the compiler computes it for each copy.
      const unsigned char* const from = warp_.shuffle(in_global_memory(slice) + 16 * lane_, lane_);
      SPTRSV_UNROLL
      for (int at = 0; at < layout::packed_bytes; at += 512) {
        if (at + 16 * lane_ < bytes) {
          ctx_.template copy_async<16>(to + at, from + at);
        }
      }
    }
    ctx_.commit_copies();
  }

  /// Waits for the copy to the stage; to be called once for each copy. At most one group of copies may have
  /// begun since. Orders what the lanes of the warp did before.
  SPTRSV_DEVICE void wait(int number) {
    if constexpr (Shape::streams) {
      ctx_.wait_bulk(arrival(stage(number)), arrivals_ >> number & 1);
      arrivals_ ^= 1 << number;
    } else {
      ctx_.template wait_copies<1>();
    }
    warp_.sync();
  }

 private:
  SPTRSV_DEVICE static std::uint64_t* arrival(unsigned char* stage) {
    return reinterpret_cast<std::uint64_t*>(stage + layout::arrival_offset);
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  /// The stages' addresses in registers: from an index the compiler would compute them at each use.
  unsigned char* stages_[layout::stages];
  const unsigned char* packed_slices_ = nullptr;
  int arrivals_ = 0;  ///< one bit for each stage: the parity of the copies that have arrived there
};

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
