// The numbers of dataflow.
#pragma once

#include "sptrsv/detail/dataflow/walk_shape.hpp"

namespace sptrsv {

/// To change one, derive and give the result to policy::basic_dataflow.
struct dataflow_tuning {
  /// Threads of a block of the grid path, a multiple of 32: a ticket is drawn per block.
  static constexpr int block_threads = 128;
  /// Entries that a thread of the grid path waits for together; twice as many where rows have more than
  /// `long_row` entries on average.
  static constexpr int entries_at_once = 4;
  static constexpr int long_row = 4;
  /// Right-hand sides that one sweep of the grid path serves.
  static constexpr int columns_per_sweep = 4;
  /// Entries of a row on the grid path, at most: longer rows are cut.
  static constexpr int longest_row = 32;
  /// A warp of the grid path looks at one word until a row this many levels before its own is solved; 0: at
  /// all that it needs from the beginning.
  static constexpr int gate_levels = 6;
  /// Shapes that a walk may have: a kernel each.
  using walk_shapes = detail::dataflow::walk_shapes<
      detail::dataflow::walk_shape<32, 1, 4, false>, detail::dataflow::walk_shape<16, 2, 4, false>,
      detail::dataflow::walk_shape<128, 1, 2, false>, detail::dataflow::walk_shape<128, 1, 4, false>,
      detail::dataflow::walk_shape<32, 4, 4, false>, detail::dataflow::walk_shape<16, 8, 4, false>,
      detail::dataflow::walk_shape<64, 4, 4, false>, detail::dataflow::walk_shape<32, 1, 2, true>,
      detail::dataflow::walk_shape<16, 2, 4, true>, detail::dataflow::walk_shape<8, 4, 8, true>>;
  /// What a step of each shape takes, in nanoseconds (fp64, one NVIDIA H200).
  static constexpr double walk_step_ns[] = {107, 125, 178, 195, 177, 205, 285, 798, 440, 380};
  /// Components of x that a walk keeps in shared memory, at most (and at most 65,534).
  static constexpr int walk_window = 65534;
  /// Systems of more entries than these are looked at on the host only if their levels, counted on the
  /// device, have at most so many rows on average.
  static constexpr std::int64_t host_entries = 500'000;
  static constexpr std::int64_t walk_rows_per_level = 400;
  /// Where levels have more rows than this on average, steps take longer in proportion: what shared memory
  /// leaves of the L1 cache does not hold the lines of b and x any more.
  static constexpr double walk_width = 150;
  /// Nanoseconds that a walk takes beside its steps.
  static constexpr double walk_launch_ns = 5000;
  /// Nanoseconds that the grid path takes for a launch, a level, and a byte.
  static constexpr double grid_launch_ns = 4000;
  static constexpr double grid_level_ns = 520;
  static constexpr double grid_byte_ns = 1 / 2500.0;
};

}  // namespace sptrsv
