// SPDX-License-Identifier: Apache-2.0
// The policy dataflow: this library's own method, and the default.
#pragma once

#include <cstdint>

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/row_order.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv {

/// Shape of the kernel of the partitioned path: how the threads of a block share the rows of a tile. Each
/// record of a tuning compiles one kernel.
struct partitioned_shape {
  int lanes;        ///< threads that share a row: a power of two, at most 32
  int threads;      ///< threads of a warp group, which solves tiles of threads / lanes rows: a multiple of 32
  int warp_groups;  ///< warp groups of a block, at most: 2 to 15
  int entries;      ///< shared entries of a lane, at most: an even number
  int polled_pairs;  ///< pairs of global entries that a lane polls together
  bool streams;      ///< for systems larger than the L2 cache: bulk copies, a smaller x ring buffer
  int rhs;           ///< right-hand sides that are solved together, at most: a power of two
  double tile_ns;    ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// Shape of the kernel of the single_block path, whose consumer warp solves tiles of `rows` rows. Each record
/// of a tuning compiles one kernel.
struct single_block_shape {
  int rows;        ///< rows of a tile: a multiple of 4; rows * lanes is 32
  int lanes;       ///< threads that share a row
  int entries;     ///< entries of a lane, at most: an even number
  int reach;       ///< rows before it in the same tile that a row may need: 1 to rows - 1
  double tile_ns;  ///< time of a tile in nanoseconds (fp64, NVIDIA H200), for the cost model
};

/// Tuning constants of dataflow. To change some, derive a struct from this one, redefine these members, and
/// give the struct to policy::basic_dataflow. Times are in nanoseconds, measured on one NVIDIA H200 with
/// fp64.
struct dataflow_tuning {
  /// How entries are stored. With entry_storage::single only the row_per_thread path is available, and rows
  /// are not rewritten.
  static constexpr entry_storage entries = entry_storage::as_values;

  /// @name The row_per_thread path
  ///@{

  /// Threads of a block: a multiple of 32, at most 1024.
  static constexpr int block_threads = 128;
  /// Entries of a row that a thread polls together; twice as many if rows are long.
  static constexpr int entries_at_once = 4;
  /// Rows are long if they have more than this many entries on average, without the diagonal.
  static constexpr int long_row = 4;
  /// The same if rows are rewritten by levels: most of the components that they need are recent.
  static constexpr int long_rewritten_row = 2;
  /// Right-hand sides that are solved together, at most: a power of two.
  static constexpr int rhs_per_sweep = 2;
  /// Neighbouring threads that solve the same row, each for some of the right-hand sides, at most: a power of
  /// two, at most 32. Together they read the components of a row from one piece of memory. Where levels are
  /// wide (`wide_level`, `wide_gathers`), right-hand sides that are stored by columns are copied by rows
  /// first.
  static constexpr int max_rhs_lanes = 8;
  /// Threads share rows only if these have at least so many entries on average, without the diagonal:
  /// otherwise the right-hand sides take more time than the components.
  static constexpr int rhs_lane_entries = 3;
  /// The other condition: there are at most this many rows, or levels are wide.
  static constexpr std::int64_t rhs_lane_rows = 1'000'000;
  /// Threads that share long rows (`long_row`) take one right-hand side each and poll twice as many entries
  /// together, if levels have at most this many rows on average, divided by `max_rhs`.
  static constexpr std::int64_t narrow_level_scalars = 4'500;
  /// Blocks that share the right-hand sides of the same rows, at most.
  static constexpr int max_rhs_blocks = 16;
  /// If levels have at least this many rows on average, and `wide_gathers` holds too, blocks solve all rows
  /// for the right-hand sides of one sweep before the next sweep begins: the components of one sweep then
  /// stay in the L2 cache.
  static constexpr std::int64_t wide_level = 10'000;
  /// The other condition: the number of entries times `max_rhs` is more than this.
  static constexpr std::int64_t wide_gathers = 10'000'000;
  /// Largest number of entries of a row, 4 to 2047: longer rows are split into partial rows, if one of them
  /// is longer by more than half. All paths but single_block.
  static constexpr int longest_row = 32;
  /// Rows of a level are sorted by length within sections of the system that have at least this many rows of
  /// a level on average.
  static constexpr std::int64_t length_scope = 4096;
  /// The row_per_thread path of a small system is expected to be chosen if levels have at least this many
  /// rows on average, and there are few levels or rows have several entries: its rows are then put in order
  /// while the device predicts the times of the partitioned path.
  static constexpr std::int64_t wide_enough_for_rows = 750;
  /// A warp first polls one component of this many levels before its own, the gate; 0: no gates.
  static constexpr int gate_levels = 6;
  /// If rows do not need each other and there are more than this many, a thread has four of them.
  static constexpr std::int64_t large_diagonal = 100'000;
  /// Predicted time of a solve: the launch.
  static constexpr double row_per_thread_launch_ns = 4000;
  /// Predicted time of a solve: each level.
  static constexpr double row_per_thread_level_ns = 460;
  /// Predicted time of a solve: each byte of the entries and of the rows.
  static constexpr double row_per_thread_byte_ns = 1 / 2500.0;
  /// Share of the time of a level that each further right-hand side adds.
  static constexpr double row_per_thread_further_rhs_level = 0.04;
  /// Values per row, counted as bytes, that each further right-hand side adds.
  static constexpr double row_per_thread_further_rhs_scalars = 10;
  ///@}

  /// @name The single_block path
  ///@{

  /// The shapes of the kernel: rows, lanes, entries, reach, tile_ns.
  static constexpr single_block_shape single_block_shapes[] = {
      {32, 1, 2, 2, 467},
      {8, 4, 8, 7, 265},
  };
  /// Components in the x ring buffer, at most (and at most 65,534).
  static constexpr int single_block_x_ring_size = 65534;
  /// The path is considered only for systems whose levels have at most this many rows on average.
  static constexpr double single_block_rows_per_level = 4;
  /// Predicted time of a solve in addition to its tiles.
  static constexpr double single_block_launch_ns = 5000;
  ///@}

  /// @name The partitioned path
  ///@{

  /// The shapes of the kernel, at most 32: lanes, threads, warp_groups, entries, polled_pairs, streams, rhs,
  /// tile_ns.
  static constexpr partitioned_shape partitioned_shapes[] = {
      {1, 32, 15, 4, 1, false, 1, 65},  {1, 64, 12, 4, 1, false, 1, 103}, {2, 32, 15, 4, 1, false, 1, 83},
      {2, 64, 12, 4, 1, false, 1, 106}, {4, 32, 15, 4, 1, false, 1, 97},  {4, 64, 12, 4, 1, false, 1, 119},
      {1, 32, 15, 4, 5, true, 1, 83},   {1, 64, 12, 4, 1, true, 1, 97},   {4, 32, 15, 4, 2, true, 1, 105},
      {1, 32, 15, 4, 1, false, 2, 90},
  };
  /// Factor of the time of a tile if a partition has several tiles in a level.
  static constexpr double partitioned_many_tiles_factor = 1.3;
  /// Factor of the time of further rounds of right-hand sides: all partitions are busy then.
  static constexpr double partitioned_further_rhs_factor = 1.5;
  /// Time of the hand-off from partition to partition.
  static constexpr double partitioned_hop_ns = 500;
  /// Time of each further poll of global entries in a partition level, for each right-hand side that is
  /// solved together.
  static constexpr double partitioned_poll_ns = 17;
  /// Time of each further poll of global entries directly after a hand-off.
  static constexpr double partitioned_late_poll_ns = 62;
  /// Time of a global entry of a partition if the shape polls one pair of them together.
  static constexpr double partitioned_global_entry_ns = 0.8;
  /// Time of a global entry of a partition if the shape polls several pairs of them together.
  static constexpr double partitioned_batched_global_entry_ns = 0.3;
  /// Predicted time of a solve in addition to the above.
  static constexpr double partitioned_launch_ns = 4000;
  /// Factor of the time of a solve if its partitions are boxes of a grid.
  static constexpr double partitioned_boxes_factor = 1.3;
  /// Components in the x ring buffer, at most: a power of two, at most 32,768.
  static constexpr int partitioned_x_ring_size = 4096;
  /// Bytes of the packed slices, at most.
  static constexpr std::int64_t partitioned_max_bytes = std::int64_t{1} << 35;
  /// The analysis tries fewer plans for systems with more entries than this.
  static constexpr std::int64_t partitioned_small_entries = 600'000;
  /// Partitions of whole planes of a grid are considered only for systems with more entries than this.
  static constexpr std::int64_t partitioned_plane_entries = 2'000'000;
  /// Fewer numbers of partitions are tried if levels times partitions are more than this.
  static constexpr std::int64_t partitioned_small_table = 400'000;
  ///@}

  /// @name The hybrid path
  ///@{

  /// The path is chosen if its predicted time is less than this share of the predicted time of the best
  /// single path, for one right-hand side.
  static constexpr double hybrid_gain = 0.9;
  ///@}

  /// @name Row elimination (exact_order = false)
  ///@{

  /// Number of entries that a rewritten row may always have.
  static constexpr std::int64_t rewritten_entries = 8;
  /// Number of entries that a row that is rewritten by levels may always have, with those of its right-hand
  /// side.
  static constexpr std::int64_t rewritten_run_entries = 64;
  /// Levels of a run, if the cost model chooses.
  static constexpr std::int64_t run_levels = 4;
  /// Levels of a run of narrow levels, if the cost model chooses.
  static constexpr std::int64_t narrow_run_levels = 8;
  /// Levels are narrow if they have at most this many rows on average.
  static constexpr std::int64_t rows_of_narrow_level = 12;
  /// A system that is rewritten by levels is taken if its predicted time is less than this share of the
  /// predicted time of the system as it is. No system under this share was solved more slowly.
  static constexpr double rewritten_gain = 0.98;
  /// The same if the system takes the row_per_thread path without being rewritten.
  static constexpr double rewritten_gain_over_row_per_thread = 0.9;
  /// The same if the rewritten system takes the row_per_thread path, but not the system as it is: the model
  /// predicts shorter times for this path.
  static constexpr double rewritten_gain_by_row_per_thread = 0.65;
  /// Nanoseconds that the row_per_thread path must save by rewriting, at least: rows first gather right-hand
  /// sides.
  static constexpr double rewritten_row_per_thread_saving_ns = 2000;
  /// Entries of a row that is rewritten, at most. One warp merges the rows of 32 neighbours, entry by entry.
  static constexpr std::int64_t longest_rewritten_row = 256;
  /// The system is solved as it is if more than this share of its levels would be left after rewriting in
  /// row blocks of 32 rows. No system with a larger share was solved faster when it was rewritten.
  static constexpr double rewritten_levels = 0.25;
  /// Row blocks are tried in addition to runs of levels only if the system takes the single_block path, or at
  /// most this share of its levels would be left and its rows are short. Otherwise runs gave the faster
  /// system.
  static constexpr double few_rewritten_levels = 0.14;
  /// Rows are short if they have at most this many entries on average, without the pivot.
  static constexpr double entries_of_short_rows = 2;
  /// The system is solved as it is if it has fewer levels than this: the right-hand sides of a rewritten
  /// system took as long as the levels that it saved.
  static constexpr std::int64_t least_rewritten_levels = 12;
  /// Runs of `run_levels` levels do not make the partitioned path faster if they multiply the entries by
  /// more than this, unless the system has partial rows.
  static constexpr double rewritten_growth = 1.65;
  /// The system is solved as it is unless at least one row of this many is rewritten.
  static constexpr std::int64_t rows_per_rewritten = 8;
  /// Predicted time of computing the right-hand sides of a rewritten system, in addition to their bytes.
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
/// one row to the next; dataflow makes each hand-off as short as the matrix allows. It has four paths:
///
/// - **row_per_thread**, for wide levels: consumers poll the components of x in global memory, each value
///   being its own flag.
/// - **partitioned**: a thread block solves one partition of the rows, level by level, with the latest
///   components of the partition in shared memory; its warp groups process the levels round-robin.
/// - **single_block**, for very narrow levels: one thread block solves the system, several rows at a time.
/// - **hybrid**, if only the first levels are wide: row_per_thread, then partitioned.
///
/// analyze throws errc::unsupported if `path` is single_block or partitioned and cannot solve the system, and
/// if the tuning's `entries` do not allow `path` or `exact_order`.
///
/// Additions are done in a fixed order on all paths: the result is the same in every bit from solve to solve.
///
/// With `exact_order = false` the analysis may rewrite rows so that fewer hand-offs are left: of 32
/// consecutive rows, or of the rows of a run of levels, those that need each other are rewritten with
/// inverses of small triangles, so that they need earlier rows only (partitioned inverse: Alvarado and
/// Schreiber, SIAM J. Sci. Comput. 14(2), 1993). The analysis does so if it predicts a faster solve. This
/// changes what a solution is:
///
/// - Its backward error may be up to `max_growth` times that of substitution, and is bounded for the 32 rows,
///   or for a row and those that it needs in its run, together, relative to the largest of them, not for each
///   row by itself.
/// - A component is non-finite where that of substitution is non-finite, unless finite values overflow there;
///   but an infinite component may be NaN. Rewritten rows may overflow where substitution does not, if values
///   are near the largest finite number.
/// - `analyze` rewrites no row whose growth, computed from its values, exceeds `max_growth`. If values given
///   to `update_values` later exceed it in rewritten rows, solutions may be inaccurate, and `status()`
///   reports solve_status::kind::growth. Such values need another `analyze`.
///
/// @tparam Tuning dataflow_tuning, or a struct derived from it.
template <class Tuning = dataflow_tuning>
struct basic_dataflow {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "dataflow_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1 && (Tuning::rhs_per_sweep & (Tuning::rhs_per_sweep - 1)) == 0,
                "dataflow_tuning: rhs_per_sweep must be a power of two");
  static_assert(Tuning::max_rhs_lanes >= 1 && Tuning::max_rhs_lanes <= 32 &&
                    (Tuning::max_rhs_lanes & (Tuning::max_rhs_lanes - 1)) == 0,
                "dataflow_tuning: max_rhs_lanes must be a power of two, at most 32");
  static_assert(Tuning::partitioned_x_ring_size >= 2 && Tuning::partitioned_x_ring_size <= 32768 &&
                    (Tuning::partitioned_x_ring_size & (Tuning::partitioned_x_ring_size - 1)) == 0,
                "dataflow_tuning: partitioned_x_ring_size must be a power of two, at most 32768");

  /// Name of the policy in solver_info and in messages.
  static constexpr const char* name = "dataflow";
  /// Stream type of the solver: cudaStream_t.
  using default_stream = stream_handle;
  /// The tuning constants.
  using tuning = Tuning;
  /// The enumeration of the paths.
  using path_type = dataflow_path;

  dataflow_path path = dataflow_path::automatic;  ///< the path
  row_order order = row_order::levels;  ///< order of the rows on the row_per_thread path, if `path` is this
  int partitions = 0;       ///< number of partitions of the partitioned path; 0: the cost model chooses
  bool exact_order = true;  ///< true: every row is solved as in substitution, from components of other rows
  /// Upper bound of the growth of a rewritten row: its row of |U| |inv(U)|, where U is the triangle that is
  /// inverted, its rows scaled to a unit diagonal. A chain of 32 rows whose entries are not larger than their
  /// pivots stays under 64.
  double max_growth = 64;
  /// Largest number of entries of a rewritten row, as a multiple of its number of entries before; but always
  /// at least the tuning's `rewritten_entries`, or `rewritten_run_entries` by levels. Values under 1 count
  /// as 1.
  double max_fill = 2;
  /// Index into the tuning's list of shapes if `path` is partitioned or single_block; -1: the cost model
  /// chooses.
  int shape = -1;
  /// Number of levels that the hybrid path solves by row_per_thread; 0: the cost model chooses.
  int row_per_thread_levels = 0;
  /// How rows are rewritten if `exact_order` is false: 0: the cost model chooses; 1: in row blocks of 32
  /// consecutive rows; more: in runs of as many levels, whose rows then do not need each other.
  int run_levels = 0;
};
/// dataflow with its own tuning constants.
using dataflow = basic_dataflow<>;

/// The tuning constants of dataflow_single.
struct dataflow_single_tuning : dataflow_tuning {
  /// Entries and pivots are stored as float, or as complex float.
  static constexpr entry_storage entries = entry_storage::single;
};
/// dataflow with entries in single precision, for systems whose solves are bound by memory bandwidth: an
/// entry of a double takes 8 bytes with its index instead of 12. It has the row_per_thread path only.
///
/// The solution is exactly that of dataflow on the same path for the matrix whose values are rounded to
/// float, with the same backward error. That matrix differs from A by at most 2^-24 of each entry, if the
/// entries lie in the normal range of float: larger ones become infinite, and smaller ones lose digits or
/// become zero. With values of type float it is dataflow on the row_per_thread path.
using dataflow_single = basic_dataflow<dataflow_single_tuning>;

}  // namespace policy
}  // namespace sptrsv

#include "sptrsv/detail/dataflow/dataflow_engine.hpp"
#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
