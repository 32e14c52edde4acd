// SPDX-License-Identifier: Apache-2.0
// Rewriting of rows: what its kernels share, those that take one thread for a row or an entry, and the one
// that computes right-hand sides. The levels of the system are cut into runs of consecutive levels. Row i
// eliminates its entries l_ij whose row j is in the same run:
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
//
// Runs of 32 consecutive rows in the order of substitution are rewritten in the same way: the levels are then
// those of the rows in their run, see number_rows.
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rows.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// A row eliminates this many entries at most: one lane of the warp has the row itself.
inline constexpr int most_eliminated = 31;

/// Limits of a rewritten row.
struct limits {
  double growth;             ///< largest growth, as basic_dataflow::max_growth
  double fill;               ///< largest fill, as basic_dataflow::max_fill; at least 1
  std::int64_t entries;      ///< entries that a rewritten row and its right-hand side may always have
  std::int64_t longest_row;  ///< entries of a row that is rewritten, at most
};

/// The runs of the levels.
template <class Index>
struct runs {
  const Index* levels;  ///< by row, counted from 1
  Index length;         ///< levels of a run

  /// Returns the level of the row in its run, counted from 1.
  template <class Context>
  SPTRSV_DEVICE Index position(Context& ctx, std::int64_t row) const {
    return static_cast<Index>((ctx.load_constant(levels + row) - 1) % length + 1);
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

/// Numbers the levels of runs of consecutive rows: those of a run begin after 32 levels for each run before
/// it. Runs once per run, by a warp.
template <class Index, class Offset>
struct number_rows {
  static constexpr int run_rows = 32;

  triangle_view<Index, Offset> triangle;
  Index* levels;  ///< by row, counted from 1

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t run) const {
    const std::int64_t base = run * run_rows;
    const std::int64_t row = base + warp.rank();
    std::uint32_t needs = 0;  // one bit for each row of the run
    for (Offset e = row < triangle.size ? ctx.load_constant(triangle.row_offsets + row + 1) : Offset{0};
         row < triangle.size && e > ctx.load_constant(triangle.row_offsets + row); --e) {
      const auto column = static_cast<std::int64_t>(ctx.load_constant(triangle.columns + e - 1)) - base;
      if (column < 0) {
        break;  // columns ascend
      }
      needs |= 1u << column;
    }
    Index level = 1;
    for (int k = 0; k < run_rows; ++k) {
      const Index before = warp.shuffle(level, k);
      level = (needs >> k & 1u) != 0 && before >= level ? before + 1 : level;
    }
    if (row < triangle.size) {
      ctx.store(levels + row, static_cast<Index>(base + level));
    }
  }
};

/// A row before it is rewritten, as one lane sees it: lane i > 0 has the i-th eliminated entry.
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
  made.begin = ctx.load_constant(t.of.row_offsets + row);
  made.end = ctx.load_constant(t.of.row_offsets + row + 1);
  made.first_level = runs.first_level(ctx, row);
  made.entry = made.begin;
  for (Offset chunk = made.begin; chunk < made.end; chunk += 32) {
    const Offset e = chunk + static_cast<Offset>(warp.rank());
    const Index column = e < made.end ? ctx.load_constant(t.of.columns + e) : Index{0};
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

/// A sorted list of columns for merge(): a whole list, or one of the two parts of a row's own entries. One
/// part has the entries that the row eliminates, the other part has the rest.
template <class Index, class Offset>
struct part_of_list {
  static constexpr Index none = std::numeric_limits<Index>::max();

  const Index* columns;
  Offset next;
  Offset end;
  bool is_own;      ///< whether these are the row's own entries, and merge() gets a part of them
  bool eliminated;  ///< whether this part has the entries that the row eliminates
  Index first_level;
  runs<Index> of;

  /// Returns the next column and goes on to the one behind it; `none` at the end.
  template <class Context>
  SPTRSV_DEVICE Index take(Context& ctx) {
    while (next < end) {
      const Index column = ctx.load(columns + next++);
      if (!is_own || of.eliminates(ctx, first_level, column) == eliminated) {
        return column;
      }
    }
    return none;
  }
};

/// Copies the columns of the rewritten system. Runs once per entry, see triangle_kernels::for_each_entry().
template <class Index, class Offset>
struct take_columns {
  triangle_view<Index, Offset> triangle;
  const Offset* slots;
  const Index* listed;
  const Offset* rhs_offsets;
  const Offset* row_offsets;
  Index* columns;
  bool has_pivots;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    if (has_pivots && e + 1 == static_cast<std::int64_t>(ctx.load_constant(row_offsets + row + 1))) {
      ctx.store(columns + e, static_cast<Index>(row));
      return;
    }
    const bool is_rewritten = ctx.load_constant(rhs_offsets + row) < ctx.load_constant(rhs_offsets + row + 1);
    const Index* const from = is_rewritten ? listed + ctx.load_constant(slots + row)
                                           : triangle.columns + ctx.load_constant(triangle.row_offsets + row);
    const Offset number = static_cast<Offset>(e) - ctx.load_constant(row_offsets + row);
    ctx.store(columns + e, ctx.load_constant(from + number));
  }
};

/// Copies the columns of the right-hand sides, listed behind those of the rows. Runs once per entry.
template <class Index, class Offset>
struct take_rhs_columns {
  const Offset* slots;
  const Offset* lengths;  ///< of the rows, without pivots
  const Index* listed;
  const Offset* rhs_offsets;
  Index* rhs_columns;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    const Offset from = ctx.load_constant(slots + row) + ctx.load_constant(lengths + row);
    const Offset number = static_cast<Offset>(e) - ctx.load_constant(rhs_offsets + row);
    ctx.store(rhs_columns + e, ctx.load_constant(listed + from + number));
  }
};

/// Computes c_i = alpha (b_i - sum_j w_ij b_j), by substitution index. A group of lanes takes one row and
/// right-hand side.
template <class Scalar, class Index, class Offset>
struct rewritten_rhs_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    int lane_bits;  ///< the logarithm of the number of lanes, at most 5
    bool reversed;
    const Offset* row_offsets;  ///< of w
    const Index* columns;
    const Scalar* values;
    Scalar alpha;
    dense_view<const Scalar> b;
    Scalar* c;  ///< size x columns, column-major
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t thread =
        static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    const std::int64_t task = thread >> p.lane_bits;
    const int lanes = 1 << p.lane_bits;
    const int lane = static_cast<int>(thread) & (lanes - 1);
    // A division of 64 bits would take longer than the rest.
    const std::int64_t column = task < p.size ? 0 : task / p.size;
    const std::int64_t row = task - column * p.size;
    const bool present = column < p.b.columns;
    Scalar products{};
    if (present) {
      const Offset end = ctx.load_constant(p.row_offsets + row + 1);
      for (Offset e = ctx.load_constant(p.row_offsets + row) + static_cast<Offset>(lane); e < end;
           e += static_cast<Offset>(lanes)) {
        const auto needs = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
        products = products + ctx.load_constant(p.values + e) * rhs(ctx, p, needs, column);
      }
    }
    products = simt::reduce(warp, products, lanes, simt::plus{});
    if (present && lane == 0) {
      ctx.store(p.c + column * p.size + row, p.alpha * (rhs(ctx, p, row, column) - products));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static Scalar rhs(Context& ctx, const params& p, std::int64_t substitution_index,
                                  std::int64_t column) {
    const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
    return ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
