// SPDX-License-Identifier: Apache-2.0
// The kernel that finds the levels of a triangle without a host round trip per level. The file is long
// because the kernel is one algorithm, whose steps share the state of a row.
//
// The level of a row is one more than the largest level of the rows that it needs. This is a triangular solve
// over the (max, +) semiring, so the kernel solves it as the synchronisation-free policies solve Lx = b: rows
// poll the levels of earlier rows. Li and Zhang (2020, section 6) name a set-up phase without global
// synchronisation as future work.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// When a search is given up: as soon as a warp is late, that is, as soon as it has polled in more rounds
/// than `first_rounds` plus the share of `further_rounds` that its place among the rows gives. This only
/// takes the time of a search into account if all warps start together.
struct search_limit {
  std::int64_t first_rounds = 0;
  std::int64_t further_rounds = 0;  ///< of the last row; 0: the search is not given up
};

/// One warp finds the levels of 32 consecutive rows, one lane per row. Per warp:
///
///   1. Draw a ticket per block, so that blocks take rows in the order of substitution.
///   2. Each lane takes its row's next entries (8 at a time). An entry in a row of the same warp becomes a
///      bit of `needs`; the levels of other rows are polled in global memory.
///   3. Rows with more than 64 entries are taken by the whole warp instead: in each round the warp goes
///      through the entries of a long row up to the first one whose level is not known (advance_long_row).
///   4. Publish each row that misses no level any more and shuffle its level to the rows of the warp that
///      need it, which may then be published in turn (publish_ready).
///   5. Repeat steps 2 to 4. When no row misses a level of another warp, finish the warp in 32 shuffles
///      and raise the number of levels (publish_rest).
///   6. If there is a limit, look every 8 rounds whether the warp is late or another one was. Then give up:
///      publish any level for the rows that are left, so that no other warp waits for them.
///
/// A row that depends on its predecessor in the warp costs a shuffle and no memory round trip. Progress: a
/// warp polls only rows with smaller indices, whose blocks have smaller tickets and have started; rows of one
/// warp never block one another because all lanes go through the rounds together.
template <class Index, class Offset>
struct levels_agent {
  static constexpr int block_threads = 256;
  /// Entries that a lane polls together.
  static constexpr int entries_at_once = 8;
  /// Longest row, in entries, that one lane takes.
  static constexpr int long_row = 64;
  /// Longest row from which on row_levels_agent searches instead, if rows are long on average, too.
  static constexpr int longest_by_row = 128;

  struct shared_storage {
    std::uint32_t ticket;
  };
  struct params {
    triangle_view<Index, Offset> of;
    Index* levels;  ///< by row, counted from 1; 0 until known
    level_search* search;
    search_limit limit;
    /// How much larger the level of a row is than that of a row of the same 32 rows that it needs: 1, or 0 to
    /// find the levels that would be left if these rows did not need each other.
    Index step;
    triangle_kernels::sound_rows condition{};  ///< without it, nothing is searched
    bool decides = false;  ///< whether the longest row decides if this kernel searches or the other one
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    if (p.decides && ctx.load_constant(&p.condition.found->longest_row) >= longest_by_row) {
      return;
    }
    const std::uint32_t ticket = draw_block_ticket(ctx, shared.ticket, &p.search->tickets);
    const std::int64_t base = static_cast<std::int64_t>(ticket) * block_threads + warp.index() * 32;
    if (base >= p.of.size || !p.condition.hold(ctx)) {
      return;
    }
    row_state row = open_row(ctx, p, base + warp.rank());
    row.waits = row.end - row.next > long_row;
    // Rows that the whole warp takes and that have entries left, one bit per lane.
    std::uint32_t long_rows = warp.ballot(row.waits);
    std::uint32_t known_rows = 0;  // published rows of the warp, one bit per lane
    if ((long_rows >> warp.rank() & 1u) == 0) {
      load_columns(ctx, p, row);
      find_needs(base, known_rows, row);
    } else {
      for (Index& known : row.known) {
        known = -1;  // the lane itself waits for nothing
      }
    }
    const std::int64_t rounds = p.limit.first_rounds + p.limit.further_rounds * base / p.of.size;
    for (std::int64_t round = 1;; ++round) {
      for (std::uint32_t rows = long_rows; rows != 0; rows &= rows - 1) {
        const int r = simt::lowest_bit(rows);
        long_rows ^= advance_long_row(ctx, warp, p, base, known_rows, r, row) ? 1u << r : 0u;
      }
      if (!row.done && (long_rows >> warp.rank() & 1u) == 0) {
        poll_or_take(ctx, p, base, known_rows, row);
      }
      if (warp.all(!row.waits)) {
        publish_rest(ctx, warp, p, base, row);
        return;
      }
      known_rows = publish_ready(ctx, warp, p, base, row, known_rows);
      if (p.limit.further_rounds > 0 && round % 8 == 0 && gives_up(ctx, warp, p, round > rounds)) {
        if (!row.done) {
          ctx.store_relaxed(p.levels + base + warp.rank(), Index{1});
        }
        return;
      }
    }
  }

 protected:
  struct row_state {
    Offset next;  ///< first entry that was not taken yet
    Offset end;
    Index column[entries_at_once];  ///< column of each entry taken; -1 if there is none
    /// Level of each of these columns: 0 not known yet, -1 nothing to wait for.
    Index known[entries_at_once];
    Index level = 0;          ///< largest level found so far
    std::uint32_t needs = 0;  ///< rows of this warp that the row needs, one bit per lane
    bool waits = false;       ///< true while the level of an entry taken is unknown
    bool done;                ///< true once the row is published
  };

  /// Returns whether the search is given up. `is_late`: this warp is a reason to do so.
  template <class Context, class Warp>
  SPTRSV_DEVICE static bool gives_up(Context& ctx, const Warp& warp, const params& p, bool is_late) {
    if (is_late && warp.rank() == 0) {
      ctx.store_relaxed(&p.search->given_up, 1u);
    }
    return is_late || warp.any(ctx.load_relaxed(&p.search->given_up) != 0);
  }

  template <class Context>
  SPTRSV_DEVICE static row_state open_row(Context& ctx, const params& p, std::int64_t number) {
    row_state row;
    row.done = number >= p.of.size;
    row.next = ctx.load_constant(p.of.row_offsets + (row.done ? p.of.size : number));
    row.end = ctx.load_constant(p.of.row_offsets + (row.done ? p.of.size : number + 1));
    return row;
  }

  /// Takes the row's next entries without polling them; find_needs() follows.
  template <class Context>
  SPTRSV_DEVICE static void load_columns(Context& ctx, const params& p, row_state& row) {
    for (int i = 0; i < entries_at_once; ++i) {
      const Offset e = row.next + static_cast<Offset>(i);
      row.column[i] = e < row.end ? ctx.load_constant(p.of.columns + e) : Index{-1};
    }
    row.next = row.end - row.next > entries_at_once ? row.next + entries_at_once : row.end;
  }

  /// An entry in a row of this warp becomes a bit of `needs`, unless that row is published already: then its
  /// level was shuffled before this entry was taken, so it is read from memory like the others.
  SPTRSV_DEVICE static void find_needs(std::int64_t base, std::uint32_t known_rows, row_state& row) {
    row.waits = false;
    for (int i = 0; i < entries_at_once; ++i) {
      const std::int64_t inside = static_cast<std::int64_t>(row.column[i]) - base;
      const std::uint32_t need = inside >= 0 ? (1u << inside) & ~known_rows : 0u;
      row.needs |= need;
      row.known[i] = row.column[i] < 0 || need != 0 ? Index{-1} : Index{0};
      row.waits = row.waits || row.known[i] == 0;
    }
  }

  /// Polls all levels that the row waits for, once. Returns the address of an unknown one; null: none.
  template <class Context>
  SPTRSV_DEVICE static const Index* poll_once(Context& ctx, const params& p, std::int64_t base,
                                              row_state& row) {
    const Index* pending = nullptr;
    for (int i = 0; i < entries_at_once; ++i) {
      if (row.known[i] == 0) {
        row.known[i] = ctx.load_relaxed(p.levels + row.column[i]);
        pending = row.known[i] == 0 ? p.levels + row.column[i] : pending;
        const bool is_inside = static_cast<std::int64_t>(row.column[i]) >= base;
        const auto least = static_cast<Index>(row.known[i] - (is_inside ? 1 - p.step : 0));
        row.level = row.level < least ? least : row.level;
      }
    }
    return pending;
  }

  /// Polls once. If no level is missing, takes the next entries.
  template <class Context>
  SPTRSV_DEVICE static void poll_or_take(Context& ctx, const params& p, std::int64_t base,
                                         std::uint32_t known_rows, row_state& row) {
    const Index* const pending = poll_once(ctx, p, base, row);
    row.waits = pending != nullptr;
    if (row.waits) {
      ctx.spin(pending);
    } else if (row.next < row.end) {
      load_columns(ctx, p, row);
      find_needs(base, known_rows, row);
      row.waits = true;  // until they have been polled
    }
  }

  /// Publishes every row that misses nothing any more, then the rows that these were missing for, and so on.
  /// Returns the published rows of the warp.
  template <class Context, class Warp>
  SPTRSV_DEVICE static std::uint32_t publish_ready(Context& ctx, const Warp& warp, const params& p,
                                                   std::int64_t base, row_state& row,
                                                   std::uint32_t known_rows) {
    for (;;) {
      const bool ready = !row.done && !row.waits && (row.needs & ~known_rows) == 0;
      std::uint32_t published = warp.ballot(ready);
      if (published == 0) {
        return known_rows;
      }
      if (ready) {
        ctx.store_relaxed(p.levels + base + warp.rank(), static_cast<Index>(row.level + 1));
        row.done = true;
      }
      known_rows |= published;
      for (; published != 0; published &= published - 1) {
        const int r = simt::lowest_bit(published);
        take_level(warp, p, r, row);
      }
    }
  }

  /// Takes the level of the warp's row r into account, if the row needs it.
  template <class Warp>
  SPTRSV_DEVICE static void take_level(const Warp& warp, const params& p, int r, row_state& row) {
    const auto least = static_cast<Index>(warp.shuffle(row.level, r) + p.step);
    row.level = (row.needs >> r & 1u) != 0 && row.level < least ? least : row.level;
  }

  /// Publishes all remaining rows when no level of another warp is missing any more. Row r is final after r
  /// rounds. Then raises the number of levels to the last one of the warp's rows. Updates of one word are
  /// served one after the other, so only a warp that raises it updates it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void publish_rest(Context& ctx, const Warp& warp, const params& p, std::int64_t base,
                                         row_state& row) {
    for (int r = 0; r < 32; ++r) {
      take_level(warp, p, r, row);
    }
    if (!row.done) {
      ctx.store_relaxed(p.levels + base + warp.rank(), static_cast<Index>(row.level + 1));
    }
    const auto last = static_cast<std::int64_t>(simt::reduce(warp, row.level, 32, simt::maximum{})) + 1;
    if (warp.rank() == 0 && ctx.load_relaxed(&p.search->levels) < last) {
      ctx.atomic_max(&p.search->levels, last);
    }
  }

  /// Takes the entries of the warp's row r up to the first of unknown level. Returns whether it took all.
  template <class Context, class Warp>
  SPTRSV_DEVICE static bool advance_long_row(Context& ctx, const Warp& warp, const params& p,
                                             std::int64_t base, std::uint32_t known_rows, int r,
                                             row_state& row) {
    const Offset end = warp.shuffle(row.end, r);
    Offset first = warp.shuffle(row.next, r);
    row_state share;  // this lane's share of the entries of row r
    load_share(ctx, warp, p, first, end, share);
    while (first < end) {
      constexpr Offset taken = 32 * entries_at_once;
      const Offset next = end - first > taken ? first + taken : end;
      row_state ahead;
      load_share(ctx, warp, p, next, end, ahead);
      find_needs(base, known_rows, share);
      const Index* const pending = poll_once(ctx, p, base, share);
      if (warp.any(pending != nullptr)) {
        if (pending != nullptr) {
          ctx.spin(pending);
        }
        break;
      }
      first = next;
      for (int i = 0; i < entries_at_once; ++i) {
        share.column[i] = ahead.column[i];
      }
    }
    share.level = simt::reduce(warp, share.level, 32, simt::maximum{});
    share.needs = simt::reduce(warp, share.needs, 32, simt::bit_or{});
    if (warp.rank() == r) {
      row.level = row.level < share.level ? share.level : row.level;
      row.needs |= share.needs;
      row.next = first;
      row.waits = first < end;
    }
    return first >= end;
  }

  /// Loads this lane's columns of the entries from `first` on; -1 past the end.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void load_share(Context& ctx, const Warp& warp, const params& p, Offset first,
                                       Offset end, row_state& share) {
    const Offset mine = static_cast<Offset>(warp.rank() * entries_at_once);
    share.end = end;
    share.next = first < end && mine < end - first ? first + mine : end;
    load_columns(ctx, p, share);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
