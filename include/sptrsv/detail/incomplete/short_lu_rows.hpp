// SPDX-License-Identifier: Apache-2.0
// Rows of an incomplete LU factorisation that fit the registers of their lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/short_row.hpp"

namespace sptrsv::detail::incomplete {

/// Computes the rows that a warp has taken. Each of them is a short_row. All indices that the steps need are
/// known before the operands are, so that a step is a product, a shuffle and a product: in the step of slot s
/// all lanes get l = a_is / u_ss, then the lane of each slot j that an operand u_sj of the step belongs to
/// subtracts l u_sj.
template <class Scalar, class Index, class Offset, int Lanes>
class short_lu_rows : short_row<method::lu, Scalar, Index, Offset, Lanes> {
  using base = short_row<method::lu, Scalar, Index, Offset, Lanes>;
  using typename base::flag;
  friend base;

 public:
  using base::fits;
  using typename base::params;
  using typename base::place;

  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    base::template factorize_rows<short_lu_rows>(ctx, warp, p, at, half);
  }

 private:
  using base::divides_;
  using base::first_lane_;
  using base::lane_;
  using base::own_;
  using base::rest_;
  using base::step_;
  using base::value_;

  /// The operands that a step uses.
  struct step_operands {
    int pivot;           ///< number of the operand that is the pivot
    std::uint32_t used;  ///< operands that must be known, one bit for each; 0 if there is no step
    bool is_fed;         ///< whether the step changes the value of this lane by a product
    int fed_by;          ///< number of the operand of this product
    Scalar dividend;     ///< if a whole warp computes the row: a_ik
  };

  /// Finds what the steps of the operands in `own_` use.
  template <class Warp>
  SPTRSV_DEVICE void open_batch(const Warp& warp) {
    rest_ = warp.ballot(own_.is_pivot()) >> first_lane_ & bits_below(Lanes);
    feeding_ = 0;
    for (int i = 0; i < (Lanes == 32 ? own_.count : Lanes); ++i) {
      const auto slot = static_cast<int>(warp.shuffle(own_.slot, first_lane_ + i));
      feeding_ |= slot == lane_ ? 1u << i : 0u;
    }
  }

  template <class Warp>
  SPTRSV_DEVICE step_operands next_step(const Warp& warp) const {
    const std::uint32_t first = rest_ & (0u - rest_);
    step_operands step;
    step.pivot = rest_ != 0 ? simt::lowest_bit(rest_) : 0;
    const std::uint32_t later = rest_ & (rest_ - 1);
    const std::uint32_t end = later & (0u - later);
    step.used = (later != 0 ? end - 1u : bits_below(own_.count)) & ~(first - 1u);
    const std::uint32_t feeding = feeding_ & step.used;
    step.is_fed = feeding != 0;
    step.fed_by = step.is_fed ? simt::lowest_bit(feeding) : 0;
    step.dividend = Lanes == 32 ? warp.shuffle(value_, step_) : Scalar{};
    return step;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE void wait_and_compute(Context& ctx, const Warp& warp, const params& p,
                                      const step_operands& step) {
    this->wait(ctx, warp, step.used);
    this->prepare_pivot();
    compute(ctx, warp, p, step, true);
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void compute(Context&, const Warp& warp, const params&, const step_operands& step,
                             bool ready) {
    const Scalar factor = warp.shuffle(own_.seen.value(), first_lane_ + step.pivot);
    const Scalar dividend = Lanes == 32 ? step.dividend : warp.shuffle(value_, first_lane_ + step_);
    const Scalar fed = warp.shuffle(own_.seen.value(), first_lane_ + step.fed_by);
    const bool is_divided = (warp.ballot(divides_) >> first_lane_ >> step.pivot & 1u) != 0;
    const Scalar solved = is_divided ? divide(dividend, factor) : dividend * factor;
    if (ready) {
      if (step.is_fed) {
        value_ = value_ - solved * fed;
      }
      value_ = lane_ == step_ ? solved : value_;
      rest_ &= rest_ - 1;
      ++step_;
    }
  }

  std::uint32_t feeding_;  ///< operands of the products that change the value, one bit for each
};

}  // namespace sptrsv::detail::incomplete
