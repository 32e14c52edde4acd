// SPDX-License-Identifier: Apache-2.0
// The kernel and the engine of sync_free_column: the solving stage of Algorithm 2 of Liu, Li, Hogg, Duff and
// Vinter, A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves, Euro-Par 2016. Arrays have
// the paper's names where it names them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/sync/counted_unknowns.hpp"
#include "sptrsv/policy/sync_free_column.hpp"

namespace sptrsv::SPTRSV_ABI::detail::sync_free_column {

/// The columns in the order of substitution. The buffers are d_in_degree and d_left_sum.
template <class Scalar, class Index, class Offset>
struct column_system : paper_system<Scalar, Index, Offset, counted_unknowns<Scalar, Index>> {
  const Index* in_degree;  ///< entries of each row, by substitution index
  /// The part of in_degree from columns of the same block; null if all updates go to global memory.
  const Index* in_degree_inside;
};

/// One warp solves one component and scatters its column. One sweep over the column solves `Columns`
/// right-hand sides; further right-hand sides take further sweeps.
///
/// Algorithm 2, lines 8 to 26, per warp:
///   1. Draw a ticket per block (ticket * columns_per_block is the block's first component), so blocks take
///      components in the order of substitution (line 10).
///   2. Load what does not depend on x: the first entries of the column, the pivot, b.
///   3. Wait until as many columns of other blocks have counted as the row has entries there, then until the
///      columns of this block have counted in shared memory (lines 11 to 13).
///   4. x = (alpha b - d_left_sum - s_left_sum) / pivot (line 14); lane k does so for right-hand side k.
///   5. Add value * x to the sum of each row that the column has an entry in: s_left_sum for a row of this
///      block, d_left_sum for another row (lines 15, 18, 21). One lane takes one entry.
///   6. Fence, then count for these rows (lines 19, 22).
///   7. Set the row's counter and sum back to zero for the next solve.
///
/// Progress: a component waits only for components with smaller substitution indices. They belong to this
/// block or to blocks with smaller tickets, which have started.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int columns_per_block = block_threads / 32;
  using params = column_system<Scalar, Index, Offset>;
  using entries = prefetched_entries<Scalar, Index, Offset, 32, Tuning::entries_ahead>;

  struct shared_storage {
    block_ticket start;
    array_of<Index, columns_per_block> in_degree;  ///< s_in_degree, by warp: counts up from 0
    /// s_left_sum, by warp and right-hand side of the sweep.
    array_of<Scalar, columns_per_block, Columns> left_sum;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    if (ctx.thread_rank() == 0) {
      take_block(ctx, shared.start, p.buffers.state, ctx.grid_blocks());
    }
    if (ctx.thread_rank() < columns_per_block) {
      shared.in_degree[ctx.thread_rank()] = 0;
      for (int k = 0; k < Columns; ++k) {
        shared.left_sum[ctx.thread_rank()][k] = Scalar{};
      }
    }
    ctx.barrier();
    const std::int64_t first_of_block = shared.start.block * columns_per_block;
    if (first_of_block + warp.index() < p.size) {  // line 10: one warp per component
      solve_component(ctx, warp, shared, p, first_of_block);
    }
  }

 private:
  /// Solves one component and adds its products to the sums of others. One function, long as it is, so that
  /// the lines of the paper's algorithm stand in their order.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_component(Context& ctx, const Warp& warp, shared_storage& shared,
                                            const params& p, std::int64_t first_of_block) {
    const std::int64_t i = first_of_block + warp.index();
    const entries column(ctx, p.indices, p.values, ctx.load_constant(p.offsets + i),
                         ctx.load_constant(p.offsets + i + 1), warp.rank());
    const pivot_divisor<Scalar> pivot(p.pivot(ctx, i));
    const bool uses_shared = p.in_degree_inside != nullptr && p.x.columns <= Columns;
    const Index inside = uses_shared ? ctx.load_constant(p.in_degree_inside + i) : Index{0};
    const Index outside = ctx.load_constant(p.in_degree + i) - inside;
    const std::int64_t row = p.mirrored(i);
    // Rows ascend, and a block has at most 32: only a lane's first entry can lie in a row of this block.
    const bool near =
        uses_shared && column.has(0) && column.first_index() - first_of_block < columns_per_block;

    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k finishes right-hand side first + k. Its b is loaded before the wait.
      const std::int64_t mine = first + warp.rank();
      const bool finishes = warp.rank() < Columns && mine < p.x.columns;
      Scalar x = finishes ? p.alpha * ctx.load(p.b.data + row * p.b.row_stride + mine * p.b.column_stride)
                          : Scalar{};
      // Lines 11 to 14. The paper compares one in-degree with the sum of both counters. Here the warp waits
      // for the columns of other blocks first, so the hand-off inside the block needs no load from global
      // memory.
      if (first == 0) {
        p.buffers.wait(ctx, i, outside);
      }
      if (finishes && outside > 0) {
        x = x - p.buffers.sum(ctx, i, mine);
        p.buffers.restore_sum(ctx, i, mine);
      }
      if (first == 0) {
        wait_inside(ctx, shared, warp.index(), inside);
        // All lanes have seen the counter and go on together: shuffles of a diverged warp are slow.
        warp.sync();
        if (warp.rank() == 0) {
          p.buffers.restore_count(ctx, i, outside);
        }
      }
      if (finishes) {
        if (inside > 0) {
          x = x - load_words_relaxed<true>(ctx, &shared.left_sum[warp.index()][warp.rank()]);
        }
        x = pivot(x);
      }
      array_of<Scalar, Columns> solved;
      for (int k = 0; k < Columns; ++k) {
        solved[k] = warp.shuffle(x, k);
      }
      if (near) {
        update_near(ctx, shared, column, static_cast<int>(column.first_index() - first_of_block), solved);
      }
      column.for_each(ctx, near ? 1 : 0, [&](Index rid, Scalar value) {  // lines 15, 16 and 21
        for (int k = 0; k < Columns; ++k) {
          if (first + k < p.x.columns) {
            add_words(ctx, p.buffers.value(rid, first + k), value * solved[k]);
          }
        }
      });
      if (finishes) {
        p.store_x(ctx, row, i, shared.start.half, mine, x);
      }
    }
    if (column.has(near ? 1 : 0)) {
      ctx.fence_release();  // the sums are visible before a counter says so
    }
    column.for_each(ctx, near ? 1 : 0,
                    [&](Index rid, Scalar) { ctx.reduce_add(p.buffers.counts + rid, Index{1}); });  // line 22
  }

  template <class Context>
  SPTRSV_DEVICE static void wait_inside(Context& ctx, shared_storage& shared, int component, Index inside) {
    if (inside > 0) {
      const Index* const count = &shared.in_degree[component];
      while (ctx.load_shared(count) != inside) {
        ctx.pause(count);
      }
      ctx.fence_block();
    }
  }

  /// Lines 17 to 19 for the lane's first entry, which lies in row `rid` of the block.
  template <class Context>
  SPTRSV_DEVICE static void update_near(Context& ctx, shared_storage& shared, const entries& column, int rid,
                                        const array_of<Scalar, Columns>& solved) {
    for (int k = 0; k < Columns; ++k) {
      add_words(ctx, &shared.left_sum[rid][k], column.first_value() * solved[k]);
    }
    ctx.fence_block();
    ctx.reduce_add(&shared.in_degree[rid], Index{1});
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::sync_free_column

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_column<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>> {
  using base = paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>>;
  template <int Columns>
  using agent = sync_free_column::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_column<Tuning>&, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource) {
    device_columns<Index, Offset> columns = build_columns_on_device(a, form, on, resource);
    in_degrees_ =
        count_in_degrees(columns, Tuning::shared_updates ? agent<1>::columns_per_block : 0, on, resource);
    this->take_columns(std::move(columns));
    this->triangle_.longest_row = in_degrees_.longest;
    this->allocate_values(on, resource);
    this->blocks_ = simt::block_count(a.size, agent<1>::columns_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.unknowns(), on,
                                                      in_degrees_.total.data(), in_degrees_.inside.data());
  }

  void describe(solver_info& info, const Executor& on) const {
    this->describe_system(info, on);
    info.kernels = {kernel_info{this->launch_text("sync_free_column", Tuning::block_threads) +
                                "one warp per column, updates through " +
                                (Tuning::shared_updates ? "shared and global memory" : "global memory")}};
    info.bit_reproducible = false;
    info.solver_bytes += in_degrees_.bytes();
  }

 private:
  in_degrees<Index> in_degrees_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
