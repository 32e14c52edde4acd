// SPDX-License-Identifier: Apache-2.0
// The parameters of the kernel of an incomplete factorisation; a row while it is computed, what its lanes
// find, and its end: its values become known to other rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/incomplete/method.hpp"
#include "sptrsv/detail/incomplete/operands.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Parameters of the kernel.
template <class Scalar, class Index, class Offset>
struct factor_params {
  /// Returns the address of an operand.
  template <method Method>
  SPTRSV_DEVICE const typename value_flag<Scalar>::word* address_of(const operand<Index, Offset>& of) const {
    return value_flag<Scalar>::address(Method == method::cholesky && of.slot < 0 ? reciprocals : factors,
                                       of.source);
  }

  std::int64_t size;          ///< rows
  std::int64_t tasks;         ///< tickets that select rows
  std::uint32_t draws;        ///< tickets that are drawn in a launch: one more for each warp
  std::int64_t shared_slots;  ///< longest row that is in shared memory
  const Index* rows;          ///< these are from `elimination`
  const Offset* row_offsets;
  const Index* diagonal_slots;
  const Offset* sources;
  const std::int64_t* first_operands;
  const operand<Index, Offset>* operands;
  const Scalar* a;                             ///< by entry of the stored matrix
  typename value_flag<Scalar>::word* factors;  ///< by entry of the stored matrix
  /// Cholesky: the reciprocals of the pivots, by solve index.
  typename value_flag<Scalar>::word* reciprocals;
  Scalar* long_rows;  ///< the values of A by entry in level order; null if all rows are in shared memory
  factor_state* state;
  pivot_rule<Scalar> rule;
};

/// Returns how many of the next operands a batch of a whole warp takes. `pivots`: those of the next 32, one
/// bit for each; `left`: operands of the row from here on. A batch ends with a step, except in one that has
/// more operands than a batch. So the lanes that end a row wait for one batch, not for two.
template <method Method>
SPTRSV_DEVICE int batch_end(std::uint32_t pivots, std::int64_t left) {
  if (left <= 32) {
    return static_cast<int>(left);
  }
  if constexpr (Method == method::lu) {  // a step begins with its pivot
    return pivots > 1 ? simt::highest_bit(pivots) : 32;
  } else {  // a step ends with its pivot
    return pivots != 0 ? simt::highest_bit(pivots) + 1 : 32;
  }
}

/// LU: replaces a known pivot by its reciprocal, where a multiplication may replace the division. All lanes
/// with known pivots do so together, before their steps come one after the other. `own`: the operand of this
/// lane; `is_prepared`: whether that has been done; `divides`: output, whether the reciprocal is not safe.
template <class Scalar, class Operand>
SPTRSV_DEVICE void prepare_pivot(Operand& own, bool& is_prepared, bool& divides) {
  using flag = value_flag<Scalar>;
  if (own.is_pivot() && !is_prepared && flag::is_known(own.seen)) {
    const pivot_divisor<Scalar> divisor(own.seen.value());
    is_prepared = true;
    divides = !divisor.is_safe();
    own.seen = divides ? own.seen : bit_cast<typename flag::reading>(divisor.reciprocal());
  }
}

/// The breakdowns and boosted pivots that a lane has found in the values that it publishes.
struct lane_findings {
  bool is_bad = false;          ///< a value is not finite, or the pivot is zero
  bool has_zero_pivot = false;  ///< of the values so far
  bool boosted = false;

  template <class Scalar>
  SPTRSV_DEVICE void add(Scalar value, bool is_pivot) {
    has_zero_pivot = has_zero_pivot || (is_pivot && value == Scalar{});
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

/// Where a row stands in the arrays of the analysis.
template <class Scalar, class Index, class Offset>
struct row_place {
  bool present;  ///< whether there is such a row
  Index solve_index;
  Offset begin;                ///< first entry, in level order
  Index length;                ///< entries
  Index below;                 ///< entries below the diagonal; the slot of the diagonal entry
  std::int64_t first_operand;  ///< of the row
  std::int64_t end_operand;    ///< one past its last operand

  template <class Context>
  SPTRSV_DEVICE static row_place load(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                                      std::int64_t solve_index) {
    const bool present = solve_index < p.size;
    const std::int64_t r = present ? solve_index : 0;
    row_place at;
    at.present = present;
    at.solve_index = static_cast<Index>(r);
    at.begin = ctx.load_constant(p.row_offsets + r);
    const auto length = static_cast<Index>(ctx.load_constant(p.row_offsets + r + 1) - at.begin);
    at.length = present ? length : Index{0};
    at.below = ctx.load_constant(p.diagonal_slots + r);
    at.first_operand = ctx.load_constant(p.first_operands + r);
    at.end_operand = present ? ctx.load_constant(p.first_operands + r + 1) : at.first_operand;
    return at;
  }
};

/// Memory for a row in shared memory.
template <class Scalar, class Offset>
struct shared_row {
  Scalar* values;
  Offset* targets;  ///< stored indices of the entries
};

/// A row while its lanes compute it. Its values are in shared memory, or in global memory if the row is long.
/// A sync of the warp stands between accesses of different lanes.
template <class Scalar, class Index, class Offset, int Lanes>
struct row_data : row_place<Scalar, Index, Offset> {
  using row_place<Scalar, Index, Offset>::begin;
  using row_place<Scalar, Index, Offset>::below;
  using row_place<Scalar, Index, Offset>::length;
  using params = factor_params<Scalar, Index, Offset>;
  /// Entries of a row that a lane loads together.
  static constexpr int slots_at_once = 4;

  int lane;  ///< rank of this lane among those of the row
  shared_row<Scalar, Offset> shared;
  Scalar* long_values;  ///< counts only if the row is long
  /// Not told by a null pointer: ptxas 13.0 has read such a pair of registers before its zero was there.
  bool is_long;

  /// Returns a row before load(). `shared`: memory for the row.
  SPTRSV_DEVICE static row_data of(const params& p, const row_place<Scalar, Index, Offset>& at, int lane,
                                   const shared_row<Scalar, Offset>& shared) {
    return {at, lane, shared, p.long_rows + at.begin, static_cast<std::int64_t>(at.length) > p.shared_slots};
  }

  template <class Context>
  SPTRSV_DEVICE Scalar get(Context& ctx, Index slot) const {
    return is_long ? ctx.load(long_values + slot) : shared.values[slot];
  }
  template <class Context>
  SPTRSV_DEVICE void set(Context& ctx, Index slot, Scalar value) const {
    if (is_long) {
      ctx.store(long_values + slot, value);
    } else {
      shared.values[slot] = value;
    }
  }
  /// Returns the stored index of the entry in a slot.
  template <class Context>
  SPTRSV_DEVICE Offset target(Context& ctx, const params& p, Index slot) const {
    return is_long ? ctx.load_constant(p.sources + begin + slot) : shared.targets[slot];
  }

  /// Loads the values of A and the targets to shared memory, several of each lane together.
  template <class Context>
  SPTRSV_DEVICE void load(Context& ctx, const params& p) const {
    if (is_long) {  // the values have been loaded before the launch
      return;
    }
    for (Index first = lane; first < length; first += slots_at_once * Lanes) {
      Scalar value[slots_at_once];
      Offset target[slots_at_once];
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        target[i] = slot < length ? ctx.load_constant(p.sources + begin + slot) : Offset{0};
        value[i] = slot < length ? ctx.load_constant(p.a + target[i]) : Scalar{};
      }
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        if (slot < length) {
          set(ctx, slot, slot == below ? p.rule.shifted(value[i]) : value[i]);
          shared.targets[slot] = target[i];
        }
      }
    }
  }
};

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

/// Publishes what is left of a row, or of a piece of one, after its last step: for LU all entries, for
/// Cholesky the pivot, and the other entries unless they have been `PublishedEarly`. A lane has the value of
/// one entry. `at`: where the row, or the piece, stands; `half`: number of the factorisation mod 2; `target`:
/// stored index of the entry; `square_sum`: see boosted_pivot.
template <method Method, bool PublishedEarly, class Scalar, class Index, class Offset, class Context>
SPTRSV_DEVICE void publish_lane(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                                const row_place<Scalar, Index, Offset>& at, std::uint32_t half, int lane,
                                bool has_entry, Offset target, Scalar entry, real_t<Scalar> square_sum) {
  using flag = value_flag<Scalar>;
  const bool is_pivot = has_entry && lane == at.below;
  lane_findings found;
  // All lanes compute a pivot, so that no branch stands before the publication; those without one take 1.
  Scalar value = boosted_pivot<Method>(p.rule, is_pivot ? entry : pivot_divisor<Scalar>::one(),
                                       is_pivot ? square_sum : real_t<Scalar>{}, found.boosted);
  found.boosted = found.boosted && is_pivot;
  if constexpr (Method == method::lu) {
    value = is_pivot ? value : entry;
    if (has_entry) {
      flag::publish(ctx, flag::address(p.factors, target), value);
    }
  } else {
    const real_t<Scalar> square = real_part(value);
    const real_t<Scalar> reciprocal = reciprocal_root(square);
    value = entry;
    if (is_pivot) {  // other rows wait for the reciprocal
      flag::publish(ctx, flag::address(p.reciprocals, at.solve_index), from_real<Scalar>(reciprocal));
    } else if (has_entry && !PublishedEarly) {
      flag::publish(ctx, flag::address(p.factors, target), value);
    }
    if (is_pivot) {
      value = from_real<Scalar>(std::sqrt(square));
      flag::publish(ctx, flag::address(p.factors, target), value);
    }
  }
  if (has_entry) {
    found.add(value, is_pivot);
    found.record(ctx, p, at.solve_index, half);
  }
}

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
