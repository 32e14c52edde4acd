// The system as the kernels of the row-wise polling policies see it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/solve_pages.hpp"

namespace sptrsv::detail::row_wise {

/// `Pages`: where solved components stand and how they are handed on.
template <class Scalar, class Index, class Offset, class Pages = solve_pages<Scalar>>
struct system_params {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;
  using flag = typename Pages::flag;

  std::int64_t size;
  bool reversed;
  const Offset* row_offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;          ///< null if it is unit
  const Index* position_of_place;  ///< null where rows are solved in the order of substitution
  Pages pages;                     ///< by place
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;

  /// What is known of a row before any component of x.
  struct row {
    std::int64_t place;
    std::int64_t position;  ///< of substitution
    std::int64_t number;    ///< in b and x
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
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t place) const {
    return diagonal != nullptr ? ctx.load_constant(diagonal + place) : pivot_divisor<Scalar>::one();
  }

  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t place) const {
    return open(ctx, place, row_offsets + place);
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t place, const pivot_divisor<Scalar>& pivot) const {
    return open(ctx, place, row_offsets + place, pivot);
  }
  /// `offsets`: where the row's entries begin, and end.
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t place, const Offset* offsets) const {
    return open(ctx, place, offsets, pivot_divisor<Scalar>(pivot(ctx, place)));
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t place, const Offset* offsets,
                         const pivot_divisor<Scalar>& pivot) const {
    const Offset begin = ctx.load_constant(offsets);
    const Offset end = ctx.load_constant(offsets + 1);
    const std::int64_t position =
        position_of_place != nullptr ? static_cast<std::int64_t>(ctx.load_constant(position_of_place + place))
                                     : place;
    return {place, position, reversed ? size - 1 - position : position, begin, end, pivot};
  }

  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    return ctx.load(b.data + r.number * b.row_stride + column * b.column_stride);
  }

  /// `sum`: of the row's products.
  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t page, std::int64_t column,
                            Scalar b_value, Scalar sum) const {
    publish(ctx, r, page, column, r.pivot(alpha * b_value - sum));
  }

  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const row& r, std::uint32_t page, std::int64_t column,
                             Scalar solved) const {
    publish(ctx, r.place, r.number, r.position, page, column, solved);
  }
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, std::int64_t place, std::int64_t number, std::int64_t position,
                             std::uint32_t page, std::int64_t column, Scalar solved) const {
    flag::publish(ctx, pages.component(page, column, place), solved);
    ctx.store(x.data + number * x.row_stride + column * x.column_stride, solved);
    if (!is_finite(solved)) {
      pages.note_bad(ctx, page, position);
    }
  }
};

}  // namespace sptrsv::detail::row_wise
