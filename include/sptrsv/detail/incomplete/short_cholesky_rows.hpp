// SPDX-License-Identifier: Apache-2.0
// Rows of an incomplete Cholesky factorisation that fit the registers of their lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/short_row.hpp"

namespace sptrsv::detail::incomplete {

/// Computes the rows that a warp has taken. Each of them is a short_row.
///
/// The steps come in the order of their slots, and only those operands that a step needs have to be known.
/// The lanes with products l_ij conj(l_kj) add them up in a tree, whose last lane has the reciprocal of the
/// pivot: it computes l_ik = (a_ik - sum) (1 / l_kk) and hands it to all lanes. What else this takes is there
/// before the operands are: the last lane has a_ik, and the other ones have l_ij.
template <class Scalar, class Index, class Offset, int Lanes>
class short_cholesky_rows : short_row<method::cholesky, Scalar, Index, Offset, Lanes> {
  using base = short_row<method::cholesky, Scalar, Index, Offset, Lanes>;
  using typename base::flag;
  friend base;

 public:
  using base::fits;
  using typename base::params;
  using typename base::place;

  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    base::template factorize_rows<short_cholesky_rows>(ctx, warp, p, at, half);
  }

 private:
  using base::first_lane_;
  using base::lane_;
  using base::own_;
  using base::rest_;
  using base::square_sum_;
  using base::step_;
  using base::target_;
  using base::value_;

  /// The operands of a step.
  struct step_operands {
    int pivot;               ///< number of the last one, the reciprocal of the pivot
    std::uint32_t used;      ///< all of them, one bit for each
    std::uint32_t products;  ///< those before the pivot
    bool is_product;         ///< whether the operand of this lane is a factor of a product
    Scalar factor;           ///< the other one
  };

  /// Finds the steps of the operands in `own_`.
  template <class Warp>
  SPTRSV_DEVICE void open_batch(const Warp& warp) {
    used_ = 0;
    rest_ = warp.ballot(own_.is_pivot()) >> first_lane_ & bits_below(Lanes);
    dividend_ = warp.shuffle(value_, first_lane_ + (own_.is_pivot() ? static_cast<int>(-1 - own_.slot) : 0));
    if constexpr (Lanes < 32) {
      longest_ = 1;
      for (std::uint32_t products = warp.ballot(own_.slot >= 0 && own_.slot < Lanes); products != 0;
           products &= products << 1) {
        ++longest_;
      }
    }
  }

  template <class Warp>
  SPTRSV_DEVICE step_operands next_step(const Warp& warp) const {
    step_operands step;
    step.pivot = rest_ != 0 ? simt::lowest_bit(rest_) : 0;
    step.products = bits_below(step.pivot) & ~bits_below(used_);
    step.used = step.products | 1u << step.pivot;
    step.is_product = (step.products >> lane_ & 1u) != 0;
    step.factor = warp.shuffle(value_, first_lane_ + (step.is_product ? static_cast<int>(own_.slot) : 0));
    return step;
  }

  /// Returns, in the lane before the pivot and in that of the pivot, the sum of the products of a step.
  template <class Warp>
  SPTRSV_DEVICE Scalar sum_of_products(const Warp& warp, const step_operands& step) const {
    Scalar sum = step.is_product ? step.factor * conjugate(own_.seen.value()) : Scalar{};
    const int length = Lanes == 32 ? step.pivot + 1 - used_ : longest_;
    for (int distance = 1; distance < length; distance *= 2) {  // lanes of other steps add zeros
      const bool adds = lane_ >= distance;
      const Scalar other = warp.shuffle(sum, warp.rank() - (adds ? distance : 0));
      sum = adds ? sum + other : sum;
    }
    return sum;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE void wait_and_compute(Context& ctx, const Warp& warp, const params& p,
                                      const step_operands& step) {
    Scalar sum{};
    if (step.products != 0) {
      this->wait(ctx, warp, step.products);
      sum = sum_of_products(warp, step);
    }
    this->wait(ctx, warp, step.used);
    finish_step(ctx, warp, p, step, sum, true);
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void compute(Context& ctx, const Warp& warp, const params& p, const step_operands& step,
                             bool ready) {
    finish_step(ctx, warp, p, step, sum_of_products(warp, step), ready);
  }

  /// Computes the entry of a step and publishes it, if the row is `ready`. `sum`: see sum_of_products.
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish_step(Context& ctx, const Warp& warp, const params& p, const step_operands& step,
                                 Scalar sum, bool ready) {
    const Scalar solved = warp.shuffle((dividend_ - sum) * own_.seen.value(), first_lane_ + step.pivot);
    if (ready) {
      value_ = lane_ == step_ ? solved : value_;
      if (base::publishes_early && lane_ == step_) {
        flag::publish(ctx, flag::address(p.factors, target_), solved);
      }
      square_sum_ += squared(solved);
      rest_ &= rest_ - 1;
      ++step_;
      used_ = step.pivot + 1;
    }
  }

  int used_;         ///< operands of the batch that were used
  Scalar dividend_;  ///< of a lane with a pivot: a_ik
  int longest_;      ///< if rows share a warp: lanes that add up products, at most
};

}  // namespace sptrsv::detail::incomplete
