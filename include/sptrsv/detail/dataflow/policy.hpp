// The policy dataflow.
#pragma once

#include "sptrsv/detail/dataflow/tuning.hpp"
#include "sptrsv/memory_resource.hpp"

namespace sptrsv::policy {

/// The paths of dataflow.
enum class dataflow_path {
  automatic,  ///< by the time that each promises
  grid,       ///< a thread for each row, over the whole device
  relay,      ///< a thread block for each part of the rows, teams of its warps taking the levels in turn
  walk,       ///< one thread block for each right-hand side, step after step
  segments    ///< the grid for the first levels, then a relay for the others; where levels or shapes do not
              ///< allow that, the grid or a relay for all
};
/// The order of the rows on the grid path.
enum class group_order {
  levels,  ///< level by level: rows that can be solved together share a warp
  natural  ///< that of substitution
};

/// This library's own method. What limits most triangles is the hand-off of a value from row to row; dataflow
/// does it as near to the arithmetic as the matrix allows.
///
/// Relay: thread blocks solve a part of the rows each, level by level, with the part's components in shared
/// memory. Walk: where levels are narrow, one thread block solves the system step after step. Grid: where
/// they are wide, a thread solves a row, over the whole device: values are polled, each being its own flag.
/// Segments: where only the first levels are wide, the grid and then a relay. The order of additions is fixed
/// on all: the result is the same in every bit from solve to solve.
///
/// With `exact_order = false` there may be fewer hand-offs: of 32 consecutive rows those that need each other
/// are rewritten, by inverses of small triangles, so that they need components of earlier rows only (a
/// partitioned inverse: Alvarado and Schreiber, SIAM J. Sci. Comput. 14(2), 1993). That is done where it
/// promises a faster solve, and changes what a solution is:
/// - Its backward error may be up to `largest_growth` times what substitution gives, and is bounded for
///   neighbouring rows together, relative to the largest of them, not for each row by itself.
/// - Components are not finite where those of substitution are not, unless these overflow; but what is
///   infinite there may be NaN here.
/// - `analyze` rewrites no row whose growth, by its values, is larger than `largest_growth`. If values of
///   `update_values` make it larger in rows that are rewritten already, solutions may be inaccurate, and
///   `status()` says so: solve_status::kind::growth. Such values need another `analyze`.
template <class Tuning = dataflow_tuning>
struct basic_dataflow {
  static constexpr const char* name = "dataflow";
  using default_stream = stream_handle;
  using tuning = Tuning;

  dataflow_path path = dataflow_path::automatic;
  group_order order = group_order::levels;
  int parts = 0;            ///< of a relay; 0: as many as promise to be fastest
  bool exact_order = true;  ///< every row is solved as in substitution, from components of other rows
  /// What the growth of a rewritten row is to stay under: a bound of its row of |U| |inv(U)|, U being the
  /// triangle that is inverted, its rows scaled to a unit diagonal. 32 rows whose entries are not larger than
  /// their pivots, each needing the one before, stay under 64.
  double largest_growth = 64;
  /// How many times the entries that it had a rewritten row may have; short rows up to
  /// `dataflow_tuning::rewritten_entries` in any case.
  double largest_fill = 2;
  /// Of a relay or walk that is asked for, its number in the tuning's list; -1: that which promises to be
  /// fastest.
  int shape = -1;
  int first_levels = 0;  ///< of segments, those on the grid; 0: as many as promise to be fastest
};
using dataflow = basic_dataflow<>;

}  // namespace sptrsv::policy
