// SPDX-License-Identifier: Apache-2.0
// Renumbers the rows, and with them the columns, of a triangle in level order.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The body of a scan over the new rows: finds offset and diagonal source of each row, and the inverse order.
template <class Index, class Offset>
struct place_rows {
  triangle_view<Index, Offset> old;
  triangle_view<Index, Offset> moved;  ///< output
  const Index* rows;                   ///< by new row: the old row
  Index* solve_index_of_row;           ///< output by old row: the new row; null: it is known

  struct new_row {
    std::int64_t count;  ///< entries
    Index row;           ///< the old row
  };

  template <class Context>
  SPTRSV_DEVICE new_row load(Context& ctx, std::int64_t r) const {
    const Index row = ctx.load_constant(rows + r);
    return {triangle_kernels::row_length(ctx, old.row_offsets, row), row};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const new_row& own, std::int64_t before) const {
    ctx.store(moved.row_offsets + r, static_cast<Offset>(before));
    if (r == moved.size - 1) {
      ctx.store(moved.row_offsets + moved.size, static_cast<Offset>(before + own.count));
    }
    if (old.diagonal_sources != nullptr) {
      ctx.store(moved.diagonal_sources + r, ctx.load_constant(old.diagonal_sources + own.row));
    }
    if (solve_index_of_row != nullptr) {
      ctx.store(solve_index_of_row + own.row, static_cast<Index>(r));
    }
  }
};

/// The entries of a triangle whose rows are put in a new order. Those of a row keep their order.
template <class Index, class Offset>
struct moved_entries {
  triangle_view<Index, Offset> old;
  triangle_view<Index, Offset> moved;
  const Index* rows;  ///< by new row: the old row

  /// Returns the old entry that becomes entry `e`, in the new row r.
  template <class Context>
  SPTRSV_DEVICE Offset old_entry(Context& ctx, std::int64_t r, std::int64_t e) const {
    return ctx.load_constant(old.row_offsets + ctx.load_constant(rows + r)) +
           (static_cast<Offset>(e) - ctx.load_constant(moved.row_offsets + r));
  }
};

/// Moves column and source of each entry to the new order. Runs once per new entry, see for_each_entry().
template <class Index, class Offset>
struct move_entries {
  moved_entries<Index, Offset> of;  ///< without new sources: sources are not moved
  const Index* solve_index_of_row;  ///< by old row: its solve index
  Index first_solve_index;          ///< solve index that becomes column 0

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Offset from = of.old_entry(ctx, r, e);
    const Index column = ctx.load_constant(of.old.columns + from);
    ctx.store(of.moved.columns + e,
              static_cast<std::int64_t>(column) < of.old.size  // columns from there on stay as they are
                  ? static_cast<Index>(ctx.load_constant(solve_index_of_row + column) - first_solve_index)
                  : column);
    if (of.moved.sources != nullptr) {
      ctx.store(of.moved.sources + e, ctx.load_constant(of.old.sources + from));
    }
  }
};

/// A selection of rows of a triangle in a given order, and the columns that all its rows become.
template <class Index>
struct row_selection {
  std::int64_t size;          ///< number of selected rows
  const Index* rows;          ///< by new row: the old row
  Index* solve_index_of_row;  ///< by row of the triangle, for all its rows
  std::int64_t entries;       ///< of the selected rows; -1: it is not known
  /// True: the rows are a part of a triangle that is cut. Then the caller gives solve_index_of_row, and the
  /// selected entries have no sources. False: select_rows writes solve_index_of_row, the inverse of `rows`.
  bool is_cut = false;
  Index first_solve_index = 0;  ///< solve index that becomes column 0
};

/// Returns the selected rows. Synchronises if their entries are not known.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> select_rows(const device_triangle<Index, Offset>& t,
                                           const row_selection<Index>& s, const Executor& on,
                                           const analysis_memory& memory) {
  const auto stream = on.stream();
  device_triangle<Index, Offset> moved;
  moved.size = s.size;
  moved.longest_row = t.longest_row;
  moved.rows_are_stored_runs = t.rows_are_stored_runs;
  const auto size = at(s.size);
  moved.row_offsets = buffer<Offset>(size + 1, memory.kept, stream);
  moved.diagonal_sources = buffer<Offset>(t.diagonal_sources.size() == 0 ? 0 : size, memory.kept, stream);
  if (s.size == 0) {
    on.fill_bytes(moved.row_offsets.data(), 0, moved.row_offsets.bytes());
  }
  scan(on, s.size,
       place_rows<Index, Offset>{t.view(), moved.view(), s.rows, s.is_cut ? nullptr : s.solve_index_of_row},
       memory);
  const auto count = at(s.entries < 0 ? std::int64_t{last_of(moved.row_offsets, on)} : s.entries);
  moved.columns = buffer<Index>(count, memory.kept, stream);
  moved.sources = buffer<Offset>(s.is_cut || t.sources.size() == 0 ? 0 : count, memory.kept, stream);
  triangle_kernels::for_each_entry(
      on, moved.row_offsets.data(), s.size, moved.entries(),
      move_entries<Index, Offset>{
          {t.view(), moved.view(), s.rows}, s.solve_index_of_row, s.first_solve_index});
  return moved;
}

/// Returns the triangle with rows and columns renumbered in level order.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> in_level_order(const device_triangle<Index, Offset>& t,
                                              const device_levels<Index>& levels, const Executor& on,
                                              const analysis_memory& memory) {
  const auto solve_index_of_row = make_buffer<Index>(t.size, on, memory.scratch);
  return select_rows(t,
                     row_selection<Index>{t.size, levels.rows.data(), solve_index_of_row.data(), t.entries()},
                     on, memory);
}

/// Computes the sort key of each row: (level * sections + section) << bits | key of the row's length. The
/// level is counted from 0. Runs once per row.
template <class Index, class Offset, class KeyOfLength>
struct find_level_keys {
  const Offset* row_offsets;  ///< by row
  const Index* level_of_row;  ///< by row, counted from 1
  std::int64_t section_rows;  ///< consecutive rows of a section
  std::int64_t sections;
  KeyOfLength key_of;
  int bits;             ///< of a length's key
  std::uint64_t* keys;  ///< by row

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t length = triangle_kernels::row_length(ctx, row_offsets, row);
    const std::int64_t group = (load_index(ctx, level_of_row + row) - 1) * sections + row / section_rows;
    ctx.store(keys + row, static_cast<std::uint64_t>(group) << bits | key_of(length));
  }
};

/// The level of a row by its sort key, see find_level_keys.
struct level_of_key {
  int bits;
  std::int64_t sections;

  SPTRSV_HOST_DEVICE std::int64_t operator()(std::uint64_t key) const {
    return static_cast<std::int64_t>(key >> bits) / sections;
  }
};

/// Rows in level order, sorted by length within a level, and their sort keys by solve index.
template <class Index>
struct levels_by_length {
  device_levels<Index> levels;
  buffer<std::uint64_t> keys;
};

/// Sorts the rows by level and, within a level, by a key of their lengths, which has key_of.bits bits. Rows
/// of equal key keep their order. `sections`: the rows are cut into so many sections of consecutive rows, at
/// least 1, whose rows keep their order, too. `with_solve_indices`: see make_levels().
template <class Index, class Offset, class KeyOfLength, class Executor>
levels_by_length<Index> order_by_level_and_length(const device_triangle<Index, Offset>& t,
                                                  const row_levels<Index>& levels, std::int64_t sections,
                                                  const KeyOfLength& key_of, const Executor& on,
                                                  const analysis_memory& memory,
                                                  bool with_solve_indices = false) {
  const int bits = key_of.bits;
  levels_by_length<Index> result{make_levels<Index>(t.size, levels.count, with_solve_indices, on, memory),
                                 make_buffer<std::uint64_t>(t.size, on, memory.scratch)};
  if (t.size == 0) {
    return result;
  }
  const auto keys = make_buffer<std::uint64_t>(t.size, on, memory.scratch);
  simt::for_each(on, t.size,
                 find_level_keys<Index, Offset, KeyOfLength>{t.row_offsets.data(), levels.of_row.data(),
                                                             simt::ceil_div(t.size, sections), sections,
                                                             key_of, bits, keys.data()});
  on.sort_pairs(keys.data(), result.keys.data(), levels.numbers.data(), result.levels.rows.data(), t.size,
                bits_for(static_cast<std::uint64_t>(levels.count * sections) << bits), memory.scratch);
  finish_levels(result.levels, result.keys, level_of_key{bits, sections}, on);
  return result;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
