// SPDX-License-Identifier: Apache-2.0
// The operands of a row in the lanes that compute it, batch by batch.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_data.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Lane s has operand number s of the current batch of operands and of the next one, with their values, and
/// knows which one it has in the batch after it. If a whole warp computes the row, a batch has whole steps
/// (see batch_end). Otherwise the row has one batch.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
class operand_batches {
 public:
  using params = factor_params<Scalar, Index, Offset>;
  using place = row_place<Scalar, Index, Offset>;

 protected:
  using flag = value_flag<Scalar>;
  static constexpr bool has_batches = Lanes == 32;
  static constexpr int operands_of_line = 128 / sizeof(operand<Index, Offset>);  ///< of the cache

  /// An operand of this lane; without one the slot is not negative and belongs to no entry of short_row.
  struct lane_operand {
    int count;   ///< operands of the batch
    Index slot;  ///< where it is used in the row; of a pivot: -1 - that slot
    const typename flag::word* component;
    typename flag::reading seen;

    SPTRSV_DEVICE bool is_pivot() const { return slot < 0; }
  };

  /// Loads the values of the first operands.
  template <class Context, class Warp>
  SPTRSV_DEVICE void start(Context& ctx, const Warp& warp, const params& p, const place& at) {
    lane_ = warp.rank() % Lanes;
    next_ = at.first_operand;
    end_ = at.end_operand;
    if constexpr (has_batches) {
      prefetch(ctx, p, next_ + lane_ * operands_of_line);
    }
    later_ = stored_operand(ctx, p);
    own_ = load_batch(ctx, warp, p);
    ahead_ = has_batches ? load_batch(ctx, warp, p) : own_;
    is_prepared_ = false;
    divides_ = false;
  }

  /// Returns whether the current batch is the last one.
  SPTRSV_DEVICE bool is_last_batch() const { return ahead_.count == 0; }
  /// Moves on to the next batch.
  template <class Context, class Warp>
  SPTRSV_DEVICE void take_batch(Context& ctx, const Warp& warp, const params& p) {
    own_ = ahead_;
    ahead_ = load_batch(ctx, warp, p);
    is_prepared_ = false;
    divides_ = false;
  }

  /// Loads the operands of this lane once more that are pending: in this batch and in the next one.
  template <class Context, class Warp>
  SPTRSV_DEVICE void poll(Context& ctx, const Warp& warp) {
    const bool known = flag::is_known(own_.seen);
    if constexpr (has_batches) {
      if (!flag::is_known(ahead_.seen)) {
        if (known) {
          ctx.spin(flag::missing(ahead_.component, ahead_.seen));
        }
        flag::poll(ctx, ahead_.component, ahead_.seen);
      }
    }
    if (!known) {
      ctx.spin(flag::missing(own_.component, own_.seen));
      flag::poll(ctx, own_.component, own_.seen);
    }
    warp.sync();  // no data needs it: the lanes are together again
  }

  /// Waits until the operands of the batch in `used` are known, one bit for each.
  template <class Context, class Warp>
  SPTRSV_DEVICE void wait(Context& ctx, const Warp& warp, std::uint32_t used) {
    const bool waits = (used >> lane_ & 1u) != 0;
    while (warp.any(waits && !flag::is_known(own_.seen))) {
      poll(ctx, warp);
    }
  }

  SPTRSV_DEVICE void prepare_pivot() { incomplete::prepare_pivot<Scalar>(own_, is_prepared_, divides_); }

  int lane_;            ///< rank of this lane among those of the row
  lane_operand own_;    ///< of the current batch
  lane_operand ahead_;  ///< of the next batch
  bool is_prepared_;    ///< lu: whether prepare_pivot has seen the pivot in own_
  bool divides_;        ///< lu: whether own_ holds a pivot without a safe reciprocal

 private:
  /// Returns operand number `lane_` of those that are in no batch yet.
  template <class Context>
  SPTRSV_DEVICE operand<Index, Offset> stored_operand(Context& ctx, const params& p) const {
    return lane_ < end_ - next_ ? ctx.load_constant(p.operands + next_ + lane_)
                                : operand<Index, Offset>{Offset{0}, static_cast<Index>(Lanes)};
  }
  /// Makes a batch of the operands in later_, loads their values, and which operands come after them.
  template <class Context, class Warp>
  SPTRSV_DEVICE lane_operand load_batch(Context& ctx, const Warp& warp, const params& p) {
    lane_operand made{static_cast<int>(end_ - next_), static_cast<Index>(Lanes), p.factors, flag::zero()};
    if constexpr (has_batches) {
      made.count = batch_end<Method>(warp.ballot(later_.slot < 0), end_ - next_);
    }
    if (lane_ < made.count) {
      made.slot = later_.slot;
      made.component = p.template address_of<Method>(later_);
      made.seen = flag::try_load(ctx, made.component);
    }
    warp.sync();  // no data needs it: the lanes are together again
    next_ += made.count;
    if constexpr (has_batches) {
      later_ = stored_operand(ctx, p);
      prefetch(ctx, p, next_ + 32 * operands_of_line + lane_);
      warp.sync();
    }
    return made;
  }
  template <class Context>
  SPTRSV_DEVICE void prefetch(Context& ctx, const params& p, std::int64_t at) const {
    if (at < end_) {
      ctx.prefetch(p.operands + at);
    }
  }

  std::int64_t next_;  ///< the first operand that is in no batch yet
  std::int64_t end_;   ///< one past the last operand
  operand<Index, Offset> later_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
