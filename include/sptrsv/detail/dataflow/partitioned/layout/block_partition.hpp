// SPDX-License-Identifier: Apache-2.0
// Partitions that are boxes of a 3-D grid, and a guess whether a system has such a grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

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

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
