// SPDX-License-Identifier: Apache-2.0
// A row of an incomplete factorisation that fits the registers of its lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operand_batches.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// A row with at most `Lanes` entries. Lane s holds the value of slot s. What a step needs of the row, and
/// where, is known before its operands are.
///
/// LU: in the step of slot s all lanes get l = a_is / u_ss, then the lane of each slot j that an operand u_sj
/// of the step belongs to subtracts l u_sj.
///
/// Cholesky: the lanes with products l_ij conj(l_kj) add them up in a tree, whose last lane has the
/// reciprocal of the pivot: it computes l_ik = (a_ik - sum) (1 / l_kk) and hands it to all lanes. The last
/// lane has a_ik before, and the other ones have l_ij.
///
/// A sync stands after each branch that only some lanes of the warp take. No data needs it: it tells the
/// compiler that the lanes go on together. Without it ptxas guards the votes and shuffles that follow by
/// branches, and a kernel has up to half as many instructions again.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
class short_row : operand_batches<Method, Scalar, Index, Offset, Lanes> {
  using base = operand_batches<Method, Scalar, Index, Offset, Lanes>;
  using base::has_batches;
  using base::lane_;
  using base::own_;
  using typename base::flag;

 public:
  using typename base::params;
  using typename base::place;

  SPTRSV_DEVICE static bool fits(const place& at) {
    return at.length <= Lanes && (has_batches || at.end_operand - at.first_operand <= Lanes);
  }

  /// Computes the rows that a warp has taken. `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    short_row row{};
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

 private:
  static constexpr bool is_lu = Method == method::lu;
  /// Whether Cholesky publishes an entry after its step, so that other rows may use it before the row is
  /// complete. Where rows share a warp the stores take longer than they save.
  static constexpr bool publishes_early = !is_lu && Lanes == 32;

  /// The operands of a step of a row in registers.
  struct step_operands {
    int pivot;               ///< number of the operand that is the pivot, or its reciprocal
    std::uint32_t used;      ///< operands that must be known, one bit for each
    std::uint32_t products;  ///< cholesky: those before the pivot
    bool has_product;        ///< whether this lane computes a product
    int fed_by;              ///< lu: number of the operand of this product
    Scalar factor;           ///< of the row: lu, if a whole warp computes it: a_ik; cholesky: l_ij
  };

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

  /// Finds the steps of the operands in `own_`.
  template <class Warp>
  SPTRSV_DEVICE void open_batch(const Warp& warp) {
    if constexpr (!is_lu) {
      used_ = 0;
    }
    rest_ = warp.ballot(own_.is_pivot()) >> first_lane_ & bits_below(Lanes);
    if constexpr (is_lu) {
      feeding_ = 0;
      for (int i = 0; i < (Lanes == 32 ? own_.count : Lanes); ++i) {
        const auto slot = static_cast<int>(warp.shuffle(own_.slot, first_lane_ + i));
        feeding_ |= slot == lane_ ? 1u << i : 0u;
      }
    } else {
      dividend_ =
          warp.shuffle(value_, first_lane_ + (own_.is_pivot() ? static_cast<int>(-1 - own_.slot) : 0));
      if constexpr (Lanes < 32) {
        longest_ = 1;
        for (std::uint32_t products = warp.ballot(own_.slot >= 0 && own_.slot < Lanes); products != 0;
             products &= products << 1) {
          ++longest_;
        }
      }
    }
  }

  /// Returns the operands that are known, one bit for each. LU: prepares known pivots.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) {
    if constexpr (is_lu) {
      this->prepare_pivot();
    }
    return warp.ballot(flag::is_known(own_.seen)) >> first_lane_;
  }

  template <class Warp>
  SPTRSV_DEVICE step_operands next_step(const Warp& warp) const {
    step_operands step;
    if constexpr (is_lu) {
      const std::uint32_t first = rest_ & (0u - rest_);
      step.pivot = rest_ != 0 ? simt::lowest_bit(rest_) : 0;
      const std::uint32_t later = rest_ & (rest_ - 1);
      const std::uint32_t end = later & (0u - later);
      step.used = (later != 0 ? end - 1u : bits_below(own_.count)) & ~(first - 1u);
      const std::uint32_t feeding = feeding_ & step.used;
      step.has_product = feeding != 0;
      step.fed_by = step.has_product ? simt::lowest_bit(feeding) : 0;
      step.factor = Lanes == 32 ? warp.shuffle(value_, step_) : Scalar{};
    } else {
      step.pivot = rest_ != 0 ? simt::lowest_bit(rest_) : 0;
      step.products = bits_below(step.pivot) & ~bits_below(used_);
      step.used = step.products | 1u << step.pivot;
      step.has_product = (step.products >> lane_ & 1u) != 0;
      step.factor = warp.shuffle(value_, first_lane_ + (step.has_product ? static_cast<int>(own_.slot) : 0));
    }
    return step;
  }

  /// Computes a step of a row that has a whole warp.
  template <class Context, class Warp>
  SPTRSV_DEVICE void wait_and_compute(Context& ctx, const Warp& warp, const params& p,
                                      const step_operands& step) {
    if constexpr (is_lu) {
      this->wait(ctx, warp, step.used);
      this->prepare_pivot();
      eliminate(warp, step, true);
    } else {
      Scalar sum{};
      if (step.products != 0) {
        this->wait(ctx, warp, step.products);
        sum = sum_of_products(warp, step);
      }
      this->wait(ctx, warp, step.used);
      substitute(ctx, warp, p, step, sum, true);
    }
  }
  /// Computes a step whose operands are known, if the row is `ready`.
  template <class Context, class Warp>
  SPTRSV_DEVICE void compute(Context& ctx, const Warp& warp, const params& p, const step_operands& step,
                             bool ready) {
    if constexpr (is_lu) {
      eliminate(warp, step, ready);
    } else {
      substitute(ctx, warp, p, step, sum_of_products(warp, step), ready);
    }
  }

  template <class Warp>
  SPTRSV_DEVICE void eliminate(const Warp& warp, const step_operands& step, bool ready) {
    const Scalar factor = warp.shuffle(own_.seen.value(), first_lane_ + step.pivot);
    const Scalar dividend = Lanes == 32 ? step.factor : warp.shuffle(value_, first_lane_ + step_);
    const Scalar fed = warp.shuffle(own_.seen.value(), first_lane_ + step.fed_by);
    const bool is_divided = (warp.ballot(this->divides_) >> first_lane_ >> step.pivot & 1u) != 0;
    const Scalar solved = is_divided ? divide(dividend, factor) : dividend * factor;
    if (ready) {
      if (step.has_product) {
        value_ = value_ - solved * fed;
      }
      value_ = lane_ == step_ ? solved : value_;
      rest_ &= rest_ - 1;
      ++step_;
    }
  }

  /// Returns, in the lane before the pivot and in that of the pivot, the sum of the products of a step.
  template <class Warp>
  SPTRSV_DEVICE Scalar sum_of_products(const Warp& warp, const step_operands& step) const {
    Scalar sum = step.has_product ? step.factor * conjugate(own_.seen.value()) : Scalar{};
    const int length = Lanes == 32 ? step.pivot + 1 - used_ : longest_;
    for (int distance = 1; distance < length; distance *= 2) {  // lanes of other steps add zeros
      const bool adds = lane_ >= distance;
      const Scalar other = warp.shuffle(sum, warp.rank() - (adds ? distance : 0));
      sum = adds ? sum + other : sum;
    }
    return sum;
  }

  /// Computes the entry of a step and publishes it. `sum`: see sum_of_products.
  template <class Context, class Warp>
  SPTRSV_DEVICE void substitute(Context& ctx, const Warp& warp, const params& p, const step_operands& step,
                                Scalar sum, bool ready) {
    const Scalar solved = warp.shuffle((dividend_ - sum) * own_.seen.value(), first_lane_ + step.pivot);
    if (ready) {
      value_ = lane_ == step_ ? solved : value_;
      if (publishes_early && lane_ == step_) {
        flag::publish(ctx, flag::address(p.factors, target_), solved);
      }
      square_sum_ += squared(solved);
      rest_ &= rest_ - 1;
      ++step_;
      used_ = step.pivot + 1;
    }
  }

  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const params& p, const place& at, std::uint32_t half) const {
    publish_lane<Method, publishes_early>(ctx, p, at, half, lane_, has_entry_, target_, value_, square_sum_);
  }

  int first_lane_;  ///< the row's first lane in the warp
  bool has_entry_;
  Offset target_;       ///< stored index of the entry
  Scalar value_;        ///< of the entry
  std::uint32_t rest_;  ///< pivots of the steps of the batch that were not computed yet, one bit for each
  int step_;            ///< the slot of the next step
  real_t<Scalar> square_sum_;  ///< cholesky: of the entries of the steps so far
  int used_;                   ///< cholesky: operands of the batch that were used
  Scalar dividend_;            ///< cholesky: of a lane with a pivot: a_ik
  int longest_;                ///< cholesky, if rows share a warp: lanes that add up products, at most
  std::uint32_t feeding_;      ///< lu: operands of the products that change the value, one bit for each
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
