// The kernel of the relay path: a thread block solves a contiguous part of the rows, level by level, with the
// components of the part in a window of shared memory. The steps of a part are taken in turn by teams of
// warps: while one team takes its step, the others bring what theirs need, and wait for the components that
// other parts solve. A barrier hands the turn, and with it all components of the part, from team to team.
//
// A part needs components of parts before it only, so blocks make progress in the order of their tickets.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/dataflow/relay_params.hpp"
#include "sptrsv/detail/scalar.hpp"

namespace sptrsv::detail::dataflow {

/// A thread of a team, for one right-hand side after the other.
template <class Scalar, class Shape, class Context>
class relay_runner {
  using layout = relay_layout<Scalar, Shape>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using params = relay_params<Scalar>;
  using values = relay_pair<Scalar>;
  using places = relay_pair<std::int32_t>;

 public:
  SPTRSV_DEVICE relay_runner(Context& ctx, const params& p, relay_start& start)
      : ctx_(ctx),
        p_(p),
        start_(start.block),
        warp_(ctx.template group<32>()),
        // Through shuffles: see keep().
        lane_(warp_.shuffle(warp_.rank(), warp_.rank())),
        team_(warp_.shuffle(ctx.thread_rank() / Shape::threads, 0)),
        slice_of_step_(warp_.shuffle(ctx.thread_rank() % Shape::threads / 32, 0)),
        lane_records_(keep(p.records + 16 * lane_)),
        ring_(static_cast<unsigned char*>(ctx.dynamic_shared()) +
              warp_.shuffle(ctx.thread_rank() / 32, 0) * layout::warp_bytes) {
    if (ctx.thread_rank() == 0) {
      start.window_address =
          ctx.shared_address(static_cast<unsigned char*>(ctx.dynamic_shared()) + layout::window_offset);
      start.window = p.window;
      ctx.store_shared_at(start.window_address + p.window * static_cast<int>(sizeof(Scalar)), Scalar{});
    }
    ctx.barrier();
    window_ = ctx.load_shared(&start.window_address);
    zero_slot_ = ctx.load_shared(&start.window);
  }

  /// Blocks share the parts first, then the right-hand sides.
  SPTRSV_DEVICE void run() {
    const auto part = static_cast<std::int32_t>(start_.block % p_.parts);
    const std::int64_t sharers = static_cast<std::int64_t>(ctx_.grid_blocks()) / p_.parts;
    const std::int64_t begin = start_.block / p_.parts;
    first_ = ctx_.load_constant(p_.part_steps + part);
    last_ = ctx_.load_constant(p_.part_steps + part + 1);
    std::int64_t column = begin;
    for (; column < p_.x.columns; column += sharers) {
      if (column != begin) {
        ctx_.barrier();
      }
      solve_part(column);
    }
    // What a solve of more right-hand sides has left:
    for (; column < start_.columns_to_reset; column += sharers) {
      const std::int32_t end = ctx_.load_constant(p_.part_places + part + 1);
      for (std::int32_t place = ctx_.load_constant(p_.part_places + part) + ctx_.thread_rank(); place < end;
           place += layout::block_threads) {
        flag::reset(ctx_, p_.pages.component(start_.page ^ 1u, column, place));
      }
    }
  }

 private:
  static constexpr int lanes = Shape::lanes;
  static constexpr int entries = Shape::entries;
  static constexpr int teams = layout::teams;

  SPTRSV_DEVICE static relay_record record_of(const relay_slice& slice) {
    return relay_record_form::of<Scalar>(values_of_relay<Shape>()).record(slice.room, slice.early_rows());
  }

  SPTRSV_DEVICE void solve_part(std::int64_t column) {
    b_ = keep(p_.b.data + column * p_.b.column_stride);
    x_ = keep(p_.x.data + column * p_.x.column_stride);
    solved_ = p_.pages.component(start_.page, column, 0);
    other_ = column < start_.columns_to_reset ? p_.pages.component(start_.page ^ 1u, column, 0) : nullptr;
    std::int32_t step = first_ + team_;
    if (step >= last_) {
      return;
    }
    // A slice's record is under way two turns of the team before its own, its right-hand sides one.
    relay_slice now = slice(step);
    relay_slice next = slice(step + teams);
    relay_slice after = slice(step + 2 * teams);
    unsigned char* stage = ring_;
    unsigned char* next_stage = ring_ + layout::stage_bytes;
    unsigned char* free_stage = ring_ + 2 * layout::stage_bytes;
    warp_.sync();  // the stages may still be read for another right-hand side
    copy_record(stage, now);
    copy_record(next_stage, next);
    ctx_.commit_copies();
    ctx_.template wait_copies<0>();
    warp_.sync();
    copy_sides(stage, now);
    ctx_.commit_copies();
    for (;;) {
      ctx_.template wait_copies<0>();
      warp_.sync();
      copy_sides(next_stage, next);
      copy_record(free_stage, after);
      ctx_.commit_copies();
      take_step(stage, now, step);
      step += teams;
      if (step >= last_) {
        return;
      }
      now = next;
      next = after;
      after = after_next_;
      unsigned char* const done = stage;
      stage = next_stage;
      next_stage = free_stage;
      free_stage = done;
    }
  }

  /// The same, in a register: otherwise the compiler derives it from special registers and parameters, which
  /// is slow, at each use.
  template <class T>
  SPTRSV_DEVICE T keep(T value) const {
    return warp_.shuffle(value, lane_);
  }

  /// Empty past the end of the part.
  SPTRSV_DEVICE relay_slice slice(std::int32_t step) const {
    return step < last_ ? ctx_.load_constant(p_.slices + step * (Shape::threads / 32) + slice_of_step_)
                        : relay_slice{};
  }

  SPTRSV_DEVICE void copy_record(unsigned char* stage, const relay_slice& from) const {
    const int bytes = record_of(from).bytes(from.late_pairs(), from.early_pairs() > 0 ? 1 : 0);
    unsigned char* const to = stage + 16 * lane_;
    const unsigned char* const begin = lane_records_ + static_cast<std::int64_t>(from.record) * 16;
    SPTRSV_UNROLL
    for (int at = 0; at < layout::record_bytes; at += 512) {
      if (at + 16 * lane_ < bytes) {
        ctx_.template copy_async<16>(to + at, begin + at);
      }
    }
  }

  SPTRSV_DEVICE void copy_sides(unsigned char* stage, const relay_slice& of) const {
    if (leads() && row_of_lane() < of.rows()) {
      const std::int32_t row = row_in(stage, record_of(of)).index();
      if (row >= 0) {
        using real = real_t<Scalar>;  // what the user's array is aligned to
        const auto from = reinterpret_cast<const real*>(b_ + row * p_.b.row_stride);
        const auto to = reinterpret_cast<real*>(&side_in(stage));
        for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
          ctx_.template copy_async<sizeof(real)>(to + i, from + i);
        }
      }
    }
  }

  SPTRSV_DEVICE void take_step(unsigned char* stage, const relay_slice& now, std::int32_t step) {
    const bool live = row_of_lane() < now.rows();
    const relay_record record = record_of(now);
    const relay_row<Scalar> row = live ? row_in(stage, record) : relay_row<Scalar>{Scalar{}, -1};
    Scalar rest = leads() && row.row != -1 ? p_.alpha * side_in(stage) : Scalar{};
    values value[entries / 2];
    int operand[entries];
    const auto slots = *reinterpret_cast<const relay_slots*>(stage + sizeof(relay_slots) * lane_);
    SPTRSV_UNROLL
    for (int i = 0; i < entries / 2; ++i) {
      value[i] = live && i < now.late_pairs()
                     ? reinterpret_cast<const values*>(stage + record.late + i * record.late_pair)[lane_]
                     : values{};
      SPTRSV_UNROLL
      for (int k = 0; k < 2; ++k) {
        const int slot = live ? slots.of[2 * i + k] : zero_slot_;
        operand[2 * i + k] = window_ + slot * static_cast<int>(sizeof(Scalar));
      }
    }
    const std::int32_t index = row.index();
    const std::int32_t place = now.first_place + row_of_lane();
    const bool writes = live && leads();
    const bool divides = writes && row.divides();
    const bool some_divide = warp_.any(divides);
    const int target = keep(window_ + (place & (zero_slot_ - 1)) * static_cast<int>(sizeof(Scalar)));
    compute_operands(operand, target);
    if (now.early_pairs() > 0) {
      rest = rest - early_products(stage, now, record, row_of_lane() < now.early_rows());
    }
    after_next_ = slice(step + 3 * teams);  // here it delays nobody
    if (step != first_) {
      ctx_.template barrier_wait<2 * Shape::threads>(1 + team_);
    }
    // From here to the arrival nothing is done that could be done before or after.
    Scalar sum[2] = {rest, Scalar{}};  // in two parts, whose order is fixed: half the latency of one
    Scalar component[entries];
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      component[i] = ctx_.template load_shared_at<Scalar>(operand[i]);
    }
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      sum[i % 2] = sum[i % 2] - value[i / 2].of[i % 2] * component[i];
    }
    rest = simt::tile_sum(warp_, sum[0] + sum[1], lanes);
    Scalar x = rest * row.factor;
    if (some_divide) {
      x = divides ? divide(rest, row.factor) : x;
    }
    if (writes) {
      ctx_.store_shared_at(target, x);
    }
    if (step + 1 < last_) {
      ctx_.template barrier_arrive<2 * Shape::threads>(team_ + 1 == teams ? 1 : team_ + 2);
    }
    if (writes) {
      flag::publish(ctx_, solved_ + place * flag::words, x);
      if (index >= 0) {
        ctx_.store(x_ + index * p_.x.row_stride, x);
        if (!is_finite(x)) {
          p_.pages.note_bad(ctx_, start_.page, p_.reversed ? p_.size - 1 - index : index);
        }
      }
      if (other_ != nullptr) {
        flag::reset(ctx_, other_ + place * flag::words);
      }
    }
  }

  SPTRSV_DEVICE void compute_operands(const int (&operand)[entries], int target) {
    int all = target;
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      all |= operand[i];
    }
    ctx_.compute_now(all);
  }

  struct early_pair {
    places place{{-1, -1}};
    values value{};
  };

  /// Of the lane's entries whose components come through memory, when those of all lanes have come.
  SPTRSV_DEVICE Scalar early_products(const unsigned char* stage, const relay_slice& now,
                                      const relay_record& record, bool is_early) const {
    const int first = record.early(now.late_pairs());
    const unsigned char* at = p_.records + static_cast<std::int64_t>(now.record) * 16 + first;
    early_pair pair;
    if (is_early) {
      pair.place = reinterpret_cast<const places*>(stage + first)[lane_];
      pair.value = reinterpret_cast<const values*>(stage + first + record.early_values)[lane_];
    }
    Scalar sum = Scalar{};
    for (int i = 1; i < now.early_pairs(); ++i) {
      at += record.early_pair;
      early_pair next;
      if (is_early) {
        next.place = ctx_.load_constant(reinterpret_cast<const places*>(at) + lane_);
        next.value = ctx_.load_constant(reinterpret_cast<const values*>(at + record.early_values) + lane_);
      }
      sum = sum + products(pair);
      pair = next;
    }
    return sum + products(pair);
  }

  SPTRSV_DEVICE Scalar products(const early_pair& pair) const {
    const word* component[2];
    typename flag::reading seen[2];
    for (int k = 0; k < 2; ++k) {
      component[k] = solved_ + pair.place.of[k] * flag::words;
      seen[k] = pair.place.of[k] >= 0 ? flag::unseen() : flag::zero();
    }
    flag::spin_together(ctx_, warp_, component, seen);
    return pair.value.of[0] * seen[0].value() + pair.value.of[1] * seen[1].value();
  }

  struct alignas(2 * entries < 16 ? 2 * entries : 16) relay_slots {
    std::uint16_t of[entries];
  };

  SPTRSV_DEVICE const relay_row<Scalar>& row_in(const unsigned char* stage,
                                                const relay_record& record) const {
    return reinterpret_cast<const relay_row<Scalar>*>(stage + record.rows)[row_of_lane()];
  }
  SPTRSV_DEVICE Scalar& side_in(unsigned char* stage) const {
    return reinterpret_cast<Scalar*>(stage + layout::record_bytes)[lane_];
  }
  /// Of the slice.
  SPTRSV_DEVICE int row_of_lane() const { return lane_ / lanes; }
  /// Whether this lane speaks for its row.
  SPTRSV_DEVICE bool leads() const { return lane_ % lanes == 0; }

  Context& ctx_;
  const params& p_;
  const block_start& start_;
  decltype(std::declval<Context&>().template group<32>()) warp_;
  int lane_;
  int team_;
  int slice_of_step_;
  const unsigned char* lane_records_;
  unsigned char* ring_;
  std::int32_t window_ = 0;  ///< a shared address
  std::int32_t zero_slot_ = 0;
  std::int32_t first_ = 0;
  std::int32_t last_ = 0;
  const Scalar* b_ = nullptr;
  Scalar* x_ = nullptr;
  word* solved_ = nullptr;
  word* other_ = nullptr;
  relay_slice after_next_{};
};

template <class Scalar, class Shape>
struct relay_agent {
  static constexpr int block_threads = relay_layout<Scalar, Shape>::block_threads;
  using params = relay_params<Scalar>;
  using shared_storage = relay_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start.block, p.pages.state, p.x.columns);
    relay_runner<Scalar, Shape, Context>(ctx, p, start).run();
  }
};

}  // namespace sptrsv::detail::dataflow
