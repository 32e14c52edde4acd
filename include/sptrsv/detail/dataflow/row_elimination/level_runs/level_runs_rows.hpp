// SPDX-License-Identifier: Apache-2.0
// Rewriting by levels: what the kernels share. The levels of the system are cut into runs of consecutive
// levels. Row i eliminates its entries l_ij whose row j is in the same run:
//
//   row'_i = row_i - sum_j (l_ij / d_j) row'_j
//
// The pivot d_i stays as it is, and the rewritten row needs rows of earlier runs only. Its right-hand side
// becomes
//
//   c_i = b_i - sum_j w_ij b_j   with   w_ij = l_ij / d_j - sum_k (l_ik / d_k) w_kj
//
// over the rows j of the run, so that no c waits for another one (partitioned inverse with levels as factors,
// Alvarado and Schreiber 1993). Rows are rewritten level by level of their runs, those of all runs together.
// One warp merges the lists of a row: lane 0 has the row itself, each further lane one of the rows j.
//
// A row that would become too long or grow too much is kept as it is. Rows that need it still eliminate it:
// they then need what it needs, in the same run, too.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rows.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs {

using row_elimination::sorted_list;
using row_elimination::valued_triangle;

/// A row eliminates this many entries at most: one lane of the warp has the row itself.
inline constexpr int most_eliminated = 31;

/// The runs of the levels.
template <class Index>
struct runs {
  const Index* levels;  ///< by row, counted from 1
  Index length;         ///< levels of a run

  /// Returns the number of levels of the run before that of the row.
  template <class Context>
  SPTRSV_DEVICE Index position(Context& ctx, std::int64_t row) const {
    return static_cast<Index>((ctx.load_constant(levels + row) - 1) % length);
  }
  /// Returns the first level of the run of the row.
  template <class Context>
  SPTRSV_DEVICE Index first_level(Context& ctx, std::int64_t row) const {
    const Index level = ctx.load_constant(levels + row);
    return static_cast<Index>(level - (level - 1) % length);
  }
  /// Returns whether a row whose run begins with `first_level` eliminates its entry in the column.
  template <class Context>
  SPTRSV_DEVICE bool eliminates(Context& ctx, Index first_level, Index column) const {
    return ctx.load_constant(levels + column) >= first_level;
  }
};

/// A row before it is rewritten, as one lane sees it. Lane i > 0 has the i-th of the entries that are
/// eliminated.
template <class Index, class Offset>
struct run_row {
  Offset begin;
  Offset end;
  Index first_level;  ///< of its run
  int eliminated;     ///< number of entries that are eliminated; lanes have the first `most_eliminated` only
  bool has_entry;     ///< whether this lane has one of them
  Offset entry;       ///< its index
  Index needs;        ///< its column
};

template <class Context, class Warp, class Scalar, class Index, class Offset>
SPTRSV_DEVICE run_row<Index, Offset> open_row(Context& ctx, const Warp& warp,
                                              const valued_triangle<Scalar, Index, Offset>& t,
                                              const runs<Index>& runs, std::int64_t row) {
  run_row<Index, Offset> made{};
  made.begin = ctx.load_constant(t.row_offsets + row);
  made.end = ctx.load_constant(t.row_offsets + row + 1);
  made.first_level = runs.first_level(ctx, row);
  made.entry = made.begin;
  for (Offset chunk = made.begin; chunk < made.end; chunk += 32) {
    const Offset e = chunk + static_cast<Offset>(warp.rank());
    const Index column = e < made.end ? ctx.load_constant(t.columns + e) : Index{0};
    std::uint32_t found = warp.ballot(e < made.end && runs.eliminates(ctx, made.first_level, column));
    const int count = simt::bit_count(found);
    const int wanted = warp.rank() - 1 - made.eliminated;  // of those that were found
    const bool takes = wanted >= 0 && wanted < count;
    for (int i = 0; i < wanted && takes; ++i) {
      found &= found - 1;
    }
    const int lane = takes ? simt::lowest_bit(found) : 0;
    const Index needs = warp.shuffle(column, lane);
    if (takes) {
      made.has_entry = true;
      made.entry = chunk + static_cast<Offset>(lane);
      made.needs = needs;
    }
    made.eliminated += count;
  }
  return made;
}

/// A list for merge(): a whole list, or one of the two parts of a row's own entries. One part has the entries
/// that the row eliminates, the other part has the rest.
template <class Index, class Offset>
struct part_of_list {
  static constexpr Index none = sorted_list<Index, Offset>::none;

  sorted_list<Index, Offset> whole;
  bool is_own;      ///< whether `whole` has the row's own entries, and merge() gets a part of them
  bool eliminated;  ///< whether this part has the entries that the row eliminates
  Index first_level;
  runs<Index> of;

  template <class Context>
  SPTRSV_DEVICE Index take(Context& ctx) {
    for (;;) {
      const Index column = whole.take(ctx);
      if (column == none || !is_own || of.eliminates(ctx, first_level, column) == eliminated) {
        return column;
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs
