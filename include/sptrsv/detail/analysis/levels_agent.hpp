// The kernel that finds the levels of a triangle, without a host round trip per level.
//
// A row's level is one more than the largest level among the rows it needs: a triangular solve over (max, +),
// and so it is computed, by polling the levels of earlier rows. Li and Zhang (2020, section 6) name a set-up
// phase without global synchronisation as future work.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::detail {

/// A warp finds the levels of 32 consecutive rows, a lane each. Levels of other warps' rows are polled; what
/// the 32 rows need of each other goes by shuffles, so a row that depends on its predecessor costs
/// nanoseconds, not a trip through memory. A row is published as soon as it is known. Long rows are taken by
/// the whole warp, in every turn each as far as it is known.
template <class Index, class Offset>
struct levels_agent {
  static constexpr int block_threads = 256;
  static constexpr int entries_at_once = 8;  ///< that a lane polls together
  static constexpr int long_row = 64;        ///< entries

  struct shared_storage {
    std::uint32_t ticket;
  };
  struct params {
    std::int64_t size;
    const Offset* row_offsets;
    const Index* columns;
    Index* levels;  ///< counted from 1; 0 until known
    std::uint32_t* tickets;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::uint32_t ticket = draw_block_ticket(ctx, shared.ticket, p.tickets);
    const std::int64_t base = static_cast<std::int64_t>(ticket) * block_threads + warp.index() * 32;
    if (base >= p.size) {
      return;
    }
    row_state row = open_row(ctx, p, base + warp.rank());
    row.waits = row.end - row.next > long_row;
    std::uint32_t long_rows = warp.ballot(row.waits);  // that have entries left
    std::uint32_t known_rows = 0;                      // of the warp, a bit each
    if ((long_rows >> warp.rank() & 1u) == 0) {
      take_entries(ctx, p, base, known_rows, row);
    } else {
      wait_for_none(row);
    }
    for (;;) {
      for (std::uint32_t rows = long_rows; rows != 0; rows &= rows - 1) {
        const int r = simt::lowest_bit(rows);
        long_rows ^= go_on_with(ctx, warp, p, base, known_rows, r, row) ? 1u << r : 0u;
      }
      if (!row.done && (long_rows >> warp.rank() & 1u) == 0) {
        poll(ctx, p, base, known_rows, row);
      }
      warp.sync();
      if (warp.all(!row.waits)) {
        publish_rest(ctx, warp, p, base, row);
        return;
      }
      known_rows = publish_ready(ctx, warp, p, base, row, known_rows);
    }
  }

 private:
  struct row_state {
    Offset next;  ///< first entry not taken yet
    Offset end;
    Index column[entries_at_once];  ///< of the entries taken
    Index known[entries_at_once];   ///< their levels: 0 not known yet, -1 nothing to wait for
    Index level = 0;                ///< the largest level met so far
    std::uint32_t needs = 0;        ///< rows of this warp that the row needs, a bit each
    bool waits = false;             ///< for one of the entries taken
    bool done;
  };

  template <class Context>
  SPTRSV_DEVICE static row_state open_row(Context& ctx, const params& p, std::int64_t number) {
    row_state row;
    row.done = number >= p.size;
    row.next = ctx.load_constant(p.row_offsets + (row.done ? p.size : number));
    row.end = ctx.load_constant(p.row_offsets + (row.done ? p.size : number + 1));
    return row;
  }

  SPTRSV_DEVICE static void wait_for_none(row_state& row) {
    for (Index& known : row.known) {
      known = -1;
    }
  }

  /// Takes the next entries and looks at none. What lies among the warp's rows becomes a need; but what is
  /// known of them already has gone by, and is found in memory like the others.
  template <class Context>
  SPTRSV_DEVICE static void take_entries(Context& ctx, const params& p, std::int64_t base,
                                         std::uint32_t known_rows, row_state& row) {
    load_columns(ctx, p, row);
    find_needs(base, known_rows, row);
  }

  template <class Context>
  SPTRSV_DEVICE static void load_columns(Context& ctx, const params& p, row_state& row) {
    for (int i = 0; i < entries_at_once; ++i) {
      const Offset e = row.next + static_cast<Offset>(i);
      row.column[i] = e < row.end ? ctx.load_constant(p.columns + e) : Index{-1};
    }
    row.next = row.end - row.next > entries_at_once ? row.next + entries_at_once : row.end;
  }

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

  /// Looks at all the levels that the row waits for. Returns one that is not known yet; null if all are.
  template <class Context>
  SPTRSV_DEVICE static const Index* look(Context& ctx, const params& p, row_state& row) {
    const Index* pending = nullptr;
    for (int i = 0; i < entries_at_once; ++i) {
      if (row.known[i] == 0) {
        row.known[i] = ctx.load_relaxed(p.levels + row.column[i]);
        pending = row.known[i] == 0 ? p.levels + row.column[i] : pending;
        row.level = row.level < row.known[i] ? row.known[i] : row.level;
      }
    }
    return pending;
  }

  /// Looks; when nothing is left to wait for, takes the next entries.
  template <class Context>
  SPTRSV_DEVICE static void poll(Context& ctx, const params& p, std::int64_t base, std::uint32_t known_rows,
                                 row_state& row) {
    const Index* const pending = look(ctx, p, row);
    row.waits = pending != nullptr;
    if (row.waits) {
      ctx.spin(pending);
    } else if (row.next < row.end) {
      take_entries(ctx, p, base, known_rows, row);
      row.waits = true;  // until it has looked at them
    }
  }

  /// Publishes every row that misses nothing any more, then those that missed these, and so on.
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
        const Index other = static_cast<Index>(warp.shuffle(row.level, r) + 1);
        row.level = (row.needs >> r & 1u) != 0 && row.level < other ? other : row.level;
      }
    }
  }

  /// Publishes all rows when nothing outside the warp is missing any more: one row after the other is final.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void publish_rest(Context& ctx, const Warp& warp, const params& p, std::int64_t base,
                                         row_state& row) {
    for (int r = 0; r < 32; ++r) {
      const Index other = static_cast<Index>(warp.shuffle(row.level, r) + 1);
      row.level = (row.needs >> r & 1u) != 0 && row.level < other ? other : row.level;
    }
    if (!row.done) {
      ctx.store_relaxed(p.levels + base + warp.rank(), static_cast<Index>(row.level + 1));
    }
  }

  /// Takes the entries of the warp's row r up to the first that are not known yet. Whether that were all.
  template <class Context, class Warp>
  SPTRSV_DEVICE static bool go_on_with(Context& ctx, const Warp& warp, const params& p, std::int64_t base,
                                       std::uint32_t known_rows, int r, row_state& row) {
    const Offset end = warp.shuffle(row.end, r);
    Offset first = warp.shuffle(row.next, r);
    row_state part;  // this lane's share of the row: runs of entries, as if it were a row
    load_share(ctx, warp, p, first, end, part);
    while (first < end) {
      constexpr Offset taken = 32 * entries_at_once;
      const Offset next = end - first > taken ? first + taken : end;
      row_state ahead;
      load_share(ctx, warp, p, next, end, ahead);
      find_needs(base, known_rows, part);
      const Index* const pending = look(ctx, p, part);
      if (warp.any(pending != nullptr)) {
        if (pending != nullptr) {
          ctx.spin(pending);
        }
        break;
      }
      first = next;
      for (int i = 0; i < entries_at_once; ++i) {
        part.column[i] = ahead.column[i];
      }
    }
    for (int mask = 16; mask > 0; mask /= 2) {
      const Index level = warp.shuffle_xor(part.level, mask);
      part.level = part.level < level ? level : part.level;
      part.needs |= warp.shuffle_xor(part.needs, mask);
    }
    if (warp.rank() == r) {
      row.level = row.level < part.level ? part.level : row.level;
      row.needs |= part.needs;
      row.next = first;
      row.waits = first < end;
    }
    return first >= end;
  }

  /// This lane's columns of those from `first` on; -1 past the end.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void load_share(Context& ctx, const Warp& warp, const params& p, Offset first,
                                       Offset end, row_state& part) {
    const Offset mine = static_cast<Offset>(warp.rank() * entries_at_once);
    part.end = end;
    part.next = first < end && mine < end - first ? first + mine : end;
    load_columns(ctx, p, part);
  }
};

}  // namespace sptrsv::detail
