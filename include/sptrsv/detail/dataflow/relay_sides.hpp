// The right-hand sides and solutions of a relay's rows, in the user's arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/dataflow/relay_params.hpp"
#include "sptrsv/detail/scalar.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread, for the right-hand sides that are solved together. Where there are fewer than the shape has,
/// the last one stands for those that are missing, too.
template <class Scalar, class Shape, class Context>
class relay_sides {
  using layout = relay_layout<Scalar, Shape>;
  using unknown = typename layout::unknown;
  static constexpr int columns = layout::columns;

 public:
  SPTRSV_DEVICE relay_sides(Context& ctx, const relay_params<Scalar>& p) : ctx_(ctx), p_(p) {}

  /// Those from `column` on. `keep`: puts a pointer into a register.
  template <class Keep>
  SPTRSV_DEVICE void begin(std::int64_t column, const Keep& keep) {
    const std::int64_t last = p_.x.columns - 1;
    SPTRSV_UNROLL
    for (int k = 0; k < columns; ++k) {
      const std::int64_t of = columns == 1 || column + k < last ? column + k : last;
      b_[k] = keep(p_.b.data + of * p_.b.column_stride);
      x_[k] = keep(p_.x.data + of * p_.x.column_stride);
    }
  }

  /// Begins a copy to shared memory.
  SPTRSV_DEVICE void copy(unknown& to, std::int32_t row) const {
    using real = real_t<Scalar>;  // what the user's array is aligned to
    SPTRSV_UNROLL
    for (int k = 0; k < columns; ++k) {
      const auto from = reinterpret_cast<const real*>(b_[k] + row * p_.b.row_stride);
      const auto part = reinterpret_cast<real*>(&column_of(to, k));
      for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
        ctx_.template copy_async<sizeof(real)>(part + i, from + i);
      }
    }
  }

  SPTRSV_DEVICE void store(std::int32_t row, unknown x) const {
    SPTRSV_UNROLL
    for (int k = 0; k < columns; ++k) {
      ctx_.store(x_[k] + row * p_.x.row_stride, column_of(x, k));
    }
  }

 private:
  Context& ctx_;
  const relay_params<Scalar>& p_;
  const Scalar* b_[columns];
  Scalar* x_[columns];
};

}  // namespace sptrsv::detail::dataflow
