// SPDX-License-Identifier: Apache-2.0
// A row of an incomplete factorisation in the registers of its lanes: what the methods have in common.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operand_batches.hpp"
#include "sptrsv/detail/incomplete/publish.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::detail::incomplete {

/// A row with at most `Lanes` entries. Lane s holds the value of slot s.
///
/// A sync stands after each branch that only some lanes of the warp take. No data needs it: it tells the
/// compiler that the lanes go on together. Without it ptxas guards the votes and shuffles that follow by
/// branches, and a kernel has up to half as many instructions again.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
class short_row : protected operand_batches<Method, Scalar, Index, Offset, Lanes> {
  using base = operand_batches<Method, Scalar, Index, Offset, Lanes>;

 public:
  using typename base::params;
  using typename base::place;

  SPTRSV_DEVICE static bool fits(const place& at) {
    return at.length <= Lanes && (base::has_batches || at.end_operand - at.first_operand <= Lanes);
  }

 protected:
  using base::has_batches;
  using base::lane_;
  using base::own_;
  using typename base::flag;
  /// Whether Cholesky publishes an entry after its step, so that other rows may use it before the row is
  /// complete. Where rows share a warp the stores take longer than they save.
  static constexpr bool publishes_early = Lanes == 32;

  /// Computes the rows that a warp has taken. `Rows`: the class of the method, derived from this one, with
  ///   open_batch(warp): finds the steps of the operands in `own_`;
  ///   next_step(warp): returns the operands of the next step, `used` one bit for each;
  ///   wait_and_compute(ctx, warp, p, step), and compute(ctx, warp, p, step, ready): computes a step whose
  ///   operands are known, if the row is `ready`.
  /// `half`: number of the factorisation mod 2.
  template <class Rows, class Context, class Warp>
  SPTRSV_DEVICE static void factorize_rows(Context& ctx, const Warp& warp, const params& p, const place& at,
                                           std::uint32_t half) {
    Rows row{};
    row.load(ctx, warp, p, at);
    row.open_batch(warp);
    if constexpr (has_batches) {  // what a step needs is found before the wait for its operands
      for (;;) {
        const bool is_last = row.is_last_batch();
        while (row.rest_ != 0) {
          row.wait_and_compute(ctx, warp, p, row.next_step(warp));
        }
        if (is_last) {
          break;
        }
        row.take_batch(ctx, warp, p);
        row.open_batch(warp);
      }
      row.publish(ctx, p, at, half);
    } else {  // rows of the warp may need each other, so each goes on as soon as it can
      for (bool open = at.present;;) {
        const std::uint32_t known = row.known_operands(warp);
        const auto step = row.next_step(warp);
        const bool ready = row.rest_ != 0 && (known & step.used) == step.used;
        if (warp.any(ready)) {
          row.compute(ctx, warp, p, step, ready);
          warp.sync();
          continue;
        }
        if (open && row.rest_ == 0) {
          row.publish(ctx, p, at, half);
          open = false;
        }
        warp.sync();
        if (warp.all(!open)) {
          return;
        }
        row.poll(ctx, warp);
      }
    }
  }

  /// Returns the operands that are known, one bit for each. LU: prepares known pivots.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) {
    if constexpr (Method == method::lu) {
      this->prepare_pivot();
    }
    return warp.ballot(flag::is_known(own_.seen)) >> first_lane_;
  }

  /// Loads the row, and the values of its first operands for the first time.
  template <class Context, class Warp>
  SPTRSV_DEVICE void load(Context& ctx, const Warp& warp, const params& p, const place& at) {
    first_lane_ = warp.rank() / Lanes * Lanes;
    has_entry_ = warp.rank() - first_lane_ < at.length;
    target_ = has_entry_ ? ctx.load_constant(p.sources + at.begin + (warp.rank() - first_lane_)) : Offset{0};
    this->start(ctx, warp, p, at);
    value_ = has_entry_ ? ctx.load_constant(p.a + target_) : Scalar{};
    value_ = lane_ == at.below ? p.rule.shifted(value_) : value_;
  }

  /// Publishes what is left of the row after its last step: for LU the whole row, for Cholesky the pivot, and
  /// the other entries unless publishes_early.
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const params& p, const place& at, std::uint32_t half) const {
    const bool is_pivot = has_entry_ && lane_ == at.below;
    lane_findings found;
    // All lanes compute a pivot, so that no branch stands before the publication; those without one take 1.
    Scalar value = boosted_pivot<Method>(p.rule, is_pivot ? value_ : pivot_divisor<Scalar>::one(),
                                         is_pivot ? square_sum_ : real_t<Scalar>{}, found.boosted);
    found.boosted = found.boosted && is_pivot;
    if constexpr (Method == method::lu) {
      value = is_pivot ? value : value_;
      if (has_entry_) {
        flag::publish(ctx, flag::address(p.factors, target_), value);
      }
    } else {
      const real_t<Scalar> square = real_part(value);
      const real_t<Scalar> reciprocal = reciprocal_root(square);
      value = value_;
      if (is_pivot) {  // other rows wait for the reciprocal
        flag::publish(ctx, flag::address(p.reciprocals, at.solve_index), from_real<Scalar>(reciprocal));
      } else if (has_entry_ && !publishes_early) {
        flag::publish(ctx, flag::address(p.factors, target_), value);
      }
      if (is_pivot) {
        value = from_real<Scalar>(std::sqrt(square));
        flag::publish(ctx, flag::address(p.factors, target_), value);
      }
    }
    if (has_entry_) {
      found.add(value, is_pivot);
      found.record(ctx, p, at.solve_index, half);
    }
  }

  int first_lane_;  ///< the row's first lane in the warp
  bool has_entry_;
  Offset target_;       ///< stored index of the entry
  Scalar value_;        ///< of the entry
  std::uint32_t rest_;  ///< pivots of the steps of the batch that were not computed yet, one bit for each
  int step_;            ///< the slot of the next step
  real_t<Scalar> square_sum_;  ///< cholesky: of the entries of the steps so far
};

}  // namespace sptrsv::detail::incomplete
