// A row of an incomplete factorisation in the registers of its lanes: what the methods have in common.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/publish.hpp"
#include "sptrsv/detail/simt/collectives.hpp"

namespace sptrsv::detail::incomplete {

/// A row with at most `Lanes` entries. It may have more operands than lanes only if a whole warp computes it.
/// Lane s holds the value of slot s, and operand number s of the current batch of operands and of the next
/// one.
///
/// A sync stands after each branch that only some lanes of the warp take. No data needs it: it tells the
/// compiler that the lanes go on together. Without it ptxas guards the votes and shuffles that follow by
/// branches, and a kernel has up to half as many instructions again.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
class short_row {
 public:
  using params = factor_params<Scalar, Index, Offset>;
  using place = row_place<Scalar, Index, Offset>;

  SPTRSV_DEVICE static bool fits(const place& at) {
    return at.length <= Lanes && (has_batches || at.end_operand - at.first_operand <= Lanes);
  }

 protected:
  using flag = value_flag<Scalar>;
  static constexpr bool has_batches = Lanes == 32;

  /// Loads the row, and the values of its first operands for the first time.
  template <class Context, class Warp>
  SPTRSV_DEVICE void load(Context& ctx, const Warp& warp, const params& p, const place& at) {
    lane_ = warp.rank() % Lanes;
    first_lane_ = warp.rank() - lane_;
    next_operand_ = at.first_operand;
    end_operand_ = at.end_operand;
    has_entry_ = lane_ < at.length;
    target_ = has_entry_ ? ctx.load_constant(p.sources + at.begin + lane_) : Offset{0};
    own_ = load_operand(ctx, p);
    ahead_ = has_batches ? load_operand(ctx, p) : own_;
    value_ = has_entry_ ? ctx.load_constant(p.a + target_) : Scalar{};
    value_ = lane_ == at.below ? p.rule.shifted(value_) : value_;
  }

  /// Returns the operands after the current batch; not positive: there are none.
  SPTRSV_DEVICE std::int64_t operands_left() const {
    return end_operand_ - next_operand_ + Lanes;  // `ahead_` has been loaded already
  }
  /// Moves on to the next batch of operands.
  template <class Context>
  SPTRSV_DEVICE void take_batch(Context& ctx, const params& p) {
    own_ = ahead_;
    ahead_ = load_operand(ctx, p);
  }

  /// Loads the operand of this lane once more if it is pending.
  template <class Context, class Warp>
  SPTRSV_DEVICE void poll(Context& ctx, const Warp& warp) {
    if (!flag::is_known(own_.seen)) {
      ctx.spin(flag::missing(own_.component, own_.seen));
      flag::poll(ctx, own_.component, own_.seen);
    }
    warp.sync();
  }

  /// If a whole warp computes the row: waits until operands are known. `used`: one bit for each.
  template <class Context, class Warp>
  SPTRSV_DEVICE void wait_for(Context& ctx, const Warp& warp, std::uint32_t used) {
    const bool waits = (used >> lane_ & 1u) != 0;
    while (warp.any(waits && !flag::is_known(own_.seen))) {
      poll(ctx, warp);
    }
  }

  /// Publishes the row after its last step. `square_sum`: see finish_pivot; `half`: number of the
  /// factorisation mod 2.
  template <class Context>
  SPTRSV_DEVICE void publish(Context& ctx, const params& p, const place& at, real_t<Scalar> square_sum,
                             std::uint32_t half) const {
    if (!has_entry_) {
      return;
    }
    lane_findings found;
    const bool is_pivot = lane_ == at.below;
    Scalar value = value_;
    if (is_pivot) {
      value = finish_pivot<Method>(ctx, p, at.solve_index, value_, square_sum, found.boosted);
    }
    flag::publish(ctx, flag::address(p.factors, target_), value);
    found.add(value, is_pivot);
    found.record(ctx, p, at.solve_index, half);
  }

  /// An operand of this lane; without one the slot is `Lanes`.
  struct lane_operand {
    const typename flag::word* component;
    Index slot;
    typename flag::reading seen;

    SPTRSV_DEVICE bool is_pivot() const { return slot < 0; }
  };

  int lane_;        ///< rank of this lane among those of the row
  int first_lane_;  ///< the row's first lane in the warp
  bool has_entry_;
  Offset target_;              ///< stored index of the entry
  Scalar value_;               ///< of the entry
  std::int64_t next_operand_;  ///< the first one that no lane has loaded
  std::int64_t end_operand_;   ///< one past the last one
  lane_operand own_;           ///< of the current batch
  lane_operand ahead_;         ///< of the next batch

 private:
  /// Loads the next operand of this lane.
  template <class Context>
  SPTRSV_DEVICE lane_operand load_operand(Context& ctx, const params& p) {
    lane_operand found{p.factors, static_cast<Index>(Lanes), flag::zero()};
    if (next_operand_ + lane_ < end_operand_) {
      const auto stored = ctx.load_constant(p.operands + next_operand_ + lane_);
      found = {p.template address_of<Method>(stored.source, stored.slot < 0), stored.slot, {}};
      found.seen = flag::try_load(ctx, found.component);
    }
    next_operand_ += Lanes;
    return found;
  }
};

}  // namespace sptrsv::detail::incomplete
