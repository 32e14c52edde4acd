// SPDX-License-Identifier: Apache-2.0
// What solve_simulation takes and returns.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_cost.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_cost.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

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

/// What the threads of a block that simulates a solve share.
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
