// SPDX-License-Identifier: Apache-2.0
// The kernels that put the values of the stored matrix where the schedule of a single_block solve wants them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// Writes, for each row of the triangle, its pivot and the reciprocal; NaN as the reciprocal if the row must
/// divide.
template <class Scalar, class Offset>
struct scatter_pivots {
  const Scalar* stored;
  const Offset* sources;
  const std::uint32_t* row_slots;
  Scalar* pivots;
  Scalar* reciprocals;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Scalar value = ctx.load_constant(stored + ctx.load_constant(sources + row));
    const pivot_divisor<Scalar> pivot(conjugated ? conjugate(value) : value);
    const std::uint32_t slot = ctx.load_constant(row_slots + row);
    ctx.store(pivots + slot, conjugated ? conjugate(value) : value);
    ctx.store(reciprocals + slot, pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>());
  }
};

/// Writes the value of each entry of the triangle, or, with a null `stored`, the factor -1 of each link to a
/// partial row. In-tile entries are multiplied by the reciprocal of their row's pivot. If a product overflows
/// or underflows, the row loses its reciprocal, and a second pass writes its in-tile entries unscaled.
template <class Scalar, class Offset>
struct scatter_entries {
  const Scalar* stored;
  const Offset* sources;
  const std::uint32_t* slots;  ///< by entry or link, see schedule
  shape_values shape;
  Scalar* values;
  Scalar* in_tile;
  Scalar* reciprocals;
  bool conjugated;
  bool second_pass;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::uint32_t slot = ctx.load_constant(slots + e);
    if ((slot & in_tile_bit) != 0) {
      store_in_tile(ctx, slot & ~in_tile_bit, value_of(ctx, e));
    } else if (!second_pass) {
      ctx.store(values + slot, value_of(ctx, e));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar value_of(Context& ctx, std::int64_t e) const {
    if (stored == nullptr) {
      return Scalar{} - pivot_divisor<Scalar>::one();
    }
    const Scalar value = ctx.load_constant(stored + ctx.load_constant(sources + e));
    return conjugated ? conjugate(value) : value;
  }

  template <class Context>
  SPTRSV_DEVICE void store_in_tile(Context& ctx, std::uint32_t slot, Scalar value) const {
    const auto rows = static_cast<std::uint32_t>(shape.rows);
    const std::uint32_t row = slot / rows;
    const std::int64_t to = static_cast<std::int64_t>(row / rows) * shape.in_tile_entries +
                            in_tile_index<std::int64_t>(rows, shape.reach, slot % rows, row % rows);
    const Scalar reciprocal = ctx.load(reciprocals + row);
    if (second_pass) {
      if (!is_finite(reciprocal)) {
        ctx.store(in_tile + to, value);
      }
      return;
    }
    const Scalar scaled = value * reciprocal;
    ctx.store(in_tile + to, scaled);
    if (!(is_safe_factor(scaled) || value == Scalar{})) {
      ctx.store(reciprocals + row, must_divide<Scalar>());
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
