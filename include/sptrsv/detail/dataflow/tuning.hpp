// The numbers of dataflow.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_dataflow.
struct dataflow_tuning {
  /// Threads of a block, a multiple of 32 and at most 128: a ticket is drawn per block.
  static constexpr int block_threads = 128;
  /// Entries of a row that a lane looks at before it waits for the first of them.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that one sweep over a group serves.
  static constexpr int columns_per_sweep = 4;
  /// A group of which more rows than this are needed inside is substituted row by row without looking for the
  /// next.
  static constexpr int unrolled_rows = 12;
  /// Groups follow the order of substitution where a level has at most this many rows on average.
  static constexpr int natural_rows_per_level = 1;
};

}  // namespace sptrsv
