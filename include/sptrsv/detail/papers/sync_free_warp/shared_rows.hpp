// SPDX-License-Identifier: Apache-2.0
// Rows of a level of similar length share a warp: which rows, and how the warp solves them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/row_wise/tile_rows.hpp"

namespace sptrsv::detail::sync_free_warp {

/// Returns log2 of the lanes for a row of `length` entries: 0 (one lane) to 5 (a warp).
SPTRSV_HOST_DEVICE int lanes_exponent(std::int64_t length, int entries_per_lane) {
  int exponent = 0;
  while (exponent < 5 && (static_cast<std::int64_t>(entries_per_lane) << exponent) < length) {
    ++exponent;
  }
  return exponent;
}

/// Sort key: rows of many lanes come before rows of few. The key is 5 minus the exponent.
struct key_of_lanes {
  static constexpr int bits = 3;
  int entries_per_lane;

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    return static_cast<std::uint64_t>(5 - lanes_exponent(length, entries_per_lane));
  }
};

/// Says where a warp's rows start: a warp takes as many consecutive rows of one key as its lanes serve.
struct starts_by_length {
  /// By solve index, ascending: (level << key_of_lanes::bits) | key_of_lanes.
  const std::uint64_t* keys;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::uint64_t key = ctx.load_constant(keys + solve_index);
    std::int64_t first = 0;  // the first solve index with this key lies in [first, last]
    std::int64_t last = solve_index;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (ctx.load_constant(keys + middle) < key) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    const int rows_per_warp = 1 << static_cast<int>(key & ((1u << key_of_lanes::bits) - 1u));
    return (solve_index - first) % rows_per_warp == 0;
  }
};

/// Solves the rows of a warp with 32 / rows lanes each (Dufrechou and Ezzatti 2020), with the steps of
/// tile_rows. Rows of one level do not depend on one another, so the lanes of a row may wait in a loop of
/// their own.
template <int Entries, int Columns, class System>
struct shared_rows {
  /// Solves the rows [first_solve_index, end_solve_index), at least one, and resets their components in the
  /// other buffer to pending.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const System& p, const block_start& start,
                                  std::int64_t first_solve_index, std::int64_t end_solve_index) {
    const int lanes = 32 / simt::ceil_power_of_two(static_cast<int>(end_solve_index - first_solve_index));
    const std::int64_t solve_index = first_solve_index + warp.rank() / lanes;
    const bool present = solve_index < end_solve_index;
    row_wise::tile_rows<Entries, Columns, System>::solve(
        ctx, warp, p, start.half, present ? solve_index : first_solve_index, present, lanes);
    if (present) {
      p.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank() % lanes, lanes);
    }
  }
};

}  // namespace sptrsv::detail::sync_free_warp
