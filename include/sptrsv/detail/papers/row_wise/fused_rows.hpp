// SPDX-License-Identifier: Apache-2.0
// One warp solves either 32 consecutive rows with one lane per row, or one row with 32 lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/row_wise/lane_rows.hpp"
#include "sptrsv/detail/papers/row_wise/tile_rows.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// Says at which solve indices a warp's rows start. The rows [begin, end) are divided into groups of 32: a
/// group with at least `entries_for_a_warp` entries per row on average gets one warp per row, another group
/// gets one warp for all its rows.
template <class Context, class Offset>
SPTRSV_DEVICE bool starts_task(Context& ctx, const Offset* row_offsets, std::int64_t begin, std::int64_t end,
                               std::int64_t solve_index, std::int64_t entries_for_a_warp) {
  const std::int64_t first = begin + (solve_index - begin) / 32 * 32;
  const std::int64_t last = end - first > 32 ? first + 32 : end;
  const auto entries = static_cast<std::int64_t>(ctx.load_constant(row_offsets + last) -
                                                 ctx.load_constant(row_offsets + first));
  return solve_index == first || entries >= entries_for_a_warp * (last - first);
}

/// Says the same where all rows are divided.
template <class Offset>
struct starts_by_average {
  const Offset* row_offsets;  ///< by solve index, size + 1
  std::int64_t size;
  std::int64_t entries_for_a_warp;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    return starts_task(ctx, row_offsets, 0, size, solve_index, entries_for_a_warp);
  }
};

/// Solves the rows of one warp. One sweep over the rows solves `Columns` right-hand sides.
template <int Entries, int Columns, class System>
struct fused_rows {
  using by_lanes = lane_rows<Entries, Columns, System>;
  using by_warp = tile_rows<Entries, Columns, System>;

  /// Solves the rows [first_solve_index, end_solve_index), at least one, and resets their components in the
  /// other buffer to pending.
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

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
