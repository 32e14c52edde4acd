// SPDX-License-Identifier: Apache-2.0
// Runs of columns of C that continue each other: step 1 of row_columns.hpp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/simt/scan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The columns of the strictly lower triangle C, rows ascending; they may be runs of the stored matrix.
template <class Index, class Offset>
struct column_view {
  std::int64_t size;
  const Offset* offsets;  ///< by column, size + 1: entries of the columns before
  const Offset* first;    ///< by column: where its first entry stands in `indices`
  const Index* indices;
  int step;   ///< distance of the entries of a column: 1 or -1
  Index top;  ///< an index i stands for row top - i; -1: for row i

  template <class Context>
  SPTRSV_DEVICE std::int64_t begin(Context& ctx, std::int64_t column) const {
    return ctx.load_constant(first + column);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t count(Context& ctx, std::int64_t column) const {
    return triangle_kernels::row_length(ctx, offsets, column);
  }
  /// Returns the row of entry `t` of the column that begins at `begin`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t row(Context& ctx, std::int64_t begin, std::int64_t t) const {
    const Index index = ctx.load_constant(indices + begin + step * t);
    return static_cast<std::int64_t>(top < 0 ? index : static_cast<Index>(top - index));
  }
  /// Returns how many of the `count` entries of the column at `begin` stand in rows before `row_end`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t count_before(Context& ctx, std::int64_t begin, std::int64_t count,
                                          std::int64_t row_end) const {
    return triangle_kernels::count_while(count, [&](std::int64_t t) { return row(ctx, begin, t) < row_end; });
  }
  /// Body of simt::find_largest: the number of entries of a column.
  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t column) const {
    return count(ctx, column);
  }
};

/// The rows of C, columns ascending, in a stored matrix that has them sorted: as the columns of its
/// transpose. `first`: the offsets of the stored matrix, whose rows are in reverse order if `step` is -1.
template <class Index, class Offset>
struct stored_rows : column_view<Index, Offset> {
  template <class Context>
  SPTRSV_DEVICE std::int64_t begin(Context& ctx, std::int64_t row) const {
    const bool reversed = this->step < 0;
    return std::int64_t{ctx.load_constant(this->first + (reversed ? this->size - row : row))} -
           (reversed ? 1 : 0);
  }
};

/// Calls use(t, column, is_present) for the entries of a row, by a tile of lanes, all lanes together. A lane
/// loads several columns before it uses the first of them. `load(t)`: called for entries that are there.
template <class Tile, class Load, class Use>
SPTRSV_DEVICE void for_row_entries(const Tile& tile, std::int64_t count, const Load& load, const Use& use) {
  constexpr int at_once = 4;
  for (std::int64_t first = 0; first < count; first += at_once * Tile::lanes) {
    decltype(load(std::int64_t{0})) loaded[at_once] = {};
    SPTRSV_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t t = first + i * Tile::lanes + tile.rank();
      if (t < count) {
        loaded[i] = load(t);
      }
    }
    SPTRSV_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t t = first + i * Tile::lanes + tile.rank();
      use(t, loaded[i], t < count);
    }
  }
}

/// Marks the columns that do not continue the column before. Runs once per row, by a tile of lanes.
template <class Index, class Offset>
struct mark_runs {
  stored_rows<Index, Offset> c;
  Index* begins;  ///< by column; zero before, 1 if a run begins

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t row) const {
    const std::int64_t begin = c.begin(ctx, row);
    const std::int64_t count = c.count(ctx, row);
    struct neighbours {
      std::int64_t before;
      std::int64_t column;
    };
    // The last entry has the diagonal entry as its neighbour.
    for_row_entries(
        tile, count + 1,
        [&](std::int64_t t) {
          return neighbours{t > 0 ? c.row(ctx, begin, t - 1) : -1, t < count ? c.row(ctx, begin, t) : row};
        },
        [&](std::int64_t t, const neighbours& n, bool is_present) {
          if (is_present && (t == 0 || n.column != n.before + 1)) {
            ctx.store_relaxed(begins + n.column, Index{1});
            if (t > 0) {
              ctx.store_relaxed(begins + n.before + 1, Index{1});
            }
          }
        });
  }
};

template <class Index>
struct column_runs {
  std::int64_t size;  ///< columns
  Index* begins;      ///< by column: 1 if a run begins; zero for the end
  Index* begun;       ///< by column, size + 1: how many runs begin before it
  Index* first;       ///< by run, and for the end: its first column

  template <class Context>
  SPTRSV_DEVICE bool begin(Context& ctx, std::int64_t column) const {
    return ctx.load_constant(begins + column) != 0;
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t of(Context& ctx, std::int64_t column) const {
    return load_index(ctx, begun + column + 1) - 1;
  }
};

/// Numbers the runs and writes their first columns, in a scan. Runs once per column and once for the end.
template <class Index>
struct number_runs {
  column_runs<Index> runs;
  std::int64_t* all;  ///< output: number of runs

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t column) const {
    return {load_index(ctx, runs.begins + column)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t column, const simt::counted& begin,
                           std::int64_t before) const {
    ctx.store(runs.begun + column, static_cast<Index>(before));
    if (begin.count > 0 || column == runs.size) {
      ctx.store(runs.first + before, static_cast<Index>(column));
    }
    if (column == runs.size) {
      ctx.store(all, before);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
