// The numbers of level_set.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_level_set.
struct level_set_tuning {
  /// Threads of a block in a launch that serves one wide level.
  static constexpr int wide_block_threads = 256;
  /// Threads of the one block that walks a run of narrow levels.
  static constexpr int narrow_block_threads = 512;
  /// A level is narrow if it needs at most this many lanes; one block takes it faster than a launch of its
  /// own.
  static constexpr int narrow_lanes = 1024;
  /// Lanes that a wide level keeps busy at once; only their ratio to the needs of a level matters.
  static constexpr int device_lanes = 200000;
  /// Right-hand sides that one sweep over a row serves.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
