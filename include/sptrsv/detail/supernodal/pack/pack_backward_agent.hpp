// SPDX-License-Identifier: Apache-2.0
// The kernel that solves C^T x = alpha b for several right-hand sides; backward_agent solves for one.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/pack/pack_panel.hpp"
#include "sptrsv/detail/supernodal/pack/pack_product.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Solves one pack after the other, each in the steps of backward_agent, but the panel is copied once for all
/// packs. The products are those of octets of 8 columns of the panel with a pack.
///
/// A large panel is shared by tiles of its rows, which hand over their sums; tasks of kind `sums` then do
/// steps 4 and 5. A component of x is stored after all tiles of its supernode have read b, so x may be b.
///
/// Progress: the tasks that a task waits for have smaller tickets.
template <class Tuning, class Scalar, class Index, class Offset>
struct pack_backward_agent {
  static constexpr int block_threads = Tuning::pack_block_threads;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = Tuning::pack_warps_per_processor;
  /// Columns of a task of kind `sums`. Fewer share the tiles among more warps.
  static constexpr std::int64_t sum_columns = 2 * octet_rows;
  using space = pack_space<Tuning, Scalar>;
  using shared_storage = pack_shared<warps>;
  using params = pack_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    run_pack_block<pack_backward_agent>(ctx, shared, p);
  }

  /// Adds the sums of tiles. Groups of warps take 8 columns each, the warps of a group tiles round-robin.
  template <class Context, class Team>
  SPTRSV_DEVICE static void sum(Context& ctx, Team& team, const shared_storage& shared, const params& p) {
    const auto memory = pack_memory<Scalar>::template of<space>(ctx, team, p.tile_bytes);
    const task& work = shared.work;
    const std::uint32_t half = shared.start.half;
    const pack_range packs = p.packs_of(shared.sharer);
    const int octets = static_cast<int>(simt::ceil_div(work.end - work.begin, std::int64_t{octet_rows}));
    const warp_share share(octets, warps, team.warp().index());
    const int pair_of_lane = team.rank() % pack_pairs;
    const int rounds = static_cast<int>(simt::ceil_div(octets, share.groups));
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t column =
          work.begin + (share.group + round * share.groups) * octet_rows + team.warp().rank() / pack_pairs;
      for (std::int64_t pack = packs.first; pack < packs.end; pack += packs.step) {
        const auto rhs = p.rhs_of(ctx, half, pack, pair_of_lane);
        pair mine{};
        if (column < work.end && rhs.count > 0) {
          mine = sum_of_tiles<8, pair>(ctx, p, work, column, share.part, share.parts,
                                       [&](std::int64_t i) { return rhs.component(i); });
        }
        const pair total = add_parts(team, share, memory.products, mine);
        if (column < work.end && share.part == 0) {
          finish(rhs, work.node.first + column, total);
        }
        team.sync();
      }
      if (column < work.end && share.part == 0) {
        p.reset(ctx, shared.start, shared.sharer, pair_of_lane, work.node.first + column);
      }
    }
  }

  /// Multiplies the rows [begin, end), if `is_tile` for partial sums. The function is long because its steps
  /// share registers and barriers of the team.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, shared_storage& shared, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end, bool is_tile) {
    constexpr int rows_at_once = Team::size;
    const auto memory = pack_memory<Scalar>::template of<space>(ctx, team, p.tile_bytes);
    std::uint64_t* const arrival = &shared.arrivals[team.index()];
    const std::int64_t partials = is_tile ? shared.work.partials : -1;
    const std::uint32_t half = shared.start.half;
    const pack_range packs = p.packs_of(shared.sharer);
    pack_panel<Scalar> part(node.columns, begin, end);
    part.stride = partials >= 0 ? tile_stride(part.columns) : 0;
    if (packs.first < packs.end) {  // otherwise nobody waits for the copy
      copy_part(ctx, team, p.panels, node.panel, part, memory.panel, arrival);
    }
    const int k = part.columns;
    const warp_share share(static_cast<int>(simt::ceil_div(k, octet_rows)), Team::size / 32,
                           team.warp_index());
    const int pair_of_lane = team.rank() % pack_pairs;
    column_factors factors(p, node, part, share, team.warp().rank());
    const int row_of_lane = team.rank() / pack_pairs;
    const auto take_rows = [&](int base) {
      return row_batch::take(ctx, p, node, part.skipped + base + row_of_lane, end, Team::size / pack_pairs);
    };
    const bool is_one_batch = part.end - part.begin <= rows_at_once;
    row_batch rows = take_rows(part.begin);
    typename flag::reading seen[row_batch::capacity];
    rows.try_load(p.rhs_of(ctx, half, packs.first, pair_of_lane), seen);
    for (std::int64_t pack = packs.first; pack < packs.end; pack += packs.step) {
      const auto rhs = p.rhs_of(ctx, half, pack, pair_of_lane);
      pair sums[column_factors::capacity] = {};
      for (int base = part.begin; base < part.end; base += rows_at_once) {
        const int count = part.end - base < rows_at_once ? part.end - base : rows_at_once;
        if (!is_one_batch && (pack > packs.first || base > part.begin)) {
          rows = take_rows(base);
          rows.try_load(rhs, seen);
        }
        bool finite = true;
        SPTRSV_UNROLL
        for (int u = 0; u < row_batch::capacity; ++u) {
          if (rows.has[u]) {
            const pair z = rows.is_below[u] ? rhs.wait(rows.column[u], seen[u]) : seen[u].value();
            finite = finite && is_finite(z);
            pair_at(memory.pack, row_of_lane + u * (Team::size / pack_pairs), pair_of_lane) = z;
          }
        }
        if (row_of_lane < (4 - count % 4) % 4) {
          pair_at(memory.pack, count + row_of_lane, pair_of_lane) = pair{};
        }
        if (pack == packs.first && base == part.begin) {
          wait_part(ctx, team, part, arrival);
        }
        const bool all_finite = !any_in_team(team, shared.votes, !finite);
        if (is_one_batch) {  // for the next pack
          rows.try_load(p.rhs_of(ctx, half, pack + packs.step, pair_of_lane), seen);
        }
        factors.take_rows(base, count);
        multiply_octets(ctx, team.warp(), share, factors.octets, count, all_finite, memory.pack, factors,
                        sums);
        team.sync();  // z is read before it is written again
      }
      sums[0] = add_parts(team, share, memory.products, sums[0]);
      SPTRSV_UNROLL
      for (int u = 0; u < column_factors::capacity; ++u) {
        if (share.part == 0 && factors.column[u] < k) {
          if (partials >= 0) {
            rhs.publish(p.size + partials + factors.column[u], sums[u]);
          } else {
            finish(rhs, node.first + factors.column[u], sums[u]);
          }
        }
      }
    }
    const std::int64_t handed_over = partials >= 0 ? p.size + partials : node.first;
    for (int j = team.rank() / pack_pairs; j < k; j += Team::size / pack_pairs) {
      p.reset(ctx, shared.start, shared.sharer, pair_of_lane, handed_over + j);
    }
  }

 private:
  using pair = rhs_pair<Scalar>;
  using flag = value_flag<pair>;

  /// Divides by the pivot, and hands over and stores components of x.
  template <class Rhs>
  SPTRSV_DEVICE static void finish(const Rhs& rhs, std::int64_t column, const pair& sum) {
    const auto pivot = rhs.p.pivot(rhs.ctx, column);
    const pair solved{{pivot(sum.of[0]), pivot(sum.of[1])}};
    rhs.publish(column, solved);
    rhs.store_x(column, rhs.p.size - 1 - column, solved);
  }

  /// The factors of multiply_octets: of columns of the panel, one of each octet, for rows from `base` on.
  struct column_factors {
    static constexpr int capacity = 4;  ///< octets of a warp: a team has a thread for each column
    const params& p;
    const supernode& node;
    const pack_panel<Scalar>& part;
    int octets;
    int column[capacity];  ///< may be past the last column
    int base;
    int dense_begin;
    int dense_end;

    SPTRSV_DEVICE column_factors(const params& of, const supernode& of_node,
                                 const pack_panel<Scalar>& of_part, const warp_share& share, int lane)
        : p(of), node(of_node), part(of_part), octets(0) {
      SPTRSV_UNROLL
      for (int u = 0; u < capacity; ++u) {
        const int first = (share.group + u * share.groups) * octet_rows;
        octets += first < part.columns ? 1 : 0;
        column[u] = first + lane / pack_pairs;
      }
    }
    /// Takes the rows from `first` on, `count` of them. Those below the diagonal block are dense.
    SPTRSV_DEVICE void take_rows(int first, int count) {
      base = first;
      dense_begin = first < part.columns ? (part.columns - first + 3) / 4 * 4 : 0;
      dense_end = count / 4 * 4;
    }
    /// The diagonal of V is one and not stored.
    SPTRSV_DEVICE Scalar operator()(int u, int t) const {
      const int i = base + t;
      const int j = column[u];
      return i >= part.end || j >= part.columns || j > i ? Scalar{}
             : i == j                                    ? pivot_divisor<Scalar>::one()
                                                         : part.row(i)[j];
    }
    /// For a column past the last one it returns another entry: what is computed for it is not used.
    SPTRSV_DEVICE Scalar dense(int u, int t) const {
      return part.row_below(base + t)[column[u] < part.columns ? column[u] : 0];
    }
    template <class Context>
    SPTRSV_DEVICE bool has(Context& ctx, int u, int t) const {
      const int i = base + t;
      return column[u] < part.columns && column[u] <= i &&
             p.of.depends(ctx, node, part.skipped + i, column[u]);
    }
  };

  /// The rows of the panel that a lane takes for its pair: `capacity` of them, every `step`-th.
  struct row_batch {
    static constexpr int capacity = pack_pairs;  ///< a team has a thread for each row
    /// Where z of the row comes from: a column of the system.
    std::int64_t column[capacity];
    bool has[capacity];
    bool is_below[capacity];  ///< whether z is x, which other blocks hand over, and not alpha b

    /// Takes the rows first, first + step, ... below `end` of the panel of a supernode.
    template <class Context>
    SPTRSV_DEVICE static row_batch take(Context& ctx, const params& p, const supernode& node,
                                        std::int64_t first, std::int64_t end, int step) {
      row_batch taken;
      SPTRSV_UNROLL
      for (int u = 0; u < capacity; ++u) {
        const std::int64_t i = first + u * step;
        taken.has[u] = i < end;
        taken.is_below[u] = i < end && i >= node.columns;
        taken.column[u] = taken.is_below[u] ? load_index(ctx, p.of.rows + node.rows_begin + i - node.columns)
                                            : node.first + i;
      }
      return taken;
    }
    /// Loads z once: x as it is seen, or alpha b.
    template <class Rhs>
    SPTRSV_DEVICE void try_load(const Rhs& rhs, typename flag::reading (&seen)[capacity]) const {
      SPTRSV_UNROLL
      for (int u = 0; u < capacity; ++u) {
        seen[u] = is_below[u] ? rhs.try_load(column[u])
                  : has[u]    ? bit_cast<typename flag::reading>(rhs.load_b(column[u]))
                              : flag::zero();
      }
    }
  };
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
