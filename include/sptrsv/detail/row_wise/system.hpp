// The system as the kernels of the row-wise polling policies see it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/sync/double_buffer.hpp"

namespace sptrsv::detail::row_wise {

/// `Pages`: where solved components stand and how they are handed on.
template <class Scalar, class Index, class Offset, class Buffers = double_buffer<Scalar>>
struct system_params {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;
  using flag = typename Buffers::flag;

  std::int64_t size;
  bool reversed;
  const Offset* row_offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;             ///< null if it is unit
  const Index* substitution_indices;  ///< null where rows are solved in the order of substitution
  Buffers buffers;                    ///< by place
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;

  /// What is known of a row before any component of x.
  struct row {
    std::int64_t solve_index;
    std::int64_t substitution_index;  ///< of substitution
    std::int64_t number;              ///< in b and x
    Offset begin;
    Offset end;
    pivot_divisor<Scalar> pivot;
  };

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return ctx.load_constant(columns + e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return ctx.load_constant(values + e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t solve_index) const {
    return diagonal != nullptr ? ctx.load_constant(diagonal + solve_index) : pivot_divisor<Scalar>::one();
  }

  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    return open(ctx, solve_index, row_offsets + solve_index);
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index, const pivot_divisor<Scalar>& pivot) const {
    return open(ctx, solve_index, row_offsets + solve_index, pivot);
  }
  /// `offsets`: where the row's entries begin, and end.
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index, const Offset* offsets) const {
    return open(ctx, solve_index, offsets, pivot_divisor<Scalar>(pivot(ctx, solve_index)));
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index, const Offset* offsets,
                         const pivot_divisor<Scalar>& pivot) const {
    const Offset begin = ctx.load_constant(offsets);
    const Offset end = ctx.load_constant(offsets + 1);
    const std::int64_t substitution_index =
        substitution_indices != nullptr
            ? static_cast<std::int64_t>(ctx.load_constant(substitution_indices + solve_index))
            : solve_index;
    return {solve_index,
            substitution_index,
            reversed ? size - 1 - substitution_index : substitution_index,
            begin,
            end,
            pivot};
  }

  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    return ctx.load(b.data + r.number * b.row_stride + column * b.column_stride);
  }

  /// `sum`: of the row's products.
  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar b_value, Scalar sum) const {
    publish(ctx, r, half, column, r.pivot(alpha * b_value - sum));
  }

  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                             Scalar solved) const {
    publish(ctx, r.solve_index, r.number, r.substitution_index, half, column, solved);
  }
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, std::int64_t solve_index, std::int64_t number,
                             std::int64_t substitution_index, std::uint32_t half, std::int64_t column,
                             Scalar solved) const {
    flag::publish(ctx, buffers.component(half, column, solve_index), solved);
    ctx.store(x.data + number * x.row_stride + column * x.column_stride, solved);
    if (!is_finite(solved)) {
      buffers.record_nonfinite(ctx, half, substitution_index);
    }
  }
};

}  // namespace sptrsv::detail::row_wise
