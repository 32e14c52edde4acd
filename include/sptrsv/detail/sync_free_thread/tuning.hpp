// The numbers of sync_free_thread.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_sync_free_thread.
struct sync_free_thread_tuning {
  /// Threads of a block, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 256;
  /// Entries of a row that a thread polls together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
