// SPDX-License-Identifier: Apache-2.0
// One group of lanes solves one row. A warp solves one row, or several rows that do not depend on one
// another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/papers/row_wise/row_wise_batch.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// One sweep over the rows solves `Columns` right-hand sides; a lane polls `Entries` entries together.
///
/// Per row and sweep:
///   1. Lane k of the row loads the right-hand side first + k.
///   2. The lanes share the row's entries round-robin. Each lane polls its components and adds its products.
///   3. The lanes add their sums in a butterfly of fixed order.
///   4. Lane k divides by the pivot and publishes right-hand side first + k.
///
/// A lane waits in a loop of its own (step 2). The rows of a warp must therefore not depend on one another.
template <int Entries, int Columns, class System>
struct tile_rows {
  using Scalar = typename System::scalar;
  using Offset = typename System::offset;
  using params = System;
  using row = typename params::row;

  /// Solves the row at `solve_index`, if `present`, together with the other lanes of the aligned group of
  /// `lanes` lanes. `lanes` is a power of two and the same in the whole warp; a group without a row passes
  /// the solve index of any row. All lanes of the warp call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
                                  std::int64_t solve_index, bool present, int lanes) {
    const int rank = warp.rank() & (lanes - 1);
    row r = p.open(ctx, solve_index);
    r.end = present ? r.end : r.begin;
    const bool is_short = lanes == 32 && r.end - r.begin <= 32;  // the row is the only one of its warp
    // With several right-hand sides a lane without entries can be the one that finishes and needs the sum,
    // too.
    const int summed_lanes =
        is_short && Columns == 1 ? simt::ceil_power_of_two(static_cast<int>(r.end - r.begin)) : lanes;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k of the row finishes right-hand side first + k. Its b is loaded before the wait.
      const auto finishes = [&](int k) {
        return present && rank == (k & (lanes - 1)) && first + k < p.x.columns;
      };
      array_of<Scalar, Columns> b;
      array_of<Scalar, Columns> sums = {};
      for (int k = 0; k < Columns; ++k) {
        b[k] = finishes(k) ? p.load_b(ctx, r, first + k) : Scalar{};
      }
      if (is_short) {
        add_entries<1>(ctx, p, half, r, rank, lanes, first, sums);
      } else {
        add_entries<Entries>(ctx, p, half, r, rank, lanes, first, sums);
      }
      // Lanes that waited for different components go on together: shuffles of a diverged warp are slow.
      warp.sync();
      for (int k = 0; k < Columns; ++k) {
        const Scalar sum = simt::reduce(warp, sums[k], summed_lanes, simt::plus{});
        if (finishes(k)) {
          p.finish(ctx, r, half, first + k, b[k], sum);
        }
      }
    }
  }

 private:
  /// Adds a_e x_e to sums[k] for this lane's entries of the row.
  template <int Count, class Context>
  SPTRSV_DEVICE static void add_entries(Context& ctx, const params& p, std::uint32_t half, const row& r,
                                        int rank, int lanes, std::int64_t first,
                                        array_of<Scalar, Columns>& sums) {
    batch<Count, Columns, System> entries(p, half, first);
    for (Offset e = r.begin + static_cast<Offset>(rank); e < r.end; e += static_cast<Offset>(Count * lanes)) {
      entries.take(ctx, e, r.end, static_cast<Offset>(lanes), entries.everything());
      entries.wait(ctx);
      entries.add_to(sums);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
