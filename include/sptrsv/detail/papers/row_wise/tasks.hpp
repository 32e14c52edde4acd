// SPDX-License-Identifier: Apache-2.0
// Rows that the analysis has divided into tasks of warps: the kernel; the tasks with either 32 consecutive
// rows, one lane for each, or one row for all 32 lanes; and the gates of warps.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/papers/row_wise/rows.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// One warp solves the rows of one task, by Rows<Entries, Columns, system>::solve. One sweep over the rows
/// solves `Columns` right-hand sides.
///
///   1. Draw a ticket per block: warp w takes task ticket * warps_per_block + w.
///   2. Load the task, the range of the warp's rows, which the analysis has found.
///   3. Solve the rows, and reset their components in the other half of the double buffer to pending.
///
/// Progress: a row waits for rows of earlier tasks, whose blocks have started, and for rows of its own warp
/// only if no lane of Rows blocks the others.
template <class Tuning, class Scalar, class Index, class Offset, int Columns,
          template <int, int, class> class Rows>
struct task_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_block = block_threads / 32;
  using rows = Rows<Columns == 1 ? Tuning::entries_at_once : 1, Columns, paper_system<Scalar, Index, Offset>>;
  using shared_storage = block_start;
  struct params {
    paper_system<Scalar, Index, Offset> system;
    std::int64_t warps;              ///< number of warps that have rows
    const Index* first_solve_index;  ///< solve index of each warp's first row; warps + 1 elements
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto warp = ctx.template group<32>();
    start_block(ctx, start, p.system.buffers.state, p.system.x.columns);
    const std::int64_t number = start.block * warps_per_block + warp.index();
    if (number < p.warps) {
      rows::solve(ctx, warp, p.system, start, ctx.load_constant(p.first_solve_index + number),
                  ctx.load_constant(p.first_solve_index + number + 1));
    }
  }
};

/// Bounds of blocks of rows in device memory. They are not read if there is one block.
struct device_bounds {
  const std::int64_t* bounds;  ///< by block, blocks + 1
  std::int64_t blocks;
  std::int64_t size;  ///< number of rows

  template <class Context>
  SPTRSV_DEVICE std::int64_t block_of(Context& ctx, std::int64_t row) const {
    return triangle_kernels::major_of(ctx, bounds, blocks, row);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t begin_of(Context& ctx, std::int64_t block) const {
    return block == 0 ? 0 : load_index(ctx, bounds + block);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t end_of(Context& ctx, std::int64_t block) const {
    return block == blocks - 1 ? size : load_index(ctx, bounds + block + 1);
  }
};

/// Says at which solve indices a warp's rows start. The rows of a block are divided into groups of 32: a
/// group with at least `entries_for_a_warp` entries per row on average gets one warp per row, another group
/// gets one warp for all its rows.
template <class Offset>
struct starts_task {
  const Offset* row_offsets;  ///< by solve index, size + 1
  device_bounds blocks;
  std::int64_t entries_for_a_warp;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int64_t block = blocks.block_of(ctx, solve_index);
    const std::int64_t begin = blocks.begin_of(ctx, block);
    const std::int64_t end = blocks.end_of(ctx, block);
    const std::int64_t first = begin + (solve_index - begin) / 32 * 32;
    const std::int64_t last = end - first > 32 ? first + 32 : end;
    const auto entries = static_cast<std::int64_t>(ctx.load_constant(row_offsets + last) -
                                                   ctx.load_constant(row_offsets + first));
    return solve_index == first || entries >= entries_for_a_warp * (last - first);
  }
};

/// Solves the rows of one warp. One sweep over the rows solves `Columns` right-hand sides.
template <int Entries, int Columns, class System>
struct fused_rows {
  using by_lanes = lane_rows<Entries, Columns, System>;
  using by_warp = tile_rows<Entries, Columns, System>;

  /// Solves the rows [first_solve_index, end_solve_index), at least one, and resets the other buffer.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const System& p, const block_start& start,
                                  std::int64_t first_solve_index, std::int64_t end_solve_index) {
    const int lanes = end_solve_index - first_solve_index > 1 ? 1 : 32;
    const std::int64_t solve_index = first_solve_index + warp.rank() / lanes;
    const bool present = solve_index < end_solve_index;
    if (lanes == 1) {
      by_lanes::solve(ctx, warp, p, start.half, present ? solve_index : first_solve_index, present, 0);
    } else {
      by_warp::solve(ctx, warp, p, start.half, first_solve_index, true, 32);
    }
    if (present) {
      p.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank() % lanes, lanes);
    }
  }
};

/// Gates. A gate is one component some levels before the rows of a warp. The warp polls its gate alone before
/// it polls the components that it needs. Without gates thousands of warps poll components that are far from
/// ready and slow down the memory accesses of the warps that could go on.
///
/// Finds the gate of each warp: a solve index `distance` levels before the level of the warp's first row, at
/// about the same relative offset within its level. The gate is -1 if there is no such level.
template <class Index>
struct find_gates {
  const Index* level_offsets;  ///< levels + 1 solve indices: where each level begins
  std::int64_t levels;
  int distance;
  /// Solve index of each warp's first row. Null: warp w begins with row 32 w.
  const Index* first_solve_index;
  Index* gates;  ///< output by warp: the solve index of the gate, or -1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t warp) const {
    const std::int64_t solve_index =
        first_solve_index == nullptr ? 32 * warp : load_index(ctx, first_solve_index + warp);
    const std::int64_t level = triangle_kernels::major_of(ctx, level_offsets, levels, solve_index);
    if (level < distance) {
      ctx.store(gates + warp, Index{-1});
      return;
    }
    const auto begin_of = [&](std::int64_t l) { return load_index(ctx, level_offsets + l); };
    const std::int64_t begin = begin_of(level);
    const std::int64_t gate_begin = begin_of(level - distance);
    const std::int64_t gate_size = begin_of(level - distance + 1) - gate_begin;
    ctx.store(gates + warp, static_cast<Index>(gate_begin + (solve_index - begin) * gate_size /
                                                                (begin_of(level + 1) - begin)));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
