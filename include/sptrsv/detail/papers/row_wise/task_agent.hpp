// SPDX-License-Identifier: Apache-2.0
// The kernel of row-wise policies whose analysis has divided the rows into tasks of warps.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/paper_system.hpp"

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

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
