// SPDX-License-Identifier: Apache-2.0
// The policy self_scheduled: rows that wait for counters.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of self_scheduled.
struct self_scheduled_tuning {
  /// Threads of a block: a multiple of 32, at most 1024. A block draws one ticket for all its unknowns.
  static constexpr int block_threads = 256;
  /// Warps that a multiprocessor has registers for, at most 64: more warps have fewer registers each. Half as
  /// many if values are wider than 8 bytes or several right-hand sides are solved together.
  static constexpr int warps_per_processor = 48;
  /// Entries of a row or column that a thread loads before its unknown may be solved: at least 1.
  static constexpr int entries_ahead = 1;
  /// Threads of one warp that solve one unknown if levels are wide and rows are short: 4, 8, 16 or 32.
  /// Otherwise a whole warp solves one unknown. Levels are wide and rows are short if the next two conditions
  /// hold, and if the levels are known (row_order::levels).
  static constexpr int narrow_lanes = 8;
  /// Levels are wide if they have at least this many unknowns on average.
  static constexpr int narrow_unknowns_per_level = 8192;
  /// Rows are short if they have at most this many entries on average, without the diagonal.
  static constexpr int narrow_entries_per_row = 8;
  /// Right-hand sides that are solved together in one sweep over a row or column: 1 to `narrow_lanes`.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// Self-scheduling with counters, one warp for each unknown (Li and Zhang, Efficient Parallel Implementations
/// of Sparse Triangular Solves for GPU Architectures, 2020, section 4.2).
///
/// An unknown waits until every unknown that it depends on has incremented its counter. By rows (SLFR,
/// Algorithm 3), it then gathers the values of these unknowns. By columns (SLFC, Algorithm 4), they have
/// added their products to its sum; it then adds its own products to the sums of the unknowns that depend on
/// it and increments their counters. The unknowns are started level by level, as in the paper, or in the
/// order of substitution.
///
/// By rows, the result is the same in every bit from solve to solve. By columns, sums are added up in any
/// order: the backward error has the same bound, but the bits may differ from solve to solve, and sums of
/// floats that are subnormal become zero.
///
/// @tparam Tuning self_scheduled_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::self_scheduled_tuning>
struct basic_self_scheduled {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "self_scheduled_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1 && Tuning::rhs_per_sweep <= Tuning::narrow_lanes,
                "self_scheduled_tuning: rhs_per_sweep must be at least 1 and at most narrow_lanes");

  static constexpr const char* name = "self_scheduled";  ///< in solver_info and in messages
  using default_stream = stream_handle;                  ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                 ///< the tuning constants

  orientation by = orientation::columns;  ///< by rows (SLFR) or by columns (SLFC)
  row_order order = row_order::levels;    ///< the order in which unknowns are started
};
/// self_scheduled with its own tuning constants.
using self_scheduled = basic_self_scheduled<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/self_scheduled/self_scheduled_engine.hpp"
