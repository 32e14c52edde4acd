// Rows of an incomplete factorisation that fit the registers of their lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/publish.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::detail::incomplete {

/// Computes the rows of a warp. No row may have more than `Lanes` entries, or more than `Lanes` operands.
/// Only if a whole warp computes one row of an LU factorisation, the row may have more operands. Lane s of a
/// row holds the value of slot s and operand number s of each batch of operands. All indices that the steps
/// need are known before the operands are, so that a step is a product, a shuffle and a product.
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
    return at.length <= Lanes && (has_batches || at.end_operand - at.first_operand <= Lanes);
  }

  /// `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, const place& at,
                                      std::uint32_t half) {
    short_rows row = start(ctx, warp, p, at);
    if constexpr (Lanes == 32) {  // what a step needs is found before the wait for its operands
      do {
        std::uint32_t known = row.known_operands(warp);
        const auto wait_for = [&](std::uint32_t used) {
          while ((known & used) != used) {
            row.poll(ctx);
            known = row.known_operands(warp);
          }
        };
        if (has_batches && row.head_ > 0) {
          wait_for(bits_below(row.head_));
          row.continue_step(warp);
        }
        while (row.rest_ != 0) {
          const step_operands step = row.next_step(warp);
          wait_for(step.used);
          row.compute(warp, step, true);
        }
      } while (has_batches && row.take_next_batch(ctx, warp, p));
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
  static constexpr bool has_batches = Lanes == 32 && Method == method::lu;

  /// The operands that a step uses.
  struct step_operands {
    int pivot;           ///< number of the operand that is the pivot
    std::uint32_t used;  ///< operands that must be known, one bit for each; 0 if there is no step
    bool is_fed;         ///< whether the step changes the value of this lane by a product
    int fed_by;          ///< number of the operand of this product
  };

  /// Loads the row, and the values of its first operands for the first time.
  template <class Context, class Warp>
  SPTRSV_DEVICE static short_rows start(Context& ctx, const Warp& warp, const params& p, const place& at) {
    short_rows row{};
    row.lane_ = warp.rank() % Lanes;
    row.first_lane_ = warp.rank() - row.lane_;
    row.next_operand_ = at.first_operand;
    row.end_operand_ = at.end_operand;
    row.has_entry_ = row.lane_ < at.length;
    row.target_ = row.has_entry_ ? ctx.load_constant(p.sources + at.begin + row.lane_) : Offset{0};
    row.own_ = row.load_operand(ctx, p);
    row.ahead_ = has_batches ? row.load_operand(ctx, p) : row.own_;
    row.value_ = row.has_entry_ ? ctx.load_constant(p.a + row.target_) : Scalar{};
    row.value_ = row.lane_ == at.below ? p.rule.shifted(row.value_) : row.value_;
    row.open_batch(warp, at.end_operand - at.first_operand);
    return row;
  }

  /// An operand of this lane; without one the slot is `Lanes`.
  struct lane_operand {
    const typename flag::word* component;
    Index slot;
    typename flag::reading seen;
  };

  /// Loads the next operand of this lane.
  template <class Context>
  SPTRSV_DEVICE lane_operand load_operand(Context& ctx, const params& p) {
    lane_operand found{p.factors, static_cast<Index>(Lanes), flag::zero()};
    if (next_operand_ + lane_ < end_operand_) {
      const auto stored = ctx.load_constant(p.operands + next_operand_ + lane_);
      found = {flag::address(p.factors, stored.source), stored.slot, {}};
      found.seen = flag::try_load(ctx, found.component);
    }
    next_operand_ += Lanes;
    return found;
  }

  /// Finds what the steps of the operands in `own_` use. `left`: operands from this batch on.
  template <class Warp>
  SPTRSV_DEVICE void open_batch(const Warp& warp, std::int64_t left) {
    count_ = static_cast<int>(left < Lanes ? left : Lanes);
    is_prepared_ = own_.slot >= 0;
    divides_ = false;
    rest_ = warp.ballot(own_.slot < 0) >> first_lane_ & bits_below(Lanes);
    head_ = rest_ != 0 ? simt::lowest_bit(rest_) : count_;
    of_slot_ = 0;
    std::uint32_t of_step = 0;
    for (int i = 0; i < (Lanes == 32 ? count_ : Lanes); ++i) {
      const auto slot = static_cast<int>(warp.shuffle(own_.slot, first_lane_ + i));
      of_slot_ |= slot == lane_ ? 1u << i : 0u;
      if (Method == method::cholesky && slot >= 0 && slot < Lanes) {
        of_step |= simt::bit_count(rest_ & bits_below(i)) == lane_ ? 1u << i : 0u;
      }
    }
    feeding_ = Method == method::lu ? of_slot_ : of_step;
  }

  /// Takes the next batch of operands. Returns false if there is none.
  template <class Context, class Warp>
  SPTRSV_DEVICE bool take_next_batch(Context& ctx, const Warp& warp, const params& p) {
    const std::int64_t left = end_operand_ - next_operand_ + Lanes;  // `ahead_` was loaded already
    if (left <= 0) {
      return false;
    }
    own_ = ahead_;
    ahead_ = load_operand(ctx, p);
    open_batch(warp, left);
    return true;
  }

  /// Returns the operands that are known, one bit for each, and replaces a known pivot by its reciprocal,
  /// where a multiplication may replace the division.
  template <class Warp>
  SPTRSV_DEVICE std::uint32_t known_operands(const Warp& warp) {
    const bool known = flag::is_known(own_.seen);
    if (known && !is_prepared_) {
      const pivot_divisor<Scalar> divisor(own_.seen.value());
      is_prepared_ = true;
      divides_ = !divisor.is_safe();
      own_.seen = divides_ ? own_.seen : bit_cast<typename flag::reading>(divisor.reciprocal());
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
    const Scalar factor = warp.shuffle(own_.seen.value(), first_lane_ + step.pivot);
    const Scalar dividend = warp.shuffle(value_, first_lane_ + step_);
    const Scalar fed = warp.shuffle(own_.seen.value(), first_lane_ + step.fed_by);
    const bool is_divided = (warp.ballot(divides_) >> first_lane_ >> step.pivot & 1u) != 0;
    const Scalar solved = is_divided ? divide(dividend, factor) : dividend * factor;
    if (ready) {
      if (step.is_fed) {
        value_ = value_ - solved * (Method == method::lu ? fed : conjugate(fed));
      }
      value_ = lane_ == step_ ? solved : value_;
      square_sum_ += Method == method::lu ? real_t<Scalar>{} : squared(solved);
      carried_ = solved;
      rest_ &= rest_ - 1;
      ++step_;
    }
  }

  /// Computes the products of the last step of the batch before that are in this one.
  template <class Warp>
  SPTRSV_DEVICE void continue_step(const Warp& warp) {
    const std::uint32_t feeding = feeding_ & bits_below(head_);
    const Scalar fed = warp.shuffle(own_.seen.value(), feeding != 0 ? simt::lowest_bit(feeding) : 0);
    if (feeding != 0) {
      value_ = value_ - carried_ * fed;
    }
  }

  /// Loads the operand of this lane once more if it is pending.
  template <class Context>
  SPTRSV_DEVICE void poll(Context& ctx) {
    if (!flag::is_known(own_.seen)) {
      ctx.spin(flag::missing(own_.component, own_.seen));
      flag::poll(ctx, own_.component, own_.seen);
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
  bool has_entry_;
  Offset target_;              ///< stored index of the entry
  Scalar value_;               ///< of the entry
  std::int64_t next_operand_;  ///< the first one that no lane has loaded
  std::int64_t end_operand_;   ///< one past the last one
  lane_operand own_;           ///< of the current batch; see known_operands()
  lane_operand ahead_;         ///< of the next batch
  int count_;                  ///< operands of the batch
  int head_;                   ///< operands before the first pivot of the batch
  bool is_prepared_;           ///< whether own_.seen is final as soon as it is known
  bool divides_;               ///< whether own_.seen is a pivot without a safe reciprocal
  std::uint32_t of_slot_;      ///< operands that belong to the slot of this lane, one bit for each
  std::uint32_t feeding_;      ///< operands of the products that change the value, one bit for each
  std::uint32_t rest_;         ///< pivots of the steps that were not computed yet, one bit for each
  int step_;                   ///< the slot of the next step
  Scalar carried_;             ///< the entry that the last step has computed
  real_t<Scalar> square_sum_;  ///< cholesky: of the entries of the steps so far
};

}  // namespace sptrsv::detail::incomplete
