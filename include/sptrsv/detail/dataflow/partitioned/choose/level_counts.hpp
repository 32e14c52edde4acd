// What each part of a relay has to do on each level: counted on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Of a part on a level, while it is counted.
struct level_counts {
  std::int32_t rows;
  /// The latest level on which it needs something that comes through memory, times `level_stride`, plus the
  /// part that solves it; -1 for none.
  std::int32_t need;
  std::int32_t global;  ///< entries that come through memory
  std::int32_t rounds;  ///< in which the row with most of these waits for them

  static constexpr std::int32_t level_stride = 256;
  static constexpr std::int64_t max_levels = (std::int64_t{1} << 31) / level_stride - 1;
};

/// The same of a run that has rows, as the host goes through them: by level and part.
struct partition_level {
  std::int32_t need;  ///< the turn that solves what it needs through memory, counted from the table's first
  std::int32_t rows;
  std::int16_t partition;
  std::int16_t rounds;
};

namespace kernels {

/// A lane per row of the triangle. That its latest entries are the last ones is a guess. Where there are few
/// levels neighbours belong to the same run, and are added up before they meet all others there.
template <class Index, class Offset>
struct count_levels_agent {
  static constexpr int block_threads = 256;
  static constexpr int shared_levels = 2;  ///< of a warp, that are added up
  struct shared_storage {};
  struct params {
    std::int64_t size;
    partition_of_row<Offset> partition;
    const Index* columns;
    const Index* levels;  ///< by row, counted from 1
    std::int32_t shared_entries;
    std::int32_t round_entries;
    level_counts* runs;                   ///< by level and part
    std::int32_t* needs_later_partition;  ///< becomes 1 where a part needs one after it
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row = static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    bool is_left = row < p.size;
    std::int64_t own = 0;
    const level_counts mine = is_left ? count(ctx, p, row, own) : level_counts{0, -1, 0, 0};
    for (int k = 0; k < shared_levels; ++k) {
      const std::uint32_t left = warp.ballot(is_left);
      if (left == 0) {
        return;
      }
      const int leader = simt::lowest_bit(left);
      const std::int64_t run = warp.shuffle(own, leader);
      const bool is_same = is_left && own == run;
      const level_counts sum = add_up(warp, is_same ? mine : level_counts{0, -1, 0, 0});
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
  SPTRSV_DEVICE static level_counts count(Context& ctx, const params& p, std::int64_t row,
                                          std::int64_t& run) {
    const std::int64_t own = p.partition(ctx, row);
    run = level_of(ctx, p, row) * p.partition.partitions + own;
    level_counts counted{1, -1, 0, 0};
    int shared = 0;
    const Offset begin = ctx.load_constant(p.partition.row_offsets + row);
    for (Offset e = ctx.load_constant(p.partition.row_offsets + row + 1); e-- > begin;) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
      const std::int64_t other = p.partition(ctx, column);
      if (other == own && shared < p.shared_entries) {
        ++shared;
        continue;
      }
      ++counted.global;
      if (other < 0) {
        continue;
      }
      const auto key =
          static_cast<std::int32_t>(level_of(ctx, p, column) * level_counts::level_stride + other);
      counted.need = counted.need < key ? key : counted.need;
      if (other > own) {
        ctx.store_relaxed(p.needs_later_partition, 1);
      }
    }
    counted.rounds = (counted.global + p.round_entries - 1) / p.round_entries;
    return counted;
  }

  template <class Context>
  SPTRSV_DEVICE static std::int64_t level_of(Context& ctx, const params& p, std::int64_t row) {
    return static_cast<std::int64_t>(ctx.load_constant(p.levels + row)) - 1;
  }

  template <class Warp>
  SPTRSV_DEVICE static level_counts add_up(const Warp& warp, level_counts sum) {
    for (int mask = 16; mask > 0; mask /= 2) {
      const std::int32_t need = warp.shuffle_xor(sum.need, mask);
      const std::int32_t rounds = warp.shuffle_xor(sum.rounds, mask);
      sum.rows += warp.shuffle_xor(sum.rows, mask);
      sum.need = sum.need < need ? need : sum.need;
      sum.global += warp.shuffle_xor(sum.global, mask);
      sum.rounds = sum.rounds < rounds ? rounds : sum.rounds;
    }
    return sum;
  }

  template <class Context>
  SPTRSV_DEVICE static void add(Context& ctx, level_counts* to, const level_counts& counted) {
    ctx.atomic_add(&to->rows, counted.rows);
    if (counted.global > 0) {
      ctx.atomic_max(&to->need, counted.need);
      ctx.atomic_add(&to->global, counted.global);
      ctx.atomic_max(&to->rounds, counted.rounds);
    }
  }
};

/// Per run, and once for the end.
struct mark_levels {
  std::int64_t size;
  const level_counts* runs;
  std::int32_t* has_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t run) const {
    ctx.store(has_rows + run, run < size && ctx.load_constant(&runs[run].rows) > 0 ? 1 : 0);
  }
};

/// Per run of a table. `places`: by run of all tables, turns before it.
struct write_partition_levels {
  std::int64_t begin;  ///< of the table
  std::int64_t end;
  std::int64_t partitions;
  const level_counts* runs;
  const std::int32_t* solve_indices;
  partition_level* levels_of_partitions;
  std::int32_t* range;   ///< of the table's turns: the first, and that after the last
  std::int32_t* global;  ///< by part: entries that come through memory

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const std::int32_t before = ctx.load_constant(solve_indices + begin);
    if (i == 0) {
      ctx.store(range, before);
      ctx.store(range + 1, ctx.load_constant(solve_indices + end));
    }
    const level_counts run = ctx.load_constant(runs + begin + i);
    if (run.rows == 0) {
      return;
    }
    const std::int64_t partition = i % partitions;
    if (run.global > 0) {
      ctx.atomic_add(global + partition, run.global);
    }
    std::int32_t need = -1;
    if (run.need >= 0) {
      const std::int64_t level = run.need / level_counts::level_stride;
      need = ctx.load_constant(solve_indices + begin + level * partitions +
                               run.need % level_counts::level_stride) -
             before;
    }
    constexpr std::int32_t max_rounds = 32767;
    ctx.store(levels_of_partitions + ctx.load_constant(solve_indices + begin + i),
              partition_level{need, run.rows, static_cast<std::int16_t>(partition),
                              static_cast<std::int16_t>(run.rounds < max_rounds ? run.rounds : max_rounds)});
  }
};

}  // namespace kernels

}  // namespace sptrsv::detail::dataflow::partitioned
