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
  static constexpr int columns_per_sweep = 4;
  /// No diagonal block has fewer rows than this many for each thread that the device holds at once, where
  /// their number is not asked for. (The paper has 20 rows per core; an H200 holds up to 16 threads per
  /// core.)
  static constexpr int rows_per_thread = 2;
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
  static constexpr int most_rounds = 8;

  // The selector for this library's kernels (block_selector::fitted). benchmarks/fit_block_kernels.py finds
  // these from the times of a machine; they are estimates from what a hand-off costs on an H200.

  /// Level by level: at most so many levels, with at least so many rows on average.
  static constexpr int level_set_levels = 6;
  static constexpr int level_set_rows = 20000;
  /// By one thread block: at least so many levels, with at most so many rows on average.
  static constexpr int serial_levels = 20000;
  static constexpr double serial_rows = 0;
  /// Entries per row that is not empty, up to which a thread takes a row of a square.
  static constexpr double scalar_entries = 8;
  /// Entries that each lane takes of a row which several share.
  static constexpr double entries_per_lane = 4;
  /// Empty rows in all rows of a square from which they are left out of its storage, where a row is a
  /// thread's or several lanes'.
  static constexpr double scalar_empty_ratio = 0.5;
  static constexpr double vector_empty_ratio = 0.15;
};

}  // namespace sptrsv
