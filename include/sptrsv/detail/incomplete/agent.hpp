// The kernel of an incomplete factorisation.
#pragma once

#include <cmath>
#include <cstdint>

#include "sptrsv/detail/incomplete/operands.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::detail::incomplete {

/// What consecutive factorisations share, in device memory. Pairs are indexed by the number of the
/// factorisation mod 2.
struct factor_state {
  alignas(128) unsigned long long tickets;       ///< drawn so far
  alignas(128) std::int64_t first_breakdown[2];  ///< smallest breakdown (see there); all_finite: none
  std::int64_t boosted_pivots[2];                ///< pivots that were replaced
};

/// The values of a row while it is computed: in shared memory, or in global memory if the row is long. A sync
/// of the warp stands between accesses of different lanes.
template <class Scalar>
class row_values {
 public:
  row_values() = default;
  SPTRSV_DEVICE row_values(Scalar* shared, Scalar* global) : shared_(shared), global_(global) {}

  SPTRSV_DEVICE bool is_shared() const { return global_ == nullptr; }

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
  Scalar* global_;  ///< null: the row is in shared memory
};

/// Factorises the matrix in one launch. A warp computes 32 / Lanes rows that follow each other in level
/// order, each by `Lanes` lanes. The values of the factors are their own flags (value_flag): all
/// are pending before the launch. Per warp, until there are no rows left:
///
///   1. Draw a ticket, which selects the rows.
///   2. Load the row's values of A; apply the shift of the diagonal.
///   3. Take the row's operands in batches, one for each lane (`operand`). The values of the next batch are
///      loaded before the current one is used, and the operands of the batch after it, too.
///   4. In rounds of the whole warp: compute the steps whose operands are known, in their order, then poll
///      the others. LU: l = a_ik / u_kk, then a_ij -= l u_kj. Cholesky: the lanes sum the products
///      l_ij conj(l_kj) in a butterfly, then l = (a_ik - sum) / l_kk.
///   5. After the last step publish the values, those first that other rows need.
///
/// Progress: a row needs rows with smaller solve indices. They have the same ticket, or smaller ones, whose
/// warps have started. No lane waits in a loop of its own, so rows of one warp may need each other.
template <class Tuning, method Method, class Scalar, class Index, class Offset, int Lanes>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int block_warps = block_threads / 32;
  static constexpr int warp_rows = 32 / Lanes;
  static constexpr int block_rows = block_warps * warp_rows;
  /// Entries of a row that a lane loads together.
  static constexpr int slots_at_once = 4;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using real = real_t<Scalar>;

  struct shared_storage {};  // the values of the rows are in dynamic shared memory
  struct params {
    std::int64_t size;          ///< rows
    std::int64_t tasks;         ///< tickets that select rows
    std::uint32_t draws;        ///< tickets that are drawn in a launch: one more for each warp
    std::int64_t shared_slots;  ///< longest row that is in shared memory
    const Index* rows;          ///< these are from `elimination`
    const Offset* row_offsets;
    const Index* diagonal_slots;
    const Offset* sources;
    const std::int64_t* first_operands;
    const operand<Index, Offset>* operands;
    const Scalar* a;    ///< by entry of the stored matrix
    word* factors;      ///< by entry of the stored matrix
    Scalar* long_rows;  ///< the values of A by entry in level order; null if all rows are in shared memory
    factor_state* state;
    pivot_rule<Scalar> rule;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    auto* const shared =
        static_cast<Scalar*>(ctx.dynamic_shared()) + ctx.thread_rank() / Lanes * p.shared_slots;
    for (;;) {
      solve_ticket ticket{0, 0};
      if (warp.rank() == 0) {
        ticket = draw_solve_ticket(ctx, &p.state->tickets, p.draws);
      }
      const std::int64_t task = warp.shuffle(ticket.block, 0);
      const auto half = warp.shuffle(static_cast<std::uint32_t>(ticket.solve % 2), 0);
      if (task == 0 && warp.rank() == 0) {
        ctx.store(&p.state->first_breakdown[half ^ 1u], all_finite);
        ctx.store(&p.state->boosted_pivots[half ^ 1u], std::int64_t{0});
      }
      if (task >= p.tasks) {
        return;
      }
      factorize_rows(ctx, warp, p, task * warp_rows + warp.rank() / Lanes, shared, half);
    }
  }

 private:
  /// The operand of a lane.
  struct lane_operand {
    Offset source = -1;  ///< -1: the lane has none
    Index slot = 0;      ///< see operand

    SPTRSV_DEVICE bool is_present() const { return source >= 0; }
    SPTRSV_DEVICE bool is_pivot() const { return slot < 0; }
  };
  struct loaded_operand : lane_operand {
    typename flag::reading seen;
  };

  struct row_state {
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
    bool is_prepared;  ///< whether prepare_pivot has seen the pivot of `now`
    bool is_inverted;  ///< whether `now` holds the reciprocal of the pivot
    Scalar carried;    ///< lu: the multiplier of the current step; cholesky: the sum of its products
    real square_sum;   ///< cholesky: the sum of the squares of the row so far
  };

  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize_rows(Context& ctx, const Warp& warp, const params& p,
                                           std::int64_t solve_index, Scalar* shared, std::uint32_t half) {
    row_state row = open_row(ctx, p, solve_index, warp.rank() % Lanes, shared);
    warp.sync();
    for (;;) {
      compute_known_steps(ctx, warp, row);
      bool advanced = false;
      if (row.open && row.used == row.count) {
        advanced = take_next_batch(ctx, p, row);
        if (!advanced) {
          publish(ctx, p, row, half);
          row.open = false;
        }
      }
      if (warp.all(!row.open)) {
        warp.sync();  // the next rows of the warp overwrite the values
        return;
      }
      if (!warp.any(advanced)) {
        poll(ctx, p, row);
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static row_state open_row(Context& ctx, const params& p, std::int64_t solve_index, int lane,
                                          Scalar* shared) {
    const bool present = solve_index < p.size;
    const std::int64_t r = present ? solve_index : 0;
    row_state row{};
    row.open = present;
    row.lane = lane;
    row.solve_index = r;
    row.begin = ctx.load_constant(p.row_offsets + r);
    const auto length = static_cast<Index>(ctx.load_constant(p.row_offsets + r + 1) - row.begin);
    row.length = present ? length : Index{0};
    row.below = ctx.load_constant(p.diagonal_slots + r);
    row.values = {shared,
                  static_cast<std::int64_t>(length) > p.shared_slots ? p.long_rows + row.begin : nullptr};
    row.next = ctx.load_constant(p.first_operands + r);
    row.end = present ? ctx.load_constant(p.first_operands + r + 1) : row.next;
    row.now = load_value(ctx, p, operand_at(ctx, p, row, 0));
    row.ahead = load_value(ctx, p, operand_at(ctx, p, row, 1));
    row.later = operand_at(ctx, p, row, 2);
    row.count = operands_of_batch(row);
    if (row.values.is_shared()) {  // a long row has been loaded before the launch
      load_row(ctx, p, row);
    }
    const Index first = published_slot(row, lane);
    if (has_slot(row, first)) {
      row.first_target = ctx.load_constant(p.sources + row.begin + first);
    }
    if (Method == method::lu && lane < row.below) {
      row.below_target = ctx.load_constant(p.sources + row.begin + lane);
    }
    return row;
  }

  /// Loads the values of A to shared memory, several of each lane together.
  template <class Context>
  SPTRSV_DEVICE static void load_row(Context& ctx, const params& p, const row_state& row) {
    for (Index first = row.lane; first < row.length; first += slots_at_once * Lanes) {
      Scalar value[slots_at_once];
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        value[i] = slot < row.length
                       ? ctx.load_constant(p.a + ctx.load_constant(p.sources + row.begin + slot))
                       : Scalar{};
      }
      for (int i = 0; i < slots_at_once; ++i) {
        const Index slot = first + i * Lanes;
        if (slot < row.length) {
          row.values.set(ctx, slot, slot == row.below ? p.rule.shifted(value[i]) : value[i]);
        }
      }
    }
  }

  /// Returns the number of operands of the current batch.
  SPTRSV_DEVICE static int operands_of_batch(const row_state& row) {
    const std::int64_t left = row.end - row.next;
    return left < Lanes ? static_cast<int>(left) : Lanes;
  }

  /// Returns the lane's operand in the batch `ahead` batches after the current one.
  template <class Context>
  SPTRSV_DEVICE static lane_operand operand_at(Context& ctx, const params& p, const row_state& row,
                                               int ahead) {
    const std::int64_t at = row.next + ahead * Lanes + row.lane;
    lane_operand found;
    if (at < row.end) {
      const auto stored = ctx.load_constant(p.operands + at);
      found.source = stored.source;
      found.slot = stored.slot;
    }
    return found;
  }

  template <class Context>
  SPTRSV_DEVICE static loaded_operand load_value(Context& ctx, const params& p, const lane_operand& of) {
    return {of, of.is_present() ? flag::try_load(ctx, flag::address(p.factors, of.source)) : flag::zero()};
  }

  /// Takes the next batch of operands. Returns false if there is none.
  template <class Context>
  SPTRSV_DEVICE static bool take_next_batch(Context& ctx, const params& p, row_state& row) {
    if (row.end - row.next <= Lanes) {
      return false;
    }
    row.next += Lanes;
    row.used = 0;
    row.count = operands_of_batch(row);
    row.now = row.ahead;
    row.is_prepared = false;
    row.ahead = load_value(ctx, p, row.later);
    row.later = operand_at(ctx, p, row, 2);
    return true;
  }

  /// Loads the operands of this batch and of the next one that are pending once more.
  template <class Context>
  SPTRSV_DEVICE static void poll(Context& ctx, const params& p, row_state& row) {
    const bool known = flag::is_known(row.now.seen);
    const bool known_ahead = flag::is_known(row.ahead.seen);
    if (row.open && !(known && known_ahead)) {
      const loaded_operand& waited = known ? row.ahead : row.now;
      ctx.pause(flag::missing(flag::address(p.factors, waited.source), waited.seen));
      if (!known) {
        flag::poll(ctx, flag::address(p.factors, row.now.source), row.now.seen);
      }
      if (!known_ahead) {
        flag::poll(ctx, flag::address(p.factors, row.ahead.source), row.ahead.seen);
      }
    }
  }

  /// Computes the steps of each row whose operands are known. The rows of the warp take their steps together,
  /// by collectives of the whole warp: those of a part of it would be executed one part after the other.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void compute_known_steps(Context& ctx, const Warp& warp, row_state& row) {
    const int first_lane = warp.rank() - row.lane;
    const std::uint32_t known = warp.ballot(flag::is_known(row.now.seen)) >> first_lane;
    const std::uint32_t pivots =
        warp.ballot(row.now.is_present() && row.now.is_pivot()) >> first_lane & bits_below(Lanes);
    prepare_pivot(row);
    for (;;) {
      const int end = end_of_step(pivots, row.used, row.count);
      const std::uint32_t needed = bits_below(end) & ~bits_below(row.used);
      const bool ready = row.used < row.count && (known & needed) == needed;
      if (!warp.any(ready)) {
        return;
      }
      compute(ctx, warp, row, ready, pivots, end);
      row.used = ready ? end : row.used;
      warp.sync();
    }
  }

  /// Replaces a known pivot by its reciprocal, where a multiplication may replace the division. All lanes
  /// with pivots do so together, before their steps come one after the other.
  SPTRSV_DEVICE static void prepare_pivot(row_state& row) {
    if (!row.is_prepared && row.now.is_pivot() && flag::is_known(row.now.seen)) {
      const pivot_divisor<Scalar> pivot(row.now.seen.value());
      row.is_prepared = true;
      row.is_inverted = pivot.is_safe();
      if (row.is_inverted) {
        row.now.seen = bit_cast<typename flag::reading>(pivot.reciprocal());
      }
    }
  }
  /// Returns `dividend` divided by the pivot of this lane.
  SPTRSV_DEVICE static Scalar divide_by_pivot(const row_state& row, Scalar dividend) {
    const Scalar known = row.now.seen.value();
    return row.is_inverted ? dividend * known : divide(dividend, known);
  }

  /// Returns one past the last operand of the step, or of the part of it that is in this batch.
  SPTRSV_DEVICE static int end_of_step(std::uint32_t pivots, int begin, int count) {
    if constexpr (Method == method::lu) {
      const std::uint32_t after = pivots & ~bits_below(begin + 1);
      return after != 0 ? simt::lowest_bit(after) : count;
    } else {
      const std::uint32_t rest = pivots & ~bits_below(begin);
      return rest != 0 ? simt::lowest_bit(rest) + 1 : count;
    }
  }
  /// Returns a mask of the bits before bit `end`.
  SPTRSV_DEVICE static std::uint32_t bits_below(int end) { return end < 32 ? (1u << end) - 1u : ~0u; }

  /// Uses the operands of the lanes row.used ... end - 1 of the row, all of one step, if the row is `ready`.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void compute(Context& ctx, const Warp& warp, row_state& row, bool ready,
                                    std::uint32_t pivots, int end) {
    const int first_lane = warp.rank() - row.lane;
    const bool is_used = ready && row.lane >= row.used && row.lane < end;
    const bool is_product = is_used && !row.now.is_pivot();
    Scalar solved{};  // of the lane with the pivot: the multiplier, or the entry of L
    if constexpr (Method == method::lu) {
      if (is_used && row.now.is_pivot()) {
        solved = divide_by_pivot(row, row.values.get(ctx, -1 - row.now.slot));
        row.values.set(ctx, -1 - row.now.slot, solved);
      }
      solved = warp.shuffle(solved, first_lane + row.used % Lanes);
      if (ready && (pivots >> row.used & 1u) != 0) {
        row.carried = solved;
      }
      if (is_product) {
        row.values.set(ctx, row.now.slot,
                       row.values.get(ctx, row.now.slot) - row.carried * row.now.seen.value());
      }
    } else {
      if (warp.any(is_product)) {
        const Scalar product =
            is_product ? row.values.get(ctx, row.now.slot) * conjugate(row.now.seen.value()) : Scalar{};
        row.carried = row.carried + simt::reduce(warp, product, Lanes, simt::plus{});
      }
      if (is_used && row.now.is_pivot()) {
        solved = divide_by_pivot(row, row.values.get(ctx, -1 - row.now.slot) - row.carried);
        row.values.set(ctx, -1 - row.now.slot, solved);
      }
      solved = warp.shuffle(solved, first_lane + (end + Lanes - 1) % Lanes);
      if (ready && (pivots >> (end - 1) & 1u) != 0) {
        row.square_sum += squared(solved);
        row.carried = Scalar{};
      }
    }
  }

  /// Returns slot number `i` in the order of publication: first the pivot and the entries that other rows
  /// need. Not all numbers have a slot, see has_slot.
  template <class Number>
  SPTRSV_DEVICE static Index published_slot(const row_state& row, Number i) {
    return static_cast<Index>(Method == method::lu ? row.below + i : row.below - i);
  }
  SPTRSV_DEVICE static bool has_slot(const row_state& row, Index slot) {
    return slot >= 0 && slot < row.length;
  }

  /// Publishes the row.
  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const params& p, const row_state& row, std::uint32_t half) {
    bool is_bad = false;
    bool has_zero_pivot = false;
    bool boosted = false;
    const auto publish_slot = [&](Index slot, Scalar value, Offset target) {
      value = slot == row.below ? pivot_of(p, row, value, boosted) : value;
      flag::publish(ctx, flag::address(p.factors, target), value);
      has_zero_pivot = has_zero_pivot || (slot == row.below && is_zero(value));
      is_bad = is_bad || has_zero_pivot || !is_finite(value);
    };
    const auto publish_slots = [&](Index number, const auto& slot_of) {
      for (; has_slot(row, slot_of(number)); number += slots_at_once * Lanes) {
        Scalar value[slots_at_once];
        Offset target[slots_at_once];
        for (int i = 0; i < slots_at_once; ++i) {
          const Index slot = slot_of(number + i * Lanes);
          value[i] = has_slot(row, slot) ? row.values.get(ctx, slot) : Scalar{};
          target[i] = has_slot(row, slot) ? ctx.load_constant(p.sources + row.begin + slot) : Offset{0};
        }
        for (int i = 0; i < slots_at_once; ++i) {
          const Index slot = slot_of(number + i * Lanes);
          if (has_slot(row, slot)) {
            publish_slot(slot, value[i], target[i]);
          }
        }
      }
    };
    const Index first = published_slot(row, row.lane);
    if (has_slot(row, first)) {
      publish_slot(first, row.values.get(ctx, first), row.first_target);
    }
    if (Method == method::lu && row.lane < row.below) {  // no row needs these
      publish_slot(row.lane, row.values.get(ctx, row.lane), row.below_target);
    }
    if (row.length > Lanes) {  // not all targets were loaded before
      publish_slots(row.lane + Lanes, [&](Index number) { return published_slot(row, number); });
      if constexpr (Method == method::lu) {
        publish_slots(row.lane + Lanes,
                      [&](Index number) { return number < row.below ? number : Index{-1}; });
      }
    }
    if (boosted) {
      ctx.reduce_add(&p.state->boosted_pivots[half], std::int64_t{1});
    }
    if (is_bad) {
      const auto number = static_cast<std::int64_t>(ctx.load_constant(p.rows + row.solve_index));
      ctx.atomic_min(&p.state->first_breakdown[half], breakdown{number, has_zero_pivot}.number());
    }
  }

  /// Returns the pivot, which may be boosted. `value`: of the diagonal entry after all steps.
  SPTRSV_DEVICE static Scalar pivot_of(const params& p, const row_state& row, Scalar value, bool& boosted) {
    if constexpr (Method == method::lu) {
      boosted = p.rule.boosts(value);
      return boosted ? from_real<Scalar>(p.rule.boost_to) : value;
    } else {
      const real square = real_part(value) - row.square_sum;
      boosted = p.rule.boosts_square(square);
      return from_real<Scalar>(std::sqrt(boosted ? p.rule.boost_to : square));
    }
  }
};

}  // namespace sptrsv::detail::incomplete
