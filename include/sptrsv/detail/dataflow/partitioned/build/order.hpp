// The solve order of the partitioned path, made on the device: partition by partition, in a partition level
// by level, in a level tile by tile, and in a slice of a tile first the rows that have global entries.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/block_partition.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::detail::dataflow::partitioned {

namespace kernels {

/// Returns the partition of a row of the triangle. Partitions are contiguous in the order of substitution and
/// have about the same work, which is the number of a row's entries plus one; or they are boxes of a grid.
/// Columns past the last row stand for rows that an earlier launch solves: their partition is -1.
template <class Offset>
struct partition_of_row {
  const Offset* row_offsets;
  std::int64_t size;  ///< rows of the triangle
  std::int64_t work;  ///< of all rows
  std::int64_t partitions;
  block_partition boxes;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t row) const {
    if (boxes.are_used()) {
      return boxes.partition_of(row);
    }
    if (row >= size) {
      return -1;
    }
    return (static_cast<std::int64_t>(ctx.load_constant(row_offsets + row)) + row) * partitions / work;
  }
};

/// Writes, for each index in level order, the partition of its row and the index itself: keys and values of a
/// sort.
template <class Index, class Offset>
struct find_partitions {
  partition_of_row<Offset> partition;
  const Index* rows;          ///< in level order
  std::uint32_t* partitions;  ///< in level order
  Index* level_order;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    ctx.store(partitions + solve_index,
              static_cast<std::uint32_t>(
                  partition(ctx, static_cast<std::int64_t>(ctx.load_constant(rows + solve_index)))));
    ctx.store(level_order + solve_index, static_cast<Index>(solve_index));
  }
};

/// Writes, for each solve index, its row and whether a partition level begins there; 0 past the end.
template <class Index>
struct find_partition_levels {
  std::int64_t solve_size;
  const Index* rows_by_level;
  const Index* level_offsets;
  std::int64_t levels;
  const Index* level_order;         ///< by solve index: the index in level order
  const std::uint32_t* partitions;  ///< by solve index
  Index* rows;
  std::int32_t* begins;  ///< solve_size + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    if (solve_index == solve_size) {
      ctx.store(begins + solve_index, 0);
      return;
    }
    const Index from = ctx.load_constant(level_order + solve_index);
    ctx.store(rows + solve_index, ctx.load_constant(rows_by_level + from));
    const bool begins_level =
        solve_index == 0 ||
        ctx.load_constant(partitions + solve_index) != ctx.load_constant(partitions + solve_index - 1) ||
        level_of(ctx, from) != level_of(ctx, ctx.load_constant(level_order + solve_index - 1));
    ctx.store(begins + solve_index, begins_level ? 1 : 0);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE std::int64_t level_of(Context& ctx, Index level_order_index) const {
    return triangle_kernels::major_of(ctx, level_offsets, levels,
                                      static_cast<std::int64_t>(level_order_index));
  }
};

/// Writes the first solve index of each partition level.
struct find_partition_level_begins {
  const std::int32_t* levels_before;  ///< solve_size + 1: the number of partition levels that begin before
  std::int32_t* level_begins;         ///< by partition level

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int32_t level = ctx.load_constant(levels_before + solve_index);
    if (ctx.load_constant(levels_before + solve_index + 1) != level) {
      ctx.store(level_begins + level, static_cast<std::int32_t>(solve_index));
    }
  }
};

/// Writes, for each solve index, whether a tile begins there; 0 past the end.
struct find_tiles {
  std::int64_t solve_size;
  const std::int32_t* levels_before;
  const std::int32_t* level_begins;
  std::int32_t tile_rows;
  std::int32_t* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    if (solve_index == solve_size) {
      ctx.store(begins + solve_index, 0);
      return;
    }
    const std::int32_t level = ctx.load_constant(levels_before + solve_index + 1) - 1;
    const auto in_level = static_cast<std::int32_t>(solve_index) - ctx.load_constant(level_begins + level);
    ctx.store(begins + solve_index, in_level % tile_rows == 0 ? 1 : 0);
  }
};

/// Writes where tiles and partitions begin. A partition may be empty.
struct find_begins {
  std::int64_t solve_size;
  std::int64_t partitions;
  const std::uint32_t* partition_of;
  const std::int32_t* tiles_before;  ///< solve_size + 1: the number of tiles that begin before
  std::int32_t* tile_begins;         ///< tiles + 1: the first solve index of each tile
  std::int32_t* partition_tiles;     ///< partitions + 1: the first tile of each partition
  std::int32_t* partition_begins;    ///< partitions + 1: the first solve index of each partition

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int32_t tile = ctx.load_constant(tiles_before + solve_index);
    const std::int32_t behind = ctx.load_constant(tiles_before + solve_index + 1);
    const auto at = static_cast<std::int32_t>(solve_index);
    if (behind != tile) {
      ctx.store(tile_begins + tile, at);
    }
    const auto partition_at = [&](std::int64_t p) {
      return static_cast<std::int64_t>(ctx.load_constant(partition_of + p));
    };
    for (std::int64_t partition = solve_index == 0 ? 0 : partition_at(solve_index - 1) + 1;
         partition <= partition_at(solve_index); ++partition) {
      ctx.store(partition_tiles + partition, tile);
      ctx.store(partition_begins + partition, at);
    }
    if (solve_index == solve_size - 1) {
      ctx.store(tile_begins + behind, at + 1);
      for (std::int64_t partition = partition_at(solve_index) + 1; partition <= partitions; ++partition) {
        ctx.store(partition_tiles + partition, behind);
        ctx.store(partition_begins + partition, at + 1);
      }
    }
  }
};

/// Writes, for each solve index of the order before order_slices, whether its row needs another partition.
template <class Index, class Offset>
struct find_global_rows {
  partition_of_row<Offset> partition;
  const Index* rows;     ///< by solve index
  const Index* columns;  ///< of the triangle's entries
  std::int32_t* has_global;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const auto row = static_cast<std::int64_t>(ctx.load_constant(rows + solve_index));
    const std::int64_t own = partition(ctx, row);
    const Offset begin = ctx.load_constant(partition.row_offsets + row);
    const Offset end = ctx.load_constant(partition.row_offsets + row + 1);
    bool global = false;
    for (Offset e = begin; e < end && !global; ++e) {
      global = partition(ctx, static_cast<std::int64_t>(ctx.load_constant(columns + e))) != own;
    }
    ctx.store(has_global + solve_index, global ? 1 : 0);
  }
};

/// Writes the rows in the final solve order: in each slice the rows that need another partition come first.
template <class Index>
struct order_slices {
  shape_values shape;
  const std::int32_t* tiles_before;
  const std::int32_t* tile_begins;
  const std::int32_t* has_global;
  const Index* rows;
  Index* ordered;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int32_t tile = ctx.load_constant(tiles_before + solve_index + 1) - 1;
    const auto at = static_cast<std::int32_t>(solve_index);
    const std::int32_t first = ctx.load_constant(tile_begins + tile);
    const std::int32_t begin = at - (at - first) % shape.slice_rows();
    const std::int32_t tile_end = ctx.load_constant(tile_begins + tile + 1);
    const std::int32_t end = begin + shape.slice_rows() < tile_end ? begin + shape.slice_rows() : tile_end;
    const bool global = ctx.load_constant(has_global + solve_index) != 0;
    std::int32_t to = begin;
    for (std::int32_t other = begin; other < end; ++other) {
      const bool other_has_global = ctx.load_constant(has_global + other) != 0;
      to += other_has_global == global ? (other < at ? 1 : 0) : (global ? 0 : 1);
    }
    ctx.store(ordered + to, ctx.load_constant(rows + solve_index));
  }
};

}  // namespace kernels

}  // namespace sptrsv::detail::dataflow::partitioned
