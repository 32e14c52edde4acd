// The policy dataflow: this library's own method, and the default.
#pragma once

#include <cstdint>

#include "sptrsv/memory_resource.hpp"
#include "sptrsv/policy/row_order.hpp"

namespace sptrsv {

/// One shape of the kernel of the partitioned path: how the threads of a block share the rows of a tile. Each
/// record of a tuning compiles one kernel.
struct partitioned_shape {
  int lanes;         ///< threads that share a row: a power of two, at most 32
  int threads;       ///< of a warp group, which solves tiles of threads / lanes rows: a multiple of 32
  int warp_groups;   ///< of a block, at most; 2 to 15
  int entries;       ///< shared entries of a lane, at most: an even number
  int polled_pairs;  ///< pairs of global entries that a lane polls together
  bool streams;      ///< for systems larger than the L2 cache: bulk copies, a smaller x ring buffer
  int rhs;           ///< right-hand sides that are solved together, at most
  double tile_ns;    ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// One shape of the kernel of the single_block path, whose consumer warp solves tiles of `rows` rows.
struct single_block_shape {
  int rows;        ///< of a tile: a multiple of 4; rows * lanes is 32
  int lanes;       ///< threads that share a row
  int entries;     ///< of a lane, at most: an even number
  int reach;       ///< a row may need so many rows before it of its own tile: 1 to rows - 1
  double tile_ns;  ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// The constants of dataflow. To change some, derive a struct from it, redefine these members, and give the
/// struct to policy::basic_dataflow. Times are in nanoseconds, measured on one NVIDIA H200 with fp64.
struct dataflow_tuning {
  /// @name The row_per_thread path
  ///@{
  static constexpr int block_threads = 128;  ///< threads of a block: a multiple of 32
  /// Entries that a thread polls together; twice as many if rows have more than `long_row` entries on
  /// average.
  static constexpr int entries_at_once = 4;
  static constexpr int long_row = 4;
  static constexpr int rhs_per_sweep = 2;  ///< right-hand sides that are solved together, at most
  static constexpr int max_rhs_blocks =
      16;  ///< blocks that share the right-hand sides of the same rows, at most
  /// If levels have at least `wide_level` rows on average, and rows times right-hand sides have more than
  /// `wide_gathers` entries, blocks solve all rows for one sweep before the next sweep begins: the components
  /// of one sweep then stay in L2.
  static constexpr std::int64_t wide_level = 10'000;
  static constexpr std::int64_t wide_gathers = 10'000'000;
  /// Largest number of entries of a row: longer rows are split into partial rows. All paths but single_block.
  static constexpr int longest_row = 32;
  /// Rows of a level are sorted by length within so many rows.
  static constexpr std::int64_t length_scope = 8192;
  /// A warp first polls one component of this many levels before its own, the gate; 0: no gates.
  static constexpr int gate_levels = 6;
  /// Predicted time of a solve: launch, levels and bytes.
  static constexpr double row_per_thread_launch_ns = 4000;
  static constexpr double row_per_thread_level_ns = 460;
  static constexpr double row_per_thread_byte_ns = 1 / 2500.0;
  /// What each further right-hand side adds: a share of the time of a level, and scalars for each row.
  static constexpr double row_per_thread_further_rhs_level = 0.04;
  static constexpr double row_per_thread_further_rhs_scalars = 10;
  ///@}

  /// @name The single_block path
  ///@{
  // rows, lanes, entries, reach, tile_ns
  static constexpr single_block_shape single_block_shapes[] = {
      {32, 1, 2, 2, 467},
      {8, 4, 8, 7, 265},
  };
  /// Components in the x ring buffer, at most (and at most 65,534).
  static constexpr int single_block_x_ring_size = 65534;
  /// The path is considered only for systems whose levels have at most so many rows on average.
  static constexpr double single_block_rows_per_level = 4;
  static constexpr double single_block_launch_ns = 5000;  ///< time that a solve takes beside its tiles
  ///@}

  /// @name The partitioned path
  ///@{
  // lanes, threads, warp_groups, entries, polled_pairs, streams, rhs, tile_ns
  static constexpr partitioned_shape partitioned_shapes[] = {
      {1, 32, 15, 4, 1, false, 1, 65},  {1, 64, 12, 4, 1, false, 1, 103}, {2, 32, 15, 4, 1, false, 1, 83},
      {2, 64, 12, 4, 1, false, 1, 106}, {4, 32, 15, 4, 1, false, 1, 97},  {4, 64, 12, 4, 1, false, 1, 119},
      {1, 32, 15, 4, 5, true, 1, 83},   {1, 64, 12, 4, 1, true, 1, 97},   {4, 32, 15, 4, 2, true, 1, 105},
      {1, 32, 15, 4, 1, false, 2, 90},
  };
  /// How much longer a tile takes if a partition has several tiles in a level.
  static constexpr double partitioned_many_tiles_factor = 1.3;
  /// How much longer further rounds of right-hand sides take, since all partitions are busy then.
  static constexpr double partitioned_further_rhs_factor = 1.5;
  static constexpr double partitioned_hop_ns = 500;  ///< hand-off from partition to partition
  /// Each time that a row polls further global entries: for each right-hand side that is solved together, and
  /// directly after a hand-off.
  static constexpr double partitioned_poll_ns = 17;
  static constexpr double partitioned_late_poll_ns = 62;
  /// Each global entry of a partition: polled alone, or with others.
  static constexpr double partitioned_global_entry_ns = 0.8;
  static constexpr double partitioned_batched_global_entry_ns = 0.3;
  static constexpr double partitioned_launch_ns = 4000;  ///< time that a solve takes beside all this
  /// How much longer a solve takes whose partitions are boxes of a grid.
  static constexpr double partitioned_boxes_factor = 1.3;
  /// Components in the x ring buffer, at most: a power of two, at most 32,768.
  static constexpr int partitioned_x_ring_size = 4096;
  static constexpr std::int64_t partitioned_max_bytes = std::int64_t{1} << 35;  ///< of the packed slices
  /// Systems with more entries are planned with less effort.
  static constexpr std::int64_t partitioned_small_entries = 600'000;
  /// Partitions of whole planes of a grid are considered only for systems with more entries.
  static constexpr std::int64_t partitioned_plane_entries = 2'000'000;
  /// The table of partition levels is small if it has at most so many elements.
  static constexpr std::int64_t partitioned_small_table = 400'000;
  ///@}

  /// @name The hybrid path
  ///@{
  /// The path is taken if its predicted time is less than so much of that of the best single path.
  static constexpr double hybrid_gain = 0.9;
  ///@}

  /// @name Row elimination (exact_order = false)
  ///@{
  /// Entries that a rewritten row may have, however few it had.
  static constexpr std::int64_t rewritten_entries = 8;
  /// The system is solved as it is unless at least one row in so many is rewritten.
  static constexpr std::int64_t rows_per_rewritten = 8;
  /// Time that the right-hand sides of a rewritten system take beside their bytes.
  static constexpr double transform_launch_ns = 2500;
  ///@}
};

namespace policy {

/// The paths of dataflow: ways to solve a system, each with kernels of its own.
enum class dataflow_path {
  automatic,       ///< the path with the smallest predicted time
  row_per_thread,  ///< one thread solves one row; the whole device works on the system
  partitioned,     ///< one thread block solves one partition of the rows, level by level
  single_block,    ///< one thread block solves the system for one right-hand side
  /// The first levels by row_per_thread and the rest by partitioned. One of these paths alone is taken if the
  /// system has a single level or no shape suits the rest.
  hybrid
};

/// This library's own method. The speed of most triangular solves is limited by the hand-off of a value from
/// one row to the next; dataflow makes each hand-off as short as the matrix allows.
///
/// - **row_per_thread**, for wide levels: consumers poll the components of x in global memory, each value
/// being
///   its own flag.
/// - **partitioned**: a thread block solves one partition of the rows, level by level, with the latest
///   components of the partition in shared memory; its warp groups process the levels round-robin.
/// - **single_block**, for very narrow levels: one thread block solves the system, several rows at a time.
/// - **hybrid**, if only the first levels are wide: row_per_thread, then partitioned.
///
/// Additions are done in a fixed order on all paths: the result is the same in every bit from solve to solve.
///
/// With `exact_order = false` the analysis may rewrite rows so that fewer hand-offs are left: of 32
/// consecutive rows, those that need each other are rewritten with inverses of small triangles, so that they
/// need earlier rows only (partitioned inverse: Alvarado and Schreiber, SIAM J. Sci. Comput. 14(2), 1993).
/// The analysis does so if it predicts a faster solve. This changes what a solution is:
/// - Its backward error may be up to `max_growth` times that of substitution, and is bounded for the 32 rows
///   together, relative to the largest of them, not for each row by itself.
/// - A component is non-finite where that of substitution is non-finite, unless that overflows; but an
/// infinite
///   component may be NaN.
/// - `analyze` rewrites no row whose growth, computed from its values, exceeds `max_growth`. If values given
/// to
///   `update_values` later exceed it in rewritten rows, solutions may be inaccurate, and `status()` reports
///   solve_status::kind::growth. Such values need another `analyze`.
template <class Tuning = dataflow_tuning>
struct basic_dataflow {
  static constexpr const char* name = "dataflow";
  using default_stream = stream_handle;
  using tuning = Tuning;
  using path_type = dataflow_path;

  dataflow_path path = dataflow_path::automatic;
  row_order order = row_order::levels;  ///< order of the rows on the row_per_thread path, if it is asked for
  int partitions = 0;       ///< number of partitions of the partitioned path; 0: the cost model chooses
  bool exact_order = true;  ///< true: every row is solved as in substitution, from components of other rows
  /// Upper bound of the growth of a rewritten row: its row of |U| |inv(U)|, where U is the triangle that is
  /// inverted, its rows scaled to a unit diagonal. A chain of 32 rows whose entries are not larger than their
  /// pivots stays under 64.
  double max_growth = 64;
  /// A rewritten row may have so many times the entries that it had, or `dataflow_tuning::rewritten_entries`.
  double max_fill = 2;
  /// Index into the tuning's shapes of the path that is asked for (partitioned or single_block); -1: the cost
  /// model chooses.
  int shape = -1;
  int row_per_thread_levels =
      0;  ///< levels that the hybrid path solves by row_per_thread; 0: the model chooses
};
using dataflow = basic_dataflow<>;

}  // namespace policy
}  // namespace sptrsv

#include "sptrsv/detail/dataflow/engine.hpp"
#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
