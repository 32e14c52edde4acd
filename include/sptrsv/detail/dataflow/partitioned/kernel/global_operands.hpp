// SPDX-License-Identifier: Apache-2.0
// What a row takes from global memory and stores there: the components of its global entries, and its
// right-hand sides and solutions in the user's arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/partitioned_shared_memory.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// One thread's view of the global entries of its warp's slice. The staged entries are polled together,
/// further ones in pairs.
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
