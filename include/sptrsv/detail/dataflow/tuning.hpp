// The numbers of dataflow.
#pragma once

#include "sptrsv/detail/dataflow/walk_shape.hpp"

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_dataflow.
struct dataflow_tuning {
  /// Threads of a block of the grid path, a multiple of 32 and at most 128: a ticket is drawn per block.
  static constexpr int block_threads = 128;
  /// Entries of a row that a lane looks at before it waits for the first of them.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that one sweep over a group serves.
  static constexpr int columns_per_sweep = 4;
  /// A group of which more rows than this are needed inside is substituted row by row without looking for the
  /// next.
  static constexpr int unrolled_rows = 12;
  /// A warp of the grid path looks at one word until a row this many levels before its own is solved; 0: at all
  /// that it needs from the beginning.
  static constexpr int gate_levels = 2;
  /// Rows of more entries on average than these have 4 and 16 lanes on the grid path.
  static constexpr double entries_for_4_lanes = 5;
  static constexpr double entries_for_16_lanes = 24;
  /// Groups follow the order of substitution where a level has at most this many rows on average.
  static constexpr int natural_rows_per_level = 1;

  /// Shapes that a walk may have: a kernel each.
  using walk_shapes = detail::dataflow::walk_shapes<
      detail::dataflow::walk_shape<32, 1, 4, false>, detail::dataflow::walk_shape<16, 2, 4, false>,
      detail::dataflow::walk_shape<128, 1, 2, false>, detail::dataflow::walk_shape<128, 1, 4, false>,
      detail::dataflow::walk_shape<32, 4, 4, false>, detail::dataflow::walk_shape<16, 8, 4, false>,
      detail::dataflow::walk_shape<64, 4, 4, false>, detail::dataflow::walk_shape<32, 1, 2, true>,
      detail::dataflow::walk_shape<16, 2, 4, true>, detail::dataflow::walk_shape<8, 4, 8, true>>;
  /// What a step of each shape takes, in nanoseconds (fp64, one NVIDIA H200).
  static constexpr double walk_step_ns[] = {107, 125, 172, 202, 185, 190, 295, 798, 440, 380};
  /// Components of x that a walk keeps in shared memory, at most (and at most 65,534).
  static constexpr int walk_window = 65534;
  /// Systems of more entries are not looked at on the host: they go the grid path.
  static constexpr std::int64_t walk_entries = 16'000'000;
  /// What the grid path takes, in nanoseconds: for a launch, a level, and a byte.
  static constexpr double grid_launch_ns = 4000;
  static constexpr double grid_level_ns = 600;
  static constexpr double grid_byte_ns = 1 / 2500.0;
};

}  // namespace sptrsv
