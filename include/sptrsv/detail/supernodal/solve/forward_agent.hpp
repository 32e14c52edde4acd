// The kernel that solves C x = alpha b, supernode by supernode, from the leaves of the tree to its roots.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/forest/forest_agent.hpp"
#include "sptrsv/detail/supernodal/solve/team.hpp"

namespace sptrsv::detail::supernodal {

/// One sweep solves `Columns` right-hand sides. For a supernode J with the rows R below it:
///
///   1. Begin to copy the panel to shared memory, and load what else does not depend on other supernodes.
///   2. For each column: f = alpha b + the contributions of other supernodes; g = f / pivot. All g of the
///      supernode stand in shared memory then.
///   3. For each row of the diagonal block: x = g + the row of V times g.
///   4. For each row below: hand over the row of -C_RJ V times g, plus the contributions that other
///      supernodes sent to this row of J, as the contribution of J.
///   5. Reset the contributions in the other half of the double buffer to pending.
///
/// A supernode sends each contribution to its parent, if this has the row, and otherwise to the supernode
/// that has the row as a column. A large panel is shared by tiles. Each of them computes all g, so that no
/// task stands between the contributions and the tiles, but takes alpha b from a task of kind `sums`, because
/// x may be b. Where many contributions are added to a column, this task adds them, too. The first blocks
/// solve forests; see forest_solver.
///
/// Progress: the tasks that a task waits for have smaller tickets.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct forward_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = Tuning::warps_per_processor / (Columns == 1 ? 1 : 2);
  static constexpr int capacity = Tuning::max_width > block_threads ? Tuning::max_width : block_threads;
  using forests = forest_solver<Tuning, Scalar, Index, Offset, false>;
  static constexpr int arrival_count = warps > forests::arrivals ? warps : forests::arrivals;
  struct shared_storage {
    std::uint64_t arrivals[arrival_count];
    block_start start;
    Scalar g[Columns * capacity];
  };
  using params = solve_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    if (ctx.thread_rank() < arrival_count) {
      ctx.begin_bulk(&shared.arrivals[ctx.thread_rank()]);
    }
    start_block(ctx, shared.start, p.buffers.state, p.x.columns);
    if (shared.start.block < p.forests.count) {
      forests::run(ctx, p, shared.start, shared.start.block, shared.arrivals);
      return;
    }
    const task work = ctx.load_constant(p.tasks + shared.start.block - p.forests.count);
    auto* const panel_memory = static_cast<unsigned char*>(ctx.dynamic_shared());
    if (work.kind == task_kind::warps) {
      warp_team<Context> team(ctx);
      const int index = team.warp().index();
      if (index < work.end - work.begin) {
        const supernode node = ctx.load_constant(p.small + work.begin + index);
        solve<32>(ctx, team, shared.start, p, node, 0, node.height(), false,
                  panel_memory + index * p.warp_bytes, &shared.arrivals[index],
                  shared.g + index * 32 * Columns);
      }
      return;
    }
    if (work.kind == task_kind::sums) {
      sum(ctx, shared.start, p, work.node, work.begin + ctx.thread_rank(), work.end);
      return;
    }
    block_team<Context, block_threads> team(ctx);
    solve<capacity>(ctx, team, shared.start, p, work.node, work.begin, work.end, work.kind == task_kind::tile,
                    panel_memory, &shared.arrivals[0], shared.g);
  }

 private:
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  /// The contributions to a sum. Up to two are looked at before they are waited for.
  struct contribution_list {
    named_sources<Offset> named;
    typename flag::reading seen[2];

    /// Finds the contributions to sum number `index`; none if `index` is negative.
    template <class Context>
    SPTRSV_DEVICE void find(Context& ctx, const params& p, std::int64_t index) {
      named = index < 0 ? named_sources<Offset>{-1, -1} : ctx.load_constant(p.named + index);
    }
    /// Returns whether there are more than two.
    [[nodiscard]] SPTRSV_DEVICE bool is_long() const { return named.first < -1; }
    /// Loads up to two contributions.
    template <class Context>
    SPTRSV_DEVICE void look(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs) {
      seen[0] = flag::unseen();
      seen[1] = flag::unseen();
      look_again(ctx, p, half, rhs);
    }
    /// Loads those again that are pending.
    template <class Context>
    SPTRSV_DEVICE void look_again(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs) {
      if (named.first >= 0) {
        flag::poll(ctx, p.buffers.component(half, rhs, named.first), seen[0]);
      }
      if (named.first >= 0 && named.second >= 0) {
        flag::poll(ctx, p.buffers.component(half, rhs, named.second), seen[1]);
      }
    }
    /// Adds the contributions to `sum`, in their order, and returns the result. look() has been called.
    template <class Context>
    SPTRSV_DEVICE Scalar add(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                             Scalar sum) const {
      if (is_long()) {
        return add_long(ctx, p, half, rhs, sum);
      }
      if (named.first >= 0) {
        sum = sum + flag::wait(ctx, p.buffers.component(half, rhs, named.first), seen[0]);
      }
      if (named.second >= 0) {
        sum = sum + flag::wait(ctx, p.buffers.component(half, rhs, named.second), seen[1]);
      }
      return sum;
    }

   private:
    template <class Context>
    SPTRSV_DEVICE Scalar add_long(Context& ctx, const params& p, std::uint32_t half, std::int64_t rhs,
                                  Scalar sum) const {
      constexpr int at_once = 4;
      const Offset* const sources = p.sources + (-2 - named.first);
      for (Offset begin = 0; begin < named.second; begin += at_once) {
        const word* at[at_once];
        typename flag::reading loaded[at_once];
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          at[i] = begin + i < named.second
                      ? p.buffers.component(half, rhs, ctx.load_constant(sources + begin + i))
                      : nullptr;
        }
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          loaded[i] = at[i] != nullptr ? flag::try_load(ctx, at[i]) : flag::zero();
        }
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          sum = at[i] != nullptr ? sum + flag::wait(ctx, at[i], loaded[i]) : sum;
        }
      }
      return sum;
    }
  };

  /// Begins the sum for a column of a supernode, for all right-hand sides; one thread. Adds the contributions
  /// if the tiles do not.
  template <class Context>
  SPTRSV_DEVICE static void sum(Context& ctx, const block_start& start, const params& p,
                                const supernode& node, std::int64_t column, std::int64_t end) {
    if (column >= end) {
      return;
    }
    contribution_list list;
    list.find(ctx, p, node.first + column);
    const std::int64_t at = p.rows + node.first + column;
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      Scalar v = p.load_b(ctx, node.first + column, rhs);
      if (list.is_long()) {
        v = list.add(ctx, p, start.half, rhs, v);
      }
      p.publish(ctx, start.half, rhs, at, v);
    }
    p.buffers.reset(ctx, start.half ^ 1u, at, start.rhs_to_reset, 0, 1);
  }

  /// How the lanes of a warp share some rows of a panel. Groups of `lanes` lanes share the entries of a row,
  /// and take equal numbers of consecutive rows. A group multiplies `rows_at_once` rows with all right-hand
  /// sides of the sweep: four sums. Lane l of a group finishes sum number l / (lanes / 4) of the rows that
  /// come l % (lanes / 4)-th.
  struct lane_share {
    static constexpr int sums = 4;
    static constexpr int rows_at_once = sums / Columns;
    static constexpr int max_rows = 32 / Columns;  ///< of a warp
    /// Entries of a row for each lane.
    static constexpr int entries = (Tuning::max_width + 31) / 32 > 4 ? (Tuning::max_width + 31) / 32 : 4;

    int log;    ///< of lanes: shifts are faster than divisions
    int lanes;  ///< of a group
    int lane;   ///< in its group
    int group;

    SPTRSV_DEVICE lane_share(std::int64_t columns, int rank) {
      log = columns <= 8 * entries ? 3 : columns <= 16 * entries ? 4 : 5;
      lanes = 1 << log;
      lane = rank & (lanes - 1);
      group = rank >> log;
    }
    /// Returns how many rows each group takes of `rows`.
    [[nodiscard]] SPTRSV_DEVICE int rows_of_group(int rows) const { return (rows * lanes + 31) >> 5; }
    /// Returns which of `rows` rows this lane finishes; -1: none.
    [[nodiscard]] SPTRSV_DEVICE int finished_row(int rows) const {
      const int count = rows_of_group(rows);
      const int in_group = (lane & (lanes / sums - 1)) * rows_at_once + quarter() / Columns;
      const int row = group * count + in_group;
      return in_group < count && row < rows ? row : -1;
    }
    /// Returns the right-hand side that this lane finishes.
    [[nodiscard]] SPTRSV_DEVICE int rhs() const { return quarter() % Columns; }
    /// Returns the quarter of its group in which the lane is.
    [[nodiscard]] SPTRSV_DEVICE int quarter() const { return lane >> (log - 2); }
  };

  /// Solves for the rows [begin, end) of the panel. `is_tile`: other blocks solve for other rows. Memory of
  /// the team: `panel_memory` for the rows, and `g`, `Capacity` elements for each right-hand side.
  template <int Capacity, class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, const block_start& start, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end, bool is_tile,
                                  unsigned char* panel_memory, std::uint64_t* arrival, Scalar* g) {
    const std::uint32_t half = start.half;
    const int k = static_cast<int>(node.columns);
    const std::int64_t first_entry = node.panel + panel_row(begin, k);
    const bool copies = Team::size == 32 || team.warp().index() == 0;
    if (copies) {
      copy_panel(ctx, p.panels, first_entry, node.panel + panel_row(end, k), panel_memory, arrival,
                 team.warp().rank());
    }
    const auto* const panel = copied_panel<Scalar>(first_entry, panel_memory);

    // Each warp takes up to max_rows rows at a time, but not more than its share.
    const lane_share lanes(k, team.warp().rank());
    const std::int64_t share = simt::ceil_div(end - begin, Team::size / 32);
    const int step = share > lane_share::max_rows ? lane_share::max_rows : static_cast<int>(share);
    std::int64_t row = begin + team.rank() / 32 * step;
    const auto rows_from = [&](std::int64_t i) {
      return end <= i ? 0 : end - i < step ? static_cast<int>(end - i) : step;
    };
    const auto sum_of_row = [&](std::int64_t i, int finished) {
      return finished >= 0 && i + finished >= k ? p.size + node.rows_begin + i + finished - k : -1;
    };
    contribution_list below;
    contribution_list own;
    below.find(ctx, p, sum_of_row(row, lanes.finished_row(rows_from(row))));
    own.find(ctx, p, team.rank() < k ? node.first + team.rank() : -1);
    below.look(ctx, p, half, lanes.rhs() < p.x.columns ? lanes.rhs() : 0);
    own.look(ctx, p, half, 0);
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      for (int j = team.rank(); j < k; j += Team::size) {
        const bool is_open = first == 0 && j == team.rank();
        if (!is_open) {
          own.find(ctx, p, node.first + j);
        }
        load_g<Capacity>(ctx, p, half, first, node.first + j, is_tile, own, is_open, g + j);
      }
      if (copies && first == 0) {
        ctx.wait_bulk(arrival, false);
      }
      team.sync();
      const std::int64_t rhs = first + lanes.rhs();
      const bool has_rhs = rhs < p.x.columns;
      for (bool is_open = first == 0; row < end; is_open = false, row += Team::size / 32 * step) {
        const int rows = rows_from(row);
        const int finished = lanes.finished_row(rows);
        if (!is_open) {
          below.find(ctx, p, sum_of_row(row, finished));
          below.look(ctx, p, half, has_rhs ? rhs : first);
        }
        below.look_again(ctx, p, half, has_rhs ? rhs : first);
        const Scalar sum =
            multiply<Capacity>(ctx, team.warp(), p, node, lanes, row, rows, panel - panel_row(begin, k), g);
        const std::int64_t i = row + finished;
        if (finished >= 0 && has_rhs && i < k) {
          p.store_x(ctx, node.first + i, rhs, half, node.first + i, g[lanes.rhs() * Capacity + i] + sum);
        } else if (finished >= 0 && has_rhs) {
          p.publish(ctx, half, rhs, node.rows_begin + i - k, below.add(ctx, p, half, rhs, sum));
        }
      }
      row = begin + team.rank() / 32 * step;
      if (first + Columns < p.x.columns) {
        team.sync();  // g is read before it is written again
      }
    }
    for (std::int64_t i = (begin > k ? begin : k) + team.rank(); i < end; i += Team::size) {
      p.buffers.reset(ctx, half ^ 1u, node.rows_begin + i - k, start.rhs_to_reset, 0, 1);
    }
  }

  /// Computes g of a column, and stores it to g[0], g[Capacity], ... `list`: its contributions.
  /// `is_looked_at`: look() has been called for the first right-hand side.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static void load_g(Context& ctx, const params& p, std::uint32_t half, std::int64_t first,
                                   std::int64_t column, bool is_tile, contribution_list& list,
                                   bool is_looked_at, Scalar* g) {
    const auto pivot = p.pivot(ctx, column);
    for (int c = 0; c < Columns; ++c) {
      Scalar v{};
      if (first + c < p.x.columns) {
        if (c > 0 || !is_looked_at) {
          list.look(ctx, p, half, first + c);
        }
        v = is_tile ? p.wait(ctx, half, first + c, p.rows + column) : p.load_b(ctx, column, first + c);
        v = pivot(is_tile && list.is_long() ? v : list.add(ctx, p, half, first + c, v));
      }
      g[c * Capacity] = v;
    }
  }

  /// Multiplies the rows [row, row + rows) of a panel with g. Returns the sum that this lane finishes.
  /// `entries`: where row 0 of the panel would begin.
  template <int Capacity, class Context, class Warp>
  SPTRSV_DEVICE static Scalar multiply(Context& ctx, const Warp& warp, const params& p, const supernode& node,
                                       const lane_share& lanes, std::int64_t row, int rows,
                                       const Scalar* entries, const Scalar* g) {
    const auto multiplied = [&](int width, auto checks) {
      return multiply_rows<Capacity, decltype(checks)::value>(ctx, warp, p, node, lanes, width, row, rows,
                                                              entries, g);
    };
    // With a width that the compiler knows it unrolls the loops.
    const Scalar sum = lanes.lanes == 8    ? multiplied(8, std::false_type{})
                       : lanes.lanes == 16 ? multiplied(16, std::false_type{})
                                           : multiplied(32, std::false_type{});
    // Where g is not finite, the zeros by structure must be left out.
    return warp.any(!is_finite(sum)) ? multiplied(lanes.lanes, std::true_type{}) : sum;
  }

  /// Does multiply(). `width`: lanes.lanes. `Checks`: leave out what is zero by structure.
  template <int Capacity, bool Checks, class Context, class Warp>
  SPTRSV_DEVICE static Scalar multiply_rows(Context& ctx, const Warp& warp, const params& p,
                                            const supernode& node, const lane_share& lanes, int width,
                                            std::int64_t row, int rows, const Scalar* entries,
                                            const Scalar* g) {
    constexpr int at_once = lane_share::rows_at_once;
    constexpr int columns_at_once = 4;
    const int k = static_cast<int>(node.columns);
    const int count = lanes.rows_of_group(rows);
    const int begin = lanes.group * count;
    const int end = begin + count < rows ? begin + count : rows;
    Scalar mine{};
    for (int t = 0; t < count; t += at_once) {
      const Scalar* row_entries[at_once];
      int row_counts[at_once];
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        const std::int64_t i = row + begin + t + r;
        row_entries[r] = entries + panel_row(i, k);
        row_counts[r] = begin + t + r < end ? static_cast<int>(panel_row_entries(i, k)) : 0;
      }
      Scalar sums[lane_share::sums] = {};
      for (int first = lanes.lane; first < k; first += columns_at_once * width) {
        SPTRSV_UNROLL
        for (int e = 0; e < columns_at_once; ++e) {
          const int j = first + e * width;
          Scalar of_g[Columns];
          SPTRSV_UNROLL
          for (int c = 0; c < Columns; ++c) {
            of_g[c] = j < k ? g[c * Capacity + j] : Scalar{};
          }
          SPTRSV_UNROLL
          for (int r = 0; r < at_once; ++r) {
            const bool has_entry = j < row_counts[r];
            const Scalar entry = has_entry ? row_entries[r][j] : Scalar{};
            if (!Checks || (has_entry && p.depends(ctx, node, row + begin + t + r, j))) {
              SPTRSV_UNROLL
              for (int c = 0; c < Columns; ++c) {
                sums[r * Columns + c] = sums[r * Columns + c] + entry * of_g[c];
              }
            }
          }
        }
      }
      const Scalar sum = reduce_four(warp, sums, lanes.lane, width);
      mine = lanes.lane % (width / lane_share::sums) == t / at_once ? sum : mine;
    }
    return mine;
  }

  /// Returns the sum of values[q] over the lanes of a group of `width` lanes, where q is the quarter of the
  /// group in which the lane is.
  template <class Warp>
  SPTRSV_DEVICE static Scalar reduce_four(const Warp& warp, const Scalar (&values)[4], int lane, int width) {
    const bool is_upper = (lane & (width / 2)) != 0;
    const bool is_odd = (lane & (width / 4)) != 0;
    const Scalar kept[2] = {is_upper ? values[2] : values[0], is_upper ? values[3] : values[1]};
    const Scalar sent[2] = {is_upper ? values[0] : values[2], is_upper ? values[1] : values[3]};
    const Scalar halves[2] = {kept[0] + warp.shuffle_xor(sent[0], width / 2),
                              kept[1] + warp.shuffle_xor(sent[1], width / 2)};
    Scalar sum =
        (is_odd ? halves[1] : halves[0]) + warp.shuffle_xor(is_odd ? halves[0] : halves[1], width / 4);
    SPTRSV_UNROLL
    for (int mask = width / 8; mask > 0; mask /= 2) {
      sum = sum + warp.shuffle_xor(sum, mask);
    }
    return sum;
  }
};

}  // namespace sptrsv::detail::supernodal
