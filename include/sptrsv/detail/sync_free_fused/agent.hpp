// The kernel of sync_free_fused: a warp solves 32 rows, or one.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/fused_rows.hpp"

namespace sptrsv::detail::sync_free_fused {

/// Per place: whether a warp's rows start there.
template <class Offset>
struct starts_by_average {
  const Offset* row_offsets;
  std::int64_t size;
  std::int64_t entries_for_a_warp;  ///< on average

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    return row_wise::starts_by_average(ctx, row_offsets, 0, size, solve_index, entries_for_a_warp);
  }
};

/// `Columns` right-hand sides are solved in one sweep over the rows, further ones in further sweeps.
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
    std::int64_t warps;
    const Index* first_solve_index;  ///< of each warp, and the end
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
