// SPDX-License-Identifier: Apache-2.0
// The kernel that solves C x = alpha b for several right-hand sides; forward_agent solves for one.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/pack/pack_panel.hpp"
#include "sptrsv/detail/supernodal/pack/pack_product.hpp"
#include "sptrsv/detail/supernodal/solve/contributions.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Solves one pack after the other, each in the steps of forward_agent, but the panel is copied once for all
/// packs. The products with the panel are those of octets of 8 rows with a pack. Different blocks may work on
/// different packs at the same time. Blocks that share a panel take g from tasks of kind `sums`.
///
/// Progress: the tasks that a task waits for have smaller tickets.
template <class Tuning, class Scalar, class Index, class Offset>
struct pack_forward_agent {
  static constexpr int block_threads = Tuning::pack_block_threads;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = Tuning::pack_warps_per_processor;
  /// Columns of a task of kind `sums`: a lane for each pair.
  static constexpr std::int64_t sum_columns = block_threads / pack_pairs;
  using space = pack_space<Tuning, Scalar>;
  using shared_storage = pack_shared<warps>;
  using params = pack_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    run_pack_block<pack_forward_agent>(ctx, shared, p);
  }

  /// Hands over g of the columns of a task of kind `sums`.
  template <class Context, class Team>
  SPTRSV_DEVICE static void sum(Context& ctx, const Team& team, const shared_storage& shared,
                                const params& p) {
    const task& work = shared.work;
    const std::uint32_t half = shared.start.half;
    const pack_range packs = p.packs_of(shared.sharer);
    const auto& warp = team.warp();
    const int pair_of_lane = warp.rank() % pack_pairs;
    const warp_batches columns{work.begin + warp.index() * octet_rows, sum_columns, work.end};
    const std::int64_t found = columns.found(warp.rank());
    const auto list = open_list(ctx, p, work.node, found, found < work.end);
    for (std::int64_t pack = packs.first; pack < packs.end; pack += packs.step) {
      const auto rhs = p.rhs_of(ctx, half, pack, pair_of_lane);
      sum_g(rhs, warp, work.node, columns, list,
            [&](std::int64_t j, const auto& g) { rhs.publish(p.rows + work.node.first + j, g); });
    }
    const std::int64_t mine = columns.served(0, warp.rank());
    if (mine < work.end) {
      p.reset(ctx, shared.start, shared.sharer, pair_of_lane, p.rows + work.node.first + mine);
    }
  }

  /// Solves for the rows [begin, end). `polls_g`: other blocks hand g over. The function is long because its
  /// steps share registers and barriers of the team.
  template <class Context, class Team>
  SPTRSV_DEVICE static void solve(Context& ctx, Team& team, shared_storage& shared, const params& p,
                                  const supernode& node, std::int64_t begin, std::int64_t end, bool polls_g) {
    const auto memory = pack_memory<Scalar>::template of<space>(ctx, team, p.tile_bytes);
    std::uint64_t* const arrival = &shared.arrivals[team.index()];
    const std::uint32_t half = shared.start.half;
    const pack_range packs = p.packs_of(shared.sharer);
    pack_panel<Scalar> part(node.columns, begin, end);
    part.stride = polls_g ? tile_stride(part.columns) : 0;
    if (packs.first < packs.end) {  // otherwise nobody waits for the copy
      copy_part(ctx, team, p.panels, node.panel, part, memory.panel, arrival);
    }
    const auto& warp = team.warp();
    const int lane = warp.rank();
    const int k = part.columns;
    const int octets = static_cast<int>(simt::ceil_div(part.end - part.begin, octet_rows));
    const warp_share share(octets, Team::size / 32, team.warp_index());
    const int pair_of_lane = lane % pack_pairs;
    const warp_batches columns{team.warp_index() * octet_rows, Team::size / pack_pairs, k};
    const std::int64_t found = columns.found(lane);
    const contribution_list list = open_list(ctx, p, node, found, !polls_g && found < k);
    // The octets of the warp in one round.
    const auto octets_of = [&](int round) {
      return warp_batches{
          part.begin + (share.group + round * warp_batches::capacity * share.groups) * octet_rows,
          share.groups * octet_rows, part.end};
    };
    const int rounds = static_cast<int>(simt::ceil_div(octets, warp_batches::capacity * share.groups));
    const auto below_of = [&](const warp_batches& rows) {
      const std::int64_t row = rows.found(lane);
      return open_list(ctx, p, node, part.skipped + row, row >= k && row < part.end);
    };
    contribution_list below = below_of(octets_of(0));
    for (std::int64_t pack = packs.first; pack < packs.end; pack += packs.step) {
      const auto rhs = p.rhs_of(ctx, half, pack, pair_of_lane);
      bool finite = true;
      const auto keep = [&](std::int64_t j, const pair& g) {
        finite = finite && is_finite(g);
        pair_at(memory.pack, static_cast<int>(j), pair_of_lane) = g;
      };
      if (polls_g) {
        poll_g(rhs, node, columns, lane, keep);
      } else {
        sum_g(rhs, warp, node, columns, list, keep);
      }
      const int padding = static_cast<int>(columns.served(0, lane));
      if (padding < (4 - k % 4) % 4) {
        pair_at(memory.pack, k + padding, pair_of_lane) = pair{};
      }
      if (pack == packs.first) {
        wait_part(ctx, team, part, arrival);
      }
      const bool all_finite = !any_in_team(team, shared.votes, !finite);
      for (int round = 0; round < rounds; ++round) {
        const warp_batches taken = octets_of(round);
        if (rounds > 1 && (round > 0 || pack > packs.first)) {
          below = below_of(taken);
        }
        for (int u = 0; u < warp_batches::capacity; ++u) {
          if (!taken.has_batch(u) && share.parts == 1) {
            break;
          }
          const contribution_list to_row = below.of_lane(warp, warp_batches::finder(u, lane));
          const auto seen = to_row.try_load(rhs);
          const int first = static_cast<int>(taken.first + u * taken.step);
          const int mine = static_cast<int>(taken.served(u, lane));
          pair sums[1] = {};
          if (taken.has_batch(u)) {
            const int last = first + octet_rows - 1;
            multiply_octets(ctx, warp, share, 1, last < k ? last : k, all_finite, memory.pack,
                            row_factors(p, node, part, first, mine), sums);
          }
          const pair sum = add_parts(team, share, memory.products, sums[0]);
          if (share.part == 0 && mine < part.end) {
            finish(rhs, node, part.skipped + mine, to_row, seen, sum, memory.pack);
          }
          if (share.parts > 1) {
            break;  // a group has at most one octet
          }
        }
      }
      team.sync();
    }
    for (std::int64_t i = (begin > k ? begin : k) + team.rank() / pack_pairs; i < end;
         i += Team::size / pack_pairs) {
      p.reset(ctx, shared.start, shared.sharer, pair_of_lane, node.rows_begin + i - k);
    }
  }

 private:
  using pair = rhs_pair<Scalar>;
  using flag = value_flag<pair>;
  using contribution_list = contributions<pair, Offset>;

  /// Computes g of columns of a supernode for the right-hand sides of the lane, and calls use(column, g).
  /// `list`: the contributions that the lane has found. The lanes of the warp call it together.
  template <class Rhs, class Warp, class Use>
  SPTRSV_DEVICE static void sum_g(const Rhs& rhs, const Warp& warp, const supernode& node,
                                  const warp_batches& columns, const contribution_list& list,
                                  const Use& use) {
    constexpr int at_once = 2;
    SPTRSV_NO_UNROLL
    for (int first = 0; first < warp_batches::capacity; first += at_once) {
      if (!columns.has_batch(first)) {
        break;
      }
      contribution_list lists[at_once];
      typename contribution_list::readings seen[at_once];
      pair b[at_once];
      SPTRSV_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const std::int64_t j = columns.served(first + u, warp.rank());
        b[u] = j < columns.end ? rhs.load_b(node.first + j) : pair{};
        lists[u] = list.of_lane(warp, warp_batches::finder(first + u, warp.rank()));
        seen[u] = lists[u].try_load(rhs);
      }
      SPTRSV_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const std::int64_t j = columns.served(first + u, warp.rank());
        if (j < columns.end) {
          const auto pivot = rhs.p.pivot(rhs.ctx, node.first + j);
          const pair f = lists[u].add(rhs, seen[u], b[u]);
          use(j, pair{{pivot(f.of[0]), pivot(f.of[1])}});
        }
      }
    }
  }
  /// The factors of a row of the panel, as multiply_octets takes them.
  struct row_factors {
    static constexpr int dense_begin = 0;
    const params& p;
    const supernode& node;
    std::int64_t row;  ///< in the panel
    int length;        ///< entries; 0 if there is no such row
    int dense_end;     ///< all rows of the octet have so many, and a multiple of 4
    const Scalar* entries;

    SPTRSV_DEVICE row_factors(const params& of, const supernode& of_node, const pack_panel<Scalar>& part,
                              int first, int mine)
        : p(of),
          node(of_node),
          row(part.skipped + mine),
          length(mine < part.end ? part.length(mine) : 0),
          dense_end(part.length(first) / 4 * 4),
          entries(part.row(mine < part.end ? mine : first)) {}

    SPTRSV_DEVICE Scalar operator()(int, int j) const { return j < length ? entries[j] : Scalar{}; }
    SPTRSV_DEVICE Scalar dense(int, int j) const { return entries[j]; }
    template <class Context>
    SPTRSV_DEVICE bool has(Context& ctx, int, int j) const {
      return j < length && p.of.depends(ctx, node, row, j);
    }
  };

  /// Finds the contributions to a row of the panel, or a column of its supernode, if `exists`; otherwise
  /// none.
  template <class Context>
  SPTRSV_DEVICE static contribution_list open_list(Context& ctx, const params& p, const supernode& node,
                                                   std::int64_t row, bool exists) {
    return contribution_list::open(ctx, p, exists ? p.sum_number(node, row) : -1);
  }

  /// Waits for g of columns of the supernode, which other blocks hand over; otherwise as sum_g.
  template <class Rhs, class Use>
  SPTRSV_DEVICE static void poll_g(const Rhs& rhs, const supernode& node, const warp_batches& columns,
                                   int lane, const Use& use) {
    typename flag::reading seen[warp_batches::capacity];
    const auto column = [&](int u) { return columns.served(u, lane); };
    SPTRSV_UNROLL
    for (int u = 0; u < warp_batches::capacity; ++u) {
      seen[u] = column(u) < columns.end ? rhs.try_load(rhs.p.rows + node.first + column(u)) : flag::zero();
    }
    SPTRSV_UNROLL
    for (int u = 0; u < warp_batches::capacity; ++u) {
      if (column(u) < columns.end) {
        use(column(u), rhs.wait(rhs.p.rows + node.first + column(u), seen[u]));
      }
    }
  }

  /// Stores x or hands over the contribution for row `i` of the panel.
  template <class Rhs>
  SPTRSV_DEVICE static void finish(const Rhs& rhs, const supernode& node, std::int64_t i,
                                   const contribution_list& below,
                                   const typename contribution_list::readings& seen, const pair& sum,
                                   Scalar* g) {
    if (i < node.columns) {
      rhs.store_x(node.first + i, node.first + i, pair_at(g, static_cast<int>(i), rhs.pair) + sum);
    } else {
      rhs.publish(node.rows_begin + i - node.columns, below.add(rhs, seen, sum));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
