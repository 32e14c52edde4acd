// SPDX-License-Identifier: Apache-2.0
// The policy sync_free_fused: one thread for each short row and one warp for each long row.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of sync_free_fused.
struct sync_free_fused_tuning {
  /// Threads of a block: a multiple of 32, at most 1024. A block draws one ticket for all its rows.
  static constexpr int block_threads = 256;
  /// Each of 32 consecutive rows gets a warp if the rows have at least this many entries on average,
  /// otherwise a thread.
  static constexpr int entries_for_a_warp = 16;
  /// Entries of a row whose components of x a thread polls together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that are solved together in one sweep over a row, at least 1.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// Synchronisation-free by rows: one thread for each short row and one warp for each long row
/// (YuenyeungSpTRSV: Zhang, Su, Liu et al., IEEE TPDS 2021). The average length of 32 consecutive rows
/// decides for these rows.
///
/// Each component of x is its own flag, and blocks draw tickets for their rows. Additions are done in a fixed
/// order: the result is the same in every bit from solve to solve. As published, the method solves rows in
/// their natural order; level order is an addition of this library.
///
/// @tparam Tuning sync_free_fused_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::sync_free_fused_tuning>
struct basic_sync_free_fused {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "sync_free_fused_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1, "sync_free_fused_tuning: rhs_per_sweep must be at least 1");

  static constexpr const char* name = "sync_free_fused";  ///< in solver_info and in messages
  using default_stream = stream_handle;                   ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                  ///< the tuning constants

  row_order order = row_order::levels;  ///< the order in which rows are started
};
/// sync_free_fused with its own tuning constants.
using sync_free_fused = basic_sync_free_fused<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/sync_free_fused/sync_free_fused_engine.hpp"
