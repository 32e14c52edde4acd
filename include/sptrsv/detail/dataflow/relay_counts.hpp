// What each part of a relay has to do on each level: counted on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_order.hpp"

namespace sptrsv::detail::dataflow {

/// Of a part on a level, while it is counted.
struct relay_run {
  std::int32_t rows;
  /// The latest level on which it needs something that comes through memory, times `level_stride`, plus the
  /// part that solves it; -1 for none.
  std::int32_t need;
  std::int32_t early;   ///< entries that come through memory
  std::int32_t rounds;  ///< in which the row with most of these waits for them

  static constexpr std::int32_t level_stride = 256;
  static constexpr std::int64_t most_levels = (std::int64_t{1} << 31) / level_stride - 1;
};

/// The same of a run that has rows, as the host goes through them: by level and part.
struct relay_turn {
  std::int32_t need;  ///< the turn that solves what it needs through memory, counted from the table's first
  std::int32_t rows;
  std::int16_t part;
  std::int16_t rounds;
};

namespace relay_kernels {

/// A lane per row of the triangle. That its latest entries are the last ones is a guess. Where there are few
/// levels neighbours belong to the same run, and are added up before they meet all others there.
template <class Index, class Offset>
struct count_runs_agent {
  static constexpr int block_threads = 256;
  static constexpr int shared_runs = 2;  ///< of a warp, that are added up
  struct shared_storage {};
  struct params {
    std::int64_t size;
    part_of_row<Offset> part;
    const Index* columns;
    const Index* levels;  ///< by row, counted from 1
    std::int32_t late_entries;
    std::int32_t round_entries;
    relay_run* runs;            ///< by level and part
    std::int32_t* needs_later;  ///< becomes 1 where a part needs one after it
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row = static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    bool is_left = row < p.size;
    std::int64_t own = 0;
    const relay_run mine = is_left ? count(ctx, p, row, own) : relay_run{0, -1, 0, 0};
    for (int k = 0; k < shared_runs; ++k) {
      const std::uint32_t left = warp.ballot(is_left);
      if (left == 0) {
        return;
      }
      const int leader = simt::lowest_bit(left);
      const std::int64_t run = warp.shuffle(own, leader);
      const bool is_same = is_left && own == run;
      const relay_run sum = add_up(warp, is_same ? mine : relay_run{0, -1, 0, 0});
      if (warp.rank() == leader) {
        add(ctx, p.runs + own, sum);
      }
      is_left = is_left && !is_same;
    }
    if (is_left) {
      add(ctx, p.runs + own, mine);
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static relay_run count(Context& ctx, const params& p, std::int64_t row, std::int64_t& run) {
    const std::int64_t own = p.part(ctx, row);
    run = level_of(ctx, p, row) * p.part.parts + own;
    relay_run counted{1, -1, 0, 0};
    int late = 0;
    const Offset begin = ctx.load_constant(p.part.row_offsets + row);
    for (Offset e = ctx.load_constant(p.part.row_offsets + row + 1); e-- > begin;) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
      const std::int64_t other = p.part(ctx, column);
      if (other == own && late < p.late_entries) {
        ++late;
        continue;
      }
      ++counted.early;
      if (other < 0) {
        continue;
      }
      const auto key = static_cast<std::int32_t>(level_of(ctx, p, column) * relay_run::level_stride + other);
      counted.need = counted.need < key ? key : counted.need;
      if (other > own) {
        ctx.store_relaxed(p.needs_later, 1);
      }
    }
    counted.rounds = (counted.early + p.round_entries - 1) / p.round_entries;
    return counted;
  }

  template <class Context>
  SPTRSV_DEVICE static std::int64_t level_of(Context& ctx, const params& p, std::int64_t row) {
    return static_cast<std::int64_t>(ctx.load_constant(p.levels + row)) - 1;
  }

  template <class Warp>
  SPTRSV_DEVICE static relay_run add_up(const Warp& warp, relay_run sum) {
    for (int mask = 16; mask > 0; mask /= 2) {
      const std::int32_t need = warp.shuffle_xor(sum.need, mask);
      const std::int32_t rounds = warp.shuffle_xor(sum.rounds, mask);
      sum.rows += warp.shuffle_xor(sum.rows, mask);
      sum.need = sum.need < need ? need : sum.need;
      sum.early += warp.shuffle_xor(sum.early, mask);
      sum.rounds = sum.rounds < rounds ? rounds : sum.rounds;
    }
    return sum;
  }

  template <class Context>
  SPTRSV_DEVICE static void add(Context& ctx, relay_run* to, const relay_run& counted) {
    ctx.atomic_add(&to->rows, counted.rows);
    if (counted.early > 0) {
      ctx.atomic_max(&to->need, counted.need);
      ctx.atomic_add(&to->early, counted.early);
      ctx.atomic_max(&to->rounds, counted.rounds);
    }
  }
};

/// Per run, and once for the end.
struct mark_runs {
  std::int64_t size;
  const relay_run* runs;
  std::int32_t* has_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t run) const {
    ctx.store(has_rows + run, run < size && ctx.load_constant(&runs[run].rows) > 0 ? 1 : 0);
  }
};

/// Per run of a table. `places`: by run of all tables, turns before it.
struct write_turns {
  std::int64_t begin;  ///< of the table
  std::int64_t end;
  std::int64_t parts;
  const relay_run* runs;
  const std::int32_t* places;
  relay_turn* turns;
  std::int32_t* range;  ///< of the table's turns: the first, and that after the last
  std::int32_t* early;  ///< by part: entries that come through memory

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int32_t before = ctx.load_constant(places + begin);
    if (i == 0) {
      ctx.store(range, before);
      ctx.store(range + 1, ctx.load_constant(places + end));
    }
    const relay_run run = ctx.load_constant(runs + begin + i);
    if (run.rows == 0) {
      return;
    }
    const std::int64_t part = i % parts;
    if (run.early > 0) {
      ctx.atomic_add(early + part, run.early);
    }
    std::int32_t need = -1;
    if (run.need >= 0) {
      const std::int64_t level = run.need / relay_run::level_stride;
      need = ctx.load_constant(places + begin + level * parts + run.need % relay_run::level_stride) - before;
    }
    constexpr std::int32_t most_rounds = 32767;
    ctx.store(turns + ctx.load_constant(places + begin + i),
              relay_turn{need, run.rows, static_cast<std::int16_t>(part),
                         static_cast<std::int16_t>(run.rounds < most_rounds ? run.rounds : most_rounds)});
  }
};

}  // namespace relay_kernels

}  // namespace sptrsv::detail::dataflow
