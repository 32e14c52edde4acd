// SPDX-License-Identifier: Apache-2.0
// Access to the right-hand sides and solutions in the user's arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/partitioned_params.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

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
