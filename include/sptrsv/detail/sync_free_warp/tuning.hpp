// The numbers of sync_free_warp.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_sync_free_warp.
struct sync_free_warp_tuning {
  /// Threads of a block, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 256;
  /// Entries of a long row that a lane looks at before it waits for the first of them.
  static constexpr int entries_at_once = 4;
  /// Entries that a lane takes before a row gets twice as many lanes, where rows share a warp.
  static constexpr int entries_per_lane = 4;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
