// The kernel of the relay path: a thread block solves a contiguous part of the rows, level by level, with the
// components of the part in a window of shared memory. The steps of a part are taken in turn by teams of
// warps: while one team takes its step, the others bring what theirs need, and wait for the components that
// other parts solve. A barrier hands the turn, and with it all components of the part, from team to team.
// A part needs parts before it only, and launches before: blocks make progress in the order of their tickets.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/dataflow/relay_early.hpp"
#include "sptrsv/detail/dataflow/relay_params.hpp"
#include "sptrsv/detail/dataflow/relay_ring.hpp"
#include "sptrsv/detail/dataflow/relay_sides.hpp"
#include "sptrsv/detail/dataflow/relay_turns.hpp"
#include "sptrsv/detail/scalar.hpp"

namespace sptrsv::detail::dataflow {

/// A thread of a team, for one group of right-hand sides after the other.
template <class Scalar, class Shape, class Context>
class relay_runner {
  using layout = relay_layout<Scalar, Shape>;
  using unknown = typename layout::unknown;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  using params = relay_params<Scalar>;
  using warp_group = decltype(std::declval<Context&>().template group<32>());

 public:
  SPTRSV_DEVICE relay_runner(Context& ctx, const params& p, relay_start& start)
      : ctx_(ctx),
        p_(p),
        start_(start.block),
        warp_(ctx.template group<32>()),
        // Through shuffles: see keep().
        lane_(warp_.shuffle(warp_.rank(), warp_.rank())),
        team_(warp_.shuffle(ctx.thread_rank() / Shape::threads, 0)),
        turns_(ctx, warp_, team_),
        slice_of_step_(warp_.shuffle(ctx.thread_rank() % Shape::threads / 32, 0)),
        ring_(ctx, warp_, lane_,
              static_cast<unsigned char*>(ctx.dynamic_shared()) +
                  warp_.shuffle(ctx.thread_rank() / 32, 0) * layout::warp_bytes),
        sides_(ctx, p) {
    ring_.begin();
    if (ctx.thread_rank() == 0) {
      start.window_address =
          ctx.shared_address(static_cast<unsigned char*>(ctx.dynamic_shared()) + layout::window_offset);
      start.window = p.window;
      start.records = reinterpret_cast<std::uint64_t>(p.records);
      ctx.store_shared_at(start.window_address + p.window * static_cast<int>(sizeof(unknown)), unknown{});
    }
    ctx.barrier();
    window_ = ctx.load_shared(&start.window_address);
    zero_slot_ = ctx.load_shared(&start.window);
    ring_.read_from(reinterpret_cast<const unsigned char*>(ctx.load_shared(&start.records)));
  }

  /// Blocks share the parts first, then the groups of right-hand sides.
  SPTRSV_DEVICE void run() {
    const auto parts = static_cast<std::uint32_t>(p_.parts);
    const auto block = static_cast<std::uint32_t>(start_.block) - p_.share.first_block;
    const std::uint32_t part = block % parts;
    const std::uint32_t sharers = ctx_.grid_blocks() / parts;
    const std::int64_t begin = block / parts;
    std::int64_t group = begin;
    for (; group * columns < p_.x.columns; group += sharers) {
      if (group != begin) {
        ctx_.barrier();
      }
      solve_part(part, group * columns);
    }
    // What a solve of more right-hand sides has left:
    for (; group * columns < start_.columns_to_reset; group += sharers) {
      word* const components = p_.pages.component(start_.page ^ 1u, group * columns, 0);
      const std::int32_t end = ctx_.load_constant(p_.part_places + part + 1);
      for (std::int32_t place = ctx_.load_constant(p_.part_places + part) + ctx_.thread_rank(); place < end;
           place += layout::block_threads) {
        flag::reset(ctx_, components + std::int64_t{place} * flag::words);
      }
    }
  }

 private:
  static constexpr int lanes = Shape::lanes;
  static constexpr int entries = Shape::entries;
  static constexpr int teams = layout::teams;
  static constexpr int columns = layout::columns;

  SPTRSV_DEVICE static constexpr relay_record_form form() {
    return relay_record_form::of<Scalar>(values_of_relay<Shape>());
  }
  SPTRSV_DEVICE static relay_record record_of(const relay_slice& slice) { return form().record(slice); }

  /// For the right-hand sides from `column` on.
  SPTRSV_DEVICE void solve_part(std::uint32_t part, std::int64_t column) {
    const relay_warp_start start = ctx_.load_constant(p_.starts + part * (layout::block_threads / 32) +
                                                      team_ * (Shape::threads / 32) + slice_of_step_);
    part_steps_ = start.part_steps;
    sides_.begin(column, [&](auto pointer) { return keep(pointer); });
    solved_ = keep(p_.pages.component(start_.page, column, 0));
    other_ =
        keep(column < start_.columns_to_reset ? p_.pages.component(start_.page ^ 1u, column, 0) : nullptr);
    if (team_ + 1 == teams) {
      turns_.hand_over();
    }
    const std::int32_t step = team_ < part_steps_ ? take_steps(start) : team_;
    if (step == part_steps_) {
      turns_.wait();
    }
  }

  /// Those of the team; returns the one that would be next.
  SPTRSV_DEVICE std::int32_t take_steps(const relay_warp_start& start) {
    // A record is under way two turns of the team before its own, its right-hand sides one.
    std::int32_t step = team_;
    std::uint32_t record = start.record;
    std::uint32_t next_record = start.next;
    warp_.sync();  // the stages may still be read for another right-hand side
    ring_.copy(0, record, start.bytes());
    ring_.copy(1, next_record, start.next_bytes());
    ring_.wait(0);
    relay_slice now = ring_.slice(0);
    copy_sides(ring_.stage(0), now);
    for (;;) {
      ring_.wait(1);
      ring_.copy(2, now.next, now.next_bytes());
      const relay_slice next = step + teams < part_steps_ ? ring_.slice(1) : relay_slice{};
      copy_sides(ring_.stage(1), next);
      take_step(ring_.stage(0), ring_.stored(record), now);
      step += teams;
      if (step >= part_steps_) {
        ring_.wait(2);  // it is empty, but counts
        return step;
      }
      record = next_record;
      next_record = now.next;
      now = next;
      ring_.advance();
    }
  }

  /// The same, in a register: otherwise the compiler derives it from special registers and parameters, which
  /// is slow, at each use.
  template <class T>
  SPTRSV_DEVICE T keep(T value) const {
    return warp_.shuffle(value, lane_);
  }

  /// Those of a lane it reads itself.
  SPTRSV_DEVICE void copy_sides(unsigned char* stage, const relay_slice& of) const {
    if (leads() && row_of_lane() < of.rows()) {
      const std::int32_t row = row_in(stage, record_of(of)).index();
      if (row >= 0) {
        sides_.copy(side_in(stage), row);
      }
    }
    ctx_.commit_copies();
  }

  /// `stage`, `stored`: its record at hand, and in memory.
  SPTRSV_DEVICE void take_step(unsigned char* stage, const unsigned char* stored, const relay_slice& now) {
    const bool live = row_of_lane() < now.rows();
    const relay_record record = record_of(now);
    const relay_row<Scalar> row = live ? row_in(stage, record) : relay_row<Scalar>{Scalar{}, -1};
    unknown rest{};
    if constexpr (!Shape::streams) {
      rest = scaled_side(stage, row);
    }
    Scalar value[entries];
    int operand[entries];
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      value[i] = Scalar{};
      int slot = zero_slot_;
      if (live && i < now.late_planes()) {
        value[i] = reinterpret_cast<const Scalar*>(stage + record.late + i * record.late_plane)[lane_];
        slot = reinterpret_cast<const std::uint16_t*>(stage + record.slots + i * record.slot_plane)[lane_];
      }
      operand[i] = window_ + slot * static_cast<int>(sizeof(unknown));
    }
    const std::int32_t index = row.index();
    const std::int32_t place = now.first_place + row_of_lane();
    const bool writes = live && leads();
    const bool divides = writes && row.divides();
    const bool some_divide = warp_.any(divides);
    const int target = keep(window_ + (place & (zero_slot_ - 1)) * static_cast<int>(sizeof(unknown)));
    compute_operands(operand, target);
    if (now.early_planes() > 0) {
      rest = rest - relay_early<Scalar, Shape, Context, warp_group>(ctx_, warp_, lane_, solved_)
                        .products(stage, stored, now, record);
    }
    if constexpr (Shape::streams) {
      rest = rest + scaled_side(stage, row);
    }
    turns_.wait();
    // From here to the arrival nothing is done that could be done before or after.
    unknown sum[2] = {rest, unknown{}};  // in two parts, whose order is fixed: half the latency of one
    unknown component[entries];
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      component[i] = ctx_.template load_shared_at<unknown>(operand[i]);
    }
    SPTRSV_UNROLL
    for (int i = 0; i < entries; ++i) {
      sum[i % 2] = sum[i % 2] - value[i] * component[i];
    }
    rest = simt::tile_sum(warp_, sum[0] + sum[1], lanes);
    unknown x = rest * row.factor;
    if (some_divide) {
      const unknown quotient = divide(rest, divides ? row.factor : pivot_divisor<Scalar>::one());
      x = divides ? quotient : x;
    }
    if (writes) {
      ctx_.store_shared_at(target, x);
    }
    turns_.hand_over();
    if (writes) {
      flag::publish(ctx_, solved_ + place * flag::words, x);
      if (index >= 0) {
        sides_.store(index, x);
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

  SPTRSV_DEVICE relay_row<Scalar> row_in(const unsigned char* stage, const relay_record& record) const {
    return {reinterpret_cast<const Scalar*>(stage + relay_record::factors)[row_of_lane()],
            reinterpret_cast<const std::int32_t*>(stage + record.numbers)[row_of_lane()]};
  }
  SPTRSV_DEVICE unknown& side_in(unsigned char* stage) const {
    return reinterpret_cast<unknown*>(stage + layout::record_bytes)[lane_];
  }
  /// Waits for it, and not for what was begun after it.
  SPTRSV_DEVICE unknown scaled_side(unsigned char* stage, const relay_row<Scalar>& row) const {
    ctx_.template wait_copies<2>();
    return leads() && row.number != -1 ? p_.alpha * side_in(stage) : unknown{};
  }
  /// Of the slice.
  SPTRSV_DEVICE int row_of_lane() const { return lane_ / lanes; }
  /// Whether this lane speaks for its row.
  SPTRSV_DEVICE bool leads() const { return lane_ % lanes == 0; }

  Context& ctx_;
  const params& p_;
  const block_start& start_;
  warp_group warp_;
  int lane_;
  int team_;
  relay_turns<Shape, Context, layout::teams> turns_;
  int slice_of_step_;
  relay_ring<Scalar, Shape, Context, warp_group> ring_;
  relay_sides<Scalar, Shape, Context> sides_;
  std::int32_t window_ = 0;  ///< a shared address
  std::int32_t zero_slot_ = 0;
  std::int32_t part_steps_ = 0;
  word* solved_ = nullptr;
  word* other_ = nullptr;
};

template <class Scalar, class Shape>
struct relay_agent {
  static constexpr int block_threads = relay_layout<Scalar, Shape>::block_threads;
  /// One block an SM, for its shared memory: the compiler need not save registers.
  static constexpr int warps_per_processor = block_threads / 32;
  using params = relay_params<Scalar>;
  using shared_storage = relay_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start.block, p.pages.state, p.x.columns, p.share.solve_blocks);
    relay_runner<Scalar, Shape, Context>(ctx, p, start).run();
  }
};

}  // namespace sptrsv::detail::dataflow
