// The numbers of sync_free_column.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_sync_free_column.
struct sync_free_column_tuning {
  /// Threads of a block, a multiple of 32 and at most 1024: a ticket is drawn per block, and its warps update
  /// each other through shared memory.
  static constexpr int block_threads = 512;
  /// Whether updates of components of the same block go through shared memory (Algorithm 2, lines 17 to 19);
  /// without it all go through global memory.
  static constexpr bool shared_updates = true;
  /// Entries of a column that a lane loads before its component is solved.
  static constexpr int entries_ahead = 2;
  /// Right-hand sides that one sweep over a column serves, at most 32. Solves with more than these do not use
  /// shared memory.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
