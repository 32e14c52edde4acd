// A triangle with its rows, and so its columns, renumbered in level order.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"

namespace sptrsv::detail {

/// Per row of the new order, and once for the end: its length, where its pivot stands in the stored matrix,
/// and the inverse permutation.
template <class Index, class Offset>
struct measure_rows {
  std::int64_t size;
  const Offset* row_offsets;
  const Offset* diagonal_sources;  ///< null: none are held
  const Index* rows;               ///< place in level order -> position
  Offset* new_lengths;
  Offset* new_diagonal_sources;
  Index* place_of_position;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    if (r == size) {
      ctx.store(new_lengths + r, Offset{0});
      return;
    }
    const Index position = ctx.load_constant(rows + r);
    ctx.store(new_lengths + r, static_cast<Offset>(ctx.load_constant(row_offsets + position + 1) -
                                                   ctx.load_constant(row_offsets + position)));
    if (diagonal_sources != nullptr) {
      ctx.store(new_diagonal_sources + r, ctx.load_constant(diagonal_sources + position));
    }
    ctx.store(place_of_position + position, static_cast<Index>(r));
  }
};

/// Per entry of the new order: its column and source. Entries of a row keep their order.
template <class Index, class Offset>
struct move_entries {
  std::int64_t size;
  const Offset* row_offsets;
  const Index* columns;
  const Offset* sources;  ///< null: none are held
  const Index* rows;
  const Index* place_of_position;
  const Offset* new_row_offsets;
  Index* new_columns;
  Offset* new_sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t r = triangle_kernels::major_of(ctx, new_row_offsets, size, e);
    const Offset from = ctx.load_constant(row_offsets + ctx.load_constant(rows + r)) +
                        (static_cast<Offset>(e) - ctx.load_constant(new_row_offsets + r));
    ctx.store(new_columns + e, ctx.load_constant(place_of_position + ctx.load_constant(columns + from)));
    if (sources != nullptr) {
      ctx.store(new_sources + e, ctx.load_constant(sources + from));
    }
  }
};

template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> in_level_order(const device_triangle<Index, Offset>& t,
                                              const device_levels<Index>& levels, const Executor& on,
                                              const analysis_memory& memory) {
  const auto stream = on.stream();
  device_triangle<Index, Offset> moved;
  moved.size = t.size;
  moved.longest_row = t.longest_row;
  moved.rows_are_stored_runs = t.rows_are_stored_runs;
  moved.row_offsets = buffer<Offset>(t.row_offsets.size(), memory.kept, stream);
  moved.columns = buffer<Index>(t.columns.size(), memory.kept, stream);
  moved.sources = buffer<Offset>(t.sources.size(), memory.kept, stream);
  moved.diagonal_sources = buffer<Offset>(t.diagonal_sources.size(), memory.kept, stream);
  const buffer<Index> place_of_position(static_cast<std::size_t>(t.size), memory.scratch, stream);
  const Index* const rows = levels.rows.data();

  simt::for_each(on, t.size + 1,
                 measure_rows<Index, Offset>{t.size, t.row_offsets.data(), t.diagonal_sources.data(), rows,
                                             moved.row_offsets.data(), moved.diagonal_sources.data(),
                                             place_of_position.data()});
  on.exclusive_scan(moved.row_offsets.data(), moved.row_offsets.data(), t.size + 1, memory.scratch);
  simt::for_each(on, t.entries(),
                 move_entries<Index, Offset>{t.size, t.row_offsets.data(), t.columns.data(), t.sources.data(),
                                             rows, place_of_position.data(), moved.row_offsets.data(),
                                             moved.columns.data(), moved.sources.data()});
  return moved;
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
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const Index position = ctx.load_constant(rows + place);
    const auto length = static_cast<std::int64_t>(ctx.load_constant(row_offsets + position + 1) -
                                                  ctx.load_constant(row_offsets + position));
    const std::int64_t piece =
        triangle_kernels::major_of(ctx, level_offsets, levels, place) + place / scope;  // ascends
    ctx.store(keys + place, static_cast<std::uint64_t>(piece) << KeyOfLength::bits | key_of(length));
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
