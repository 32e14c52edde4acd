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
    const int lane = warp.rank() % Lanes;
    const int first_lane = warp.rank() - lane;
    const auto count = static_cast<int>(at.end_operand - at.first_operand);
    const bool has_operand = lane < count;
    const bool has_entry = lane < at.length;
    const Offset target = has_entry ? ctx.load_constant(p.sources + at.begin + lane) : Offset{0};
    operand<Index, Offset> own{0, static_cast<Index>(Lanes)};
    if (has_operand) {
      own = ctx.load_constant(p.operands + at.first_operand + lane);
    }
    auto* const component = flag::address(p.factors, own.source);
    auto seen = has_operand ? flag::try_load(ctx, component) : flag::zero();
    Scalar value = has_entry ? ctx.load_constant(p.a + target) : Scalar{};
    value = lane == at.below ? p.rule.shifted(value) : value;

    const bool is_pivot = own.slot < 0;
    const std::uint32_t pivots = warp.ballot(is_pivot) >> first_lane & bits_below(Lanes);
    std::uint32_t of_slot = 0;  // operands that belong to the slot of this lane, one bit for each
    std::uint32_t of_step = 0;  // operands of the step of this slot, without the pivot
    for (int i = 0; i < (Lanes == 32 ? count : Lanes); ++i) {
      const auto slot = static_cast<int>(warp.shuffle(own.slot, first_lane + i));
      of_slot |= slot == lane ? 1u << i : 0u;
      if (Method == method::cholesky && slot >= 0 && slot < Lanes) {
        of_step |= simt::bit_count(pivots & bits_below(i)) == lane ? 1u << i : 0u;
      }
    }

    const std::uint32_t fed_by = Method == method::lu ? of_slot : of_step;
    std::uint32_t rest = pivots;  // of the steps that were not computed yet
    int step = 0;                 // the slot of the next one
    bool open = at.present;
    bool is_prepared = !is_pivot;
    bool divides = false;  // whether `seen` is a pivot without a safe reciprocal
    real_t<Scalar> square_sum{};
    for (;;) {
      if (!is_prepared && flag::is_known(seen)) {
        const pivot_divisor<Scalar> divisor(seen.value());
        is_prepared = true;
        divides = !divisor.is_safe();
        seen = divides ? seen : bit_cast<typename flag::reading>(divisor.reciprocal());
      }
      const std::uint32_t known = warp.ballot(flag::is_known(seen)) >> first_lane;
      const int pivot = rest != 0 ? simt::lowest_bit(rest) : 0;
      const std::uint32_t used = operands_of_step(warp, rest, count, of_slot, first_lane + step);
      const bool ready = rest != 0 && (known & used) == used;
      if (Lanes == 32 ? ready : warp.any(ready)) {
        const std::uint32_t feeding = fed_by & used;
        const Scalar fed =
            warp.shuffle(seen.value(), first_lane + (feeding != 0 ? simt::lowest_bit(feeding) : 0));
        const Scalar factor = warp.shuffle(seen.value(), first_lane + pivot);
        const Scalar dividend = warp.shuffle(value, first_lane + step);
        const bool is_divided = (warp.ballot(divides) >> first_lane >> pivot & 1u) != 0;
        const Scalar solved = is_divided ? divide(dividend, factor) : dividend * factor;
        if (ready) {
          if (feeding != 0) {
            value = value - solved * (Method == method::lu ? fed : conjugate(fed));
          }
          value = lane == step ? solved : value;
          square_sum += Method == method::lu ? real_t<Scalar>{} : squared(solved);
          rest &= rest - 1;
          ++step;
        }
        continue;
      }
      if (open && rest == 0) {
        if (has_entry) {
          publish(ctx, p, at, value, square_sum, lane, target, half);
        }
        open = false;
      }
      if (Lanes == 32 ? !open : warp.all(!open)) {
        return;
      }
      if (!flag::is_known(seen)) {
        ctx.spin(flag::missing(component, seen));
        flag::poll(ctx, component, seen);
      }
    }
  }

 private:
  using flag = value_flag<Scalar>;

  /// Returns the operands that the next step uses, one bit for each; 0 if there is no step. `lane_of_step`:
  /// the lane of the warp that has the slot of the step.
  template <class Warp>
  SPTRSV_DEVICE static std::uint32_t operands_of_step(const Warp& warp, std::uint32_t rest, int count,
                                                      std::uint32_t of_slot, int lane_of_step) {
    if constexpr (Method == method::lu) {
      const std::uint32_t later = rest & (rest - 1);
      return (later != 0 ? (later & (0u - later)) - 1u : bits_below(count)) & ~((rest & (0u - rest)) - 1u);
    } else {
      return warp.shuffle(of_slot, lane_of_step) | (rest & (0u - rest));
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const params& p, const place& at, Scalar value,
                                    real_t<Scalar> square_sum, int lane, Offset target, std::uint32_t half) {
    lane_findings found;
    const bool is_pivot = lane == at.below;
    if (is_pivot) {
      value = pivot_of<Method>(p.rule, value, square_sum, found.boosted);
    }
    flag::publish(ctx, flag::address(p.factors, target), value);
    found.add(value, is_pivot);
    found.record(ctx, p, at.solve_index, half);
  }
};

}  // namespace sptrsv::detail::incomplete
