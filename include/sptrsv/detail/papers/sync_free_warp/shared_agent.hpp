// The kernel of sync_free_warp in the form in which rows of one level share a warp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/row_wise/tile_rows.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail::sync_free_warp {

/// One warp solves up to 32 rows of one level with 32 / rows lanes each (Dufrechou and Ezzatti 2020). One
/// sweep over the rows solves `Columns` right-hand sides. The steps are the ones of agent.hpp, with the lanes
/// of a row in place of the warp (papers/row_wise/tile_rows.hpp). Rows of one level do not depend on one
/// another, so the lanes of a row may wait in a loop of their own.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct shared_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using rows = row_wise::tile_rows<entries_at_once, Columns, row_wise::system_params<Scalar, Index, Offset>>;
  using shared_storage = block_start;
  struct params {
    row_wise::system_params<Scalar, Index, Offset> system;
    std::int64_t warps;              ///< number of warps that have rows
    const Index* first_solve_index;  ///< solve index of each warp's first row; warps + 1 elements
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto warp = ctx.template group<32>();
    start_block(ctx, start, p.system.buffers.state, p.system.x.columns);
    const std::int64_t number = start.block * warps_per_block + warp.index();
    if (number >= p.warps) {
      return;
    }
    const std::int64_t first_solve_index = ctx.load_constant(p.first_solve_index + number);
    const std::int64_t end_solve_index = ctx.load_constant(p.first_solve_index + number + 1);
    const int lanes = 32 / simt::ceil_power_of_two(static_cast<int>(end_solve_index - first_solve_index));
    const std::int64_t solve_index = first_solve_index + warp.rank() / lanes;
    const bool present = solve_index < end_solve_index;
    rows::solve(ctx, warp, p.system, start.half, present ? solve_index : first_solve_index, present, lanes);
    if (present) {
      p.system.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank() % lanes,
                             lanes);
    }
  }
};

}  // namespace sptrsv::detail::sync_free_warp
