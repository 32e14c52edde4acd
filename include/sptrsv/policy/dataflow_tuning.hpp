// SPDX-License-Identifier: Apache-2.0
// The tuning constants of the policy dataflow: shapes of its kernels, limits, and what its cost models know.
#pragma once

#include <cstdint>

#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Shape of the kernel of the partitioned path: how the threads of a block share the rows of a tile. Each
/// record of a tuning compiles one kernel.
struct partitioned_shape {
  int lanes;        ///< threads that share a row: a power of two, at most 32
  int threads;      ///< threads of a warp group, which solves tiles of threads / lanes rows: a multiple of 32
  int warp_groups;  ///< warp groups of a block, at most: 2 to 15
  int entries;      ///< shared entries of a lane, at most: an even number
  int polled_pairs;  ///< pairs of global entries that a lane polls together
  bool streams;      ///< for systems larger than the L2 cache: bulk copies, a smaller x ring buffer
  int rhs;           ///< right-hand sides that are solved together, at most: a power of two
  double tile_ns;    ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// Shape of the kernel of the single_block path, whose consumer warp solves tiles of `rows` rows. Each record
/// of a tuning compiles one kernel.
struct single_block_shape {
  int rows;        ///< rows of a tile: a multiple of 4; rows * lanes is 32
  int lanes;       ///< threads that share a row
  int entries;     ///< entries of a lane, at most: an even number
  int reach;       ///< rows before it in the same tile that a row may need: 1 to rows - 1
  double tile_ns;  ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// Shape of the kernel of the natural_blocks path, whose warp groups take the steps in turns. Each record of
/// a tuning compiles one kernel, unless the values of a lane take more than 384 bytes.
struct natural_block_shape {
  int rows;        ///< rows of a block, at most: 2 to 8
  int lanes;       ///< threads that share a block: a power of two, at most 32
  int tiles;       ///< tiles of rows x rows values of a lane, at most; lanes * tiles is at least 2
  int warps;       ///< warps of a group; a step solves at most 32 / lanes * warps blocks
  int groups;      ///< warp groups of a thread block: 2 to 15
  double step_ns;  ///< time of a step in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// Tuning constants of dataflow. To change some, derive a struct from this one, redefine these members, and
/// give the struct to policy::basic_dataflow. Times are in nanoseconds, measured on one NVIDIA H200 with
/// fp64.
struct dataflow_tuning {
  /// How entries are stored. With entry_storage::single only the row_per_thread path is available, and rows
  /// are not rewritten.
  static constexpr entry_storage entries = entry_storage::as_values;

  /// @name The row_per_thread path
  ///@{

  /// Threads of a block: a multiple of 32, at most 1024.
  static constexpr int block_threads = 128;
  /// Entries of a row that a thread polls together; twice as many if rows are long.
  static constexpr int entries_at_once = 4;
  /// Rows are long if they have more than this many entries on average, without the diagonal.
  static constexpr int long_row = 4;
  /// The same if rows are rewritten by levels: most of the components that they need are recent.
  static constexpr int long_rewritten_row = 2;
  /// Right-hand sides that are solved together, at most: a power of two.
  static constexpr int rhs_per_sweep = 2;
  /// Neighbouring threads that solve the same row, each for some of the right-hand sides, at most: a power of
  /// two, at most 32. Together they read the components of a row from one piece of memory. Where levels are
  /// wide (`wide_level`, `wide_gathers`), right-hand sides that are stored by columns are copied by rows
  /// first.
  static constexpr int max_rhs_lanes = 8;
  /// Threads share rows only if these have at least so many entries on average, without the diagonal:
  /// otherwise the right-hand sides take more time than the components.
  static constexpr int rhs_lane_entries = 3;
  /// The other condition: there are at most this many rows, or levels are wide.
  static constexpr std::int64_t rhs_lane_rows = 1'000'000;
  /// Threads that share long rows (`long_row`) take one right-hand side each and poll twice as many entries
  /// together, if levels have at most this many rows on average, divided by `max_rhs`.
  static constexpr std::int64_t narrow_level_scalars = 4'500;
  /// Blocks that share the right-hand sides of the same rows, at most.
  static constexpr int max_rhs_blocks = 16;
  /// If levels have at least this many rows on average, and `wide_gathers` holds too, blocks solve all rows
  /// for the right-hand sides of one sweep before the next sweep begins: the components of one sweep then
  /// stay in the L2 cache.
  static constexpr std::int64_t wide_level = 10'000;
  /// The other condition: the number of entries times `max_rhs` is more than this.
  static constexpr std::int64_t wide_gathers = 10'000'000;
  /// Rows with more entries than this, 4 to 2047, are split into partial rows. All paths but single_block.
  static constexpr int longest_row = 12;
  /// Entries of a partial row: 4 to `longest_row`.
  static constexpr int partial_row = 8;
  /// The two constants above for wide levels where many rows would be split: those of `wide_split_level` rows
  /// on average, and at least `wide_split_share` of all rows.
  static constexpr int wide_longest_row = 48;
  static constexpr int wide_partial_row = 32;
  static constexpr std::int64_t wide_split_level = 300;
  static constexpr double wide_split_share = 0.3;
  /// Rows of a level are sorted by length within sections of the system that have at least this many rows of
  /// a level on average.
  static constexpr std::int64_t length_scope = 4096;
  /// The row_per_thread path of a small system is expected to be chosen if levels have at least this many
  /// rows on average, and there are few levels or rows have several entries: its rows are then put in order
  /// while the device predicts the times of the partitioned path.
  static constexpr std::int64_t wide_enough_for_rows = 750;
  /// The path is taken without a prediction of others if there are at most so many levels, which are as wide.
  static constexpr std::int64_t flat_levels = 4;
  /// A warp first polls one component of this many levels before its own, the gate; 0: no gates.
  static constexpr int gate_levels = 6;
  /// If rows do not need each other and there are more than this many, a thread has four of them.
  static constexpr std::int64_t large_diagonal = 100'000;
  /// Predicted time of a solve: the launch.
  static constexpr double row_per_thread_launch_ns = 4000;
  /// Predicted time of a solve: each level.
  static constexpr double row_per_thread_level_ns = 460;
  /// Predicted time of a solve: each byte of the entries and of the rows.
  static constexpr double row_per_thread_byte_ns = 1 / 2500.0;
  /// Share of the time of a level that each further right-hand side adds.
  static constexpr double row_per_thread_further_rhs_level = 0.04;
  /// Values per row, counted as bytes, that each further right-hand side adds.
  static constexpr double row_per_thread_further_rhs_scalars = 10;
  ///@}

  /// @name The single_block path
  ///@{

  /// The shapes of the kernel: rows, lanes, entries, reach, tile_ns.
  static constexpr single_block_shape single_block_shapes[] = {
      {32, 1, 2, 2, 467},
      {8, 4, 8, 7, 265},
  };
  /// Components in the x ring buffer, at most (and at most 65,534).
  static constexpr int single_block_x_ring_size = 65534;
  /// The path is considered only for systems whose levels have at most this many rows on average.
  static constexpr double single_block_rows_per_level = 4;
  /// Predicted time of a solve in addition to its tiles.
  static constexpr double single_block_launch_ns = 5000;
  /// The path is chosen if its predicted time is at most this share of the predicted time of a single
  /// partition, which several partitions and shorter rows make faster.
  static constexpr double single_block_gain = 0.65;
  ///@}

  /// @name The natural_blocks path
  ///@{

  /// The shapes of the kernel: rows, lanes, tiles, warps, groups, step_ns.
  static constexpr natural_block_shape natural_block_shapes[] = {
      {3, 4, 2, 1, 8, 164},
      {3, 4, 2, 2, 6, 187},
      {4, 4, 1, 2, 6, 208},
      {6, 4, 1, 1, 6, 260},
  };
  /// Components in the x ring buffer, at most.
  static constexpr int natural_block_x_ring_size = 65534;
  /// The path is considered only if levels have at most this many rows on average, blocks at least this many,
  /// and there are at most this many right-hand sides, which are solved at the same time.
  static constexpr double natural_blocks_rows_per_level = 16;
  static constexpr double natural_block_rows = 2.5;
  static constexpr std::int64_t natural_blocks_max_rhs = 128;
  /// Predicted time of a solve in addition to its steps.
  static constexpr double natural_blocks_launch_ns = 1500;
  /// The path is chosen if its predicted time is at most this share of the best one of other paths.
  static constexpr double natural_blocks_gain = 0.9;
  ///@}

  /// @name The partitioned path
  ///@{

  /// The shapes of the kernel, at most 32: lanes, threads, warp_groups, entries, polled_pairs, streams, rhs,
  /// tile_ns.
  static constexpr partitioned_shape partitioned_shapes[] = {
      {1, 32, 15, 4, 1, false, 1, 65},  {1, 64, 12, 4, 1, false, 1, 103}, {2, 32, 15, 4, 1, false, 1, 83},
      {2, 64, 12, 4, 1, false, 1, 106}, {4, 32, 15, 4, 1, false, 1, 97},  {4, 64, 12, 4, 1, false, 1, 119},
      {1, 32, 15, 4, 5, true, 1, 83},   {1, 64, 12, 4, 1, true, 1, 97},   {4, 32, 15, 4, 2, true, 1, 105},
      {1, 32, 15, 4, 1, false, 2, 90},
  };
  /// Factor of the time of a tile if a partition has several tiles in a level.
  static constexpr double partitioned_many_tiles_factor = 1.3;
  /// Factor of the time of further rounds of right-hand sides: all partitions are busy then.
  static constexpr double partitioned_further_rhs_factor = 1.5;
  /// Time of the hand-off from partition to partition.
  static constexpr double partitioned_hop_ns = 500;
  /// Time of each further poll of global entries in a partition level, for each right-hand side that is
  /// solved together.
  static constexpr double partitioned_poll_ns = 17;
  /// Time of each further poll of global entries directly after a hand-off.
  static constexpr double partitioned_late_poll_ns = 62;
  /// Time of a global entry of a partition if the shape polls one pair of them together.
  static constexpr double partitioned_global_entry_ns = 0.8;
  /// Time of a global entry of a partition if the shape polls several pairs of them together.
  static constexpr double partitioned_batched_global_entry_ns = 0.3;
  /// Predicted time of a solve in addition to the above.
  static constexpr double partitioned_launch_ns = 4000;
  /// Factor of the time of a solve if its partitions are boxes of a grid.
  static constexpr double partitioned_boxes_factor = 1.3;
  /// Components in the x ring buffer, at most: a power of two, at most 32,768.
  static constexpr int partitioned_x_ring_size = 4096;
  /// The path is preferred to row_per_thread if this share of its predicted time is less: its predictions
  /// exceed measured times by more.
  static constexpr double partitioned_gain = 0.84;
  /// Bytes of the packed slices, at most.
  static constexpr std::int64_t partitioned_max_bytes = std::int64_t{1} << 35;
  /// The analysis tries fewer plans for systems with more entries than this.
  static constexpr std::int64_t partitioned_small_entries = 600'000;
  /// Partitions of whole planes of a grid are considered only for systems with more entries than this.
  static constexpr std::int64_t partitioned_plane_entries = 2'000'000;
  /// Fewer numbers of partitions are tried if levels times partitions are more than this.
  static constexpr std::int64_t partitioned_small_table = 400'000;
  ///@}

  /// @name The hybrid path
  ///@{

  /// The path is chosen if its predicted time is less than this share of the predicted time of the best
  /// single path, for one right-hand side.
  static constexpr double hybrid_gain = 0.9;
  ///@}

  /// @name Row elimination (exact_order = false)
  ///@{

  /// Number of entries that a rewritten row and its right-hand side may always have together.
  static constexpr std::int64_t rewritten_entries = 64;
  /// Levels of a run of levels, if the cost model chooses.
  static constexpr std::int64_t run_levels = 4;
  /// A run has so many levels if the levels of the system have at most `rows_of_narrow_level` rows on
  /// average.
  static constexpr std::int64_t narrow_run_levels = 8;
  static constexpr double rows_of_narrow_level = 12;
  /// A run has so many levels if the levels have at most `rows_of_very_narrow_level` rows on average.
  static constexpr std::int64_t very_narrow_run_levels = 16;
  static constexpr double rows_of_very_narrow_level = 2.5;
  /// A system that is rewritten by runs of narrow levels is taken if its predicted time is less than this
  /// share of the predicted time of the system as it is. No system under this share was solved more slowly.
  static constexpr double rewritten_gain = 0.98;
  /// The same for other levels, whose predictions differ more from what is measured.
  static constexpr double rewritten_gain_of_wide_levels = 0.89;
  /// Nanoseconds that a system that is rewritten by levels must save on other paths than row_per_thread, at
  /// least.
  static constexpr double rewritten_saving_ns = 1200;
  /// Nanoseconds that it must be able to save in addition, or it is not tried. To rewrite a small system
  /// takes about 0.4 ms, so that this pays in a hundred solves.
  static constexpr double rewritten_payback_ns = 4000;
  /// The share if the system takes the row_per_thread path without being rewritten.
  static constexpr double rewritten_gain_over_row_per_thread = 0.9;
  /// The same if the rewritten system takes the row_per_thread path, but not the system as it is: the model
  /// predicts shorter times for this path.
  static constexpr double rewritten_gain_by_row_per_thread = 0.65;
  /// Nanoseconds that the row_per_thread path must save by rewriting, at least: rows first gather right-hand
  /// sides.
  static constexpr double rewritten_row_per_thread_saving_ns = 2000;
  /// Entries of a row that is rewritten, at most. One warp merges the rows of 32 neighbours, entry by entry.
  static constexpr std::int64_t longest_rewritten_row = 256;
  /// The system is solved as it is if more than this share of its levels would be left after rewriting in
  /// runs of rows. No system with a larger share was solved faster when it was rewritten.
  static constexpr double rewritten_levels = 0.25;
  /// Runs of rows are tried in addition to runs of levels only if the system takes the single_block path, or
  /// at most this share of its levels would be left and its rows are short. Otherwise runs gave the faster
  /// system.
  static constexpr double few_rewritten_levels = 0.14;
  /// Rows are short if they have at most this many entries on average, without the pivot.
  static constexpr double entries_of_short_rows = 2;
  /// The system is solved as it is if it has fewer levels than this: the right-hand sides of a rewritten
  /// system took as long as the levels that it saved.
  static constexpr std::int64_t least_rewritten_levels = 12;
  /// Runs of `run_levels` levels do not make the partitioned path faster if they multiply the entries by
  /// more than this, unless the system has partial rows.
  static constexpr double rewritten_growth = 1.65;
  /// The system is solved as it is unless at least one row of this many is rewritten.
  static constexpr std::int64_t rows_per_rewritten = 8;
  /// Predicted time of computing the right-hand sides of a rewritten system, in addition to their bytes.
  static constexpr double transform_launch_ns = 2500;
  ///@}
};

}  // namespace sptrsv::SPTRSV_ABI::experimental
