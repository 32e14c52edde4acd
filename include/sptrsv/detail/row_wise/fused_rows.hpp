// A warp solves 32 neighbouring rows, a lane each, or one row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/lane_rows.hpp"
#include "sptrsv/detail/row_wise/tile_rows.hpp"

namespace sptrsv::detail::row_wise {

/// Whether a warp's rows start at `place`, where rows [begin, end) are to be shared: 32 neighbours get a warp
/// each if they have at least `entries_for_a_warp` entries on average, and one warp if they have fewer.
template <class Context, class Offset>
SPTRSV_DEVICE bool starts_by_average(Context& ctx, const Offset* row_offsets, std::int64_t begin,
                                     std::int64_t end, std::int64_t place, std::int64_t entries_for_a_warp) {
  const std::int64_t first = begin + (place - begin) / 32 * 32;
  const std::int64_t last = end - first > 32 ? first + 32 : end;
  const auto entries = static_cast<std::int64_t>(ctx.load_constant(row_offsets + last) -
                                                 ctx.load_constant(row_offsets + first));
  return place == first || entries >= entries_for_a_warp * (last - first);
}

/// `Columns` right-hand sides are solved in one sweep over the rows, further ones in further sweeps.
template <int Entries, int Columns, class System>
struct fused_rows {
  using by_lanes = lane_rows<Entries, Columns, System>;
  using by_warp = tile_rows<Entries, Columns, System>;

  /// Solves the rows [first_place, end_place), at least one, and makes them pending on the other page.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const System& p, const block_start& start,
                                  std::int64_t first_place, std::int64_t end_place) {
    const int lanes = end_place - first_place > 1 ? 1 : 32;
    const std::int64_t place = first_place + warp.rank() / lanes;
    const bool present = place < end_place;
    if (lanes == 1) {
      by_lanes::solve(ctx, warp, p, start.page, present ? place : first_place, present, 0);
    } else {
      by_warp::solve(ctx, warp, p, start.page, first_place, true, 32);
    }
    if (present) {
      p.pages.reset(ctx, start.page ^ 1u, place, start.columns_to_reset, warp.rank() % lanes, lanes);
    }
  }
};

}  // namespace sptrsv::detail::row_wise
