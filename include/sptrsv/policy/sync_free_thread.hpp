// SPDX-License-Identifier: Apache-2.0
// The policy sync_free_thread: one thread for each row, without synchronisation between levels.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of sync_free_thread.
struct sync_free_thread_tuning {
  /// Threads of a block: a multiple of 32, at most 1024. A block draws one ticket for all its rows.
  static constexpr int block_threads = 256;
  /// Entries of a row whose components of x a thread polls together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that are solved together in one sweep over a row, at least 1.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// How a thread waits for the components that its row needs.
enum class thread_form {
  /// A thread never waits in a loop of its own: it takes the components that are ready and lets the other
  /// threads of its warp go on.
  writing_first,
  /// A thread waits in a loop for components of earlier warps, and then as above for those of its own warp.
  two_phase
};

/// Synchronisation-free by rows: one thread for each row (CapelliniSpTRSV: Su, Zhang, Liu et al., ICPP 2020).
///
/// A waiting thread never holds up the other rows of its warp, which it may depend on. Each component of x is
/// its own flag, and blocks draw tickets for their rows. Additions are done in a fixed order: the result is
/// the same in every bit from solve to solve.
///
/// As published, the method solves rows in their natural order, without an analysis of levels. Level order,
/// in which most rows of a warp can be solved together, is an addition of this library.
///
/// @tparam Tuning sync_free_thread_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::sync_free_thread_tuning>
struct basic_sync_free_thread {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "sync_free_thread_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1, "sync_free_thread_tuning: rhs_per_sweep must be at least 1");

  static constexpr const char* name = "sync_free_thread";  ///< in solver_info and in messages
  using default_stream = stream_handle;                    ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                   ///< the tuning constants

  row_order order = row_order::levels;            ///< the order in which rows are started
  thread_form form = thread_form::writing_first;  ///< how a thread waits
};
/// sync_free_thread with its own tuning constants.
using sync_free_thread = basic_sync_free_thread<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/sync_free_thread/sync_free_thread_engine.hpp"
