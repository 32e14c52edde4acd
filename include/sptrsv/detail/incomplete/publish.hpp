// SPDX-License-Identifier: Apache-2.0
// The end of a row of an incomplete factorisation: its values become known to other rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/incomplete/row_data.hpp"

namespace sptrsv::detail::incomplete {

/// Publishes what is left of a row after its last step: for LU the whole row, first the values that other
/// rows need, for Cholesky the pivot. `found`: of the entries that were published before.
template <method Method, class Scalar, class Index, class Offset, int Lanes, class Context>
SPTRSV_DEVICE void publish(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                           const row_data<Scalar, Index, Offset, Lanes>& row, real_t<Scalar> square_sum,
                           lane_findings found, std::uint32_t half) {
  using flag = value_flag<Scalar>;
  const auto publish_slot = [&](Index slot, Scalar value, Offset target) {
    if (slot == row.below) {
      value = boosted_pivot<Method>(p.rule, value, square_sum, found.boosted);
      if constexpr (Method == method::cholesky) {  // other rows wait for the reciprocal
        const real_t<Scalar> square = real_part(value);
        flag::publish(ctx, flag::address(p.reciprocals, row.solve_index),
                      from_real<Scalar>(reciprocal_root(square)));
        value = from_real<Scalar>(std::sqrt(square));
      }
    }
    flag::publish(ctx, flag::address(p.factors, target), value);
    found.add(value, slot == row.below);
  };
  const auto publish_slots = [&](Index begin, Index end) {
    if (!row.is_long) {
      SPTRSV_NO_UNROLL
      for (Index slot = begin + row.lane; slot < end; slot += Lanes) {
        publish_slot(slot, row.get(ctx, slot), row.target(ctx, p, slot));
      }
      return;
    }
    constexpr int slots_at_once = 4;
    for (Index first = begin + row.lane; first < end; first += slots_at_once * Lanes) {
      Scalar value[slots_at_once];
      Offset target[slots_at_once];
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        value[i] = slot < end ? row.get(ctx, slot) : Scalar{};
        target[i] = slot < end ? row.target(ctx, p, slot) : Offset{0};
      }
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        if (slot < end) {
          publish_slot(slot, value[i], target[i]);
        }
      }
    }
  };
  if constexpr (Method == method::lu) {
    publish_slots(row.below, row.length);
    publish_slots(0, row.below);  // no row needs these
  } else if (row.lane == 0) {
    publish_slot(row.below, row.get(ctx, row.below), row.target(ctx, p, row.below));
  }
  found.record(ctx, p, row.solve_index, half);
}

}  // namespace sptrsv::detail::incomplete
