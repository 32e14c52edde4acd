// SPDX-License-Identifier: Apache-2.0
// A piece of a long row of an incomplete factorisation.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_data.hpp"
#include "sptrsv/detail/incomplete/row_pieces.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Parameters of the kernel with long rows.
template <class Scalar, class Index, class Offset>
struct piece_params : factor_params<Scalar, Index, Offset> {
  piece_limits limits;
  const row_piece<Index>* pieces;  ///< see elimination
  const piece_step<Offset>* steps;
  const Offset* needed_sources;
};

/// A piece of a long row, computed by a warp in registers: lane s holds the value of its entry s. The steps
/// of the row come one after the other: l = l_ik from the piece with entry (i, k), or, if it is in this one,
/// l = a_ik / u_kk (lu) or a_ik (1 / l_kk) (cholesky), which is published at once. Then the entries that the
/// step changes subtract l u_kj or l conj(l_jk).
///
/// A lane has the multiplier, or pivot, of one of 32 steps. The operands of several steps are loaded
/// together.
///
/// Progress: a piece needs earlier rows, and earlier pieces of its row. They have smaller tickets.
template <method Method, class Scalar, class Index, class Offset>
class piece_row {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

 public:
  using params = piece_params<Scalar, Index, Offset>;
  using place = row_place<Scalar, Index, Offset>;

  /// `at`: the row, with its pieces from number `piece` on; `half`: number of the factorisation mod 2.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize(Context& ctx, const Warp& warp, const params& p, place at,
                                      std::int64_t piece, std::uint32_t half) {
    const auto own = ctx.load_constant(p.pieces + piece);
    const auto next = ctx.load_constant(p.pieces + piece + 1);
    at.begin += static_cast<Offset>(own.slot);
    at.below -= own.slot;
    at.length = (next.row == own.row ? next.slot : at.length) - own.slot;
    piece_row row{};
    row.lane_ = warp.rank();
    row.has_entry_ = row.lane_ < at.length;
    row.target_ = row.has_entry_ ? ctx.load_constant(p.sources + at.begin + row.lane_) : Offset{0};
    row.value_ = row.has_entry_ ? ctx.load_constant(p.a + row.target_) : Scalar{};
    row.value_ = row.lane_ == at.below ? p.rule.shifted(row.value_) : row.value_;
    const Index inside = at.below < 0 ? Index{0} : at.below < at.length ? at.below : at.length;
    for (std::int64_t first = own.first_step; first < next.first_step; first += 32) {
      const std::int64_t left = next.first_step - first;
      row.load_steps(ctx, warp, p, first, left < 32 ? static_cast<int>(left) : 32, left - inside);
      for (int s = 0; s < row.count_; s += steps_at_once) {
        row.compute_steps(ctx, warp, p, s);
      }
    }
    publish_lane<Method, Method == method::cholesky>(ctx, p, at, half, row.lane_, row.has_entry_, row.target_,
                                                     row.value_, row.square_sum_);
    warp.sync();  // no data needs it: the lanes are together again
  }

 private:
  /// Steps whose operands are loaded together.
  static constexpr int steps_at_once = 8;

  /// A component of the factors that a lane waits for: a multiplier, a pivot, or an operand.
  struct waited {
    const word* component;
    typename flag::reading seen;

    template <class Context>
    SPTRSV_DEVICE static waited load(Context& ctx, const word* component, bool is_present) {
      return {component, is_present ? flag::try_load(ctx, component) : flag::zero()};
    }
    SPTRSV_DEVICE bool is_known() const { return flag::is_known(seen); }
    SPTRSV_DEVICE const word* missing() const { return flag::missing(component, seen); }
    template <class Context>
    SPTRSV_DEVICE void poll(Context& ctx) {
      if (!is_known()) {
        flag::poll(ctx, component, seen);
      }
    }
  };

  /// Loads the next `count` steps, one for each lane. Those from number `outside` on are of entries of this
  /// piece.
  template <class Context, class Warp>
  SPTRSV_DEVICE void load_steps(Context& ctx, const Warp& warp, const params& p, std::int64_t first,
                                int count, std::int64_t outside) {
    count_ = count;
    outside_ = outside;
    const bool is_step = lane_ < count;
    const auto step = is_step ? ctx.load_constant(p.steps + first + lane_) : piece_step<Offset>{};
    const bool is_reciprocal = Method == method::cholesky && lane_ >= outside;
    factor_ =
        waited::load(ctx, flag::address(is_reciprocal ? p.reciprocals : p.factors, step.source), is_step);
    warp.sync();  // no data needs it: the lanes are together again
    slots_ = step.slots;
    first_operand_ = step.first;
  }

  /// Computes the steps number `begin` to begin + steps_at_once - 1 of those that are loaded.
  template <class Context, class Warp>
  SPTRSV_DEVICE void compute_steps(Context& ctx, const Warp& warp, const params& p, int begin) {
    waited operands[steps_at_once];
    std::uint32_t changes = 0;  // steps that change the value of this lane, one bit for each
    SPTRSV_UNROLL
    for (int i = 0; i < steps_at_once; ++i) {
      const std::uint32_t slots = warp.shuffle(slots_, (begin + i) % 32);
      const std::int64_t first = warp.shuffle(first_operand_, (begin + i) % 32);
      const bool is_changed = begin + i < count_ && (slots >> lane_ & 1u) != 0;
      const Offset source =
          is_changed
              ? ctx.load_constant(p.needed_sources + first + simt::bit_count(slots & bits_below(lane_)))
              : Offset{0};
      operands[i] = waited::load(ctx, flag::address(p.factors, source), is_changed);
      changes |= is_changed ? 1u << i : 0u;
    }
    SPTRSV_UNROLL
    for (int i = 0; i < steps_at_once; ++i) {
      const int step = begin + i;
      if (step >= count_) {
        break;
      }
      for (;;) {  // what the next steps need is polled, too
        const bool needs_factor = lane_ == step && !factor_.is_known();
        const bool needs_any = needs_factor || !operands[i].is_known();
        if (!warp.any(needs_any)) {
          break;
        }
        if (needs_any) {
          ctx.spin(needs_factor ? factor_.missing() : operands[i].missing());
        }
        factor_.poll(ctx);
        SPTRSV_UNROLL
        for (int k = 0; k < steps_at_once; ++k) {
          operands[k].poll(ctx);
        }
        warp.sync();  // no data needs it: the lanes are together again
      }
      Scalar factor = warp.shuffle(factor_.seen.value(), step);
      if (step >= outside_) {  // the entry is the one of the next slot
        factor = multiplier(warp.shuffle(value_, solved_), factor);
        if (lane_ == solved_) {
          value_ = factor;
          flag::publish(ctx, flag::address(p.factors, target_), factor);
        }
        warp.sync();  // no data needs it: the lanes are together again
        ++solved_;
      }
      square_sum_ += squared(factor);
      const Scalar operand = operands[i].seen.value();
      if ((changes >> i & 1u) != 0) {
        value_ = value_ - factor * (Method == method::lu ? operand : conjugate(operand));
      }
    }
  }

  /// Returns the entry of the first factor. `pivot`: for Cholesky its reciprocal.
  SPTRSV_DEVICE static Scalar multiplier(Scalar value, Scalar pivot) {
    if constexpr (Method == method::lu) {
      return pivot_divisor<Scalar>(pivot)(value);
    } else {
      return value * pivot;
    }
  }

  int lane_;
  bool has_entry_;
  Offset target_;              ///< stored index of the entry
  Scalar value_;               ///< of the entry
  int solved_;                 ///< entries of the piece whose steps are computed
  real_t<Scalar> square_sum_;  ///< of the multipliers so far
  // The 32 steps that are loaded, one for each lane:
  int count_;
  std::int64_t outside_;  ///< steps of entries that are in other pieces
  waited factor_;
  std::uint32_t slots_;  ///< these are of piece_step
  std::int64_t first_operand_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
