// The end of a row of an incomplete factorisation: its values become known to other rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/incomplete/row_state.hpp"

namespace sptrsv::detail::incomplete {

/// Returns the pivot, which may be boosted. `value`: of the diagonal entry after all steps.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
SPTRSV_DEVICE Scalar pivot_of(const factor_params<Scalar, Index, Offset>& p,
                              const row_state<Method, Scalar, Index, Offset, Lanes>& row, Scalar value,
                              bool& boosted) {
  if constexpr (Method == method::lu) {
    boosted = p.rule.boosts(value);
    return boosted ? from_real<Scalar>(p.rule.boost_to) : value;
  } else {
    const real_t<Scalar> square = real_part(value) - row.square_sum;
    boosted = p.rule.boosts_square(square);
    return from_real<Scalar>(std::sqrt(boosted ? p.rule.boost_to : square));
  }
}

/// Publishes a row after its last step: first the values that other rows need.
template <method Method, class Scalar, class Index, class Offset, int Lanes, class Context>
SPTRSV_DEVICE void publish(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                           const row_state<Method, Scalar, Index, Offset, Lanes>& row, std::uint32_t half) {
  using flag = value_flag<Scalar>;
  constexpr int slots_at_once = row_state<Method, Scalar, Index, Offset, Lanes>::slots_at_once;
  bool is_bad = false;
  bool has_zero_pivot = false;
  bool boosted = false;
  const auto publish_slot = [&](Index slot, Scalar value, Offset target) {
    value = slot == row.below ? pivot_of(p, row, value, boosted) : value;
    flag::publish(ctx, flag::address(p.factors, target), value);
    has_zero_pivot = has_zero_pivot || (slot == row.below && is_zero(value));
    is_bad = is_bad || has_zero_pivot || !is_finite(value);
  };
  const auto publish_slots = [&](Index number, const auto& slot_of) {
    for (; row.has_slot(slot_of(number)); number += slots_at_once * Lanes) {
      Scalar value[slots_at_once];
      Offset target[slots_at_once];
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = slot_of(number + i * Lanes);
        value[i] = row.has_slot(slot) ? row.values.get(ctx, slot) : Scalar{};
        target[i] = row.has_slot(slot) ? ctx.load_constant(p.sources + row.begin + slot) : Offset{0};
      }
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = slot_of(number + i * Lanes);
        if (row.has_slot(slot)) {
          publish_slot(slot, value[i], target[i]);
        }
      }
    }
  };
  const Index first = row.published_slot(row.lane);
  if (row.has_slot(first)) {
    publish_slot(first, row.values.get(ctx, first), row.first_target);
  }
  if (Method == method::lu && row.lane < row.below) {  // no row needs these
    publish_slot(row.lane, row.values.get(ctx, row.lane), row.below_target);
  }
  if (row.length > Lanes) {  // not all targets were loaded before
    publish_slots(row.lane + Lanes, [&](Index number) { return row.published_slot(number); });
    if constexpr (Method == method::lu) {
      publish_slots(row.lane + Lanes, [&](Index number) { return number < row.below ? number : Index{-1}; });
    }
  }
  if (boosted) {
    ctx.reduce_add(&p.state->boosted_pivots[half], std::int64_t{1});
  }
  if (is_bad) {
    const auto number = static_cast<std::int64_t>(ctx.load_constant(p.rows + row.solve_index));
    ctx.atomic_min(&p.state->first_breakdown[half], breakdown{number, has_zero_pivot}.number());
  }
}

}  // namespace sptrsv::detail::incomplete
