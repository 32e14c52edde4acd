// The kernel of the block algorithms: the steps of a solve, from the first to the last, in one launch.
//
// A thread block draws a ticket for one task; tasks are numbered in the order of the steps. Before its first
// look at x it waits until all tasks of the step before have been counted. So it waits for blocks with
// smaller tickets only, and a step may read what all steps before it have written as plain memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/block/gather.hpp"
#include "sptrsv/detail/block/plan.hpp"
#include "sptrsv/detail/row_wise/fused_rows.hpp"

namespace sptrsv::detail::block {

/// The system, and what squares have summed up for its rows.
template <class Scalar, class Index, class Offset>
struct block_params {
  row_wise::system_params<Scalar, Index, Offset> whole;  ///< offsets of the rows of all parts
  Scalar* sums;  ///< column-major, by place; null: there are no squares
};

/// Rows of a triangle. What the squares have summed up for a row is kept beside x and set back to zero by the
/// one who takes it: every solve finds zeros.
template <class Scalar, class Index, class Offset>
struct triangle_rows {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;
  using flag = value_flag<Scalar>;
  using row = typename row_wise::system_params<Scalar, Index, Offset>::row;

  const block_params<Scalar, Index, Offset>& p;
  std::int64_t offsets;  ///< of row 0, among all
  bool has_sums;
  const double_buffer<Scalar>& buffers = p.whole.buffers;
  const Index* columns = p.whole.columns;
  const Scalar* values = p.whole.values;
  const dense_view<Scalar>& x = p.whole.x;

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return p.whole.column(ctx, e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return p.whole.value(ctx, e);
  }

  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    return p.whole.open(ctx, solve_index, p.whole.row_offsets + offsets + solve_index);
  }

  /// alpha b less what the squares have summed up; once for each row and right-hand side.
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    const Scalar b = p.whole.alpha * p.whole.load_b(ctx, r, column);
    if (!has_sums) {
      return b;
    }
    Scalar* const sum = p.sums + column * p.whole.size + r.solve_index;
    const Scalar known = ctx.load(sum);
    ctx.store(sum, Scalar{});
    return b - known;
  }

  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar remainder, Scalar sum) const {
    p.whole.publish(ctx, r, half, column, r.pivot(remainder - sum));
  }
};

/// `Columns` right-hand sides are solved in one sweep over a row, further ones in further sweeps.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using rows = triangle_rows<Scalar, Index, Offset>;
  using polled_rows = row_wise::fused_rows<entries_at_once, Columns, rows>;
  using gathered = gathered_row<entries_at_once, Columns, Scalar, Index, Offset>;
  /// For the rows of a task, a bit each.
  static constexpr int mask_words = block_threads * Tuning::max_rounds / 32;
  static_assert(mask_words <= block_threads);
  struct shared_storage {
    block_start start;
    std::int64_t number;  ///< of the step
    step work;
    std::uint32_t wide_rows;         ///< of the task, which all of the block's threads share
    std::uint32_t wide[mask_words];  ///< which they are, a bit each
    Scalar parts[warps_per_block][Columns];
  };
  struct params {
    block_params<Scalar, Index, Offset> system;
    const step* steps;
    const std::int32_t* step_of_task;
    std::int64_t last_step;
    const Index* numbers;                    ///< of the rows that are stored without the empty ones
    const Index* first_solve_index_of_warp;  ///< of the polled rows, and the end
    const Index* gates;            ///< by warp: a place some levels earlier, -1 if none; null: no gates
    const Index* level_offsets;    ///< of the levels of all triangles
    unsigned long long* finished;  ///< by step: tasks that have ended, of all solves
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    start_block(ctx, shared.start, p.system.whole.buffers.state, p.system.whole.x.columns);
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
    const rows system{p.system, s.offsets, s.has_sums};
    if (s.kind == step_kind::polled) {
      const auto warp = ctx.template group<32>();
      const std::int64_t number = first + warp.index();
      if (number < last) {
        wait_for_gate(ctx, p, shared.start.half, number);
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
      // The bounds of the next level are on the way while one is solved.
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

  /// A component of the first right-hand side, in this triangle or in one that has been solved.
  template <class Context>
  SPTRSV_DEVICE static void wait_for_gate(Context& ctx, const params& p, std::uint32_t half,
                                          std::int64_t warp) {
    using flag = value_flag<Scalar>;
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + warp);
    if (gate >= 0) {
      simt::wait_until(ctx, p.system.whole.buffers.component(half, 0, static_cast<std::int64_t>(gate)),
                       [](typename flag::word w) { return w != flag::pending; });
    }
  }

  /// The rows [first, last) of a square or of a level, or with the numbers of which these are the numbers.
  template <class Context>
  SPTRSV_DEVICE static void take_rows(Context& ctx, shared_storage& shared, const params& p,
                                      const rows& system, std::int64_t first, std::int64_t last) {
    const step& s = shared.work;
    const Offset* const offsets = p.system.whole.row_offsets + s.offsets;
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
        const gathered row{system.columns,    system.values, system.buffers,
                           shared.start.half, rhs,           system.x.columns};
        Scalar sums[Columns] = {};
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

  /// One after the other, by all threads of the block.
  template <class Context>
  SPTRSV_DEVICE static void take_wide_rows(Context& ctx, shared_storage& shared, const params& p,
                                           const rows& system, std::int64_t first, std::int64_t last) {
    const Offset* const offsets = p.system.whole.row_offsets + shared.work.offsets;
    const auto warp = ctx.template group<32>();
    for (int word = 0; 32 * word < last - first; ++word) {
      for (std::uint32_t left = shared.wide[word]; left != 0; left &= left - 1) {
        const std::int64_t mine = first + 32 * word + simt::lowest_bit(left);
        const Offset begin = ctx.load_constant(offsets + mine);
        const Offset end = ctx.load_constant(offsets + mine + 1);
        for (std::int64_t rhs = 0; rhs < system.x.columns; rhs += Columns) {
          const gathered row{system.columns,    system.values, system.buffers,
                             shared.start.half, rhs,           system.x.columns};
          Scalar sums[Columns] = {};
          row.add(ctx, begin, end, ctx.thread_rank(), block_threads, sums);
          for (int k = 0; k < Columns; ++k) {
            const Scalar part = simt::tile_sum(warp, sums[k], 32);
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

  /// `sum`: of the products of the row, or of the row whose number is number `item`.
  template <class Context>
  SPTRSV_DEVICE static void finish_row(Context& ctx, const shared_storage& shared, const params& p,
                                       const rows& system, std::int64_t item, std::int64_t rhs, Scalar sum) {
    if (shared.work.kind == step_kind::square) {
      add_to_sum(ctx, p, shared.work.numbers, item, rhs, sum);
    } else {
      const typename rows::row r = system.open(ctx, item);
      system.finish(ctx, r, shared.start.half, rhs, system.load_b(ctx, r, rhs), sum);
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void add_to_sum(Context& ctx, const params& p, std::int64_t numbers, std::int64_t item,
                                       std::int64_t rhs, Scalar term) {
    const std::int64_t row =
        numbers < 0 ? item : static_cast<std::int64_t>(ctx.load_constant(p.numbers + numbers + item));
    Scalar* const sum = p.system.sums + rhs * p.system.whole.size + row;
    ctx.store(sum, ctx.load(sum) + term);
  }
};

}  // namespace sptrsv::detail::block
