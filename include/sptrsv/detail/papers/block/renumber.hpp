// SPDX-License-Identifier: Apache-2.0
// Renumbers the rows in level order, and again by the levels of each diagonal block: Lu, Niu, Liu 2020,
// section 3.3.
//
// One pass renumbers all diagonal blocks of a recursion level: drop the entries outside the diagonal blocks,
// compute the levels of the remaining triangle, which are those of each block by itself, and sort the rows by
// block and level.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/papers/block/layout.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// Says whether the column of an entry lies in the block of its row.
template <class Index, class Offset>
struct is_inside {
  std::int64_t size;
  const Offset* row_offsets;  ///< by row, size + 1
  const Index* columns;       ///< by entry
  row_wise::device_bounds blocks;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t row = triangle_kernels::major_of(ctx, row_offsets, size, e);
    const std::int64_t first = blocks.begin_of(ctx, blocks.block_of(ctx, row));
    return load_index(ctx, columns + e) >= first;
  }
};

/// Returns the entries inside diagonal blocks, without sources. Synchronises.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> entries_inside(const device_triangle<Index, Offset>& t,
                                              const row_wise::device_bounds& blocks, const Executor& on,
                                              const analysis_memory& memory) {
  const std::int64_t entries = t.entries();
  const auto kept_before = count_marked<Offset>(
      entries, is_inside<Index, Offset>{t.size, t.row_offsets.data(), t.columns.data(), blocks}, on, memory);
  device_triangle<Index, Offset> inside;
  inside.size = t.size;
  inside.row_offsets = buffer<Offset>(t.row_offsets.size(), memory.kept, on.stream());
  inside.columns = make_buffer<Index>(last_of(kept_before, on), on, memory.kept);
  simt::for_each(on, t.size + 1,
                 array_kernels::take_in_order<Offset, Offset>{kept_before.data(), t.row_offsets.data(),
                                                              inside.row_offsets.data()});
  simt::for_each(on, entries,
                 array_kernels::keep_marked<Offset, array_kernels::element_of<Index>, Index>{
                     kept_before.data(), {t.columns.data()}, inside.columns.data()});
  return inside;
}

/// Computes the sort key of each row: its block, then its level in the block.
template <class Index>
struct find_level_keys {
  const Index* levels;  ///< by row, counted from 1
  row_wise::device_bounds blocks;
  std::int64_t max_levels;
  std::uint64_t* keys;  ///< output by row

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(keys + row, static_cast<std::uint64_t>(blocks.block_of(ctx, row) * (max_levels + 1) +
                                                     load_index(ctx, levels + row)));
  }
};

struct starts_with_key {
  const std::uint64_t* keys;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    return i == 0 || ctx.load_constant(keys + i - 1) != ctx.load_constant(keys + i);
  }
};

/// A triangle in its final order.
template <class Index, class Offset>
struct block_order {
  /// Solve index -> substitution index. `count` counts the levels of the whole triangle; the level offsets
  /// are those of the diagonal blocks.
  device_levels<Index> rows;
  /// Entries of the diagonal blocks; with sources only if there is one block.
  device_triangle<Index, Offset> inside;
};

/// Sorts the rows by block and level. Rows of equal key keep their order. Synchronises.
template <class Index, class Offset, class Executor>
void divide(block_order<Index, Offset>& made, const row_wise::device_bounds& blocks, const Executor& on,
            const analysis_memory& memory) {
  made.inside.sources = {};
  made.inside.diagonal_sources = {};
  const device_triangle<Index, Offset> inside = entries_inside(made.inside, blocks, on, memory.all_scratch());
  const row_levels<Index> levels = levels_of_rows(inside, on, memory);
  const auto keys = make_buffer<std::uint64_t>(inside.size, on, memory.scratch);
  const auto sorted = make_buffer<std::uint64_t>(inside.size, on, memory.scratch);
  device_levels<Index> rows;  // new solve index -> solve index before this pass
  rows.rows = make_buffer<Index>(inside.size, on, memory.scratch);
  simt::for_each(on, inside.size,
                 find_level_keys<Index>{levels.of_row.data(), blocks, levels.count, keys.data()});
  on.sort_pairs(
      keys.data(), sorted.data(), levels.numbers.data(), rows.rows.data(), inside.size,
      bits_for(static_cast<std::uint64_t>(blocks.blocks) * static_cast<std::uint64_t>(levels.count + 1)),
      memory.scratch);
  made.rows.level_offsets = make_runs<Index>(inside.size, starts_with_key{sorted.data()}, on, memory).first;
  made.inside = in_level_order(inside, rows, on, memory);
  auto substitution_indices = make_buffer<Index>(inside.size, on, memory.kept);
  simt::for_each(on, inside.size,
                 array_kernels::take_in_order<Index, Index>{made.rows.rows.data(), rows.rows.data(),
                                                            substitution_indices.data()});
  made.rows.rows = std::move(substitution_indices);
}

/// Renumbers `t` in level order, then by the levels of `blocks` diagonal blocks, in passes: 2, 4, 8, ...
/// blocks, if the cut is recursive. Synchronises.
template <class Index, class Offset, class Executor>
block_order<Index, Offset> renumber(const device_triangle<Index, Offset>& t, policy::block_cut cut,
                                    std::int64_t blocks, const Executor& on, const analysis_memory& memory) {
  block_order<Index, Offset> made;
  made.rows = levels_on_device(t, on, memory);
  made.inside = in_level_order(t, made.rows, on, memory);
  const bool is_recursive = cut == policy::block_cut::recursive;
  for (std::int64_t b = is_recursive ? 2 : blocks; b <= blocks && b > 1; b *= 2) {
    const buffer<std::int64_t> bounds = upload(even_bounds(t.size, b), on, memory.scratch);
    divide(made, {bounds.data(), b, t.size}, on, memory);
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::block
