// SPDX-License-Identifier: Apache-2.0
// The cost model of the partitioned path: the time of a solve from the partition levels and from what a tile
// and a hand-off take, two estimates without partition levels, and what a search finds with it. Also what
// solve_simulation.hpp, which simulates solves, takes and returns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"
#include "sptrsv/detail/dataflow/partitioned/layout/packed_slice.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

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

  /// Returns how often the row with most global entries polls after the poll of those polled together.
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

/// Returns the properties of the shapes of a tuning, by index.
template <class Tuning, class Scalar>
std::vector<costed_shape> costed_shapes() {
  std::vector<costed_shape> costed;
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    constexpr shape_values s = values_of<decltype(shape)>();
    costed.push_back({s.tile_rows(), s.polled_pairs, shared_layout<Scalar, decltype(shape)>::rhs_together,
                      static_cast<float>(std::begin(Tuning::partitioned_shapes)[index].tile_ns)});
  });
  return costed;
}

/// Returns a lower bound of the predicted time of the partitioned path: a tile on each level.
template <class Tuning>
double least_nanoseconds(std::int64_t levels) {
  const auto* const fastest =
      std::min_element(std::begin(Tuning::partitioned_shapes), std::end(Tuning::partitioned_shapes),
                       [](const auto& a, const auto& b) { return a.tile_ns < b.tile_ns; });
  return Tuning::partitioned_launch_ns + fastest->tile_ns * static_cast<double>(levels);
}

/// Returns the predicted time of a single partition with narrow levels.
template <class Tuning>
double narrow_nanoseconds(std::int64_t rows, std::int64_t entries, std::int64_t levels) {
  const double length = static_cast<double>(entries) / static_cast<double>(rows);
  double tile_ns = 0;
  int lanes = 0;
  shapes_of<Tuning>::type::for_each([&](auto shape, int index) {
    // Takes the shape with enough lanes for a row among the shapes with few threads, which come first.
    constexpr shape_values values = values_of<decltype(shape)>();
    if (tile_ns == 0 || (values.shared_entries() < 2 * length && values.lanes > lanes)) {
      tile_ns = std::begin(Tuning::partitioned_shapes)[index].tile_ns;
      lanes = values.lanes;
    }
  });
  return Tuning::partitioned_launch_ns + 1.15 * tile_ns * static_cast<double>(levels);
}

/// A way to solve a system on the partitioned path.
struct shape_choice {
  int shape_index = 0;
  std::int64_t partitions = 1;
  block_partition boxes;
  std::int64_t tiles = 0;  ///< of all partitions
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// The result of a search for the best shape.
struct search_result {
  shape_choice best;
  double hybrid_nanoseconds = 0;  ///< about the time of the best hybrid path, if it is wanted
  /// The cells of several tables, with that of the best choice. Empty if no hybrid path may be chosen.
  buffer<level_counts> cells;
  std::int64_t begin = 0;  ///< the first cell of the table of the best choice
  std::int64_t word = 0;   ///< the number that the work behind the predictions stored
};

/// The prediction for one table and one shape.
struct prediction {
  double nanoseconds;  ///< time of a solve with all right-hand sides
  /// About the time of the best hybrid path, if it is wanted: too long by one hand-off at most.
  double hybrid_nanoseconds;
  std::int64_t tiles;        ///< of all partitions
  std::int64_t needs_later;  ///< not 0: some partition needs a later one
};

/// A table of partition levels, and the shapes whose times are predicted from it.
struct predicted_table {
  std::int64_t begin;  ///< its first cell
  std::int32_t partitions;
  std::uint32_t shapes;  ///< one bit for each shape that is tried
  double factor;         ///< of the time of a solve, for the hybrid path
};

/// Parameters of the simulations of one system.
struct predict_params {
  static constexpr int max_shapes = 32;
  static constexpr int block_threads = 256;
  static constexpr int thread_cells = 8;
  static constexpr int block_cells = block_threads * thread_cells;

  std::int64_t size;     ///< rows of the triangle
  std::int64_t entries;  ///< entries of the triangle
  std::int64_t levels;
  std::int64_t max_rhs;
  std::int64_t resident_blocks;
  const level_counts* cells;
  const std::int32_t* level_rows;  ///< by level
  float* ends;                     ///< by task, then as the cells of its table: when they were finished
  float* level_ends;               ///< by task, then by level; null: no hybrid path is wanted
  prediction* found;               ///< by task
  cost_constants constants;
  row_per_thread::solve_costs row_per_thread;
  int table_count;
  predicted_table tables[counted_tables::max_count];
  costed_shape shapes[max_shapes];
};

/// The shared memory of a block that simulates a solve.
struct simulated_cells {
  static constexpr int block_cells = predict_params::block_cells;

  float own[block_cells];            ///< by cell: its time
  float delay[block_cells];          ///< what is added to the time at `needed`
  std::int32_t needed[block_cells];  ///< index in `ends`: the cell that is needed, or `block_cells`
  float ends[block_cells + 1];       ///< by cell: when it was finished; the last one is 0
  std::int32_t global_entries[level_counts::level_stride];  ///< by partition
  double of_warp[predict_params::block_threads / 32];
};

/// The table and the shape of one thread block.
struct predict_task {
  std::int64_t number;
  std::int64_t first_cell;
  std::int64_t first_end;
  std::int32_t partitions;
  std::int32_t levels_at_once;
  std::int64_t rounds;  ///< of right-hand sides that are solved one after the other
  double factor;        ///< of the time of a solve, for the hybrid path
  costed_shape shape;

  SPTRSV_DEVICE static predict_task of(const predict_params& p, std::int64_t number) {
    predict_task t{};
    t.number = number;
    std::int64_t left = number;
    int i = 0;
    for (; left >= simt::bit_count(p.tables[i].shapes); ++i) {
      left -= simt::bit_count(p.tables[i].shapes);
      t.first_end += simt::bit_count(p.tables[i].shapes) * p.levels * p.tables[i].partitions;
    }
    t.first_cell = p.tables[i].begin;
    t.partitions = p.tables[i].partitions;
    t.factor = p.tables[i].factor;
    t.first_end += left * p.levels * t.partitions;
    std::uint32_t shapes = p.tables[i].shapes;
    for (; left > 0; --left) {
      shapes &= shapes - 1;
    }
    t.shape = p.shapes[simt::lowest_bit(shapes)];
    t.levels_at_once = predict_params::block_cells / t.partitions;
    const std::int64_t rhs_blocks = p.resident_blocks / t.partitions;
    t.rounds =
        simt::ceil_div(simt::ceil_div(p.max_rhs, t.shape.rhs_together), rhs_blocks < 1 ? 1 : rhs_blocks);
    return t;
  }

  /// Returns the time that a single partition takes for the rows of a level.
  [[nodiscard]] SPTRSV_DEVICE double one_partition_nanoseconds(const predict_params& p,
                                                               std::int32_t rows) const {
    const double length = static_cast<double>(p.entries) / static_cast<double>(p.size);
    return shape.level_nanoseconds(level_counts{rows, 0, 0, 0}, p.constants) +
           p.constants.batched_global_entry * length * rows;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
