// SPDX-License-Identifier: Apache-2.0
// The search for the levels of long rows, a warp for each: rows of one warp would wait for each other.
#pragma once

#include <cstdint>

#include "sptrsv/detail/levels/levels_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// One warp finds the level of a row; see levels_agent for the order of rows and for a search that is given
/// up; a round takes about half as long here. While many lanes miss a level, only the last of them polls, so
/// that rows far behind do not hold up the others.
template <class Index, class Offset>
struct row_levels_agent : levels_agent<Index, Offset> {
  using by_lanes = levels_agent<Index, Offset>;
  using params = typename by_lanes::params;
  static constexpr int block_rows = by_lanes::block_threads / 32;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, typename by_lanes::shared_storage& shared, const params& p) {
    constexpr int few_lanes = 4;
    constexpr Offset taken = 32 * by_lanes::entries_at_once;
    const auto warp = ctx.template group<32>();
    if (p.decides && ctx.load_constant(&p.condition.found->longest_row) < by_lanes::longest_by_row) {
      return;
    }
    const std::uint32_t ticket = draw_block_ticket(ctx, shared.ticket, &p.search->tickets);
    const std::int64_t r = static_cast<std::int64_t>(ticket) * block_rows + warp.index();
    if (r >= p.of.size || !p.condition.hold(ctx)) {
      return;
    }
    const std::int64_t rounds = 2 * (p.limit.first_rounds + p.limit.further_rounds * r / p.of.size);
    std::int64_t round = 0;
    typename by_lanes::row_state share;  // this lane's share of the next entries
    Offset first = ctx.load_constant(p.of.row_offsets + r);
    const Offset end = ctx.load_constant(p.of.row_offsets + r + 1);
    while (first < end) {  // the last entries, which are known last, are taken together
      const Offset next = first + (end - first - 1) % taken + 1;
      by_lanes::load_share(ctx, warp, p, first, next, share);
      by_lanes::find_needs(r, 0, share);
      const Index* pending = by_lanes::poll_once(ctx, p, r / 32 * 32, share);
      while (const std::uint32_t waiting = warp.ballot(pending != nullptr)) {
        const int last = simt::highest_bit(waiting);
        const bool is_far = simt::bit_count(waiting) > few_lanes;
        if (pending != nullptr && (!is_far || warp.rank() == last)) {
          ctx.spin(pending);
          pending = by_lanes::poll_once(ctx, p, r / 32 * 32, share);
        }
        if (is_far && warp.shuffle(pending == nullptr ? 1 : 0, last) != 0 && pending != nullptr) {
          pending = by_lanes::poll_once(ctx, p, r / 32 * 32, share);
        }
        if (p.limit.further_rounds > 0 && ++round % 8 == 0 &&
            by_lanes::gives_up(ctx, warp, p, round > rounds)) {
          if (warp.rank() == 0) {
            ctx.store_relaxed(p.levels + r, Index{1});
          }
          return;
        }
      }
      first = next;
    }
    const Index level = static_cast<Index>(simt::reduce(warp, share.level, 32, simt::maximum{}) + 1);
    if (warp.rank() == 0) {
      ctx.store_relaxed(p.levels + r, level);
      if (ctx.load_relaxed(&p.search->levels) < level) {
        ctx.atomic_max(&p.search->levels, static_cast<std::int64_t>(level));
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
