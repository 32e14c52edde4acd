// The kernel of sync_free_fused: one warp solves 32 rows or one row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/row_wise/fused_rows.hpp"

namespace sptrsv::detail::sync_free_fused {

/// Says at which solve indices the rows of a warp start, by the average length of 32 consecutive rows.
template <class Offset>
struct starts_by_average {
  const Offset* row_offsets;  ///< by solve index, size + 1
  std::int64_t size;
  /// Smallest average number of entries for which each row gets one warp.
  std::int64_t entries_for_a_warp;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    return row_wise::starts_by_average(ctx, row_offsets, 0, size, solve_index, entries_for_a_warp);
  }
};

/// One warp solves either 32 consecutive short rows, one lane per row, or one long row (YuenyeungSpTRSV:
/// Zhang, Su, Liu et al., TPDS 2021). One sweep over the rows solves `Columns` right-hand sides.
///
///   1. Draw a ticket per block: warp w takes task ticket * warps_per_block + w.
///   2. Load the task, the range of the warp's rows. The analysis found it by the average row length.
///   3. Solve the rows: 32 rows as in papers/row_wise/lane_rows.hpp, one row as in
///   papers/row_wise/tile_rows.hpp.
///   4. Reset the components of these rows in the other half of the double buffer to pending.
///
/// Progress: a row waits for rows of earlier tasks, whose blocks have started, and, among 32 short rows, for
/// rows of its own warp, which no lane blocks.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using system_params = row_wise::system_params<Scalar, Index, Offset>;
  using rows = row_wise::fused_rows<entries_at_once, Columns, system_params>;
  using shared_storage = block_start;
  struct params {
    system_params system;
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

}  // namespace sptrsv::detail::sync_free_fused
