// The end of a row of an incomplete factorisation: its values become known to other rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/incomplete/row_state.hpp"

namespace sptrsv::detail::incomplete {

/// Returns the pivot, which may be boosted. `value`: of the diagonal entry after all steps; `square_sum`: for
/// Cholesky, of the entries before it. Cholesky publishes the reciprocal of the pivot before the pivot is
/// known, because other rows wait for it.
template <method Method, class Context, class Scalar, class Index, class Offset>
SPTRSV_DEVICE Scalar finish_pivot(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                                  std::int64_t solve_index, Scalar value, real_t<Scalar> square_sum,
                                  bool& boosted) {
  if constexpr (Method == method::lu) {
    boosted = p.rule.boosts(value);
    return boosted ? from_real<Scalar>(p.rule.boost_to) : value;
  } else {
    using flag = value_flag<Scalar>;
    real_t<Scalar> square = real_part(value) - square_sum;
    boosted = p.rule.boosts_square(square);
    square = boosted ? p.rule.boost_to : square;
    flag::publish(ctx, flag::address(p.reciprocals, solve_index), from_real<Scalar>(reciprocal_root(square)));
    return from_real<Scalar>(std::sqrt(square));
  }
}

/// Collects what a lane finds while it publishes values of a row: breakdowns and boosted pivots.
struct lane_findings {
  bool is_bad = false;          ///< a value is not finite, or the pivot is zero
  bool has_zero_pivot = false;  ///< of the values so far
  bool boosted = false;

  template <class Scalar>
  SPTRSV_DEVICE void add(Scalar value, bool is_pivot) {
    has_zero_pivot = has_zero_pivot || (is_pivot && is_zero(value));
    is_bad = is_bad || has_zero_pivot || !is_finite(value);
  }
  /// Records them as findings of the factorisation. `half`: its number mod 2.
  template <class Context, class Scalar, class Index, class Offset>
  SPTRSV_DEVICE void record(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                            std::int64_t solve_index, std::uint32_t half) const {
    if (boosted) {
      ctx.reduce_add(&p.state->boosted_pivots[half], std::int64_t{1});
    }
    if (is_bad) {
      const auto number = static_cast<std::int64_t>(ctx.load_constant(p.rows + solve_index));
      ctx.atomic_min(&p.state->first_breakdown[half], breakdown{number, has_zero_pivot}.number());
    }
  }
};

/// Publishes a row after its last step: first the values that other rows need.
template <method Method, class Scalar, class Index, class Offset, int Lanes, class Context>
SPTRSV_DEVICE void publish(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                           const row_state<Method, Scalar, Index, Offset, Lanes>& row, std::uint32_t half) {
  using flag = value_flag<Scalar>;
  constexpr int slots_at_once = row_state<Method, Scalar, Index, Offset, Lanes>::slots_at_once;
  lane_findings found;
  const auto publish_slot = [&](Index slot, Scalar value, Offset target) {
    value = slot == row.below
                ? finish_pivot<Method>(ctx, p, row.solve_index, value, row.square_sum, found.boosted)
                : value;
    flag::publish(ctx, flag::address(p.factors, target), value);
    found.add(value, slot == row.below);
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
  found.record(ctx, p, row.solve_index, half);
}

}  // namespace sptrsv::detail::incomplete
