// SPDX-License-Identifier: Apache-2.0
// The policy dataflow: this library's own method, and the default.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/dataflow_tuning.hpp"
#include "sptrsv/policy/shared_options.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The paths of dataflow: ways to solve a system, each with kernels of its own.
enum class dataflow_path {
  automatic,       ///< the path with the smallest predicted time
  row_per_thread,  ///< one thread solves one row; the whole device works on the system
  partitioned,     ///< one thread block solves one partition of the rows, level by level
  single_block,    ///< one thread block solves the system for one right-hand side
  /// The first levels by row_per_thread and the rest by partitioned. One of these paths alone is taken if the
  /// system has a single level or no shape suits the rest.
  hybrid,
  natural_blocks  ///< one thread block solves the system for one right-hand side, in blocks of rows
};

/// This library's own method. The speed of most triangular solves is limited by the hand-off of a value from
/// one row to the next; dataflow makes each hand-off as short as the matrix allows. It has five paths:
///
/// - **row_per_thread**, for wide levels: consumers poll the components of x in global memory, each value
///   being its own flag.
/// - **partitioned**: a thread block solves one partition of the rows, level by level, with the latest
///   components of the partition in shared memory; its warp groups process the levels round-robin.
/// - **single_block**, for very narrow levels: one thread block solves the system, several rows at a time.
/// - **natural_blocks**, for narrow levels of blocks of rows with the same columns (several unknowns of a
///   point): one thread block solves the system, a block of rows at a time.
/// - **hybrid**, if only the first levels are wide: row_per_thread, then partitioned.
///
/// analyze throws errc::unsupported if `path` is single_block, natural_blocks or partitioned and cannot solve
/// the system, and if the tuning's `entries` do not allow `path` or `exact_order`.
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
template <class Tuning = experimental::dataflow_tuning>
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

  static constexpr const char* name = "dataflow";  ///< in solver_info and in messages
  using default_stream = stream_handle;            ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                           ///< the tuning constants
  using path_type = dataflow_path;                 ///< the enumeration of the paths

  dataflow_path path = dataflow_path::automatic;  ///< the path
  row_order order = row_order::levels;  ///< order of the rows on the row_per_thread path, if `path` is this
  int partitions = 0;       ///< number of partitions of the partitioned path; 0: the cost model chooses
  bool exact_order = true;  ///< true: every row is solved as in substitution, from components of other rows
  /// Upper bound of the growth of a rewritten row: its row of |U| |inv(U)|, where U is the triangle that is
  /// inverted, its rows scaled to a unit diagonal. A chain of 32 rows whose entries are not larger than their
  /// pivots stays under 64.
  double max_growth = 64;
  /// Largest number of entries of a rewritten row, as a multiple of its number of entries before; but always
  /// at least the tuning's `rewritten_entries`. The entries of its right-hand side count, too. Values under 1
  /// count as 1.
  double max_fill = 2;
  /// Index into the tuning's list of shapes if `path` is partitioned, single_block or natural_blocks; -1: the
  /// cost model chooses.
  int shape = -1;
  /// Number of levels that the hybrid path solves by row_per_thread; 0: the cost model chooses.
  int row_per_thread_levels = 0;
  /// How rows are rewritten if `exact_order` is false: 0: the cost model chooses; 1: in runs of 32
  /// consecutive rows; more: in runs of as many levels. The rows of a run then do not need each other.
  int run_levels = 0;
};
/// dataflow with its own tuning constants.
using dataflow = basic_dataflow<>;

/// The tuning constants of dataflow_single.
struct dataflow_single_tuning : experimental::dataflow_tuning {
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

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/dataflow/dataflow_engine.hpp"
