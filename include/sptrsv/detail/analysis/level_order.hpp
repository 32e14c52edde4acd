// A triangle with its rows, and so its columns, renumbered in level order.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::detail {

/// Per row of the new order, and once for the end: its length, where its pivot stands in the stored matrix,
/// and where it stands itself.
template <class Index, class Offset>
struct measure_rows {
  std::int64_t size;  ///< of the new order
  const Offset* row_offsets;
  const Offset* diagonal_sources;  ///< null: none are held
  const Index* rows;               ///< new row -> row
  Offset* new_lengths;
  Offset* new_diagonal_sources;
  Index* solve_index_of_row;  ///< null: it is known

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    if (r == size) {
      ctx.store(new_lengths + r, Offset{0});
      return;
    }
    const Index row = ctx.load_constant(rows + r);
    ctx.store(new_lengths + r, static_cast<Offset>(ctx.load_constant(row_offsets + row + 1) -
                                                   ctx.load_constant(row_offsets + row)));
    if (diagonal_sources != nullptr) {
      ctx.store(new_diagonal_sources + r, ctx.load_constant(diagonal_sources + row));
    }
    if (solve_index_of_row != nullptr) {
      ctx.store(solve_index_of_row + row, static_cast<Index>(r));
    }
  }
};

/// Per entry of the new order: its column and source. Entries of a row keep their order.
template <class Index, class Offset>
struct move_entries {
  std::int64_t size;      ///< of the new order
  std::int64_t old_size;  ///< columns from there on stay as they are
  const Offset* row_offsets;
  const Index* columns;
  const Offset* sources;  ///< null: none are held
  const Index* rows;
  const Index* solve_index_of_row;
  Index first_solve_index;  ///< column 0
  const Offset* new_row_offsets;
  Index* new_columns;
  Offset* new_sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t r = triangle_kernels::major_of(ctx, new_row_offsets, size, e);
    const Offset from = ctx.load_constant(row_offsets + ctx.load_constant(rows + r)) +
                        (static_cast<Offset>(e) - ctx.load_constant(new_row_offsets + r));
    const Index column = ctx.load_constant(columns + from);
    ctx.store(new_columns + e,
              static_cast<std::int64_t>(column) < old_size
                  ? static_cast<Index>(ctx.load_constant(solve_index_of_row + column) - first_solve_index)
                  : column);
    if (sources != nullptr) {
      ctx.store(new_sources + e, ctx.load_constant(sources + from));
    }
  }
};

/// Which rows of a triangle to take, in which order, and the columns that they become.
template <class Index>
struct row_selection {
  std::int64_t size;
  const Index* rows;
  Index* solve_index_of_row;    ///< of all rows of the triangle
  Index first_solve_index = 0;  ///< column 0
  bool is_known = false;        ///< solve_index_of_row; otherwise it becomes the inverse of `rows`
};

/// Synchronises where these are not all rows.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> select_rows(const device_triangle<Index, Offset>& t,
                                           const row_selection<Index>& s, const Executor& on,
                                           const analysis_memory& memory) {
  const auto stream = on.stream();
  device_triangle<Index, Offset> moved;
  moved.size = s.size;
  moved.longest_row = t.longest_row;
  moved.rows_are_stored_runs = t.rows_are_stored_runs;
  const auto size = static_cast<std::size_t>(s.size);
  moved.row_offsets = buffer<Offset>(size + 1, memory.kept, stream);
  moved.diagonal_sources = buffer<Offset>(t.diagonal_sources.size() == 0 ? 0 : size, memory.kept, stream);
  simt::for_each(on, s.size + 1,
                 measure_rows<Index, Offset>{s.size, t.row_offsets.data(), t.diagonal_sources.data(), s.rows,
                                             moved.row_offsets.data(), moved.diagonal_sources.data(),
                                             s.is_known ? nullptr : s.solve_index_of_row});
  on.exclusive_scan(moved.row_offsets.data(), moved.row_offsets.data(), s.size + 1, memory.scratch);
  auto entries = static_cast<Offset>(t.entries());
  if (s.size < t.size) {
    on.download(&entries, moved.row_offsets.data() + s.size, sizeof(entries));
  }
  const auto count = static_cast<std::size_t>(entries);
  moved.columns = buffer<Index>(count, memory.kept, stream);
  moved.sources = buffer<Offset>(t.sources.size() == 0 ? 0 : count, memory.kept, stream);
  simt::for_each(
      on, moved.entries(),
      move_entries<Index, Offset>{s.size, t.size, t.row_offsets.data(), t.columns.data(), t.sources.data(),
                                  s.rows, s.solve_index_of_row, s.first_solve_index, moved.row_offsets.data(),
                                  moved.columns.data(), moved.sources.data()});
  return moved;
}

template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> in_level_order(const device_triangle<Index, Offset>& t,
                                              const device_levels<Index>& levels, const Executor& on,
                                              const analysis_memory& memory) {
  const auto solve_index_of_row = make_buffer<Index>(t.size, on, memory.scratch);
  return select_rows(t, row_selection<Index>{t.size, levels.rows.data(), solve_index_of_row.data()}, on,
                     memory);
}

/// Per place in level order: the piece of a level that it is in and, in the low bits, what `KeyOfLength`
/// makes of the row's length.
template <class Index, class Offset, class KeyOfLength>
struct find_level_keys {
  const Offset* row_offsets;  ///< in the order of substitution
  const Index* rows;
  const Index* level_offsets;
  std::int64_t levels;
  std::int64_t scope;
  KeyOfLength key_of;
  std::uint64_t* keys;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const Index substitution_index = ctx.load_constant(rows + solve_index);
    const auto length = static_cast<std::int64_t>(ctx.load_constant(row_offsets + substitution_index + 1) -
                                                  ctx.load_constant(row_offsets + substitution_index));
    const std::int64_t piece =
        triangle_kernels::major_of(ctx, level_offsets, levels, solve_index) + solve_index / scope;  // ascends
    ctx.store(keys + solve_index, static_cast<std::uint64_t>(piece) << KeyOfLength::bits | key_of(length));
  }
};

/// Reorders the rows within pieces of their levels, of at most `scope` rows, by a key of their lengths, of
/// KeyOfLength::bits bits; rows of one key keep their order. Returns piece and key by place.
template <class Index, class Offset, class KeyOfLength, class Executor>
buffer<std::uint64_t> sort_within_levels(const device_triangle<Index, Offset>& t,
                                         device_levels<Index>& levels, std::int64_t scope,
                                         const KeyOfLength& key_of, const Executor& on,
                                         const analysis_memory& memory) {
  const auto size = static_cast<std::size_t>(t.size);
  const buffer<std::uint64_t> keys(size, memory.scratch, on.stream());
  buffer<std::uint64_t> sorted_keys(size, memory.scratch, on.stream());
  buffer<Index> rows(size, memory.kept, on.stream());
  simt::for_each(on, t.size,
                 find_level_keys<Index, Offset, KeyOfLength>{t.row_offsets.data(), levels.rows.data(),
                                                             levels.level_offsets.data(), levels.count, scope,
                                                             key_of, keys.data()});
  if (t.size > 0) {
    on.sort_pairs(keys.data(), sorted_keys.data(), levels.rows.data(), rows.data(), t.size,
                  bits_for(static_cast<std::uint64_t>(levels.count + t.size / scope) << KeyOfLength::bits),
                  memory.scratch);
  }
  levels.rows = std::move(rows);
  return sorted_keys;
}

}  // namespace sptrsv::detail
