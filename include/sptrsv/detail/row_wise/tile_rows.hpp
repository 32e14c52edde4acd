// Some lanes per row: a warp solves one row, or several that do not depend on one another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/batch.hpp"

namespace sptrsv::detail::row_wise {

/// `Columns` right-hand sides are solved in one sweep over the rows, further ones in further sweeps; a lane
/// polls `Entries` entries together.
template <int Entries, int Columns, class System>
struct tile_rows {
  using Scalar = typename System::scalar;
  using Offset = typename System::offset;
  using params = System;
  using row = typename params::row;

  /// This lane helps to solve the row at `place` (some row's place), if it is `present`, with the others of
  /// its aligned group of `lanes` lanes: a power of two, the same in the whole warp. All lanes call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
                                  std::int64_t solve_index, bool present, int lanes) {
    const int rank = warp.rank() & (lanes - 1);
    row r = p.open(ctx, solve_index);
    r.end = present ? r.end : r.begin;
    const bool is_short = lanes == 32 && r.end - r.begin <= 32;  // and the only one of its warp
    // With several right-hand sides lanes without entries need the sum, too.
    const int summed_lanes =
        is_short && Columns == 1 ? simt::ceil_power_of_two(static_cast<int>(r.end - r.begin)) : lanes;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k of the row finishes right-hand side first + k; its b is on the way while the row waits.
      const auto finishes = [&](int k) {
        return present && rank == (k & (lanes - 1)) && first + k < p.x.columns;
      };
      Scalar b[Columns];
      Scalar sums[Columns] = {};
      for (int k = 0; k < Columns; ++k) {
        b[k] = finishes(k) ? p.load_b(ctx, r, first + k) : Scalar{};
      }
      if (is_short) {
        add_entries<1>(ctx, p, half, r, rank, lanes, first, sums);
      } else {
        add_entries<Entries>(ctx, p, half, r, rank, lanes, first, sums);
      }
      warp.sync();  // lanes that waited for different values go on together: shuffles of a diverged warp are
                    // slow
      for (int k = 0; k < Columns; ++k) {
        const Scalar sum = simt::tile_sum(warp, sums[k], summed_lanes);
        if (finishes(k)) {
          p.finish(ctx, r, half, first + k, b[k], sum);
        }
      }
    }
  }

 private:
  /// sums[k] += a_e x_k for this lane's entries of the row.
  template <int Count, class Context>
  SPTRSV_DEVICE static void add_entries(Context& ctx, const params& p, std::uint32_t half, const row& r,
                                        int rank, int lanes, std::int64_t first, Scalar (&sums)[Columns]) {
    batch<Count, Columns, System> entries(p, half, first);
    for (Offset e = r.begin + static_cast<Offset>(rank); e < r.end; e += static_cast<Offset>(Count * lanes)) {
      entries.take(ctx, e, r.end, static_cast<Offset>(lanes), entries.everything());
      entries.wait(ctx);
      entries.add_to(sums);
    }
  }
};

}  // namespace sptrsv::detail::row_wise
