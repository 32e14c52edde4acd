// The numbers of dataflow.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"
#include "sptrsv/detail/dataflow/shape_list.hpp"
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
  /// Right-hand sides that one sweep of the grid path serves, at most, and the blocks, at most, which share
  /// them.
  static constexpr int columns_per_sweep = 2;
  static constexpr int most_sharers = 16;
  /// Where levels have so many rows on average, and the right-hand sides together need more components than
  /// L2 holds, blocks take all rows for one sweep before those for the next: so its components stay in L2.
  static constexpr std::int64_t wide_level = 10'000;
  static constexpr std::int64_t wide_gathers = 10'000'000;
  /// Entries of a row on the grid path, at most: longer rows are cut.
  static constexpr int longest_row = 32;
  /// So far apart rows of a level may change places on the grid path, so that rows of about the same length
  /// stand together.
  static constexpr std::int64_t length_scope = 8192;
  /// A warp of the grid path looks at one word until a row this many levels before its own is solved; 0: at
  /// all that it needs from the beginning.
  static constexpr int gate_levels = 6;
  /// Shapes that a walk may have: a kernel each.
  using walk_shapes = detail::dataflow::shape_list<detail::dataflow::walk_shape<32, 1, 2, 2>,
                                                   detail::dataflow::walk_shape<8, 4, 8, 7>>;
  /// What a step of each shape takes, in nanoseconds (fp64, one NVIDIA H200).
  static constexpr double walk_step_ns[] = {467, 265};
  /// Components of x that a walk keeps in shared memory, at most (and at most 65,534).
  static constexpr int walk_window = 65534;
  /// Only systems whose levels have at most so many rows on average may be walked.
  static constexpr double walk_rows_per_level = 4;
  /// Nanoseconds that a walk takes beside its steps.
  static constexpr double walk_launch_ns = 5000;
  /// Shapes that a relay may have: a kernel each.
  using relay_shapes = detail::dataflow::shape_list<
      detail::dataflow::relay_shape<1, 32, 15, 4>, detail::dataflow::relay_shape<1, 64, 12, 4>,
      detail::dataflow::relay_shape<2, 32, 15, 4>, detail::dataflow::relay_shape<2, 64, 12, 4>,
      detail::dataflow::relay_shape<4, 32, 15, 4>, detail::dataflow::relay_shape<4, 64, 12, 4>,
      detail::dataflow::relay_shape<1, 32, 15, 4, 5, true>,
      detail::dataflow::relay_shape<1, 64, 12, 4, 1, true>,
      detail::dataflow::relay_shape<4, 32, 15, 4, 2, true>,
      detail::dataflow::relay_shape<1, 32, 15, 4, 1, false, 2>>;
  /// What a step of each shape takes, in nanoseconds (fp64, one NVIDIA H200).
  static constexpr double relay_step_ns[] = {65, 103, 83, 106, 97, 119, 83, 97, 105, 90};
  /// How much longer a step takes where a level of a part has several.
  static constexpr double relay_full_step = 1.3;
  /// How much longer than that further rounds take, since then all parts are busy.
  static constexpr double relay_further_rhs = 1.5;
  /// From part to part; for each time that a row waits for further entries, by right-hand sides that are
  /// solved together, and where another part has just solved one; for an entry of a part that comes through
  /// memory, alone or with others; and beside the steps.
  static constexpr double relay_hop_ns = 500;
  static constexpr double relay_round_ns = 17;
  static constexpr double relay_late_round_ns = 62;
  static constexpr double relay_early_ns = 0.8;
  static constexpr double relay_early_together_ns = 0.3;
  static constexpr double relay_launch_ns = 4000;
  /// By which relays of boxes take longer than that, beside others.
  static constexpr double relay_boxes_factor = 1.3;
  /// Components of x that a part of a relay keeps in shared memory: a power of two, at most 32,768.
  static constexpr int relay_window = 4096;
  /// What the records of a relay may take.
  static constexpr std::int64_t relay_record_bytes = std::int64_t{1} << 35;
  /// Systems of more entries than these are planned with less care.
  static constexpr std::int64_t relay_small_system = 600'000;
  /// Only systems of more entries than these are dealt by the planes of a grid.
  static constexpr std::int64_t relay_plane_entries = 2'000'000;
  /// The table of parts and levels by which a relay is planned is small below this.
  static constexpr std::int64_t relay_small_table = 400'000;
  /// Entries that a rewritten row may have, however few it had.
  static constexpr std::int64_t rewritten_entries = 8;
  /// A system with fewer rewritten rows than one of so many is solved as it is.
  static constexpr std::int64_t rows_per_rewritten = 8;
  /// Nanoseconds that the right-hand sides of a rewritten system take beside their bytes.
  static constexpr double transform_launch_ns = 2500;
  /// A system is cut into segments of levels if that promises to take less than so much of the time.
  static constexpr double segments_gain = 0.9;
  /// Nanoseconds that the grid path takes for a launch, a level, and a byte.
  static constexpr double grid_launch_ns = 4000;
  static constexpr double grid_level_ns = 460;
  static constexpr double grid_byte_ns = 1 / 2500.0;
  /// What a further right-hand side adds there: to a level, of its time; and scalars for each row, see
  /// grid_cost.hpp.
  static constexpr double grid_further_level = 0.04;
  static constexpr double grid_further_scalars = 10;
};

}  // namespace sptrsv
