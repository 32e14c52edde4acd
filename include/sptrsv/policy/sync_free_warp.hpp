// SPDX-License-Identifier: Apache-2.0
// The policy sync_free_warp: one warp for each row, without synchronisation between levels.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of sync_free_warp.
struct sync_free_warp_tuning {
  /// Threads of a block: a multiple of 32, at most 1024. A block draws one ticket for all its rows.
  static constexpr int block_threads = 256;
  /// Entries of a row that a thread loads before it waits for the first of their components of x.
  static constexpr int entries_at_once = 4;
  /// warp_form::rows_by_length: a row gets as few threads, a power of two, as give each of them at most this
  /// many entries.
  static constexpr int entries_per_lane = 4;
  /// Right-hand sides that are solved together in one sweep over a row: 1 to 32.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// How many rows a warp solves.
enum class warp_form {
  one_row,  ///< one row; threads that a short row does not need are idle
  /// Rows of one level that have about the same length share a warp. Needs row_order::levels; otherwise
  /// analyze throws errc::unsupported.
  rows_by_length
};

/// Synchronisation-free by rows: one warp for each row. A row waits for the components that it needs and for
/// nothing else (Dufrechou and Ezzatti 2018; rows in level order, and several short rows for each warp,
/// 2020).
///
/// Each component of x is its own flag, and blocks draw tickets for their rows. Additions are done in a fixed
/// order: the result is the same in every bit from solve to solve.
///
/// @tparam Tuning sync_free_warp_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::sync_free_warp_tuning>
struct basic_sync_free_warp {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "sync_free_warp_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1 && Tuning::rhs_per_sweep <= 32,
                "sync_free_warp_tuning: rhs_per_sweep must be at least 1 and at most 32");

  static constexpr const char* name = "sync_free_warp";  ///< in solver_info and in messages
  using default_stream = stream_handle;                  ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                 ///< the tuning constants

  row_order order = row_order::levels;  ///< the order in which rows are started
  warp_form form = warp_form::one_row;  ///< how many rows a warp solves
};
/// sync_free_warp with its own tuning constants.
using sync_free_warp = basic_sync_free_warp<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/sync_free_warp/sync_free_warp_engine.hpp"
