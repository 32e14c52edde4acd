// Parts of a relay that are boxes of a grid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Parts of a system on a grid of three dimensions whose rows stand in their natural order, x fastest: boxes,
/// of which each is a little behind those that it needs, so that all of them are busy most of the time. A
/// part needs none after it if rows need no neighbour that is ahead of them in any direction.
struct block_partition {
  std::int32_t size[3] = {0, 0, 0};   ///< of the grid; 0: parts are no boxes
  std::int32_t count[3] = {1, 1, 1};  ///< in each direction

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
  SPTRSV_HOST_DEVICE std::int64_t box(std::int32_t solve_index, int direction) const {
    return std::int64_t{solve_index} * count[direction] / size[direction];
  }
};

/// Of the entries of the longest of some rows in the middle to it, ascending. Synchronises.
template <class Index, class Offset, class Executor>
std::vector<std::int64_t> distances_in_the_middle(const device_triangle<Index, Offset>& t,
                                                  const Executor& on) {
  const std::int64_t first = t.size / 7 * 3;
  const std::int64_t rows = std::min<std::int64_t>(1024, t.size - first);
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  on.download(offsets.data(), t.row_offsets.data() + first, offsets.size() * sizeof(Offset));
  std::size_t longest = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    longest = offsets[r + 1] - offsets[r] > offsets[longest + 1] - offsets[longest] ? r : longest;
  }
  std::vector<Index> columns(static_cast<std::size_t>(offsets[longest + 1] - offsets[longest]));
  on.download(columns.data(), t.columns.data() + offsets[longest], columns.size() * sizeof(Index));
  std::vector<std::int64_t> distances;
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    distances.push_back(first + static_cast<std::int64_t>(longest) - static_cast<std::int64_t>(*column));
  }
  return distances;
}

/// A grid, not cut.
struct detected_grid {
  block_partition boxes;  ///< not used where there is no grid
  bool needs_rows_ahead;  ///< rows need neighbours that are ahead in one direction: only planes may be parted
};

/// The grid by the distances of a row's entries to it, which come in three heaps: 1, about a line, about a
/// plane. Of a row in the middle, since it is only a guess. Synchronises.
template <class Index, class Offset, class Executor>
detected_grid find_grid(const device_triangle<Index, Offset>& t, const Executor& on) {
  const std::vector<std::int64_t> distances = distances_in_the_middle(t, on);
  std::vector<std::int64_t> middles;  // of the heaps
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

}  // namespace sptrsv::detail::dataflow::partitioned
