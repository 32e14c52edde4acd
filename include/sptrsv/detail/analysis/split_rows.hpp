// Cuts long rows: a row of m entries hands them to partial rows of at most `most` entries each, whose sum it
// takes over with the factor -1, and so on until rows are short enough.
//
// A partial row has no right-hand side, no place in x, and a unit pivot: its value is minus the sum of its
// products. So a row that would keep one warp busy for long is shared by many.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::detail {

/// A triangle of which some rows are partial rows.
template <class Index, class Offset>
struct split_triangle {
  device_triangle<Index, Offset> triangle;  ///< sources may be `minus_one_source`, diagonal_sources -1
  bool has_partial_rows = false;
  buffer<Index> substitution_indices;  ///< by row: its position in the system, -1 for partial rows; empty: it
                                       ///< is the row
};

namespace split_kernels {

/// Partial rows that a row of `length` entries hands its oldest ones to.
SPTRSV_HOST_DEVICE constexpr std::int64_t parts_of(std::int64_t length, std::int64_t most) {
  const std::int64_t needed = length <= most ? 0 : (length - most + most - 2) / (most - 1);
  return needed < length / most ? needed : length / most;
}

/// The rows before and after.
template <class Index, class Offset>
struct cut {
  std::int64_t size;
  std::int64_t most;
  const Offset* old_offsets;
  const Index* parts_before;  ///< by old row: partial rows of the rows before it
  const Offset* new_offsets;

  template <class Context>
  SPTRSV_DEVICE std::int64_t length(Context& ctx, std::int64_t row) const {
    return static_cast<std::int64_t>(ctx.load_constant(old_offsets + row + 1) -
                                     ctx.load_constant(old_offsets + row));
  }
  /// Its partial rows stand right before it.
  template <class Context>
  SPTRSV_DEVICE std::int64_t new_row(Context& ctx, std::int64_t row) const {
    return row + static_cast<std::int64_t>(ctx.load_constant(parts_before + row)) +
           parts_of(length(ctx, row), most);
  }
};

/// Per old row.
template <class Index, class Offset>
struct count_parts {
  std::int64_t most;
  const Offset* offsets;
  Index* parts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const auto length =
        static_cast<std::int64_t>(ctx.load_constant(offsets + row + 1) - ctx.load_constant(offsets + row));
    ctx.store(parts + row, static_cast<Index>(parts_of(length, most)));
  }
};

/// Per old row: lengths, positions and pivots of the new rows that it becomes.
template <class Index, class Offset>
struct make_rows {
  cut<Index, Offset> c;
  const Index* old_substitution_indices;  ///< null: a row is its position
  const Offset* old_pivots;               ///< null: the diagonal is unit
  Offset* lengths;
  Index* substitution_indices;
  Offset* pivots;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t length = c.length(ctx, row);
    const std::int64_t parts = parts_of(length, c.most);
    const std::int64_t to = c.new_row(ctx, row);
    for (std::int64_t part = to - parts; part < to; ++part) {
      ctx.store(lengths + part, static_cast<Offset>(c.most));
      ctx.store(substitution_indices + part, Index{-1});
      if (old_pivots != nullptr) {
        ctx.store(pivots + part, Offset{-1});
      }
    }
    ctx.store(lengths + to, static_cast<Offset>(length - parts * c.most + parts));
    ctx.store(substitution_indices + to, old_substitution_indices == nullptr
                                             ? static_cast<Index>(row)
                                             : ctx.load_constant(old_substitution_indices + row));
    if (old_pivots != nullptr) {
      ctx.store(pivots + to, ctx.load_constant(old_pivots + row));
    }
  }
};

/// Per old entry: the partial rows take the first ones.
template <class Index, class Offset>
struct move_entries {
  cut<Index, Offset> c;
  const Index* old_columns;
  const Offset* old_sources;
  Index* columns;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t row = triangle_kernels::major_of(ctx, c.old_offsets, c.size, e);
    const std::int64_t k = e - static_cast<std::int64_t>(ctx.load_constant(c.old_offsets + row));
    const std::int64_t parts = parts_of(c.length(ctx, row), c.most);
    const std::int64_t own = c.new_row(ctx, row);
    const bool handed_over = k < parts * c.most;
    const std::int64_t to = handed_over ? own - parts + k / c.most : own;
    const std::int64_t at = handed_over ? k % c.most : parts + k - parts * c.most;
    const std::int64_t slot = static_cast<std::int64_t>(ctx.load_constant(c.new_offsets + to)) + at;
    ctx.store(columns + slot, static_cast<Index>(c.new_row(
                                  ctx, static_cast<std::int64_t>(ctx.load_constant(old_columns + e)))));
    ctx.store(sources + slot, ctx.load_constant(old_sources + e));
  }
};

/// Per old row: its links to its partial rows, which are its first entries.
template <class Index, class Offset>
struct make_links {
  cut<Index, Offset> c;
  Index* columns;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t parts = parts_of(c.length(ctx, row), c.most);
    const std::int64_t own = c.new_row(ctx, row);
    const auto first = static_cast<std::int64_t>(ctx.load_constant(c.new_offsets + own));
    for (std::int64_t part = 0; part < parts; ++part) {
      ctx.store(columns + first + part, static_cast<Index>(own - parts + part));
      ctx.store(sources + first + part, static_cast<Offset>(triangle_kernels::minus_one_source));
    }
  }
};

}  // namespace split_kernels

/// One round. `positions`: of the rows of `t`, empty if none was cut before. Synchronises.
template <class Index, class Offset, class Executor>
split_triangle<Index, Offset> split_once(const device_triangle<Index, Offset>& t,
                                         const buffer<Index>& substitution_indices, std::int64_t most,
                                         const Executor& on, const analysis_memory& memory) {
  const auto parts = make_buffer<Index>(t.size + 1, on, memory.scratch);
  on.fill_bytes(parts.data(), 0, parts.bytes());
  simt::for_each(on, t.size,
                 split_kernels::count_parts<Index, Offset>{most, t.row_offsets.data(), parts.data()});
  on.exclusive_scan(parts.data(), parts.data(), t.size + 1, memory.scratch);
  Index added = 0;
  on.download(&added, parts.data() + t.size, sizeof(added));

  split_triangle<Index, Offset> made;
  made.has_partial_rows = true;
  device_triangle<Index, Offset>& n = made.triangle;
  n.size = t.size + static_cast<std::int64_t>(added);
  n.rows_are_stored_runs = t.rows_are_stored_runs;  // links, which have no sources, come first
  n.row_offsets = make_buffer<Offset>(n.size + 1, on, memory.kept);
  n.columns = make_buffer<Index>(t.entries() + added, on, memory.kept);
  n.sources = make_buffer<Offset>(t.entries() + added, on, memory.kept);
  n.diagonal_sources = make_buffer<Offset>(t.diagonal_sources.size() == 0 ? 0 : n.size, on, memory.kept);
  made.substitution_indices = make_buffer<Index>(n.size, on, memory.kept);
  split_kernels::cut<Index, Offset> c{t.size, most, t.row_offsets.data(), parts.data(), n.row_offsets.data()};
  on.fill_bytes(n.row_offsets.data(), 0, n.row_offsets.bytes());
  simt::for_each(on, t.size,
                 split_kernels::make_rows<Index, Offset>{
                     c, substitution_indices.data(), t.diagonal_sources.data(), n.row_offsets.data(),
                     made.substitution_indices.data(), n.diagonal_sources.data()});
  on.exclusive_scan(n.row_offsets.data(), n.row_offsets.data(), n.size + 1, memory.scratch);
  simt::for_each(on, t.entries(),
                 split_kernels::move_entries<Index, Offset>{c, t.columns.data(), t.sources.data(),
                                                            n.columns.data(), n.sources.data()});
  simt::for_each(on, t.size, split_kernels::make_links<Index, Offset>{c, n.columns.data(), n.sources.data()});
  // Where there are more than enough partial rows, their links are still many.
  n.longest_row = t.longest_row < most * (most - 1) ? most : t.longest_row / most + most - 1;
  return made;
}

/// No row of the result has more than 2 * `most` - 3 entries, `most` >= 4, and partial rows have `most` of
/// them: a row of q * most + r entries, q + r > most, keeps q + r, and a round only for these would cost more
/// than it gives. Moves `triangle` where nothing is to be cut. Synchronises.
template <class Index, class Offset, class Executor>
split_triangle<Index, Offset> split_long_rows(device_triangle<Index, Offset>& triangle, std::int64_t most,
                                              const Executor& on, const analysis_memory& memory) {
  if (triangle.longest_row <= most) {
    return {std::move(triangle), false, {}};
  }
  split_triangle<Index, Offset> split = split_once(triangle, buffer<Index>(), most, on, memory);
  while (split.triangle.longest_row > most) {
    split = split_once(split.triangle, split.substitution_indices, most, on, memory);
  }
  return split;
}

}  // namespace sptrsv::detail
