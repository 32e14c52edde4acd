// The numbers of self_scheduled.
#pragma once

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_self_scheduled.
struct self_scheduled_tuning {
  /// Threads of a block, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 256;
  /// Warps that an SM is to hold at once, of at most 64: the more there are, the fewer registers each has.
  /// Half as many where numbers are wider than 8 bytes or right-hand sides are several.
  static constexpr int warps_per_processor = 48;
  /// Entries of a row or column that a lane loads before its unknown may be solved.
  static constexpr int entries_ahead = 1;
  /// Lanes of the part of a warp that takes an unknown where there are more unknowns to a level than the
  /// device has warps and rows are short: 4, 8, 16 or 32.
  static constexpr int narrow_lanes = 8;
  /// That is where a level has at least this many unknowns on average
  static constexpr int narrow_unknowns_per_level = 8192;
  /// and a row at most this many entries.
  static constexpr int narrow_entries_per_row = 8;
  /// Right-hand sides that one sweep over a row or column serves, at most `narrow_lanes`.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv
