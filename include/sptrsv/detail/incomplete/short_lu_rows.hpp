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

 public:
  using base::fits;
  using typename base::params;
  using typename base::place;

  /// `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    short_lu_rows row{};
    row.load(ctx, warp, p, at);
    row.open_batch(warp);
    if constexpr (Lanes == 32) {  // what a step needs is found before the wait for its operands
      for (;;) {
        const bool is_last = row.is_last_batch();
        while (row.rest_ != 0) {
          const step_operands step = row.next_step(warp);
          row.wait(ctx, warp, step.used);
          row.prepare_pivot();
          row.compute(warp, step, true);
        }
        if (is_last) {
          break;
        }
        row.take_batch(ctx, warp, p);
        row.open_batch(warp);
      }
      row.publish(ctx, p, at, real_t<Scalar>{}, half);
    } else {  // rows of the warp may need each other, so each goes on as soon as it can
      for (bool open = at.present;;) {
        const std::uint32_t known = row.known_operands(warp);
        const step_operands step = row.next_step(warp);
        const bool ready = row.rest_ != 0 && (known & step.used) == step.used;
        if (warp.any(ready)) {
          row.compute(warp, step, ready);
          warp.sync();
          continue;
        }
        if (open && row.rest_ == 0) {
          row.publish(ctx, p, at, real_t<Scalar>{}, half);
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
  using base::divides_;
  using base::first_lane_;
  using base::lane_;
  using base::own_;
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

  /// Returns the operands that are known, one bit for each, and prepares known pivots.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) {
    this->prepare_pivot();
    return warp.ballot(flag::is_known(own_.seen)) >> first_lane_;
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

  /// Computes a step whose operands are known, if the row is `ready`.
  template <class Warp>
  SPTRSV_DEVICE void compute(const Warp& warp, const step_operands& step, bool ready) {
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
  std::uint32_t rest_;     ///< pivots of the steps that were not computed yet, one bit for each
  int step_;               ///< the slot of the next step
};

}  // namespace sptrsv::detail::incomplete
