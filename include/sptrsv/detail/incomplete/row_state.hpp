// A row of an incomplete factorisation while it is computed: its values and its operands.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/params.hpp"

namespace sptrsv::detail::incomplete {

/// Returns a mask of the bits before bit `end`.
SPTRSV_DEVICE std::uint32_t bits_below(int end) { return end < 32 ? (1u << end) - 1u : ~0u; }

/// Where a row stands in the arrays of the analysis.
template <class Scalar, class Index, class Offset>
struct row_place {
  bool present;  ///< whether there is such a row
  std::int64_t solve_index;
  Offset begin;                ///< first entry, in level order
  Index length;                ///< entries
  Index below;                 ///< entries below the diagonal; the slot of the diagonal entry
  std::int64_t first_operand;  ///< and
  std::int64_t end_operand;    ///< one past the last one

  template <class Context>
  SPTRSV_DEVICE static row_place load(Context& ctx, const factor_params<Scalar, Index, Offset>& p,
                                      std::int64_t solve_index) {
    const bool present = solve_index < p.size;
    const std::int64_t r = present ? solve_index : 0;
    row_place at;
    at.present = present;
    at.solve_index = r;
    at.begin = ctx.load_constant(p.row_offsets + r);
    const auto length = static_cast<Index>(ctx.load_constant(p.row_offsets + r + 1) - at.begin);
    at.length = present ? length : Index{0};
    at.below = ctx.load_constant(p.diagonal_slots + r);
    at.first_operand = ctx.load_constant(p.first_operands + r);
    at.end_operand = present ? ctx.load_constant(p.first_operands + r + 1) : at.first_operand;
    return at;
  }
};

/// The values of a row while it is computed: in shared memory, or in global memory if the row is long. A sync
/// of the warp stands between accesses of different lanes.
template <class Scalar>
class row_values {
 public:
  row_values() = default;
  /// `global` counts only if the row is long.
  SPTRSV_DEVICE row_values(Scalar* shared, Scalar* global, bool is_long)
      : shared_(shared), global_(global), is_long_(is_long) {}

  SPTRSV_DEVICE bool is_shared() const { return !is_long_; }

  template <class Context, class Slot>
  SPTRSV_DEVICE Scalar get(Context& ctx, Slot slot) const {
    return is_shared() ? shared_[slot] : ctx.load(global_ + slot);
  }
  template <class Context, class Slot>
  SPTRSV_DEVICE void set(Context& ctx, Slot slot, Scalar value) const {
    if (is_shared()) {
      shared_[slot] = value;
    } else {
      ctx.store(global_ + slot, value);
    }
  }

 private:
  Scalar* shared_;
  Scalar* global_;
  /// Not told by a null pointer: ptxas 13.0 has read such a pair of registers before its zero was there.
  bool is_long_;
};

/// A row while its lanes compute it, and the operands that they hold: those of the current batch and of the
/// next one with their values, those of the batch after it without.
template <method Method, class Scalar, class Index, class Offset, int Lanes>
struct row_state {
  using params = factor_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using real = real_t<Scalar>;
  /// Entries of a row that a lane loads together.
  static constexpr int slots_at_once = 4;

  /// The operand of a lane.
  struct lane_operand {
    Offset source = -1;  ///< -1: the lane has none
    Index slot = 0;      ///< see operand

    SPTRSV_DEVICE bool is_present() const { return source >= 0; }
    SPTRSV_DEVICE bool is_pivot() const { return slot < 0; }
    SPTRSV_DEVICE const typename flag::word* component(const params& p) const {
      return p.template address_of<Method>(source, is_pivot());
    }
  };
  struct loaded_operand : lane_operand {
    typename flag::reading seen;
  };

  bool open;  ///< whether the row is not published yet
  int lane;   ///< rank of this lane among those of the row
  std::int64_t solve_index;
  Offset begin;  ///< first entry, in level order
  Index length;  ///< entries
  Index below;   ///< entries below the diagonal; the slot of the diagonal entry
  row_values<Scalar> values;
  Offset first_target;  ///< stored index of the entry that this lane publishes first
  Offset below_target;  ///< lu: stored index of the entry in slot `lane`, if it is below the diagonal
  std::int64_t next;    ///< operand of the row's first lane in the current batch
  std::int64_t end;     ///< one past the last operand
  int count;            ///< operands of the current batch
  int used;             ///< operands of the current batch that were used
  loaded_operand now;
  loaded_operand ahead;
  lane_operand later;
  bool is_prepared;  ///< lu: whether prepare_pivot has seen the pivot of `now`
  bool is_inverted;  ///< whether `now` holds the reciprocal of the pivot
  Scalar carried;    ///< lu: the multiplier of the current step; cholesky: the sum of its products
  real square_sum;   ///< cholesky: the sum of the squares of the row so far

  /// Begins a row, and loads its values and its first operands. `shared`: memory for the values.
  template <class Context>
  SPTRSV_DEVICE static row_state start(Context& ctx, const params& p,
                                       const row_place<Scalar, Index, Offset>& at, int lane, Scalar* shared) {
    row_state row{};
    row.open = at.present;
    row.lane = lane;
    row.solve_index = at.solve_index;
    row.begin = at.begin;
    row.length = at.length;
    row.below = at.below;
    row.values = {shared, p.long_rows + row.begin, static_cast<std::int64_t>(at.length) > p.shared_slots};
    row.next = at.first_operand;
    row.end = at.end_operand;
    row.now = load_value(ctx, p, row.operand_at(ctx, p, 0));
    row.ahead = load_value(ctx, p, row.operand_at(ctx, p, 1));
    row.later = row.operand_at(ctx, p, 2);
    row.count = row.operands_of_batch();
    row.is_inverted = Method == method::cholesky;
    if (row.values.is_shared()) {  // a long row has been loaded before the launch
      row.load_row(ctx, p);
    }
    const Index first = row.published_slot(lane);
    if (row.has_slot(first)) {
      row.first_target = ctx.load_constant(p.sources + row.begin + first);
    }
    if (Method == method::lu && lane < row.below) {
      row.below_target = ctx.load_constant(p.sources + row.begin + lane);
    }
    return row;
  }

  /// Loads the values of A to shared memory, several of each lane together.
  template <class Context>
  SPTRSV_DEVICE void load_row(Context& ctx, const params& p) const {
    for (Index first = lane; first < length; first += slots_at_once * Lanes) {
      Scalar value[slots_at_once];
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        value[i] =
            slot < length ? ctx.load_constant(p.a + ctx.load_constant(p.sources + begin + slot)) : Scalar{};
      }
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        if (slot < length) {
          values.set(ctx, slot, slot == below ? p.rule.shifted(value[i]) : value[i]);
        }
      }
    }
  }

  /// Returns the number of operands of the current batch.
  SPTRSV_DEVICE int operands_of_batch() const {
    const std::int64_t left = end - next;
    return left < Lanes ? static_cast<int>(left) : Lanes;
  }

  /// Returns the lane's operand in the batch number `batch` after the current one.
  template <class Context>
  SPTRSV_DEVICE lane_operand operand_at(Context& ctx, const params& p, int batch) const {
    const std::int64_t at = next + batch * Lanes + lane;
    lane_operand found;
    if (at < end) {
      const auto stored = ctx.load_constant(p.operands + at);
      found.source = stored.source;
      found.slot = stored.slot;
    }
    return found;
  }

  template <class Context>
  SPTRSV_DEVICE static loaded_operand load_value(Context& ctx, const params& p, const lane_operand& of) {
    return {of, of.is_present() ? flag::try_load(ctx, of.component(p)) : flag::zero()};
  }

  /// Takes the next batch of operands. Returns false if there is none.
  template <class Context>
  SPTRSV_DEVICE bool take_next_batch(Context& ctx, const params& p) {
    if (end - next <= Lanes) {
      return false;
    }
    next += Lanes;
    used = 0;
    count = operands_of_batch();
    now = ahead;
    is_prepared = false;
    ahead = load_value(ctx, p, later);
    later = operand_at(ctx, p, 2);
    return true;
  }

  /// Loads the operands of this lane that are pending once more: those of this batch and of the next one.
  /// See short_row about the sync.
  template <class Context, class Warp>
  SPTRSV_DEVICE void poll(Context& ctx, const Warp& warp, const params& p) {
    const bool known = flag::is_known(now.seen);
    const bool known_ahead = flag::is_known(ahead.seen);
    if (open && !(known && known_ahead)) {
      const loaded_operand& waited = known ? ahead : now;
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

  /// Returns slot number `i` in the order of publication: first the pivot and the entries that other rows
  /// need. Not all numbers have a slot, see has_slot.
  template <class Number>
  SPTRSV_DEVICE Index published_slot(Number i) const {
    return static_cast<Index>(Method == method::lu ? below + i : below - i);
  }
  SPTRSV_DEVICE bool has_slot(Index slot) const { return slot >= 0 && slot < length; }
};

}  // namespace sptrsv::detail::incomplete
