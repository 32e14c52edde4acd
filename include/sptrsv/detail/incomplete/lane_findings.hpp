// SPDX-License-Identifier: Apache-2.0
// Collects the breakdowns and boosted pivots that a lane finds while it publishes values of a row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/incomplete_params.hpp"

namespace sptrsv::detail::incomplete {

/// The breakdowns and boosted pivots that a lane has found in the values that it publishes.
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

}  // namespace sptrsv::detail::incomplete
