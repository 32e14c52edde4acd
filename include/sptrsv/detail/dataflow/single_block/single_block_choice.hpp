// SPDX-License-Identifier: Apache-2.0
// Chooses the shape of a single_block solve: the number of its tiles times the time of a tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_agent.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_schedule.hpp"
#include "sptrsv/detail/simt/simt_executor.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// Returns how many rows of the schedule a row of `length` entries takes: itself and its partial rows.
constexpr std::int64_t schedule_rows(std::int64_t length, std::int64_t capacity) {
  return length <= capacity ? 1 : 1 + (length - capacity + capacity - 2) / (capacity - 1);
}

/// Returns the number of tiles of a schedule of this shape, without reloading rows.
template <class Index, class Offset>
std::int64_t count_tiles(const host_triangle<Index, Offset>& t, const host_levels<Index>& levels,
                         const shape_values& shape) {
  std::int64_t slot = 0;  // row of the schedule
  std::vector<std::int64_t> slots_(at(t.size()));
  for (const Index next : levels.rows) {
    const auto row = at(next);
    const std::int64_t begin = slot - slot % shape.rows;  // of the tile
    std::int64_t outer = 0;
    bool too_far = false;
    for (auto e = at(t.row_offsets[row]); e < at(t.row_offsets[row + 1]); ++e) {
      const std::int64_t other = slots_[at(t.columns[e])];
      outer += other < begin ? 1 : 0;
      too_far = too_far || (other >= begin && slot - other > shape.reach);
    }
    if (too_far) {
      slot = begin + shape.rows;
      outer = t.length(next);
    }
    slot += schedule_rows(outer, shape.row_capacity()) - 1;
    slots_[row] = slot++;
  }
  return (slot + shape.rows - 1) / shape.rows;
}

/// The fastest shape of the tuning.
struct shape_choice {
  int index = 0;
  shape_values shape{};
  std::int64_t tiles = 0;  ///< of a schedule of this shape, without reloaded rows
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// Returns the fastest shape, or that with the index `wanted` unless it is -1; without rows if none is.
template <class Tuning, class Index, class Offset>
shape_choice choose_shape(const host_triangle<Index, Offset>& rows, const host_levels<Index>& levels,
                          int wanted) {
  shape_choice best;
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    const shape_values values = values_of<decltype(shape)>();
    const std::int64_t tiles = count_tiles(rows, levels, values);
    const double time = Tuning::single_block_launch_ns +
                        static_cast<double>(tiles) * Tuning::single_block_shapes[index].tile_ns;
    if (time < best.nanoseconds && (wanted < 0 || wanted == index)) {
      best = {index, values, tiles, time};
    }
  });
  return best;
}

/// Returns a lower bound of the predicted time. A row has at most `reach` entries inside its tile; see
/// schedule_rows for the others.
template <class Tuning>
double least_nanoseconds(std::int64_t rows, std::int64_t entries) {
  double least = std::numeric_limits<double>::infinity();
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    const shape_values values = values_of<decltype(shape)>();
    const std::int64_t parts = (entries - (values.reach + 1) * rows) / (values.row_capacity() - 1);
    const double tiles = static_cast<double>(std::max(rows, parts)) / values.rows;
    least =
        std::min(least, Tuning::single_block_launch_ns + tiles * Tuning::single_block_shapes[index].tile_ns);
  });
  return least;
}

/// Returns the length in tiles of the ring buffer that fits into shared memory.
template <class Tuning, class Scalar>
std::int64_t x_ring_tiles(const shape_choice& chosen, std::size_t shared_limit) {
  std::size_t others = 0;
  shapes_of<Tuning>::type::with(chosen.index, [&](auto shape) {
    using shape_type = decltype(shape);
    others =
        shared_memory<Scalar, shape_type>::bytes(0) + simt::static_shared_bytes<agent<Scalar, shape_type>>;
  });
  const auto components =
      shared_limit < others ? 0 : static_cast<std::int64_t>((shared_limit - others) / sizeof(Scalar));
  return std::min<std::int64_t>({components, Tuning::single_block_x_ring_size, 65534}) / chosen.shape.rows;
}

/// Returns the schedule of a system for a shape; nothing if there is no such shape, or if shared memory is
/// too small for its rows. `reversed`: see triangle_form.
template <class Tuning, class Scalar, class Index, class Offset>
std::optional<schedule> make_schedule(const host_triangle<Index, Offset>& rows,
                                      const host_levels<Index>& levels, const shape_choice& chosen,
                                      std::size_t shared_limit, bool reversed) {
  if (chosen.shape.rows == 0) {
    return {};
  }
  const std::int64_t tiles = x_ring_tiles<Tuning, Scalar>(chosen, shared_limit);
  if (tiles < 2 * chosen.shape.reload_distance()) {
    return {};
  }
  return schedule_builder<Index, Offset>(rows, chosen.shape, tiles, reversed)
      .build(levels.rows, chosen.tiles);
}

/// A schedule that the host has made, and what is known before the path is chosen.
struct planned_schedule {
  std::int64_t levels = 0;  ///< of the triangle
  shape_choice chosen;
  std::optional<schedule> made;  ///< nothing if the path cannot solve the system, or takes too long
};

/// Copies a triangle to the host, without its sources. Synchronises.
template <class Index, class Offset, class Executor>
host_triangle<Index, Offset> download_rows(const device_triangle<Index, Offset>& t, const Executor& on) {
  return {download_array(t.row_offsets, on), download_array(t.columns, on), {}, {}};
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
