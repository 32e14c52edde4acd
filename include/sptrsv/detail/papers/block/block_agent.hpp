// SPDX-License-Identifier: Apache-2.0
// The kernel of the block algorithms (Lu, Niu, Liu 2020, Algorithms 4 to 6). One launch executes all steps of
// a solve in order. A step is one of: add a square (or rectangle) to the sums of its rows, solve one level of
// a triangle, solve a triangle with rows that poll one another, solve a triangle with one thread block
// (plan.hpp).
//
// Per thread block:
//   1. Draw a ticket, which is the number of a task. Tasks are numbered in the order of the steps.
//   2. Wait until all tasks of the previous step have been counted, then fence.
//   3. Execute the task (take): rows of a square or a level, warps of a polled step, or all levels of a
//      serial step.
//   4. Fence, then count the task for its step. Counters never go back: they count the tasks of all solves.
//
// Progress: a block waits only for tasks of smaller numbers, whose blocks have started. Since step s ends
// after step s - 1, a step may read everything that earlier steps wrote with plain loads.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/block/block_plan.hpp"
#include "sptrsv/detail/papers/block/block_rows.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// Executes the steps. One sweep over a row solves `Columns` right-hand sides.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using rows = triangle_rows<Scalar, Index, Offset>;
  using polled_rows = row_wise::fused_rows<entries_at_once, Columns, rows>;
  using gathered = gathered_row<entries_at_once, Columns, Scalar, Index, Offset>;
  /// Words of a bit mask over the rows of a task.
  static constexpr int mask_words = block_threads * Tuning::max_rounds / 32;
  static_assert(block_threads > 0 && block_threads % 32 == 0 && block_threads <= 1024,
                "block_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::max_rounds >= 1 && Tuning::max_rounds <= 32,
                "block_tuning: max_rounds must be at least 1 and at most 32");
  static_assert(Columns >= 1 && Columns <= block_threads,
                "block_tuning: rhs_per_sweep must be at least 1 and at most block_threads");
  struct shared_storage {
    block_start start;
    std::int64_t number;  ///< index of the step
    step work;
    std::uint32_t wide_rows;  ///< number of rows in `wide`
    /// By row of the task, one bit each: rows that all threads of the block share.
    array_of<std::uint32_t, mask_words> wide;
    /// By warp and right-hand side: partial sums of a wide row.
    array_of<Scalar, warps_per_block, Columns> parts;
  };
  struct params {
    paper_system<Scalar, Index, Offset> system;  ///< offsets holds the rows of all parts
    /// By solve index, column-major: what the squares have added for a row so far. Null: no squares.
    Scalar* sums;
    const step* steps;                 ///< by step
    const std::int32_t* step_of_task;  ///< by task
    std::int64_t last_step;            ///< index of the last step
    /// Row of each stored row of the parts that do not store empty rows.
    const Index* numbers;
    /// By warp of the polled steps: solve index of its first row; one more for the end.
    const Index* first_solve_index_of_warp;
    /// By warp: solve index of its gate, -1 if it has none; null: no gates.
    const Index* gates;
    /// By level of all triangles: solve index of its first row; one more for the end.
    const Index* level_offsets;
    unsigned long long* finished;  ///< by step: tasks finished in all solves
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    start_block(ctx, shared.start, p.system.buffers.state, p.system.x.columns);
    if (ctx.thread_rank() < mask_words) {
      shared.wide[ctx.thread_rank()] = 0;
    }
    if (ctx.thread_rank() == 0) {
      shared.wide_rows = 0;
      const std::int64_t number = ctx.load_constant(p.step_of_task + shared.start.block);
      shared.number = number;
      shared.work = ctx.load_constant(p.steps + number);
      if (shared.work.awaited_tasks > 0) {
        const auto all =
            static_cast<unsigned long long>(shared.work.awaited_tasks) * (shared.start.solve + 1);
        simt::wait_until(ctx, p.finished + number - 1,
                         [=](unsigned long long count) { return count >= all; });
        ctx.fence_acquire();
      }
    }
    ctx.barrier();
    take(ctx, shared, p);
    if (shared.number < p.last_step) {
      ctx.barrier();
      if (ctx.thread_rank() == 0) {
        ctx.fence_release();
        ctx.reduce_add(p.finished + shared.number, 1ull);
      }
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static void take(Context& ctx, shared_storage& shared, const params& p) {
    const step& s = shared.work;
    std::int64_t first = s.first_item + (shared.start.block - s.first_task) * s.items_per_task;
    const std::int64_t end = s.first_item + s.items;
    std::int64_t last = end - first > s.items_per_task ? first + s.items_per_task : end;
    const rows system{p.system, p.sums, s.offsets, s.has_sums};
    if (s.kind == step_kind::polled) {
      const auto warp = ctx.template group<32>();
      const std::int64_t number = first + warp.index();
      if (number < last) {
        const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + number);
        if (gate >= 0) {  // in this triangle or in one that is solved
          using flag = value_flag<Scalar>;
          simt::wait_until(ctx,
                           p.system.buffers.component(shared.start.half, 0, static_cast<std::int64_t>(gate)),
                           [](typename flag::word w) { return w != flag::pending; });
        }
        polled_rows::solve(ctx, warp, system, shared.start,
                           ctx.load_constant(p.first_solve_index_of_warp + number),
                           ctx.load_constant(p.first_solve_index_of_warp + number + 1));
      }
      return;
    }
    const bool is_serial = s.kind == step_kind::serial;
    std::int64_t level = first;
    if (is_serial) {
      first = ctx.load_constant(p.level_offsets + level);
      last = ctx.load_constant(p.level_offsets + level + 1);
    }
    for (;;) {
      // Load the bounds of the next level while this level is solved.
      ++level;
      const bool is_last = !is_serial || level == end;
      const std::int64_t next_last = is_last ? 0 : ctx.load_constant(p.level_offsets + level + 1);
      take_rows(ctx, shared, p, system, first, last);
      if (is_last) {
        return;
      }
      ctx.barrier();
      first = last;
      last = next_last;
    }
  }

  /// Takes the items [first, last) of a step with rows: rows of a square or of a level, or indices into
  /// `numbers`. A group of `lanes` lanes takes one row. Rows longer than Tuning::block_row are collected in
  /// `wide` and then taken by all threads of the block.
  template <class Context>
  SPTRSV_DEVICE static void take_rows(Context& ctx, shared_storage& shared, const params& p,
                                      const rows& system, std::int64_t first, std::int64_t last) {
    const step& s = shared.work;
    const Offset* const offsets = p.system.offsets + s.offsets;
    const auto warp = ctx.template group<32>();
    const int groups = 32 / s.lanes;
    const int rank = warp.rank() % s.lanes;
    for (std::int64_t item = first + warp.index() * groups; item < last; item += warps_per_block * groups) {
      const std::int64_t mine = item + warp.rank() / s.lanes;
      const bool is_row = mine < last;
      const Offset begin = is_row ? ctx.load_constant(offsets + mine) : Offset{0};
      const Offset end = is_row ? ctx.load_constant(offsets + mine + 1) : Offset{0};
      const bool is_wide = s.kind != step_kind::serial && end - begin > Tuning::block_row;
      if (is_wide && rank == 0) {
        const auto bit = static_cast<std::uint32_t>(mine - first);
        ctx.atomic_add(&shared.wide_rows, 1u);
        ctx.atomic_add(&shared.wide[bit / 32], 1u << bit % 32);
      }
      for (std::int64_t rhs = 0; rhs < system.x.columns; rhs += Columns) {
        const gathered row{p.system, shared.start.half, rhs};
        array_of<Scalar, Columns> sums = {};
        row.sum(ctx, warp, begin, is_wide ? begin : end, s.lanes, Tuning::shared_row, sums);
        for (int k = 0; k < Columns; ++k) {
          if (is_row && !is_wide && rank == k % s.lanes && rhs + k < system.x.columns) {
            finish_row(ctx, shared, p, system, mine, rhs + k, sums[k]);
          }
        }
      }
    }
    if (s.kind != step_kind::serial) {
      ctx.barrier();
      if (shared.wide_rows > 0) {
        take_wide_rows(ctx, shared, p, system, first, last);
      }
    }
  }

  /// Takes the rows in `wide` with all threads: each warp adds its share, the first threads add these.
  template <class Context>
  SPTRSV_DEVICE static void take_wide_rows(Context& ctx, shared_storage& shared, const params& p,
                                           const rows& system, std::int64_t first, std::int64_t last) {
    const Offset* const offsets = p.system.offsets + shared.work.offsets;
    const auto warp = ctx.template group<32>();
    for (int word = 0; 32 * word < last - first; ++word) {
      for (std::uint32_t left = shared.wide[word]; left != 0; left &= left - 1) {
        const std::int64_t mine = first + 32 * word + simt::lowest_bit(left);
        const Offset begin = ctx.load_constant(offsets + mine);
        const Offset end = ctx.load_constant(offsets + mine + 1);
        for (std::int64_t rhs = 0; rhs < system.x.columns; rhs += Columns) {
          const gathered row{p.system, shared.start.half, rhs};
          array_of<Scalar, Columns> sums = {};
          row.add(ctx, begin, end, ctx.thread_rank(), block_threads, sums);
          for (int k = 0; k < Columns; ++k) {
            const Scalar part = simt::reduce(warp, sums[k], 32, simt::plus{});
            if (warp.rank() == 0) {
              shared.parts[warp.index()][k] = part;
            }
          }
          ctx.barrier();
          const int k = ctx.thread_rank();
          if (k < Columns && rhs + k < system.x.columns) {
            Scalar sum = shared.parts[0][k];
            for (int w = 1; w < warps_per_block; ++w) {
              sum = sum + shared.parts[w][k];
            }
            finish_row(ctx, shared, p, system, mine, rhs + k, sum);
          }
          ctx.barrier();
        }
      }
    }
  }

  /// Uses the sum of a row's products: in a square adds it to the row's sum, in a triangle solves the row.
  template <class Context>
  SPTRSV_DEVICE static void finish_row(Context& ctx, const shared_storage& shared, const params& p,
                                       const rows& system, std::int64_t item, std::int64_t rhs, Scalar sum) {
    if (shared.work.kind == step_kind::square) {
      const std::int64_t numbers = shared.work.numbers;
      const std::int64_t row = numbers < 0 ? item : load_index(ctx, p.numbers + numbers + item);
      Scalar* const known = p.sums + rhs * p.system.size + row;
      ctx.store(known, ctx.load(known) + sum);
    } else {
      const typename rows::row r = system.open(ctx, item);
      system.finish(ctx, r, shared.start.half, rhs, system.load_b(ctx, r, rhs), sum);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::block
