// SPDX-License-Identifier: Apache-2.0
// The predicted time of a partitioned solve from a table of partition levels: one block per table and shape.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// Simulates a solve. A partition begins a level when it has finished the level before and the components
/// that the level needs have come. Per block, for the levels of 2,048 cells at a time:
///
///   1. All threads find the times of the cells, and when what a cell needs has come if it lies before these
///      levels. The cells were loaded before the step 2 of the levels before.
///   2. Go through the levels, one thread for each partition, all partitions together: look up when what the
///      cell needs was finished, if it lies in these levels, and store when the cell is.
///   3. Store when the cells were finished, and when the latest partition has finished each level.
///
/// At the end, threads add up what does not depend on the order. Two further rounds of right-hand sides are
/// simulated; each round after these adds as much time as the last one.
///
/// If it is wanted, the block estimates the time of the best hybrid path: what another path needs before a
/// cut, and the time of all levels less that until the latest partition reaches it, by the table's factor.
struct solve_simulation {
  static constexpr int block_threads = predict_params::block_threads;
  static constexpr int thread_cells = predict_params::thread_cells;
  static constexpr int block_cells = predict_params::block_cells;

  using shared_storage = simulated_cells;
  using params = predict_params;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    run_block(ctx, shared, p, static_cast<std::int64_t>(ctx.block_rank()));
  }
  /// `number`: of the task, see predict_task.
  template <class Context>
  SPTRSV_DEVICE static void run_block(Context& ctx, shared_storage& shared, const params& p,
                                      std::int64_t number) {
    const auto warp = ctx.template group<32>();
    const predict_task t = predict_task::of(p, number);
    shared.global_entries[ctx.thread_rank()] = 0;
    if (ctx.thread_rank() == 0) {
      shared.ends[block_cells] = 0;
    }
    ctx.barrier();
    counts own{};
    SPTRSV_UNROLL
    for (int k = 0; k < thread_cells; ++k) {
      own.partition[k] = cell_of(ctx, k) % t.partitions;
    }
    constexpr std::int64_t simulated_rounds = 3;
    float end = 0;
    double first = 0;
    double last[2] = {};
    for (std::int64_t round = 0; round < t.rounds && round < simulated_rounds; ++round) {
      simulate(ctx, warp, shared, p, t, round == 0, end, own);
      last[0] = last[1];
      last[1] = combine(ctx, warp, shared, static_cast<double>(end), simt::maximum{});
      first = round == 0 ? last[1] : first;
    }
    const std::int64_t further_rounds = t.rounds > simulated_rounds ? t.rounds - simulated_rounds : 0;
    const double further = last[1] - first + static_cast<double>(further_rounds) * (last[1] - last[0]);
    const double global_entries_ns =
        combine(ctx, warp, shared,
                t.shape.global_entry_nanoseconds(shared.global_entries[ctx.thread_rank()], p.constants),
                simt::maximum{});
    prediction made{};
    made.nanoseconds = p.constants.launch + static_cast<double>(t.rounds) * global_entries_ns + first +
                       p.constants.further_rhs_factor * further;
    made.tiles =
        static_cast<std::int64_t>(combine(ctx, warp, shared, static_cast<double>(own.tiles), simt::plus{}));
    made.needs_later = combine(ctx, warp, shared, own.needs_later ? 1.0 : 0.0, simt::maximum{}) > 0 ? 1 : 0;
    if (p.level_ends != nullptr) {
      made.hybrid_nanoseconds = best_hybrid(ctx, warp, shared, p, t, first, global_entries_ns);
    }
    if (ctx.thread_rank() == 0) {
      ctx.store(p.found + t.number, made);
    }
  }

 private:
  /// The facts that a thread keeps about its cells.
  struct counts {
    int partition[thread_cells];
    std::int64_t tiles;
    bool needs_later;
  };

  /// Returns the combination of `value` over all threads of the block.
  template <class Context, class Warp, class Op>
  SPTRSV_DEVICE static double combine(Context& ctx, const Warp& warp, shared_storage& shared, double value,
                                      Op op) {
    value = simt::reduce(warp, value, 32, op);
    ctx.barrier();  // the values of before have been read
    if (warp.rank() == 0) {
      shared.of_warp[warp.index()] = value;
    }
    ctx.barrier();
    value = shared.of_warp[0];
    for (int w = 1; w < block_threads / 32; ++w) {
      value = op(value, shared.of_warp[w]);
    }
    return value;
  }

  /// Simulates one round. `end`: when the partition of the thread has finished.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void simulate(Context& ctx, const Warp& warp, shared_storage& shared, const params& p,
                                     const predict_task& t, bool is_first_round, float& end, counts& own) {
    level_counts ahead[thread_cells];
    load_cells(ctx, p, t, 0, ahead);
    for (std::int64_t first = 0; first < p.levels; first += t.levels_at_once) {
      const auto levels =
          static_cast<int>(p.levels - first < t.levels_at_once ? p.levels - first : t.levels_at_once);
      SPTRSV_UNROLL
      for (int k = 0; k < thread_cells; ++k) {
        prepare_cell(ctx, shared, p, t, first, k, ahead[k], is_first_round, own);
      }
      load_cells(ctx, p, t, first + t.levels_at_once, ahead);
      ctx.barrier();
      if (t.partitions > 32 || warp.index() == 0) {
        finish_levels(ctx, warp, shared, t, levels, end);
      }
      ctx.barrier();
      store_ends(ctx, warp, shared, p, t, first, levels);
      ctx.barrier();  // the next cells replace these
    }
  }

  /// Returns the number of this thread's cell `k` in the block.
  template <class Context>
  SPTRSV_DEVICE static int cell_of(Context& ctx, int k) {
    return k * block_threads + static_cast<int>(ctx.thread_rank());
  }

  /// Loads the cells of this thread of the levels from `first` on; zeros where there are none.
  template <class Context>
  SPTRSV_DEVICE static void load_cells(Context& ctx, const params& p, const predict_task& t,
                                       std::int64_t first, level_counts (&cells)[thread_cells]) {
    const std::int64_t begin = first * t.partitions;
    const std::int64_t end = p.levels * t.partitions;
    SPTRSV_UNROLL
    for (int k = 0; k < thread_cells; ++k) {
      const int in_block = cell_of(ctx, k);
      cells[k] = {0, 0, 0, 0};
      if (in_block < t.levels_at_once * t.partitions && begin + in_block < end) {
        cells[k] = ctx.load_constant(p.cells + t.first_cell + begin + in_block);
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void prepare_cell(Context& ctx, shared_storage& shared, const params& p,
                                         const predict_task& t, std::int64_t first, int k,
                                         const level_counts& cell, bool is_first_round, counts& own) {
    const int in_block = cell_of(ctx, k);
    float delay = 0;
    std::int32_t needed = block_cells;
    if (cell.needs_other()) {
      const std::int64_t level = cell.needed_level();
      const bool is_in_block = level >= first;
      needed = is_in_block ? static_cast<std::int32_t>(level - first) * t.partitions + cell.needed_partition()
                           : block_cells;
      delay = t.shape.hand_off_nanoseconds(cell, p.constants);
      if (!is_in_block) {
        delay += ctx.load(p.ends + t.first_end + level * t.partitions + cell.needed_partition());
      }
      own.needs_later = own.needs_later || cell.needed_partition() > own.partition[k];
    }
    shared.own[in_block] = cell.rows > 0 ? t.shape.level_nanoseconds(cell, p.constants) : 0.0f;
    shared.delay[in_block] = delay;
    shared.needed[in_block] = needed;
    if (is_first_round) {
      own.tiles += t.shape.tiles(cell.rows);
      if (cell.global_entries > 0) {
        ctx.reduce_add(&shared.global_entries[own.partition[k]], cell.global_entries);
      }
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void finish_levels(Context& ctx, const Warp& warp, shared_storage& shared,
                                          const predict_task& t, int levels, float& end) {
    const auto partition = static_cast<int>(ctx.thread_rank());
    const bool is_present = partition < t.partitions;
    int cell = partition;
    std::int32_t needed = 0;
    float delay = 0;
    float own = 0;
    const auto load_next = [&] {
      needed = shared.needed[cell];
      delay = shared.delay[cell];
      own = shared.own[cell];
    };
    if (is_present) {
      load_next();
    }
    for (int level = 0; level < levels; ++level) {
      if (is_present) {
        const float come = shared.ends[needed] + delay;
        end = (end < come ? come : end) + own;
        shared.ends[cell] = end;
        if (level + 1 < levels) {
          cell += t.partitions;
          load_next();
        }
      }
      if (t.partitions > 32) {
        ctx.barrier();
      } else if (t.partitions > 1) {
        warp.sync();
      }
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void store_ends(Context& ctx, const Warp& warp, const shared_storage& shared,
                                       const params& p, const predict_task& t, std::int64_t first,
                                       int levels) {
    for (int i = static_cast<int>(ctx.thread_rank()); i < levels * t.partitions; i += block_threads) {
      ctx.store(p.ends + t.first_end + first * t.partitions + i, shared.ends[i]);
    }
    if (p.level_ends == nullptr) {
      return;
    }
    // 32 / lanes levels at once in a warp.
    const int lanes = t.partitions >= 32 ? 32 : simt::ceil_power_of_two(t.partitions);
    const int in_level = warp.rank() % lanes;
    for (int begin = warp.index() * (32 / lanes); begin < levels; begin += block_threads / lanes) {
      const int level = begin + warp.rank() / lanes;
      float latest = 0;
      for (int i = in_level; level < levels && i < t.partitions; i += lanes) {
        const float end = shared.ends[level * t.partitions + i];
        latest = latest < end ? end : latest;
      }
      latest = simt::reduce(warp, latest, lanes, simt::maximum{});
      if (in_level == 0 && level < levels) {
        ctx.store(p.level_ends + t.number * p.levels + first + level, latest);
      }
    }
  }

  /// Returns about the time of the best hybrid path. `end`: of all levels. Each thread takes a run of levels.
  template <class Context, class Warp>
  SPTRSV_DEVICE static double best_hybrid(Context& ctx, const Warp& warp, shared_storage& shared,
                                          const params& p, const predict_task& t, double end,
                                          double global_entries_ns) {
    const float* const level_ends = p.level_ends + t.number * p.levels;
    const std::int64_t run = simt::ceil_div(p.levels, block_threads);
    const std::int64_t first = run * ctx.thread_rank();
    const std::int64_t last = first + run < p.levels ? first + run : p.levels;
    double rows = 0;
    double of_one = 0;
    for (std::int64_t level = first; level < last; ++level) {
      const std::int32_t own_rows = ctx.load_constant(p.level_rows + level);
      rows += own_rows;
      of_one += t.one_partition_nanoseconds(p, own_rows);
    }
    const double all_of_one = combine(ctx, warp, shared, of_one, simt::plus{});
    rows = sum_before(ctx, warp, shared, rows);
    of_one = all_of_one - sum_before(ctx, warp, shared, of_one);
    double latest = first > 0 && first < last ? static_cast<double>(ctx.load(level_ends + first - 1)) : 0;
    double least = 1e300;
    for (std::int64_t level = first; level < last; ++level) {
      const double share = rows / static_cast<double>(p.size);
      const double rest = t.factor * (end - latest + (1 - share) * global_entries_ns);
      const double time = p.row_per_thread.nanoseconds(rows, share * static_cast<double>(p.entries),
                                                       static_cast<double>(level)) +
                          p.constants.launch + (rest < of_one ? rest : of_one);
      least = level > 0 && time < least ? time : least;  // a cut has levels on both sides
      const std::int32_t own_rows = ctx.load_constant(p.level_rows + level);
      rows += own_rows;
      of_one -= t.one_partition_nanoseconds(p, own_rows);
      latest = static_cast<double>(ctx.load(level_ends + level));
    }
    return combine(ctx, warp, shared, least, simt::minimum{});
  }

  /// Returns the sum of `value` over the threads with a smaller rank.
  template <class Context, class Warp>
  SPTRSV_DEVICE static double sum_before(Context& ctx, const Warp& warp, shared_storage& shared,
                                         double value) {
    double before = simt::exclusive_sum(warp, value);
    ctx.barrier();  // the values of before have been read
    if (warp.rank() == 31) {
      shared.of_warp[warp.index()] = before + value;
    }
    ctx.barrier();
    for (int w = 0; w < warp.index(); ++w) {
      before += shared.of_warp[w];
    }
    return before;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
