// SPDX-License-Identifier: Apache-2.0
// A row of an incomplete factorisation while it is computed: its values and its operands.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_data.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// A row while its lanes compute it, and the operands that they hold: those of the current batch and of the
/// next one with their values, those of the batch after it without.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
struct row_state : row_data<Scalar, Index, Offset, Lanes> {
  using data = row_data<Scalar, Index, Offset, Lanes>;
  using data::end_operand;
  using data::lane;
  using typename data::params;
  using flag = value_flag<Scalar>;
  using real = real_t<Scalar>;
  /// The operand of a lane.
  struct lane_operand {
    Offset source = -1;  ///< -1: the lane has none
    Index slot = 0;      ///< where it is used in the row; of a pivot: -1 - that slot
    typename flag::reading seen;

    SPTRSV_DEVICE bool is_present() const { return source >= 0; }
    SPTRSV_DEVICE bool is_pivot() const { return slot < 0; }
    SPTRSV_DEVICE const typename flag::word* component(const params& p) const {
      return p.template address_of<Method>({source, slot});
    }
  };

  bool open;          ///< whether the row is not published yet
  std::int64_t next;  ///< operand of the row's first lane in the current batch
  int count;          ///< operands of the current batch
  int used;           ///< operands of the current batch that were used
  lane_operand now;
  lane_operand ahead;
  lane_operand later;
  bool is_prepared;  ///< lu: whether prepare_pivot has seen the pivot of `now`
  bool divides;      ///< lu: whether `now` holds a pivot without a safe reciprocal
  Scalar carried;    ///< lu: the multiplier of the current step; cholesky: the sum of its products
  real square_sum;   ///< cholesky: the sum of the squares of the row so far
  lane_findings found;

  /// Begins a row, and loads its values and its first operands. `shared`: memory for the values.
  template <class Context>
  SPTRSV_DEVICE static row_state start(Context& ctx, const params& p,
                                       const row_place<Scalar, Index, Offset>& at, int lane,
                                       const shared_row<Scalar, Offset>& shared) {
    row_state row{};
    row.open = at.present;
    static_cast<data&>(row) = data::of(p, at, lane, shared);
    row.next = at.first_operand;
    row.now = row.load_value(ctx, p, row.operand_at(ctx, p, 0));
    row.ahead = row.load_value(ctx, p, row.operand_at(ctx, p, 1));
    row.later = row.operand_at(ctx, p, 2);
    row.count = row.operands_of_batch();
    row.load(ctx, p);
    return row;
  }

  /// Returns the number of operands of the current batch.
  SPTRSV_DEVICE int operands_of_batch() const {
    const std::int64_t left = end_operand - next;
    return left < Lanes ? static_cast<int>(left) : Lanes;
  }

  /// Returns the lane's operand in the batch number `batch` after the current one.
  template <class Context>
  SPTRSV_DEVICE lane_operand operand_at(Context& ctx, const params& p, int batch) const {
    const std::int64_t at = next + batch * Lanes + lane;
    lane_operand made;
    if (at < end_operand) {
      const auto stored = ctx.load_constant(p.operands + at);
      made.source = stored.source;
      made.slot = stored.slot;
    }
    return made;
  }

  template <class Context>
  SPTRSV_DEVICE lane_operand load_value(Context& ctx, const params& p, lane_operand of) const {
    of.seen = of.is_present() ? flag::try_load(ctx, of.component(p)) : flag::zero();
    return of;
  }

  /// Takes the next batch of operands. Returns false if there is none.
  template <class Context>
  SPTRSV_DEVICE bool take_next_batch(Context& ctx, const params& p) {
    if (end_operand - next <= Lanes) {
      return false;
    }
    next += Lanes;
    used = 0;
    count = operands_of_batch();
    now = ahead;
    is_prepared = false;
    divides = false;
    ahead = load_value(ctx, p, later);
    later = operand_at(ctx, p, 2);
    return true;
  }

  /// Loads the operands of this lane that are pending once more: those of this batch and of the next one.
  /// The sync moves no data: it tells the compiler that the lanes are together again.
  template <class Context, class Warp>
  SPTRSV_DEVICE void poll(Context& ctx, const Warp& warp, const params& p) {
    const bool known = flag::is_known(now.seen);
    const bool known_ahead = flag::is_known(ahead.seen);
    if (open && !(known && known_ahead)) {
      const lane_operand& waited = known ? ahead : now;
      ctx.spin(flag::missing(waited.component(p), waited.seen));
      if (!known) {
        flag::poll(ctx, now.component(p), now.seen);
      }
      if (!known_ahead) {
        flag::poll(ctx, ahead.component(p), ahead.seen);
      }
    }
    warp.sync();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
