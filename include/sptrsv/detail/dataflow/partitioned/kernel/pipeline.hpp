// SPDX-License-Identifier: Apache-2.0
// How the warps of a block work together: the software pipeline that brings the packed slices of a warp to
// shared memory before it solves them, and the barrier through which warp groups solve their tiles in order.
//
// What a row takes from global memory and stores there: the components of its global entries, and its
// right-hand sides and solutions in the user's arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

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

/// A thread's view of the global entries of its warp's slice. Staged ones are polled together, others by two.
template <class Scalar, class Shape, class Context, class Warp>
class global_entries {
  using unknown = typename shared_layout<Scalar, Shape>::unknown;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  static constexpr int staged = 2 * Shape::polled_pairs;

 public:
  /// `solved`: x by solve index.
  SPTRSV_DEVICE global_entries(Context& ctx, const Warp& warp, int lane, const word* solved)
      : ctx_(ctx), warp_(warp), lane_(lane), solved_(solved) {}

  /// Returns the sum of the lane's products; waits until the components for all lanes of the warp have come.
  /// `stage`, `in_memory`: the packed slice in shared and in global memory.
  SPTRSV_DEVICE unknown products(const unsigned char* stage, const unsigned char* in_memory,
                                 const slice_head& slice, const slice_offsets& offsets) const {
    const int width = lane_ / Shape::lanes < slice.global_rows() ? slice.global_width() : 0;
    array_of<entry, staged> first;
    SPTRSV_UNROLL
    for (int i = 0; i < staged; ++i) {
      if (i < width) {
        const unsigned char* const column = stage + offsets.global_columns + i * offsets.global_column_bytes;
        first[i].solve_index = reinterpret_cast<const std::int32_t*>(column)[lane_];
        first[i].value = reinterpret_cast<const Scalar*>(column + offsets.global_values)[lane_];
      }
    }
    if (slice.global_width() <= staged) {
      return products(first);
    }
    const unsigned char* column = in_memory + offsets.global_columns + staged * offsets.global_column_bytes;
    entry next[2];
    load(next, column, offsets, staged, width);
    unknown sum = products(first);
    for (int i = staged; i < slice.global_width(); i += 2) {
      const entry current[2] = {next[0], next[1]};
      column += 2 * offsets.global_column_bytes;
      load(next, column, offsets, i + 2, width);
      sum = sum + products(current);
    }
    return sum;
  }

 private:
  struct entry {
    std::int32_t solve_index = -1;  ///< -1: there is no entry
    Scalar value{};
  };

  /// Loads two entries of the lane, those of the entry columns `first` and `first + 1`, which begin at
  /// `columns`. The lane has `width` entries.
  SPTRSV_DEVICE void load(entry (&to)[2], const unsigned char* columns, const slice_offsets& offsets,
                          int first, int width) const {
    SPTRSV_UNROLL
    for (int i = 0; i < 2; ++i) {
      to[i] = {};
      if (first + i < width) {
        const unsigned char* const column = columns + i * offsets.global_column_bytes;
        to[i].solve_index = ctx_.load_constant(reinterpret_cast<const std::int32_t*>(column) + lane_);
        to[i].value =
            ctx_.load_constant(reinterpret_cast<const Scalar*>(column + offsets.global_values) + lane_);
      }
    }
  }

  template <class Entries>
  SPTRSV_DEVICE unknown products(const Entries& entries) const {
    constexpr int count = length_of<Entries>;
    stored_addresses<word, count> addresses;
    polled_batch<flag, count> components;
    SPTRSV_UNROLL
    for (int k = 0; k < count; ++k) {
      addresses.of[k] = flag::address(solved_, entries[k].solve_index);
      components.set_zero(k);
      if (entries[k].solve_index >= 0) {
        components.try_load_cached(ctx_, k, addresses(k));
      }
    }
    components.wait_together(ctx_, warp_, addresses);
    unknown sum[2] = {};
    SPTRSV_UNROLL
    for (int k = 0; k < count; ++k) {
      sum[k % 2] = sum[k % 2] + entries[k].value * components.value(k);
    }
    return sum[0] + sum[1];
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  const word* solved_;
};

/// One thread's access to the columns of b and x that are solved together. Where the user has fewer columns
/// than the shape, the last column stands for the missing ones, too.
template <class Scalar, class Shape, class Context>
class rhs_access {
  using layout = shared_layout<Scalar, Shape>;
  using unknown = typename layout::unknown;
  static constexpr int rhs_together = layout::rhs_together;

 public:
  SPTRSV_DEVICE rhs_access(Context& ctx, const kernel_params<Scalar>& p) : ctx_(ctx), p_(p) {}

  /// Selects the columns from `column` on. `keep`: puts a pointer into a register.
  template <class Keep>
  SPTRSV_DEVICE void begin(std::int64_t column, const Keep& keep) {
    const std::int64_t last = p_.x.columns - 1;
    SPTRSV_UNROLL
    for (int k = 0; k < rhs_together; ++k) {
      const std::int64_t present = rhs_together == 1 || column + k < last ? column + k : last;
      b_[k] = keep(p_.b.data + present * p_.b.column_stride);
      x_[k] = keep(p_.x.data + present * p_.x.column_stride);
    }
  }

  /// Begins an asynchronous copy of the right-hand sides of a row of b to shared memory.
  SPTRSV_DEVICE void copy(unknown& to, std::int32_t row) const {
    using real = real_t<Scalar>;  // the user's arrays are aligned to real numbers only
    SPTRSV_UNROLL
    for (int k = 0; k < rhs_together; ++k) {
      const auto from = reinterpret_cast<const real*>(b_[k] + row * p_.b.row_stride);
      const auto target = reinterpret_cast<real*>(&rhs_value(to, k));
      for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
        ctx_.template copy_async<sizeof(real)>(target + i, from + i);
      }
    }
  }

  /// Stores the solution of a row to x.
  SPTRSV_DEVICE void store(std::int32_t row, unknown x) const {
    SPTRSV_UNROLL
    for (int k = 0; k < rhs_together; ++k) {
      ctx_.store(x_[k] + row * p_.x.row_stride, rhs_value(x, k));
    }
  }

 private:
  Context& ctx_;
  const kernel_params<Scalar>& p_;
  array_of<const Scalar*, rhs_together> b_;
  array_of<Scalar*, rhs_together> x_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
