// SPDX-License-Identifier: Apache-2.0
// The policy sync_free_column: columns that wait for counters, without an analysis of levels.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of sync_free_column.
struct sync_free_column_tuning {
  /// Threads of a block: a multiple of 32, at most 1024. A block draws one ticket for all its components, and
  /// its warps update each other's sums in shared memory.
  static constexpr int block_threads = 512;
  /// true: updates of components of the same block go through shared memory (Algorithm 2, lines 17 to 19).
  /// false: all updates go through global memory.
  static constexpr bool shared_updates = true;
  /// Entries of a column that a thread loads before its component is solved: at least 1.
  static constexpr int entries_ahead = 2;
  /// Right-hand sides that are solved together in one sweep over a column: 1 to 32. Solves with more
  /// right-hand sides than these do not use shared memory.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// Synchronisation-free by columns: one warp for each component, in the order of substitution (Liu, Li, Hogg,
/// Duff and Vinter, A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves, Euro-Par 2016,
/// Algorithm 2).
///
/// A component waits until every component that it depends on has incremented its counter. Then it is solved,
/// and its warp adds the products of its column to the sums of the components that depend on it, by atomic
/// additions: in shared memory for components of the same block, otherwise in global memory.
///
/// The analysis only counts the entries of each row if the storage has the columns of the system (CSC without
/// transposition, or CSR with transposition); otherwise it transposes the matrix first.
///
/// Sums are added up in any order: the backward error has the same bound as that of substitution, but the
/// bits may differ from solve to solve. Sums of floats that are subnormal become zero.
///
/// @tparam Tuning sync_free_column_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::sync_free_column_tuning>
struct basic_sync_free_column {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "sync_free_column_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1 && Tuning::rhs_per_sweep <= 32,
                "sync_free_column_tuning: rhs_per_sweep must be at least 1 and at most 32");

  static constexpr const char* name = "sync_free_column";  ///< in solver_info and in messages
  using default_stream = stream_handle;                    ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                   ///< the tuning constants
};
/// sync_free_column with its own tuning constants.
using sync_free_column = basic_sync_free_column<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/sync_free_column/sync_free_column_engine.hpp"
