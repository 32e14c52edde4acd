// SPDX-License-Identifier: Apache-2.0
// The kernel of sync_free_warp: one warp solves one row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"

namespace sptrsv::detail::sync_free_warp {

/// One warp solves one row (Dufrechou and Ezzatti 2018). One sweep over the row solves `Columns` right-hand
/// sides. Per block:
///
///   1. Draw a ticket: warp w of the block takes row ticket * rows_per_block + w, in solve order.
///   2. Reset the row's component in the other half of the double buffer to pending (at the end, off the
///      critical path).
///
/// Per warp and sweep:
///   1. Lane k loads the right-hand side first + k. Its load overlaps the wait.
///   2. The lanes take the row's entries round-robin, 32 at a time, and poll the components of x that the
///      entries need. A component is its own flag (value_flag).
///   3. Each lane adds its products; the lanes add their sums in a butterfly of fixed order.
///   4. Lane k divides by the pivot and publishes component k; consumers see it by polling.
///
/// Progress: a row waits only for rows with smaller solve indices. They are in this block or in blocks with
/// smaller tickets, which have started.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int rows_per_block = block_threads / 32;
  using params = paper_system<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  static constexpr int entries_at_once = Tuning::entries_at_once;

  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto warp = ctx.template group<32>();
    start_block(ctx, start, p.buffers.state, p.x.columns);
    const std::int64_t solve_index = start.block * rows_per_block + warp.index();
    if (solve_index < p.size) {
      solve_row(ctx, warp, p, solve_index, start.half);
      p.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank(), 32);
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_row(Context& ctx, const Warp& warp, const params& p,
                                      std::int64_t solve_index, std::uint32_t half) {
    const typename params::row r = p.open(ctx, solve_index);
    const int summed_lanes =
        r.end - r.begin >= 32 ? 32 : simt::ceil_power_of_two(static_cast<int>(r.end - r.begin));
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k finishes right-hand side first + k. Its b is loaded before the wait.
      const std::int64_t mine = first + warp.rank();
      const bool finishes = warp.rank() < Columns && mine < p.x.columns;
      const Scalar b = finishes ? p.load_b(ctx, r, mine) : Scalar{};
      array_of<Scalar, Columns> sums = {};
      const Offset e = r.begin + static_cast<Offset>(warp.rank());
      if (r.end - r.begin <= 32) {
        add_short_row(ctx, warp, p, half, e, r.end, first, sums);
      } else {
        add_long_row(ctx, p, half, e, r.end, first, sums);
        // Lanes that waited for different components go on together: shuffles of a diverged warp are slow.
        warp.sync();
      }
      Scalar sum{};
      for (int k = 0; k < Columns; ++k) {
        const Scalar total = simt::reduce(warp, sums[k], Columns > 1 ? 32 : summed_lanes, simt::plus{});
        sum = warp.rank() == k ? total : sum;
      }
      if (finishes) {
        p.finish(ctx, r, half, mine, b, sum);
      }
    }
  }

  /// Adds a_e x_e to sums[k], at most one entry per lane. All lanes poll until no lane misses a component.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void add_short_row(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
                                          Offset e, Offset end, std::int64_t first,
                                          array_of<Scalar, Columns>& sums) {
    const bool present = e < end;
    const std::int64_t column = present ? ctx.load_constant(p.indices + e) : 0;
    const Scalar value = present ? ctx.load_constant(p.values + e) : Scalar{};
    stored_addresses<word, Columns> addresses;
    polled_batch<flag, Columns> components;
    for (int k = 0; k < Columns; ++k) {
      addresses.of[k] = component(p, half, first, k, column);
      present ? components.try_load(ctx, k, addresses(k)) : components.set_zero(k);
    }
    components.wait_together(ctx, warp, addresses);
    for (int k = 0; k < Columns; ++k) {
      sums[k] = sums[k] + value * components.value(k);
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void add_long_row(Context& ctx, const params& p, std::uint32_t half, Offset e,
                                         Offset end, std::int64_t first, array_of<Scalar, Columns>& sums) {
    for (; Columns == 1 && end - e > 32 * (entries_at_once - 1); e += 32 * entries_at_once) {
      add_entries<entries_at_once>(ctx, p, half, e, first, sums);
    }
    for (; e < end; e += 32) {
      add_entries<1>(ctx, p, half, e, first, sums);
    }
  }

  /// Adds a_e x_e to sums[k] for this lane's next `Entries` entries. All components are loaded once before
  /// the lane waits for any of them.
  template <int Entries, class Context>
  SPTRSV_DEVICE static void add_entries(Context& ctx, const params& p, std::uint32_t half, Offset e,
                                        std::int64_t first, array_of<Scalar, Columns>& sums) {
    array_of<Scalar, Entries> values;
    array_of<const word*, Entries, Columns> addresses;
    polled_batch<flag, Entries * Columns> components;
    for (int i = 0; i < Entries; ++i) {
      const std::int64_t column = ctx.load_constant(p.indices + e + 32 * i);
      values[i] = ctx.load_constant(p.values + e + 32 * i);
      for (int k = 0; k < Columns; ++k) {
        addresses[i][k] = component(p, half, first, k, column);
        components.try_load(ctx, i * Columns + k, addresses[i][k]);
      }
    }
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        sums[k] = sums[k] + values[i] * components.wait_for(ctx, i * Columns + k, addresses[i][k]);
      }
    }
  }

  SPTRSV_DEVICE static const word* component(const params& p, std::uint32_t half, std::int64_t first, int k,
                                             std::int64_t column) {
    // A right-hand side past the end reads the first one instead, so that the poll ends.
    const std::int64_t rhs = first + k < p.x.columns ? first + k : first;
    return p.buffers.component(half, rhs, column);
  }
};

}  // namespace sptrsv::detail::sync_free_warp
