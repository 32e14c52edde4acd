// Renumbers the rows in level order, and again by the levels of each diagonal block: Lu, Niu, Liu 2020,
// section 3.3.
//
// One pass renumbers all diagonal blocks of a recursion level: drop the entries outside the diagonal blocks,
// compute the levels of the remaining triangle, which are those of each block by itself, and sort the rows by
// block and level.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/runs.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/level_order.hpp"

namespace sptrsv::detail::block {

/// Bounds of diagonal blocks in device memory. They are not read if there is one block.
struct device_bounds {
  const std::int64_t* bounds;  ///< by block, blocks + 1
  std::int64_t blocks;
  std::int64_t size;  ///< number of rows

  template <class Context>
  SPTRSV_DEVICE std::int64_t block_of(Context& ctx, std::int64_t row) const {
    return triangle_kernels::major_of(ctx, bounds, blocks, row);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t begin_of(Context& ctx, std::int64_t block) const {
    return block == 0 ? 0 : static_cast<std::int64_t>(ctx.load_constant(bounds + block));
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t end_of(Context& ctx, std::int64_t block) const {
    return block == blocks - 1 ? size : static_cast<std::int64_t>(ctx.load_constant(bounds + block + 1));
  }
};

/// Marks the entries whose column lies in the block of their row with 1. Runs once per entry and once for the
/// end.
template <class Index, class Offset>
struct mark_inside {
  std::int64_t size;
  std::int64_t entries;
  const Offset* row_offsets;  ///< by row, size + 1
  const Index* columns;       ///< by entry
  device_bounds blocks;
  Offset* inside;  ///< output by entry

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    bool is_inside = false;
    if (e < entries) {
      const std::int64_t row = triangle_kernels::major_of(ctx, row_offsets, size, e);
      const std::int64_t first = blocks.begin_of(ctx, blocks.block_of(ctx, row));
      is_inside = static_cast<std::int64_t>(ctx.load_constant(columns + e)) >= first;
    }
    ctx.store(inside + e, is_inside ? Offset{1} : Offset{0});
  }
};

/// Moves the column of each entry that is kept.
template <class Index, class Offset>
struct keep_columns {
  const Offset* kept_before;  ///< by entry, entries + 1: number of kept entries before it
  const Index* columns;       ///< by entry
  Index* kept;                ///< output by kept entry

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const Offset to = ctx.load_constant(kept_before + e);
    if (ctx.load_constant(kept_before + e + 1) != to) {
      ctx.store(kept + to, ctx.load_constant(columns + e));
    }
  }
};

/// Returns the entries inside diagonal blocks, without sources. Synchronises.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> entries_inside(const device_triangle<Index, Offset>& t,
                                              const device_bounds& blocks, const Executor& on,
                                              const analysis_memory& memory) {
  const std::int64_t entries = t.entries();
  const auto kept_before = make_buffer<Offset>(entries + 1, on, memory.scratch);
  simt::for_each(on, entries + 1,
                 mark_inside<Index, Offset>{t.size, entries, t.row_offsets.data(), t.columns.data(), blocks,
                                            kept_before.data()});
  on.exclusive_scan(kept_before.data(), kept_before.data(), entries + 1, memory.scratch);
  Offset kept = 0;
  on.download(&kept, kept_before.data() + entries, sizeof(kept));
  device_triangle<Index, Offset> inside;
  inside.size = t.size;
  inside.row_offsets = buffer<Offset>(t.row_offsets.size(), memory.kept, on.stream());
  inside.columns = make_buffer<Index>(kept, on, memory.kept);
  simt::for_each(on, t.size + 1,
                 array_kernels::take_in_order<Offset, Offset>{kept_before.data(), t.row_offsets.data(),
                                                              inside.row_offsets.data()});
  simt::for_each(on, entries,
                 keep_columns<Index, Offset>{kept_before.data(), t.columns.data(), inside.columns.data()});
  return inside;
}

using level_key = std::uint64_t;

/// Computes the sort key of each row: its block, then its level in the block.
template <class Index>
struct find_level_keys {
  const Index* levels;  ///< by row, counted from 1
  device_bounds blocks;
  std::int64_t max_levels;
  level_key* keys;  ///< output by row

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(keys + row, static_cast<level_key>(blocks.block_of(ctx, row) * (max_levels + 1) +
                                                 static_cast<std::int64_t>(ctx.load_constant(levels + row))));
  }
};

/// A run starts where the key changes.
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
  std::int64_t levels = 0;             ///< number of levels of the whole triangle
  buffer<Index> substitution_indices;  ///< by solve index
  /// Entries of the diagonal blocks; with sources only if there is one block.
  device_triangle<Index, Offset> inside;
  /// Solve indices at which the levels of the diagonal blocks begin, and the size.
  buffer<Index> level_offsets;
};

/// Renumbers a triangle: first in level order, then by the levels of its diagonal blocks.
template <class Index, class Offset, class Executor>
class renumbering {
 public:
  renumbering(const Executor& on, const analysis_memory& memory) : on_(on), memory_(memory) {}

  /// Renumbers `t`. `passes` holds the bounds of the blocks of each pass after the first; the first pass has
  /// one block. Synchronises.
  block_order<Index, Offset> run(const device_triangle<Index, Offset>& t,
                                 const std::vector<std::vector<std::int64_t>>& passes) {
    block_order<Index, Offset> made;
    device_levels<Index> rows = levels_on_device(t, on_, memory_);
    made.levels = rows.count;
    made.inside = in_level_order(t, rows, on_, memory_);
    made.substitution_indices = std::move(rows.rows);
    made.level_offsets = std::move(rows.level_offsets);
    for (const std::vector<std::int64_t>& bounds : passes) {
      made.inside.sources = {};
      made.inside.diagonal_sources = {};
      divide(made, bounds);
    }
    return made;
  }

 private:
  /// Sorts the rows by block and level. Rows of equal key keep their order.
  void divide(block_order<Index, Offset>& made, const std::vector<std::int64_t>& bounds) {
    const buffer<std::int64_t> on_device(bounds.size(), memory_.scratch, on_.stream());
    on_.upload(on_device.data(), bounds.data(), on_device.bytes());
    const device_bounds blocks{on_device.data(), static_cast<std::int64_t>(bounds.size()) - 1, bounds.back()};
    const device_triangle<Index, Offset> inside =
        entries_inside(made.inside, blocks, on_, memory_.all_scratch());
    const auto size = static_cast<std::size_t>(inside.size);
    const row_levels<Index> levels = levels_of_rows(inside, on_, memory_);
    const buffer<level_key> keys(size, memory_.scratch, on_.stream());
    const buffer<level_key> sorted(size, memory_.scratch, on_.stream());
    device_levels<Index> rows;  // new solve index -> solve index before this pass
    rows.rows = buffer<Index>(size, memory_.scratch, on_.stream());
    simt::for_each(on_, inside.size,
                   find_level_keys<Index>{levels.of_row.data(), blocks, levels.count, keys.data()});
    on_.sort_pairs(
        keys.data(), sorted.data(), levels.numbers.data(), rows.rows.data(), inside.size,
        bits_for(static_cast<std::uint64_t>(blocks.blocks) * static_cast<std::uint64_t>(levels.count + 1)),
        memory_.scratch);
    made.level_offsets = make_runs<Index>(inside.size, starts_with_key{sorted.data()}, on_, memory_).first;
    made.inside = in_level_order(inside, rows, on_, memory_);
    buffer<Index> substitution_indices(size, memory_.kept, on_.stream());
    simt::for_each(on_, inside.size,
                   array_kernels::take_in_order<Index, Index>{made.substitution_indices.data(),
                                                              rows.rows.data(), substitution_indices.data()});
    made.substitution_indices = std::move(substitution_indices);
  }

  const Executor& on_;
  analysis_memory memory_;
};

}  // namespace sptrsv::detail::block
