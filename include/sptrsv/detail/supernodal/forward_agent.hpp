// The kernel that solves C x = alpha b, supernode by supernode, from the leaves of the tree to its roots.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/team.hpp"

namespace sptrsv::detail::supernodal {

/// One sweep solves `Columns` right-hand sides. For a supernode J with the rows R below it:
///
///   1. Begin to copy the panel to shared memory, and load what else does not depend on other supernodes.
///   2. For each column: f = alpha b + the contributions of other supernodes; g = f / pivot. All g of the
///      supernode stand in shared memory then.
///   3. For each row of the diagonal block: x = g + the row of V times g.
///   4. For each row below: hand over the row of -C_RJ V times g, plus the contributions that other
///   supernodes
///      sent to this row of J, as the contribution of J.
///   5. Reset the contributions in the other half of the double buffer to pending.
///
/// A supernode sends each contribution to its parent, if this has the row, and otherwise to the supernode
/// that has the row as a column. A large panel is shared by tiles, whose g come from tasks of kind `sums`.
///
/// Progress: the tasks that a task waits for have smaller tickets.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct forward_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = Tuning::warps_per_processor / (Columns == 1 ? 1 : 2);
  static constexpr int capacity = Tuning::max_width > block_threads ? Tuning::max_width : block_threads;
  using space = panel_space<Tuning, Scalar>;
  struct shared_storage {
    std::uint64_t arrivals[warps];
    block_start start;
    bool votes[warps];
    Scalar g[Columns * capacity];
  };
  using params = solve_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    if (ctx.thread_rank() < warps) {
      ctx.begin_bulk(&shared.arrivals[ctx.thread_rank()]);
    }
    start_block(ctx, shared.start, p.buffers.state, p.x.columns);
    const task work = ctx.load_constant(p.tasks + shared.start.block);
    auto* const panel_memory = static_cast<unsigned char*>(ctx.dynamic_shared());
    if (work.kind == task_kind::warps) {
      warp_team<Context> team(ctx);
      const int index = team.warp().index();
      if (index < work.end - work.begin) {
        const supernode node = ctx.load_constant(p.small + work.begin + index);
        solve<32>(ctx, team, shared.start, p, node, 0, node.height(), false,
                  panel_memory + index * space::warp_bytes, &shared.arrivals[index],
                  shared.g + index * 32 * Columns);
      }
      return;
    }
    if (work.kind == task_kind::sums) {
      sum(ctx, shared.start, p, work.node, work.begin + ctx.thread_rank(), work.end);
      return;
    }
    block_team<Context, block_threads> team(ctx, shared.votes);
    solve<capacity>(ctx, team, shared.start, p, work.node, work.begin, work.end, work.kind == task_kind::tile,
                    panel_memory, &shared.arrivals[0], shared.g);
  }

 private:
  using flag = value_flag<Scalar>;

  /// The contributions to a sum: see solve_params. The first ones are named before any of them is waited for.
  struct contribution_list {
    static constexpr int at_once = 4;
    Offset begin;
    Offset end;
    Offset named[at_once];

    template <class Context>
    SPTRSV_DEVICE void name(Context& ctx, const params& p) {
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        named[i] =
            end - begin > static_cast<Offset>(i) ? ctx.load_constant(p.sources + begin + i) : Offset{-1};
      }
    }
    /// Finds the contributions to sum number `index`; none if `index` is negative.
    template <class Context>
    SPTRSV_DEVICE static contribution_list open(Context& ctx, const params& p, std::int64_t index) {
      contribution_list list{};
      if (index >= 0) {
        list.begin = ctx.load_constant(p.source_begin + index);
        list.end = ctx.load_constant(p.source_begin + index + 1);
      }
      list.name(ctx, p);
      return list;
    }
    /// Adds the contributions to `sum`, in their order, and returns the result.
    template <class Context>
    SPTRSV_DEVICE Scalar add(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                             Scalar sum) const {
      contribution_list rest = *this;
      while (rest.begin < rest.end) {
        typename flag::reading seen[at_once];
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          seen[i] = rest.named[i] >= 0 ? flag::try_load(ctx, p.buffers.component(half, rhs, rest.named[i]))
                                       : flag::zero();
        }
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          if (rest.named[i] >= 0) {
            sum = sum + flag::wait(ctx, p.buffers.component(half, rhs, rest.named[i]), seen[i]);
          }
        }
        rest.begin = rest.end - rest.begin > at_once ? rest.begin + at_once : rest.end;
        rest.name(ctx, p);
      }
      return sum;
    }
  };

  /// Hands over g of a column of the supernode, for all right-hand sides; one thread.
  template <class Context>
  SPTRSV_DEVICE static void sum(Context& ctx, const block_start& start, const params& p,
                                const supernode& node, std::int64_t column, std::int64_t end) {
    if (column >= end) {
      return;
    }
    const auto list = contribution_list::open(ctx, p, node.first + column);
    const auto pivot = p.pivot(ctx, node.first + column);
    const std::int64_t at = p.rows + node.first + column;
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      const Scalar b = p.load_b(ctx, node.first + column, rhs);
      p.publish(ctx, start.half, rhs, at, pivot(list.add(ctx, p, start.half, rhs, b)));
    }
    p.buffers.reset(ctx, start.half ^ 1u, at, start.rhs_to_reset, 0, 1);
  }

  /// Solves for the rows [begin, end) of the panel. `polls_g`: other blocks hand g over. Memory of the team:
  /// `panel_memory` for the rows, and `g`, `Capacity` elements for each right-hand side.
  template <int Capacity, class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, const block_start& start, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end, bool polls_g,
                                  unsigned char* panel_memory, std::uint64_t* arrival, Scalar* g) {
    const std::uint32_t half = start.half;
    const std::int64_t k = node.columns;
    const std::int64_t first_entry = node.panel + panel_row(begin, k);
    const bool copies = Team::size == 32 || team.warp().index() == 0;
    if (copies) {
      copy_panel(ctx, p.panels, first_entry, node.panel + panel_row(end, k), panel_memory, arrival,
                 team.warp().rank());
    }
    const auto* const panel = copied_panel<Scalar>(first_entry, panel_memory);

    // Each warp takes up to 32 rows at a time, but not more than its share.
    const std::int64_t share = simt::ceil_div(end - begin, Team::size / 32);
    const std::int64_t step = k < 32 || share > 32 ? 32 : share;
    const std::int64_t first_row = begin + team.rank() / 32 * step;
    contribution_list below = below_list(ctx, p, node, first_row, first_row + step, end, team.warp().rank());
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      bool finite = true;
      for (std::int64_t j = team.rank(); j < k; j += Team::size) {
        if (polls_g) {
          finite = poll_g<Capacity>(ctx, p, half, first, node.first + j, g + j) && finite;
        } else {
          finite = sum_g<Capacity>(ctx, p, half, first, node.first + j, g + j) && finite;
        }
      }
      if (copies && first == 0) {
        ctx.wait_bulk(arrival, false);
      }
      const bool all_finite = !team.any(!finite);
      for (std::int64_t row = first_row; row < end; row += Team::size / 32 * step) {
        if (row != first_row || first > 0) {
          below = below_list(ctx, p, node, row, row + step, end, team.warp().rank());
        }
        const std::int64_t stop = end - row < step ? end : row + step;
        if (all_finite) {
          solve_rows<Capacity, true>(ctx, team.warp(), p, half, node, first, begin, row, stop, panel, g,
                                     below);
        } else {
          solve_rows<Capacity, false>(ctx, team.warp(), p, half, node, first, begin, row, stop, panel, g,
                                      below);
        }
      }
      team.sync();
    }
    for (std::int64_t i = (begin > k ? begin : k) + team.rank(); i < end; i += Team::size) {
      p.buffers.reset(ctx, half ^ 1u, node.rows_begin + i - k, start.rhs_to_reset, 0, 1);
    }
  }

  /// Returns the contributions to row row + rank of the panel; none if it is not in [columns, end).
  template <class Context>
  SPTRSV_DEVICE static contribution_list below_list(Context& ctx, const params& p, const supernode& node,
                                                    std::int64_t row, std::int64_t stop, std::int64_t end,
                                                    int rank) {
    const std::int64_t i = row + rank;
    const bool is_below = i >= node.columns && i < stop && i < end;
    return contribution_list::open(ctx, p, is_below ? p.size + node.rows_begin + i - node.columns : -1);
  }

  /// Waits for g of a column, and stores it to g[0], g[Capacity], ... Returns whether all are finite.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static bool poll_g(Context& ctx, const params& p, std::uint32_t half, std::int64_t first,
                                   std::int64_t column, Scalar* g) {
    bool finite = true;
    for (int c = 0; c < Columns; ++c) {
      const Scalar v = first + c < p.x.columns ? p.wait(ctx, half, first + c, p.rows + column) : Scalar{};
      finite = finite && is_finite(v);
      g[c * Capacity] = v;
    }
    return finite;
  }
  /// Computes g of a column; otherwise as poll_g.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static bool sum_g(Context& ctx, const params& p, std::uint32_t half, std::int64_t first,
                                  std::int64_t column, Scalar* g) {
    const auto list = contribution_list::open(ctx, p, column);
    const auto pivot = p.pivot(ctx, column);
    bool finite = true;
    for (int c = 0; c < Columns; ++c) {
      Scalar v{};
      if (first + c < p.x.columns) {
        const Scalar b = p.load_b(ctx, column, first + c);
        v = pivot(list.add(ctx, p, half, first + c, b));
      }
      finite = finite && is_finite(v);
      g[c * Capacity] = v;
    }
    return finite;
  }

  /// Solves for the rows [row, end), at most 32: lane l finishes row + l. Groups of lanes share the entries
  /// of a row; the lanes of a group finish the rows that the group multiplies. `panel`: the rows from `begin`
  /// on.
  template <int Capacity, bool AllFinite, class Context, class Warp>
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
                                       const supernode& node, std::int64_t first, std::int64_t begin,
                                       std::int64_t row, std::int64_t end, const Scalar* panel,
                                       const Scalar* g, const contribution_list& below) {
    constexpr int rows_at_once = 4 / Columns > 1 ? 4 / Columns : 1;
    const int lanes = node.columns < 32 ? simt::ceil_power_of_two(static_cast<int>(node.columns)) : 32;
    const int lane = warp.rank() & (lanes - 1);
    const std::int64_t group_row = row + (warp.rank() - lane);
    const int rounds = end - row < lanes ? static_cast<int>(end - row) : lanes;
    const Scalar* const entries = panel - panel_row(begin, node.columns);
    Scalar mine[Columns] = {};
    for (int t = 0; t < rounds; t += rows_at_once) {
      Scalar sums[rows_at_once][Columns] = {};
      add_products<Capacity, AllFinite>(ctx, p, node, group_row + t, end, lane, lanes, entries, g, sums);
      SPTRSV_UNROLL
      for (int i = 0; i < rows_at_once; ++i) {
        SPTRSV_UNROLL
        for (int c = 0; c < Columns; ++c) {
          const Scalar sum = simt::reduce(warp, sums[i][c], lanes, simt::plus{});
          mine[c] = lane == t + i ? sum : mine[c];
        }
      }
    }
    const std::int64_t i = row + warp.rank();
    for (int c = 0; c < Columns && i < end && first + c < p.x.columns; ++c) {
      if (i < node.columns) {
        p.store_x(ctx, node.first + i, first + c, half, node.first + i, g[c * Capacity + i] + mine[c]);
      } else {
        p.publish(ctx, half, first + c, node.rows_begin + i - node.columns,
                  below.add(ctx, p, half, first + c, mine[c]));
      }
    }
  }

  /// Adds this lane's share of the products of the rows i, i + 1, ... with g. Rows from `end` on have none.
  template <int Capacity, bool AllFinite, class Context, int Rows>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, const supernode& node, std::int64_t i,
                                         std::int64_t end, int lane, int lanes, const Scalar* entries,
                                         const Scalar* g, Scalar (&sums)[Rows][Columns]) {
    SPTRSV_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if (i + r >= end) {
        break;
      }
      const Scalar* const row = entries + panel_row(i + r, node.columns);
      const int count = static_cast<int>(panel_row_entries(i + r, node.columns));
      for (int j = lane; j < count; j += lanes) {
        if (AllFinite || p.depends(ctx, node, i + r, j)) {
          SPTRSV_UNROLL
          for (int c = 0; c < Columns; ++c) {
            sums[r][c] = sums[r][c] + row[j] * g[c * Capacity + j];
          }
        }
      }
    }
  }
};

}  // namespace sptrsv::detail::supernodal
