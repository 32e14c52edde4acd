// SPDX-License-Identifier: Apache-2.0
// The kernel of the partitioned path. A thread block solves one partition of the rows, level by level, with
// the latest components of the partition in a ring buffer in shared memory.
//
// The levels of a partition are cut into tiles, which the warp groups of the block solve round-robin:
//
//   for each tile of this warp group, in order:
//     1. wait for the packed slice of the next tile; begin to copy its right-hand sides and the next slice
//     2. load values, x ring buffer addresses, factors and right-hand sides of this tile into registers
//     3. poll the components of the global entries and subtract their products
//     4. wait for the ordered barrier: all tiles before this one are solved
//     5. load the components of the shared entries, subtract their products, multiply by 1/pivot
//     6. store the components to the x ring buffer and signal the next warp group
//     7. publish the components to global memory for other partitions, and store them to x
//
// Only the steps 4 to 6 are on the critical path from tile to tile; the groups do the others in the meantime.
//
// Progress: a partition needs earlier partitions only, and earlier launches of the same solve. Blocks take
// their partitions in the order of their tickets, so a block waits for blocks that have started.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/pipeline.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// One thread of a block.
template <class Scalar, class Shape, class Context>
class partition_solver {
  using layout = shared_layout<Scalar, Shape>;
  using unknown = typename layout::unknown;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  using warp_type = decltype(std::declval<Context&>().template group<32>());

 public:
  SPTRSV_DEVICE partition_solver(Context& ctx, const kernel_params<Scalar>& p, shared_start& start)
      : ctx_(ctx),
        p_(p),
        start_(start.block),
        warp_(ctx.template group<32>()),
        // The shuffles keep these values in registers, see keep().
        lane_(warp_.shuffle(warp_.rank(), warp_.rank())),
        warp_group_(warp_.shuffle(ctx.thread_rank() / Shape::threads, 0)),
        barrier_(ctx, warp_, warp_group_),
        slice_of_tile_(warp_.shuffle(ctx.thread_rank() % Shape::threads / 32, 0)),
        pipeline_(ctx, warp_, lane_,
                  static_cast<unsigned char*>(ctx.dynamic_shared()) +
                      warp_.shuffle(ctx.thread_rank() / 32, 0) * layout::warp_bytes),
        rhs_(ctx, p) {
    pipeline_.begin();
    if (ctx.thread_rank() == 0) {
      start.x_ring_address =
          ctx.shared_address(static_cast<unsigned char*>(ctx.dynamic_shared()) + layout::x_ring_offset);
      start.x_ring_size = p.x_ring_size;
      start.packed_slices = reinterpret_cast<std::uint64_t>(p.packed_slices);
      ctx.store_shared_at(start.x_ring_address + p.x_ring_size * static_cast<int>(sizeof(unknown)),
                          unknown{});
    }
    ctx.barrier();
    x_ring_ = ctx.load_shared(&start.x_ring_address);
    zero_slot_ = ctx.load_shared(&start.x_ring_size);
    pipeline_.read_from(reinterpret_cast<const unsigned char*>(ctx.load_shared(&start.packed_slices)));
  }

  /// Solves the block's partition for its right-hand sides. The blocks of a launch are divided among the
  /// partitions first and among the right-hand sides second.
  SPTRSV_DEVICE void run() {
    const auto partitions = static_cast<std::uint32_t>(p_.partitions);
    const auto block = static_cast<std::uint32_t>(start_.block) - p_.share.first_block;
    const std::uint32_t partition = block % partitions;
    const std::uint32_t rhs_blocks = ctx_.grid_blocks() / partitions;
    const std::int64_t begin = block / partitions;
    std::int64_t group = begin;  // of right-hand sides that are solved together
    for (; group * rhs_together < p_.x.columns; group += rhs_blocks) {
      if (group != begin) {
        ctx_.barrier();
      }
      solve_partition(partition, group * rhs_together);
    }
    // Reset the columns that an earlier solve with more right-hand sides wrote.
    for (; group * rhs_together < start_.rhs_to_reset; group += rhs_blocks) {
      word* const components = p_.buffers.component(start_.half ^ 1u, group * rhs_together, 0);
      const std::int32_t end = ctx_.load_constant(p_.partition_begins + partition + 1);
      for (std::int32_t solve_index =
               ctx_.load_constant(p_.partition_begins + partition) + ctx_.thread_rank();
           solve_index < end; solve_index += layout::block_threads) {
        flag::reset(ctx_, flag::address(components, solve_index));
      }
    }
  }

 private:
  static constexpr int entries = Shape::entries;
  static constexpr int warp_groups = layout::warp_groups;
  static constexpr int rhs_together = layout::rhs_together;

  /// Solves the partition for the right-hand sides from `column` on.
  SPTRSV_DEVICE void solve_partition(std::uint32_t partition, std::int64_t column) {
    const warp_start start = ctx_.load_constant(p_.starts + partition * (layout::block_threads / 32) +
                                                warp_group_ * (Shape::threads / 32) + slice_of_tile_);
    tiles_ = start.tiles;
    rhs_.begin(column, [&](auto pointer) { return keep(pointer); });
    solved_ = keep(p_.buffers.component(start_.half, column, 0));
    other_ = keep(column < start_.rhs_to_reset ? p_.buffers.component(start_.half ^ 1u, column, 0) : nullptr);
    if (warp_group_ + 1 == warp_groups) {
      barrier_.arrive_next();
    }
    const std::int32_t tile = warp_group_ < tiles_ ? solve_tiles(start) : warp_group_;
    if (tile == tiles_) {
      barrier_.wait();
    }
  }

  /// Solves the tiles of the warp group; returns the number of the tile that would be next. A slice is copied
  /// two tiles of the group ahead, its right-hand sides one. The barrier before has ended all reads of the
  /// stages for earlier right-hand sides.
  SPTRSV_DEVICE std::int32_t solve_tiles(const warp_start& start) {
    std::int32_t tile = warp_group_;
    std::uint32_t slice = start.first_slice;
    std::uint32_t next_slice = start.second_slice;
    pipeline_.copy(0, slice, start.first_bytes());
    pipeline_.copy(1, next_slice, start.second_bytes());
    pipeline_.wait(0);
    slice_head now = pipeline_.slice(0);
    prefetch_rhs(pipeline_.stage(0), now);
    for (;;) {
      pipeline_.wait(1);
      pipeline_.copy(2, now.next, now.next_bytes());
      const slice_head next = tile + warp_groups < tiles_ ? pipeline_.slice(1) : slice_head{};
      prefetch_rhs(pipeline_.stage(1), next);
      solve_tile(pipeline_.stage(0), pipeline_.in_global_memory(slice), now);
      tile += warp_groups;
      if (tile >= tiles_) {
        pipeline_.wait(2);  // the copy is empty, but the stage counts its arrival
        return tile;
      }
      slice = next_slice;
      next_slice = now.next;
      now = next;
      pipeline_.advance();
    }
  }

  /// Returns the same value, in a register. Otherwise the compiler derives it from special registers and
  /// parameters at each use, which is slow.
  template <class T>
  SPTRSV_DEVICE T keep(T value) const {
    return warp_.shuffle(value, lane_);
  }

  /// Begins to copy the right-hand sides of a slice. Each lane that leads a row copies its own right-hand
  /// side and reads it later, so that no barrier is needed.
  SPTRSV_DEVICE void prefetch_rhs(unsigned char* stage, const slice_head& slice) const {
    if (leads() && row_of_lane() < slice.rows()) {
      const std::int32_t row = layout::row_in(stage, layout::offsets_of(slice), row_of_lane()).index();
      if (row >= 0) {
        rhs_.copy(staged_rhs(stage), row);
      }
    }
    ctx_.commit_copies();
  }

  /// Solves the warp's slice of a tile: the steps 2 to 7 above. `stage`, `in_memory`: the packed slice in
  /// shared and in global memory. The function is long because its steps share registers; with a part of it
  /// elsewhere the compiler made other code for several right-hand sides.
  SPTRSV_DEVICE void solve_tile(unsigned char* stage, const unsigned char* in_memory, const slice_head& now) {
    const bool live = row_of_lane() < now.rows();
    const slice_offsets offsets = layout::offsets_of(now);
    const packed_row<Scalar> row =
        live ? layout::row_in(stage, offsets, row_of_lane()) : packed_row<Scalar>{Scalar{}, -1};
    unknown rest{};
    if constexpr (!Shape::streams) {
      rest = scaled_rhs(stage, row);
    }
    array_of<Scalar, entries> value;
    array_of<int, entries> operand;  // addresses of components in the x ring buffer
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      value[i] = Scalar{};
      int slot = zero_slot_;
      if (live && i < now.shared_width()) {
        value[i] = reinterpret_cast<const Scalar*>(stage + offsets.shared_values +
                                                   i * offsets.value_column_bytes)[lane_];
        slot = reinterpret_cast<const std::uint16_t*>(stage + offsets.shared_slots +
                                                      i * offsets.slot_column_bytes)[lane_];
      }
      operand[i] = x_ring_ + slot * static_cast<int>(sizeof(unknown));
    }
    const std::int32_t index = row.index();
    const std::int32_t solve_index = now.first_solve_index + row_of_lane();
    const bool writes = live && leads();
    const bool divides = writes && row.divides();
    const bool some_divide = warp_.any(divides);
    const int target = keep(x_ring_ + (solve_index & (zero_slot_ - 1)) * static_cast<int>(sizeof(unknown)));
    int addresses = target;  // they are computed here, before the wait, and not where they are used
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      addresses |= operand[i];
    }
    ctx_.compute_now(addresses);
    if (now.global_width() > 0) {
      rest = rest - global_entries<Scalar, Shape, Context, warp_type>(ctx_, warp_, lane_, solved_)
                        .products(stage, in_memory, now, offsets);
    }
    if constexpr (Shape::streams) {
      rest = rest + scaled_rhs(stage, row);
    }
    barrier_.wait();
    // Critical path: from here to arrive_next() nothing is done that could be done before or after.
    unknown sum[2] = {rest, unknown{}};  // two sums, added in a fixed order: half the latency of one
    array_of<unknown, entries> component;
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      component[i] = ctx_.template load_shared_at<unknown>(operand[i]);
    }
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      sum[i % 2] = sum[i % 2] - value[i] * component[i];
    }
    rest = simt::reduce(warp_, sum[0] + sum[1], Shape::lanes, simt::plus{});
    unknown x = rest * row.factor;
    if (some_divide) {
      const unknown quotient = divide(rest, divides ? row.factor : pivot_divisor<Scalar>::one());
      x = divides ? quotient : x;
    }
    if (writes) {
      ctx_.store_shared_at(target, x);
    }
    barrier_.arrive_next();
    if (writes) {
      flag::publish(ctx_, flag::address(solved_, solve_index), x);
      if (index >= 0) {
        rhs_.store(index, x);
        if (!is_finite(x)) {
          p_.buffers.record_nonfinite(ctx_, start_.half, p_.reversed ? p_.size - 1 - index : index);
        }
      }
      if (other_ != nullptr) {
        flag::reset(ctx_, flag::address(other_, solve_index));
      }
    }
  }

  /// Returns where the right-hand side of this lane's row stands in a stage.
  SPTRSV_DEVICE unknown& staged_rhs(unsigned char* stage) const {
    return reinterpret_cast<unknown*>(stage + layout::packed_bytes)[lane_];
  }
  /// Returns alpha times the right-hand side of the lane's row, for the lane that leads the row; zero for the
  /// other lanes. Waits for the copy of the right-hand side, and not for copies that began after it.
  SPTRSV_DEVICE unknown scaled_rhs(unsigned char* stage, const packed_row<Scalar>& row) const {
    ctx_.template wait_copies<2>();
    return leads() && row.row_code != -1 ? p_.alpha * staged_rhs(stage) : unknown{};
  }
  /// Returns the number of this lane's row in the slice.
  SPTRSV_DEVICE int row_of_lane() const { return lane_ / Shape::lanes; }
  /// Returns whether this lane writes the result of its row.
  SPTRSV_DEVICE bool leads() const { return lane_ % Shape::lanes == 0; }

  Context& ctx_;
  const kernel_params<Scalar>& p_;
  const block_start& start_;
  warp_type warp_;
  int lane_;
  int warp_group_;
  ordered_barrier<Shape, Context, layout::warp_groups> barrier_;
  int slice_of_tile_;
  pipeline<Scalar, Shape, Context, warp_type> pipeline_;
  rhs_access<Scalar, Shape, Context> rhs_;
  std::int32_t x_ring_ = 0;     ///< address of the x ring buffer in shared memory
  std::int32_t zero_slot_ = 0;  ///< the slot behind the ring buffer, which holds zero; also its size
  std::int32_t tiles_ = 0;      ///< of the partition
  word* solved_ = nullptr;      ///< x by solve index, in the buffer of this solve
  word* other_ = nullptr;       ///< x in the buffer of the next solve; null if there is nothing to reset
};

template <class Scalar, class Shape>
struct agent {
  using layout = shared_layout<Scalar, Shape>;
  static constexpr int block_threads = layout::block_threads;
  /// One block for each SM, since a block takes most of the shared memory: registers need not be saved.
  static constexpr int warps_per_processor = block_threads / 32;
  using params = kernel_params<Scalar>;
  using shared_storage = shared_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start.block, p.buffers.state, p.x.columns, p.share.solve_blocks);
    partition_solver<Scalar, Shape, Context>(ctx, p, start).run();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
