// SPDX-License-Identifier: Apache-2.0
// Partitions that are boxes of a 3-D grid, and the solve order of the partitioned path, made on the device:
// partition by partition, in a partition level by level, in a level tile by tile, and in a slice of a tile
// first the rows that have global entries. One sort by partition and level and one scan make it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// A grid of three dimensions, whose points are the rows in natural order, x fastest, and its division into
/// boxes. A box works a little behind the boxes that it needs, so that all of them are busy most of the time.
/// A box needs no later box if no row needs a neighbour that is ahead of it in any direction.
struct block_partition {
  std::int32_t size[3] = {0, 0, 0};   ///< grid points in each direction; 0: partitions are not boxes
  std::int32_t count[3] = {1, 1, 1};  ///< boxes in each direction

  [[nodiscard]] std::int64_t partitions() const { return std::int64_t{count[0]} * count[1] * count[2]; }
  [[nodiscard]] SPTRSV_HOST_DEVICE bool are_used() const { return size[0] > 0; }

  SPTRSV_HOST_DEVICE std::int64_t partition_of(std::int64_t row) const {
    const std::int32_t line = static_cast<std::int32_t>(row) / size[0];
    const std::int32_t x = static_cast<std::int32_t>(row) - line * size[0];
    const std::int32_t z = line / size[1];
    const std::int32_t y = line - z * size[1];
    return (box(z, 2) * count[1] + box(y, 1)) * count[0] + box(x, 0);
  }

 private:
  SPTRSV_HOST_DEVICE std::int64_t box(std::int32_t point, int direction) const {
    return std::int64_t{point} * count[direction] / size[direction];
  }
};

/// Returns the distances row - column of the entries of one row, ascending: the longest row among about a
/// thousand rows in the middle. Synchronises.
template <class Index, class Offset, class Executor>
std::vector<std::int64_t> distances_in_the_middle(const device_triangle<Index, Offset>& t,
                                                  const Executor& on) {
  const std::int64_t first = t.size / 7 * 3;
  const std::int64_t rows = std::min<std::int64_t>(1024, t.size - first);
  const auto offsets = download_array(t.row_offsets.data() + first, rows + 1, on);
  std::size_t longest = 0;
  for (std::size_t r = 0; r < at(rows); ++r) {
    longest = offsets[r + 1] - offsets[r] > offsets[longest + 1] - offsets[longest] ? r : longest;
  }
  const auto columns = download_array(t.columns.data() + offsets[longest],
                                      static_cast<std::int64_t>(offsets[longest + 1] - offsets[longest]), on);
  std::vector<std::int64_t> distances;
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    distances.push_back(first + static_cast<std::int64_t>(longest) - static_cast<std::int64_t>(*column));
  }
  return distances;
}

/// A grid that is not divided yet.
struct detected_grid {
  block_partition boxes;  ///< are_used() is false if there is no grid
  bool needs_rows_ahead;  ///< rows need neighbours that are ahead in x or y: only planes may be separated
};

/// Guesses the grid from the distances of one row's entries, which fall into three clusters on a stencil:
/// about 1, about a line of the grid, and about a plane. A wrong guess is harmless: partitions that would
/// need later ones are rejected when the levels are counted. Synchronises.
template <class Index, class Offset, class Executor>
detected_grid find_grid(const device_triangle<Index, Offset>& t, const Executor& on) {
  const std::vector<std::int64_t> distances = distances_in_the_middle(t, on);
  std::vector<std::int64_t> middles;  // of the clusters
  for (std::size_t first = 0, i = 1; i <= distances.size(); ++i) {
    if (i == distances.size() || distances[i] > 3 * distances[i - 1]) {
      middles.push_back((distances[first] + distances[i - 1]) / 2);
      first = i;
    }
  }
  if (middles.size() != 3 || middles[0] != 1) {
    return {{}, false};
  }
  const std::int64_t line = middles[1];
  const std::int64_t lines = middles[2] / line;
  const bool needs_rows_ahead = std::any_of(distances.begin(), distances.end(), [&](std::int64_t d) {
    const std::int64_t in_plane = d % (line * lines);
    return in_plane > line * lines / 2 || in_plane % line > line / 2;
  });
  block_partition grid;
  grid.size[0] = static_cast<std::int32_t>(line);
  grid.size[1] = static_cast<std::int32_t>(lines);
  grid.size[2] = static_cast<std::int32_t>(simt::ceil_div(t.size, line * lines));
  return {grid, needs_rows_ahead};
}

/// Divides a grid into at most `most` boxes. The longest direction is not divided: a box would wait for the
/// box before it until that is nearly finished. If rows need neighbours ahead, the boxes are whole planes.
inline block_partition boxes_of(const detected_grid& grid, std::int64_t most) {
  block_partition g = grid.boxes;
  if (grid.needs_rows_ahead) {
    g.count[2] = static_cast<std::int32_t>(std::min<std::int64_t>(most, g.size[2]));
    return g;
  }
  const auto longest = static_cast<int>(std::max_element(g.size, g.size + 3) - g.size);
  const int a = longest == 0 ? 1 : 0;
  const int b = longest == 2 ? 1 : 2;
  const double even = std::sqrt(static_cast<double>(most) * g.size[a] / g.size[b]);
  std::int32_t across = 1;
  while (2 * across <= 1.2 * even && 2 * across <= g.size[a]) {
    across *= 2;
  }
  g.count[a] = across;
  g.count[b] = static_cast<std::int32_t>(std::min<std::int64_t>(most / across, g.size[b]));
  return g;
}

/// Returns the partition of a row of the triangle. Partitions are contiguous in the order of substitution and
/// have about the same work, which is the number of a row's entries plus one; or they are boxes of a grid.
/// Columns past the last row stand for rows that an earlier launch solves: their partition is -1.
template <class Index, class Offset>
struct partition_of_row {
  triangle_view<Index, Offset> triangle;
  std::int64_t work;  ///< of all rows
  std::int64_t partitions;
  block_partition boxes;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t row) const {
    if (boxes.are_used()) {
      return boxes.partition_of(row);
    }
    if (row >= triangle.size) {
      return -1;
    }
    const std::int64_t before =
        static_cast<std::int64_t>(ctx.load_constant(triangle.row_offsets + row)) + row;
    if (work * partitions < std::int64_t{1} << 32) {  // a division of 64 bits takes four times as long
      return static_cast<std::uint32_t>(before * partitions) / static_cast<std::uint32_t>(work);
    }
    return before * partitions / work;
  }
};

/// What the sort of the rows needs: for each row, a key that ascends with its partition, then with its level.
/// Also writes whether it needs another partition, and clears the counts of slices. Runs per row and count.
template <class Index, class Offset>
struct find_partition_levels_of_rows {
  partition_of_row<Index, Offset> partition;
  const Index* level_of_row;  ///< counted from 1
  std::int64_t levels;
  std::uint32_t* keys;
  std::uint8_t* has_global;
  std::int64_t count_words;
  std::int32_t* counts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (row < count_words) {
      ctx.store(counts + row, 0);
    }
    const triangle_view<Index, Offset>& triangle = partition.triangle;
    if (row >= triangle.size) {
      return;
    }
    const std::int64_t own = partition(ctx, row);
    const auto level = static_cast<std::int64_t>(ctx.load_constant(level_of_row + row)) - 1;
    ctx.store(keys + row, static_cast<std::uint32_t>(own * levels + level));
    const Offset begin = ctx.load_constant(triangle.row_offsets + row);
    const Offset length = ctx.load_constant(triangle.row_offsets + row + 1) - begin;
    constexpr int at_once = 4;  // so many loads are under way together
    bool global = false;
    for (std::int64_t first = 0; first < length && !global; first += at_once) {
      std::int64_t rows[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        rows[i] = first + i < length
                      ? static_cast<std::int64_t>(ctx.load_constant(triangle.columns + begin + first + i))
                      : row;
      }
      SPTRSV_UNROLL
      for (const std::int64_t other : rows) {
        global = partition(ctx, other) != own || global;
      }
    }
    ctx.store(has_global + row, static_cast<std::uint8_t>(global ? 1 : 0));
  }
};

/// The solve order, in device memory: where partition levels, tiles and partitions begin.
struct solve_order {
  std::int64_t size;               ///< rows
  const std::uint32_t* keys;       ///< by solve index: the sorted keys of find_partition_levels_of_rows
  std::uint32_t levels;            ///< number of levels
  std::int32_t* tile_of;           ///< by solve index
  std::int32_t* tile_begins;       ///< tiles + 1: the first solve index of each tile
  std::int32_t* partition_tiles;   ///< partitions + 1: the first tile of each partition
  std::int32_t* partition_begins;  ///< partitions + 1: the first solve index of each partition

  template <class Context>
  SPTRSV_DEVICE std::int64_t partition_of(Context& ctx, std::int64_t solve_index) const {
    return static_cast<std::int64_t>(ctx.load_constant(keys + solve_index) / levels);
  }
  /// Returns how many rows of its partition level stand before the row. Partition levels are short: the
  /// search doubles its step, from the row on.
  template <class Context>
  SPTRSV_DEVICE std::int64_t number_in_level(Context& ctx, std::int64_t solve_index) const {
    const std::uint32_t level = ctx.load_constant(keys + solve_index);
    std::int64_t inside = 0;  // the row so far before this one belongs to the partition level
    std::int64_t step = 1;
    while (inside + step <= solve_index && ctx.load_constant(keys + solve_index - inside - step) == level) {
      inside += step;
      step *= 2;
    }
    const std::int64_t end = solve_index - inside;  // the first row of the level is in [begin, end]
    const std::int64_t begin = end - step + 1 > 0 ? end - step + 1 : 0;
    return inside + end - begin - triangle_kernels::count_below(ctx, keys + begin, end - begin, level);
  }
};

/// The body of a scan over sorted rows, which counts tiles: writes where tiles and partitions begin, and rows
/// in solve order. Partitions may be empty. In a slice, rows that need another partition come first.
template <class Index>
struct order_rows {
  shape_values shape;
  std::int64_t partitions;
  solve_order order;
  const Index* rows;               ///< sorted: by partition level, then ascending
  const std::uint8_t* has_global;  ///< by row
  Index* ordered;                  ///< by solve index: the row
  Index* solve_index_of_row;

  struct place {
    std::int64_t count;  ///< 1 if a tile begins here
    std::int64_t number_in_level;
  };

  template <class Context>
  SPTRSV_DEVICE place load(Context& ctx, std::int64_t at) const {
    const std::int64_t number = order.number_in_level(ctx, at);
    return {number % shape.tile_rows() == 0 ? 1 : 0, number};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t at, const place& own, std::int64_t before) const {
    const auto tile = static_cast<std::int32_t>(before + own.count - 1);
    ctx.store(order.tile_of + at, tile);
    if (own.count != 0) {
      ctx.store(order.tile_begins + tile, static_cast<std::int32_t>(at));
    }
    const std::int64_t partition = order.partition_of(ctx, at);
    begin_partitions(ctx, at == 0 ? 0 : order.partition_of(ctx, at - 1) + 1, partition, tile, at);
    if (at == order.size - 1) {
      ctx.store(order.tile_begins + tile + 1, static_cast<std::int32_t>(at + 1));
      begin_partitions(ctx, partition + 1, partitions, tile + 1, at + 1);
    }
    const Index row = ctx.load_constant(rows + at);
    const std::int64_t to = solve_index_of(ctx, at, row, own.number_in_level);
    ctx.store(ordered + to, row);
    ctx.store(solve_index_of_row + row, static_cast<Index>(to));
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void begin_partitions(Context& ctx, std::int64_t first, std::int64_t last, std::int32_t tile,
                                      std::int64_t at) const {
    for (std::int64_t partition = first; partition <= last; ++partition) {
      ctx.store(order.partition_tiles + partition, tile);
      ctx.store(order.partition_begins + partition, static_cast<std::int32_t>(at));
    }
  }
  template <class Context>
  SPTRSV_DEVICE bool is_global(Context& ctx, Index row) const {
    return ctx.load_constant(has_global + row) != 0;
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t solve_index_of(Context& ctx, std::int64_t at, Index row,
                                            std::int64_t number_in_level) const {
    const std::uint32_t level = ctx.load_constant(order.keys + at);
    const bool global = is_global(ctx, row);
    const std::int64_t begin = at - number_in_level % shape.slice_rows();
    const std::int64_t end =
        begin + shape.slice_rows() < order.size ? begin + shape.slice_rows() : order.size;
    std::int64_t to = begin;
    for (std::int64_t other = begin; other < end && ctx.load_constant(order.keys + other) == level; ++other) {
      const bool other_is_global = is_global(ctx, ctx.load_constant(rows + other));
      to += other_is_global == global ? (other < at ? 1 : 0) : (global ? 0 : 1);
    }
    return to;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
