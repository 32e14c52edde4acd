// Where the rows of a relay stand: part after part, in a part level after level, a level cut into steps, in a
// slice of a step first the rows that need other parts. The kernels that find it, on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/block_partition.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::detail::dataflow::partitioned {

namespace kernels {

/// Parts of about equal work: a row counts its entries and itself; or boxes of a grid. Rows past the last one
/// are solved before all parts, as if by part -1.
template <class Offset>
struct partition_of_row {
  const Offset* row_offsets;
  std::int64_t size;
  std::int64_t work;
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

/// Per place in level order: its part, and its number.
template <class Index, class Offset>
struct find_partitions {
  partition_of_row<Offset> partition;
  const Index* rows;
  std::uint32_t* partitions;
  Index* row_codes;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    ctx.store(partitions + solve_index,
              static_cast<std::uint32_t>(
                  partition(ctx, static_cast<std::int64_t>(ctx.load_constant(rows + solve_index)))));
    ctx.store(row_codes + solve_index, static_cast<Index>(solve_index));
  }
};

/// Per place, and once for the end: its row, and whether a level of a part begins there.
template <class Index>
struct find_partition_levels {
  std::int64_t solve_indices;
  const Index* rows_by_level;
  const Index* level_offsets;
  std::int64_t levels;
  const Index* level_order_indices;  ///< by place: the place in level order
  const std::uint32_t* partitions;
  Index* rows;
  std::int32_t* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    if (solve_index == solve_indices) {
      ctx.store(begins + solve_index, 0);
      return;
    }
    const Index from = ctx.load_constant(level_order_indices + solve_index);
    ctx.store(rows + solve_index, ctx.load_constant(rows_by_level + from));
    const bool begins_level =
        solve_index == 0 ||
        ctx.load_constant(partitions + solve_index) != ctx.load_constant(partitions + solve_index - 1) ||
        level_of(ctx, from) != level_of(ctx, ctx.load_constant(level_order_indices + solve_index - 1));
    ctx.store(begins + solve_index, begins_level ? 1 : 0);
  }

 private:
  template <class Context>
  SPTRSV_DEVICE std::int64_t level_of(Context& ctx, Index solve_index) const {
    return triangle_kernels::major_of(ctx, level_offsets, levels, static_cast<std::int64_t>(solve_index));
  }
};

/// Per place: where its run begins, by run.
struct find_partition_level_begins {
  const std::int32_t* partition_levels_before;  ///< by place, one past the end too
  std::int32_t* partition_level_begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int32_t run = ctx.load_constant(partition_levels_before + solve_index);
    if (ctx.load_constant(partition_levels_before + solve_index + 1) != run) {
      ctx.store(partition_level_begins + run, static_cast<std::int32_t>(solve_index));
    }
  }
};

/// Per place, and once for the end: whether a step begins there.
struct find_tiles {
  std::int64_t solve_indices;
  const std::int32_t* partition_levels_before;
  const std::int32_t* partition_level_begins;
  std::int32_t tile_rows;
  std::int32_t* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    if (solve_index == solve_indices) {
      ctx.store(begins + solve_index, 0);
      return;
    }
    const std::int32_t run = ctx.load_constant(partition_levels_before + solve_index + 1) - 1;
    const auto in_run =
        static_cast<std::int32_t>(solve_index) - ctx.load_constant(partition_level_begins + run);
    ctx.store(begins + solve_index, in_run % tile_rows == 0 ? 1 : 0);
  }
};

/// Per place: where steps and parts begin.
struct find_begins {
  std::int64_t solve_indices;
  std::int64_t partitions;
  const std::uint32_t* partition_of;
  const std::int32_t* tiles_before;  ///< by place, one past the end too
  std::int32_t* tile_begins;         ///< steps + 1
  std::int32_t* partition_tiles;     ///< parts + 1
  std::int32_t* partition_begins;    ///< parts + 1

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
    // Parts may be empty.
    for (std::int64_t partition = solve_index == 0 ? 0 : partition_at(solve_index - 1) + 1;
         partition <= partition_at(solve_index); ++partition) {
      ctx.store(partition_tiles + partition, tile);
      ctx.store(partition_begins + partition, at);
    }
    if (solve_index == solve_indices - 1) {
      ctx.store(tile_begins + behind, at + 1);
      for (std::int64_t partition = partition_at(solve_index) + 1; partition <= partitions; ++partition) {
        ctx.store(partition_tiles + partition, behind);
        ctx.store(partition_begins + partition, at + 1);
      }
    }
  }
};

/// Per place: whether its row needs another part, in the order of places before they are final.
template <class Index, class Offset>
struct find_global_rows {
  partition_of_row<Offset> partition;
  const Index* rows;     ///< by place
  const Index* columns;  ///< of the triangle
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

/// Per place: its row in the final order, in which the rows of a slice that need another part come first.
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
