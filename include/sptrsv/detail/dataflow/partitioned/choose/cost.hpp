// The cost model of the partitioned path: the time of a solve from the partition levels and from what a tile
// and a hand-off take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Returns how often a row of the partition level polls further global entries, after those that are polled
/// together.
inline int further_polls(const partition_level& level, const shape_values& shape) {
  return std::max(0, level.rounds - shape.polled_pairs);
}

/// Returns the time of a partition level once all components that it needs have come. `tile_ns`: time of a
/// tile.
template <class Tuning>
double level_nanoseconds(const partition_level& level, const shape_values& shape, double tile_ns,
                         int rhs_together) {
  const std::int32_t tile_rows = shape.tile_rows();
  const double tiles = level.rows <= tile_rows ? tile_ns
                                               : (level.rows + tile_rows - 1) / tile_rows *
                                                     (tile_ns * Tuning::partitioned_many_tiles_factor);
  return tiles + further_polls(level, shape) * (Tuning::partitioned_poll_ns * rhs_together);
}

/// Returns the time of the hand-off from another partition to this partition level.
template <class Tuning>
double hand_off_nanoseconds(const partition_level& level, const shape_values& shape) {
  return Tuning::partitioned_hop_ns + further_polls(level, shape) * Tuning::partitioned_late_poll_ns;
}

/// Returns the time that the global entries add, in the partition that has most of them. `global_entries`: by
/// partition.
template <class Tuning>
double global_entry_nanoseconds(const std::int32_t* global_entries, std::int64_t partitions,
                                const shape_values& shape) {
  return static_cast<double>(*std::max_element(global_entries, global_entries + partitions)) *
         (shape.polled_pairs > 1 ? Tuning::partitioned_batched_global_entry_ns
                                 : Tuning::partitioned_global_entry_ns);
}

/// Memory of solve_nanoseconds, kept from call to call.
struct predicted_ends {
  std::vector<double> of_partition;  ///< when its latest level is solved
  std::vector<float> of_level;       ///< by partition level: when it is solved
};

/// Returns the predicted time of a solve. A partition begins a level when it has finished the level before
/// and the components that the level needs have come. All levels are solved `rounds` times, each time for
/// `rhs_together` right-hand sides. `levels`: ordered by level, then by partition. Returns infinity as soon
/// as the time exceeds `limit`.
template <class Tuning>
double solve_nanoseconds(const partition_level* levels, std::size_t count, const std::int32_t* global_entries,
                         std::int64_t partitions, const shape_values& shape, double tile_ns, int rhs_together,
                         std::int64_t rounds, double limit, predicted_ends& memory) {
  const double constant =
      Tuning::partitioned_launch_ns +
      static_cast<double>(rounds) * global_entry_nanoseconds<Tuning>(global_entries, partitions, shape);
  memory.of_partition.assign(static_cast<std::size_t>(partitions), 0.0);
  if (memory.of_level.size() < count) {
    memory.of_level.resize(count);
  }
  double* const clock = memory.of_partition.data();
  float* const end = memory.of_level.data();
  // Each round after the third adds as much time as the third.
  constexpr std::int64_t simulated_rounds = 3;
  double first = 0;
  double last[2] = {};
  for (std::int64_t round = 0; round < std::min(rounds, simulated_rounds); ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const partition_level level = levels[i];
      double now = clock[level.partition];
      if (level.need >= 0) {
        now =
            std::max(now, static_cast<double>(end[level.need]) + hand_off_nanoseconds<Tuning>(level, shape));
      }
      now += level_nanoseconds<Tuning>(level, shape, tile_ns, rhs_together);
      if (round == 0 && constant + now > limit) {
        return std::numeric_limits<double>::infinity();
      }
      clock[level.partition] = now;
      end[i] = static_cast<float>(now);
    }
    last[0] = last[1];
    last[1] = *std::max_element(clock, clock + partitions);
    first = round == 0 ? last[1] : first;
  }
  const double further =
      last[1] - first +
      static_cast<double>(std::max<std::int64_t>(0, rounds - simulated_rounds)) * (last[1] - last[0]);
  return constant + first + Tuning::partitioned_further_rhs_factor * further;
}

}  // namespace sptrsv::detail::dataflow::partitioned
