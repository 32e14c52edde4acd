// SPDX-License-Identifier: Apache-2.0
// The kernels and the engine of sync_free_warp: a warp for a row, or for rows of one level and length.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/papers/row_wise/rows.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"

namespace sptrsv::SPTRSV_ABI::detail::sync_free_warp {

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
      Offset e = r.begin + static_cast<Offset>(warp.rank());
      if (r.end - r.begin <= 32) {
        add_short_row(ctx, warp, p, half, e, r.end, first, sums);
      } else {
        constexpr int at_once = Tuning::entries_at_once;
        for (; Columns == 1 && r.end - e > 32 * (at_once - 1); e += 32 * at_once) {
          add_entries<at_once>(ctx, p, half, e, first, sums);
        }
        for (; e < r.end; e += 32) {
          add_entries<1>(ctx, p, half, e, first, sums);
        }
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

  /// Adds a_e x_e to sums[k] for `Entries` entries, whose components are loaded before one is waited for.
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

/// Sort key: rows of many lanes come before rows of few. A row with the key k has 2^(5 - k) lanes.
struct key_of_lanes {
  static constexpr int bits = 3;
  int entries_per_lane;

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    std::uint64_t key = 5;
    while (key > 0 && (static_cast<std::int64_t>(entries_per_lane) << (5 - key)) < length) {
      --key;
    }
    return key;
  }
};

/// Says where a warp's rows start: a warp takes as many consecutive rows of one key as its lanes serve.
struct starts_by_length {
  /// By solve index, ascending: (level << key_of_lanes::bits) | key_of_lanes.
  const std::uint64_t* keys;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::uint64_t key = ctx.load_constant(keys + solve_index);
    const std::int64_t first = triangle_kernels::count_below(ctx, keys, solve_index, key);
    const int rows_per_warp = 1 << static_cast<int>(key & ((1u << key_of_lanes::bits) - 1u));
    return (solve_index - first) % rows_per_warp == 0;
  }
};

/// Solves the rows of a warp with 32 / rows lanes each (Dufrechou and Ezzatti 2020), with the steps of
/// tile_rows. Rows of one level do not depend on one another, so the lanes of a row may wait in a loop of
/// their own.
template <int Entries, int Columns, class System>
struct shared_rows {
  /// Solves the rows [first_solve_index, end_solve_index), at least one, and resets the other buffer.
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

}  // namespace sptrsv::SPTRSV_ABI::detail::sync_free_warp

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_warp<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::tasks_;
  template <int Columns>
  using agent = sync_free_warp::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;
  template <int Columns>
  using shared_agent =
      row_wise::task_agent<Tuning, Scalar, Index, Offset, Columns, sync_free_warp::shared_rows>;
  using shared_for_one = shared_agent<1>;
  using shared_for_several = shared_agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_warp<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource), shares_(policy.form == policy::warp_form::rows_by_length) {
    SPTRSV_EXPECTS(!shares_ || policy.order == policy::row_order::levels, errc::unsupported,
                   "sync_free_warp: only rows in level order can share a warp (row_order::levels)");
    if (shares_) {
      auto order = order_by_level_and_length(this->triangle_, levels_of_rows(this->triangle_, on, resource),
                                             1, sync_free_warp::key_of_lanes{Tuning::entries_per_lane}, on,
                                             analysis_memory(resource));
      tasks_ = make_runs<Index>(a.size, sync_free_warp::starts_by_length{order.keys.data()}, on,
                                analysis_memory(resource));
      this->renumber(std::move(order.levels), on, resource);
    } else {
      this->renumber(policy.order, on, resource);
    }
    this->blocks_ = simt::block_count(shares_ ? tasks_.count : a.size, agent<1>::rows_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    if (shares_) {
      this->template launch_solve<shared_for_one, shared_for_several>(alpha, b, x, scratch.buffers(), on,
                                                                      tasks_.count, tasks_.first.data());
    } else {
      this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.buffers(), on);
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.warps = shares_ ? tasks_.count : this->triangle_.size;
    kernel.text = shares_ ? std::to_string(kernel.warps) + " warps for rows of one level by their length"
                          : "one warp per row";
    base::describe(info, "sync_free_warp", Tuning::block_threads, std::move(kernel), on);
  }

 private:
  bool shares_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
