// SPDX-License-Identifier: Apache-2.0
// The columns of C, found from its rows, which the stored matrix has sorted.
//
// A transposition would sort all entries. But columns of one supernode have the same rows, and in each of
// these rows their entries are neighbours. So only the entries of one column of each supernode are sorted:
//
//   1. Column j + 1 continues column j if all rows below it have entries in both or in none of them, and row
//      j + 1 has one in column j. Each row says where this fails: where a run of neighbours ends.
//      Columns that continue each other form a run.
//   2. The entries of the first column of each run, its diagonal entry included, in the order of rows, are
//      sorted by runs. This is the list of a run: the list of its column number d, without the diagonal, is
//      what follows the first d + 1 elements, and element d stands in the row of the diagonal.
//   3. A fundamental supernode has one child only. So a run ends before a column that is the first row of
//      another run. The lists stay.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/detail/supernodal/analysis/column_runs.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Counts the entries of rows in first columns of runs, with the diagonal. Once per row, and for the end.
template <class Index, class Offset>
struct count_listed {
  stored_rows<Index, Offset> c;
  column_runs<Index> runs;
  Offset* listed;  ///< by row, size + 1

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t row) const {
    const std::int64_t begin = row < c.size ? c.begin(ctx, row) : 0;
    const std::int64_t count = row < c.size ? c.count(ctx, row) : 0;
    std::int64_t found = 0;
    for_row_entries(
        tile, count, [&](std::int64_t t) { return runs.begin(ctx, c.row(ctx, begin, t)); },
        [&](std::int64_t, bool is_listed, bool is_present) {
          found += simt::bit_count(tile.ballot(is_present && is_listed));
        });
    if (tile.rank() == 0) {
      ctx.store(listed + row, static_cast<Offset>(found + (row < c.size && runs.begin(ctx, row) ? 1 : 0)));
    }
  }
};

/// Writes the entries in first columns of runs, the diagonal included: the row, and in the low bits the run;
/// and where they stand. Runs once per row, by a tile of lanes.
template <class Index, class Offset>
struct write_listed {
  stored_rows<Index, Offset> c;
  column_runs<Index> runs;
  const Offset* listed_before;  ///< by row
  int run_bits;
  std::uint64_t* keys;
  Offset* sources;

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t row) const {
    const std::int64_t begin = c.begin(ctx, row);
    const std::int64_t count = c.count(ctx, row);
    std::int64_t to = ctx.load_constant(listed_before + row);
    for_row_entries(
        tile, count,
        [&](std::int64_t t) {
          const std::int64_t column = c.row(ctx, begin, t);
          return runs.begin(ctx, column) ? column : -1;
        },
        [&](std::int64_t t, std::int64_t column, bool is_present) {
          const bool is_listed = is_present && column >= 0;
          const std::uint32_t all = tile.ballot(is_listed);
          if (is_listed) {
            list(ctx, row, column, begin + c.step * t,
                 to + simt::bit_count(all & ((1u << tile.rank()) - 1u)));
          }
          to += simt::bit_count(all);
        });
    if (tile.rank() == 0 && runs.begin(ctx, row)) {
      list(ctx, row, row, begin + c.step * count, to);
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void list(Context& ctx, std::int64_t row, std::int64_t column, std::int64_t source,
                          std::int64_t at) const {
    ctx.store(keys + at,
              static_cast<std::uint64_t>(row) << run_bits | static_cast<std::uint64_t>(runs.of(ctx, column)));
    ctx.store(sources + at, static_cast<Offset>(source));
  }
};

/// Writes the rows of the lists, and where each begins. Runs once per element and once for the end.
template <class Index, class Offset>
struct find_lists {
  const std::uint64_t* keys;  ///< the row, and in the low bits the run; sorted by runs
  int run_bits;
  std::int64_t listed;
  std::int64_t runs;
  Index* rows;
  Offset* list_begin;  ///< by run, runs + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t before = e > 0 ? run_of(ctx.load_constant(keys + e - 1)) : -1;
    std::int64_t run = runs;
    if (e < listed) {
      const std::uint64_t key = ctx.load_constant(keys + e);
      run = run_of(key);
      ctx.store(rows + e, static_cast<Index>(key >> run_bits));
    }
    for (std::int64_t empty = before + 1; empty <= run; ++empty) {
      ctx.store(list_begin + empty, static_cast<Offset>(e));
    }
  }

 private:
  [[nodiscard]] SPTRSV_DEVICE std::int64_t run_of(std::uint64_t key) const {
    return static_cast<std::int64_t>(key & ((std::uint64_t{1} << run_bits) - 1));
  }
};

/// Writes where each column has its list, and the entries of the columns before, in a scan. Marks the column
/// that is the first row below a run: a fundamental supernode begins there. Runs once per column and once for
/// the end.
template <class Index, class Offset>
struct describe_run_columns {
  column_runs<Index> runs;
  const Offset* list_begin;
  const Index* rows;
  int step;         ///< of stored_rows
  Offset* offsets;  ///< by column, size + 1
  Offset* begin;    ///< by column: where its list begins
  Index* shift;     ///< by column: from an entry of the run's first column to its own in the same row

  struct description {
    std::int64_t count;  ///< entries
    std::int64_t at;     ///< where its list begins
    std::int64_t number;
    bool is_last;  ///< of its run
  };
  template <class Context>
  SPTRSV_DEVICE description load(Context& ctx, std::int64_t column) const {
    if (column == runs.size) {
      return {0, 0, 0, false};
    }
    const std::int64_t run = runs.of(ctx, column);
    const std::int64_t number = column - load_index(ctx, runs.first + run);
    const std::int64_t at = load_index(ctx, list_begin + run) + number + 1;
    return {load_index(ctx, list_begin + run + 1) - at, at, number,
            column + 1 == load_index(ctx, runs.first + run + 1)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t column, const description& found,
                           std::int64_t before) const {
    ctx.store(offsets + column, static_cast<Offset>(before));
    if (column == runs.size) {
      return;
    }
    ctx.store(begin + column, static_cast<Offset>(found.at));
    ctx.store(shift + column, static_cast<Index>(step * found.number));
    if (found.is_last && found.count > 0) {
      ctx.store_relaxed(runs.begins + ctx.load_constant(rows + found.at), Index{1});
    }
  }
};

/// The columns of C as lists: those of its runs, or each column its own. `column_offsets` counts the entries
/// of the columns before. With runs, `rows` and `sources` are by element of a list, and a source is that of
/// the entry of the run's first column.
template <class Index, class Offset>
struct column_lists : device_columns<Index, Offset> {
  buffer<Offset> first;  ///< by column: where its list begins; empty: its list begins at its offset
  /// By column: from an entry of its run's first column to its own in the same row; empty without runs.
  buffer<Index> shift;
  buffer<Index> begun;  ///< by column, size + 1: how many fundamental supernodes begin before it, if known

  [[nodiscard]] std::size_t bytes() const {
    return device_columns<Index, Offset>::bytes() + first.bytes() + shift.bytes() + begun.bytes();
  }
};

/// The lanes that work on a row, a column or a fundamental supernode together.
inline constexpr int lanes_per_list = 16;

/// Makes the lists of runs. `c` has rows. Synchronises.
template <class Index, class Offset, class Executor>
column_lists<Index, Offset> list_runs(const stored_rows<Index, Offset>& c, const Executor& on,
                                      memory_resource& resource) {
  column_lists<Index, Offset> made;
  const auto begins = make_zeros<Index>(c.size + 1, on, resource);
  made.begun = make_buffer<Index>(c.size + 1, on, resource);
  const auto first = make_buffer<Index>(c.size + 1, on, resource);
  const column_runs<Index> runs{c.size, begins.data(), made.begun.data(), first.data()};
  simt::for_each_by_tile<lanes_per_list>(on, c.size, mark_runs<Index, Offset>{c, begins.data()});
  simt::scan_words words(resource);
  const auto results = make_buffer<std::int64_t>(2, on, resource);  // so that the host waits once
  words.scan(on, c.size + 1, number_runs<Index>{runs, results.data()});
  made.column_offsets = make_buffer<Offset>(c.size + 1, on, resource);
  Offset* const listed_before = made.column_offsets.data();
  simt::for_each_by_tile<lanes_per_list>(on, c.size + 1, count_listed<Index, Offset>{c, runs, listed_before});
  words.scan(on, c.size + 1,
             simt::sum_before<Offset>{listed_before, listed_before, c.size, results.data() + 1});
  std::int64_t counts[2];
  on.download(counts, results.data(), sizeof(counts));
  const auto [count, listed] = counts;

  const auto list_begin = make_buffer<Offset>(count + 1, on, resource);
  made.rows = make_buffer<Index>(listed, on, resource);
  made.sources = make_buffer<Offset>(listed, on, resource);
  {
    const int run_bits = bits_for(static_cast<std::uint64_t>(count));
    auto keys = make_buffer<std::uint64_t>(listed, on, resource);
    auto other_keys = make_buffer<std::uint64_t>(listed, on, resource);
    auto other_sources = make_buffer<Offset>(listed, on, resource);
    simt::for_each_by_tile<lanes_per_list>(
        on, c.size,
        write_listed<Index, Offset>{c, runs, listed_before, run_bits, keys.data(), made.sources.data()});
    on.sort_pairs_in_place(keys, other_keys, made.sources, other_sources, run_bits, resource);
    simt::for_each(
        on, listed + 1,
        find_lists<Index, Offset>{keys.data(), run_bits, listed, count, made.rows.data(), list_begin.data()});
  }
  made.first = make_buffer<Offset>(c.size, on, resource);
  made.shift = make_buffer<Index>(c.size, on, resource);
  words.scan(
      on, c.size + 1,
      describe_run_columns<Index, Offset>{runs, list_begin.data(), made.rows.data(), c.step,
                                          made.column_offsets.data(), made.first.data(), made.shift.data()});
  words.scan(on, c.size + 1, simt::sum_before<Index>{begins.data(), made.begun.data()});
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
