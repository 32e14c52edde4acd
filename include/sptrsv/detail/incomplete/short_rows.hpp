// Rows of an incomplete factorisation that fit the registers of their lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/publish.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::detail::incomplete {

/// Computes the rows of a warp of which none has more than `Lanes` entries or operands. Lane s of a row holds
/// the value of slot s and operand number s. All indices that the steps need are known before the operands
/// are, so that a step is a product, a shuffle and a product.
///
/// In the step of slot s all lanes get l, the entry of slot s. LU: l = a_is / u_ss; then the lane of each
/// slot j that an operand u_sj of the step belongs to subtracts l u_sj. Cholesky: l = a_is / l_ss; then the
/// lane of each later slot k subtracts l conj(l_ks), the operand of slot s in the step of slot k. So a step
/// of Cholesky waits for operands of later steps, too, and needs no sum over lanes.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
class short_rows {
 public:
  using params = factor_params<Scalar, Index, Offset>;
  using place = row_place<Scalar, Index, Offset>;

  SPTRSV_DEVICE static bool fits(const place& at) {
    return at.length <= Lanes && at.end_operand - at.first_operand <= Lanes;
  }

  /// `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    short_rows row = start(ctx, warp, p, at);
    if constexpr (Lanes == 32) {  // what a step needs is found before the wait for its operands
      std::uint32_t known = row.known_operands(warp);
      while (row.rest_ != 0) {
        const step_operands step = row.next_step(warp);
        while ((known & step.used) != step.used) {
          row.poll(ctx);
          known = row.known_operands(warp);
        }
        row.compute(warp, step, true);
      }
      row.publish(ctx, p, at, half);
    } else {  // rows of the warp may need each other, so each goes on as soon as it can
      for (bool open = at.present;;) {
        const std::uint32_t known = row.known_operands(warp);
        const step_operands step = row.next_step(warp);
        const bool ready = row.rest_ != 0 && (known & step.used) == step.used;
        if (warp.any(ready)) {
          row.compute(warp, step, ready);
          continue;
        }
        if (open && row.rest_ == 0) {
          row.publish(ctx, p, at, half);
          open = false;
        }
        if (warp.all(!open)) {
          return;
        }
        row.poll(ctx);
      }
    }
  }

 private:
  using flag = value_flag<Scalar>;

  /// What a step uses.
  struct step_operands {
    int pivot;           ///< number of the operand that is the pivot
    std::uint32_t used;  ///< operands that must be known, one bit for each; 0 if there is no step
    bool is_fed;         ///< whether the step changes the value of this lane by a product
    int fed_by;          ///< number of the operand of this product
  };

  /// Loads the row, and the values of its operands for the first time.
  template <class Context, class Warp>
  SPTRSV_DEVICE static short_rows start(Context& ctx, const Warp& warp, const params& p, const place& at) {
    short_rows row{};
    row.lane_ = warp.rank() % Lanes;
    row.first_lane_ = warp.rank() - row.lane_;
    row.count_ = static_cast<int>(at.end_operand - at.first_operand);
    row.has_entry_ = row.lane_ < at.length;
    row.target_ = row.has_entry_ ? ctx.load_constant(p.sources + at.begin + row.lane_) : Offset{0};
    operand<Index, Offset> own{0, static_cast<Index>(Lanes)};
    if (row.lane_ < row.count_) {
      own = ctx.load_constant(p.operands + at.first_operand + row.lane_);
    }
    row.component_ = flag::address(p.factors, own.source);
    row.seen_ = row.lane_ < row.count_ ? flag::try_load(ctx, row.component_) : flag::zero();
    row.value_ = row.has_entry_ ? ctx.load_constant(p.a + row.target_) : Scalar{};
    row.value_ = row.lane_ == at.below ? p.rule.shifted(row.value_) : row.value_;

    row.is_prepared_ = own.slot >= 0;
    row.rest_ = warp.ballot(own.slot < 0) >> row.first_lane_ & bits_below(Lanes);
    std::uint32_t of_step = 0;
    for (int i = 0; i < (Lanes == 32 ? row.count_ : Lanes); ++i) {
      const auto slot = static_cast<int>(warp.shuffle(own.slot, row.first_lane_ + i));
      row.of_slot_ |= slot == row.lane_ ? 1u << i : 0u;
      if (Method == method::cholesky && slot >= 0 && slot < Lanes) {
        of_step |= simt::bit_count(row.rest_ & bits_below(i)) == row.lane_ ? 1u << i : 0u;
      }
    }
    row.feeding_ = Method == method::lu ? row.of_slot_ : of_step;
    return row;
  }

  /// Returns the operands that are known, one bit for each, and replaces a known pivot by its reciprocal,
  /// where a multiplication may replace the division.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) {
    const bool known = flag::is_known(seen_);
    if (known && !is_prepared_) {
      const pivot_divisor<Scalar> divisor(seen_.value());
      is_prepared_ = true;
      divides_ = !divisor.is_safe();
      seen_ = divides_ ? seen_ : bit_cast<typename flag::reading>(divisor.reciprocal());
    }
    return warp.ballot(known) >> first_lane_;
  }

  template <class Warp>
  SPTRSV_DEVICE step_operands next_step(const Warp& warp) const {
    const std::uint32_t first = rest_ & (0u - rest_);
    step_operands step;
    step.pivot = rest_ != 0 ? simt::lowest_bit(rest_) : 0;
    if constexpr (Method == method::lu) {
      const std::uint32_t later = rest_ & (rest_ - 1);
      const std::uint32_t end = later & (0u - later);
      step.used = (later != 0 ? end - 1u : bits_below(count_)) & ~(first - 1u);
    } else {
      step.used = warp.shuffle(of_slot_, first_lane_ + step_) | first;
    }
    const std::uint32_t feeding = feeding_ & step.used;
    step.is_fed = feeding != 0;
    step.fed_by = step.is_fed ? simt::lowest_bit(feeding) : 0;
    return step;
  }

  /// Computes a step whose operands are known, if the row is `ready`.
  template <class Warp>
  SPTRSV_DEVICE void compute(const Warp& warp, const step_operands& step, bool ready) {
    const Scalar factor = warp.shuffle(seen_.value(), first_lane_ + step.pivot);
    const Scalar dividend = warp.shuffle(value_, first_lane_ + step_);
    const Scalar fed = warp.shuffle(seen_.value(), first_lane_ + step.fed_by);
    const bool is_divided = (warp.ballot(divides_) >> first_lane_ >> step.pivot & 1u) != 0;
    const Scalar solved = is_divided ? divide(dividend, factor) : dividend * factor;
    if (ready) {
      if (step.is_fed) {
        value_ = value_ - solved * (Method == method::lu ? fed : conjugate(fed));
      }
      value_ = lane_ == step_ ? solved : value_;
      square_sum_ += Method == method::lu ? real_t<Scalar>{} : squared(solved);
      rest_ &= rest_ - 1;
      ++step_;
    }
  }

  /// Loads the operand of this lane once more if it is pending.
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx) {
    if (!flag::is_known(seen_)) {
      ctx.spin(flag::missing(component_, seen_));
      flag::poll(ctx, component_, seen_);
    }
  }

  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const params& p, const place& at, std::uint32_t half) const {
    if (!has_entry_) {
      return;
    }
    lane_findings found;
    const bool is_pivot = lane_ == at.below;
    const Scalar value = is_pivot ? pivot_of<Method>(p.rule, value_, square_sum_, found.boosted) : value_;
    flag::publish(ctx, flag::address(p.factors, target_), value);
    found.add(value, is_pivot);
    found.record(ctx, p, at.solve_index, half);
  }

  int lane_;        ///< rank of this lane among those of the row
  int first_lane_;  ///< the row's first lane in the warp
  int count_;       ///< operands of the row
  bool has_entry_;
  Offset target_;                         ///< stored index of the entry
  Scalar value_;                          ///< of the entry
  const typename flag::word* component_;  ///< of the operand
  typename flag::reading seen_;           ///< the operand; see known_operands()
  bool is_prepared_;                      ///< whether `seen_` is final as soon as it is known
  bool divides_;                          ///< whether `seen_` is a pivot without a safe reciprocal
  std::uint32_t of_slot_;                 ///< operands that belong to the slot of this lane
  std::uint32_t feeding_;                 ///< operands of the products that change the value
  std::uint32_t rest_;                    ///< pivots of the steps that were not computed yet
  int step_;                              ///< the slot of the next step
  real_t<Scalar> square_sum_;             ///< cholesky: of the entries of the steps so far
};

}  // namespace sptrsv::detail::incomplete
