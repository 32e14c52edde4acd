// SPDX-License-Identifier: Apache-2.0
// The cost model of the partitioned path: the time of a solve from the partition levels and from what a tile
// and a hand-off take. predict_agent.hpp simulates a solve with it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// The constants of the tuning that the model needs, in nanoseconds; see dataflow_tuning.
struct cost_constants {
  double launch;
  float many_tiles_factor;
  double further_rhs_factor;
  float hop;
  float poll;
  float late_poll;
  double global_entry;
  double batched_global_entry;

  template <class Tuning>
  static constexpr cost_constants of() {
    return {Tuning::partitioned_launch_ns,
            static_cast<float>(Tuning::partitioned_many_tiles_factor),
            Tuning::partitioned_further_rhs_factor,
            static_cast<float>(Tuning::partitioned_hop_ns),
            static_cast<float>(Tuning::partitioned_poll_ns),
            static_cast<float>(Tuning::partitioned_late_poll_ns),
            Tuning::partitioned_global_entry_ns,
            Tuning::partitioned_batched_global_entry_ns};
  }
};

/// The properties of a shape that the model uses.
struct costed_shape {
  std::int32_t tile_rows;
  std::int32_t polled_pairs;
  std::int32_t rhs_together;  ///< right-hand sides that are solved together
  float tile_ns;              ///< time of a tile
  double tiles_per_row = 1.0 / tile_rows;

  /// Returns how often the row of a partition level with most global entries polls, after the poll of those
  /// that are polled together.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int32_t further_polls(const level_counts& level) const {
    return level.rounds > polled_pairs ? level.rounds - polled_pairs : 0;
  }
  /// Returns the number of tiles of so many rows.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int32_t tiles(std::int32_t rows) const {
    // The product is off by less than half a row: no division is needed.
    return static_cast<std::int32_t>((static_cast<double>(rows) + tile_rows - 0.5) * tiles_per_row);
  }

  /// Returns the time of a partition level once all components that it needs have come.
  [[nodiscard]] SPTRSV_HOST_DEVICE float level_nanoseconds(const level_counts& level,
                                                           const cost_constants& c) const {
    const float of_tiles = level.rows <= tile_rows
                               ? tile_ns
                               : static_cast<float>(tiles(level.rows)) * (tile_ns * c.many_tiles_factor);
    return of_tiles + static_cast<float>(further_polls(level)) * (c.poll * static_cast<float>(rhs_together));
  }

  /// Returns the time of the hand-off from another partition to this partition level.
  [[nodiscard]] SPTRSV_HOST_DEVICE float hand_off_nanoseconds(const level_counts& level,
                                                              const cost_constants& c) const {
    return c.hop + static_cast<float>(further_polls(level)) * c.late_poll;
  }

  /// Returns the time that the global entries of a partition add.
  [[nodiscard]] SPTRSV_HOST_DEVICE double global_entry_nanoseconds(std::int64_t global_entries,
                                                                   const cost_constants& c) const {
    return static_cast<double>(global_entries) * (polled_pairs > 1 ? c.batched_global_entry : c.global_entry);
  }
};

}  // namespace sptrsv::detail::dataflow::partitioned
