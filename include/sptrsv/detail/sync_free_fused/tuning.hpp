// The numbers of sync_free_fused.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_sync_free_fused.
struct sync_free_fused_tuning {
  /// Threads of a block, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 256;
  /// 32 neighbouring rows get a warp each if they have at least so many entries on average, a thread each if
  /// they have fewer.
  static constexpr int entries_for_a_warp = 16;
  /// Entries of a row that a thread polls together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
