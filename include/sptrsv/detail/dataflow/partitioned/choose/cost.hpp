// How long a relay takes: its turns, with what a step and a hand-off cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// In which a row waits for entries that it does not poll with its first.
inline int further_rounds(const partition_level& tile_stride, const shape_values& shape) {
  return std::max(0, tile_stride.rounds - shape.polled_pairs);
}

/// What a part takes for a turn, when all that it needs has come.
template <class Tuning>
double level_nanoseconds(const partition_level& tile_stride, const shape_values& shape, double tile,
                         int columns) {
  const std::int32_t rows = shape.tile_rows();
  return (tile_stride.rows <= rows
              ? tile
              : (tile_stride.rows + rows - 1) / rows * (tile * Tuning::partitioned_many_tiles_factor)) +
         further_rounds(tile_stride, shape) * (Tuning::partitioned_poll_ns * columns);
}

/// From the turn of another part, which solves what this one needs, to its own.
template <class Tuning>
double hand_off_nanoseconds(const partition_level& tile_stride, const shape_values& shape) {
  return Tuning::partitioned_hop_ns + further_rounds(tile_stride, shape) * Tuning::partitioned_late_poll_ns;
}

/// What the entries of a part take that come through memory.
template <class Tuning>
double global_entry_nanoseconds(const std::int32_t* global, std::int64_t partitions,
                                const shape_values& shape) {
  return static_cast<double>(*std::max_element(global, global + partitions)) *
         (shape.polled_pairs > 1 ? Tuning::partitioned_batched_global_entry_ns
                                 : Tuning::partitioned_global_entry_ns);
}

/// Nanoseconds of a solve. A part begins a level when it is done with the one before and what it needs has
/// come; it goes through the levels `rounds` times, each for `columns` right-hand sides. `early`: by part.
/// Infinity where it takes more than `limit`, which is mostly seen before the end.
template <class Tuning>
double solve_nanoseconds(const partition_level* levels_of_partitions, std::size_t count,
                         const std::int32_t* global, std::int64_t partitions, const shape_values& shape,
                         double tile, int columns, std::int64_t rounds, double limit) {
  const double beside =
      Tuning::partitioned_launch_ns +
      static_cast<double>(rounds) * global_entry_nanoseconds<Tuning>(global, partitions, shape);
  std::vector<double> clock(static_cast<std::size_t>(partitions), 0.0);
  const std::unique_ptr<float[]> end(new float[count]);
  // Every round after the third takes as much longer as the third.
  constexpr std::int64_t different_rounds = 3;
  double first = 0;
  double last[2] = {};
  for (std::int64_t round = 0; round < std::min(rounds, different_rounds); ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const partition_level tile_stride = levels_of_partitions[i];
      double now = clock[static_cast<std::size_t>(tile_stride.partition)];
      if (tile_stride.need >= 0) {
        now = std::max(now, static_cast<double>(end[static_cast<std::size_t>(tile_stride.need)]) +
                                hand_off_nanoseconds<Tuning>(tile_stride, shape));
      }
      now += level_nanoseconds<Tuning>(tile_stride, shape, tile, columns);
      if (round == 0 && beside + now > limit) {
        return std::numeric_limits<double>::infinity();
      }
      clock[static_cast<std::size_t>(tile_stride.partition)] = now;
      end[i] = static_cast<float>(now);
    }
    last[0] = last[1];
    last[1] = *std::max_element(clock.begin(), clock.end());
    first = round == 0 ? last[1] : first;
  }
  const double further =
      last[1] - first +
      static_cast<double>(std::max<std::int64_t>(0, rounds - different_rounds)) * (last[1] - last[0]);
  return beside + first + Tuning::partitioned_further_rhs_factor * further;
}

}  // namespace sptrsv::detail::dataflow::partitioned
