// The numbers of column_block, row_block and recursive_block.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_recursive_block and its like.
struct block_tuning {
  /// Threads of a thread block, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 256;
  /// Entries of a row that a thread takes together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;

  // How many diagonal blocks where their number is not asked for, from the times of 1 to 64 of them for 11
  // systems on an H200 (sptrsv_block_kernels; docs/performance.md).

  /// A triangle is cut into so many if its rows are long and the blocks fill the device; else it stays whole.
  static constexpr int default_blocks = 4;
  /// Entries beside the diagonal that long rows have on average.
  static constexpr int entries_for_a_cut = 14;
  /// A block fills the device with so many rows for each warp that the device holds at once. (The paper has
  /// 20 rows per core, which are 80 per warp here.)
  static constexpr int rows_per_warp = 12;

  /// 32 neighbouring rows of a sync-free triangle get a warp each if they have at least so many entries on
  /// average, a thread each if they have fewer.
  static constexpr int entries_for_a_warp = 16;
  /// A warp of a sync-free triangle looks at one word until a row this many levels before its own is solved;
  /// 0: at all that it needs from the beginning.
  static constexpr int gate_levels = 6;
  /// Where a thread has a row of a square or of a level, its warp shares rows longer than this.
  static constexpr int shared_row = 128;
  /// A thread block shares rows of a square or of a level that are longer than this.
  static constexpr int block_row = 2048;
  /// Rounds that a thread block makes over its rows, if enough blocks are left for all processors.
  static constexpr int max_rounds = 8;

  // The selector for this library's kernels (block_selector::fitted), from the times of 818 parts of 11
  // systems on an H200 by `benchmarks/python fit-block-kernels`. Of triangles rows that poll won wherever
  // there were two levels or more and at least 5 rows a level. Of squares no other thresholds than the
  // paper's did better on systems that they were not fitted to.

  /// Level by level: at most so many levels, with at least so many rows on average.
  static constexpr int level_set_levels = 1;
  static constexpr int level_set_rows = 0;
  /// By one thread block: at least so many levels, with at most so many rows on average. Never.
  static constexpr int serial_levels = 2;
  static constexpr double serial_rows = 0;
  /// Entries per row, empty ones counted, up to which a thread takes a row of a square.
  static constexpr double scalar_entries = 12;
  /// Entries that each lane takes of a row which several share.
  static constexpr double entries_per_lane = 4;
  /// Empty rows in all rows of a square from which they are left out of its storage, where a row is a
  /// thread's or several lanes'.
  static constexpr double scalar_empty_ratio = 0.5;
  static constexpr double vector_empty_ratio = 0.15;
};

}  // namespace sptrsv
