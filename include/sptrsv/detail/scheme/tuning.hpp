// The numbers of scheme that are no settings of a scheme.
#pragma once

#include <cstdint>

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_scheme.
struct scheme_tuning {
  /// Threads of a block at most, a multiple of 32. A scheme of more active warps has several blocks on a
  /// multiprocessor.
  static constexpr int block_threads = 256;
  /// Warps that a multiprocessor is to have registers for, with one right-hand side.
  static constexpr int warps_per_processor = 32;
  /// Entries of a row that a lane polls together.
  static constexpr int entries_at_once = 3;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;
  /// Shared memory of a warp for the entries of its rows, where they are buffered; and how many entries are
  /// worth it.
  static constexpr int buffer_bytes = 1536;
  static constexpr int min_buffered = 32;
  /// How often a block looks whether all others have started before the blocks share the work by tickets.
  static constexpr int patience = 4096;
  /// Launches of a solve. A scheme that needs more is refused.
  static constexpr std::int64_t max_launches = 20000;
};

}  // namespace sptrsv
