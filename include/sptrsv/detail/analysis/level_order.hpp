// A triangle with its rows, and so its columns, renumbered in level order.
#pragma once

#include <cstdint>

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

}  // namespace sptrsv::detail
