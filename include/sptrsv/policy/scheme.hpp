// SPDX-License-Identifier: Apache-2.0
// The policy scheme: a framework of kernels and orders, of which a scheme selects one.
#pragma once

#include <cstdint>
#include <optional>

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of scheme that are not settings of a scheme.
struct scheme_tuning {
  /// Threads of a block, at most: a multiple of 32, at most 1024. A scheme with more active warps runs
  /// several blocks on a multiprocessor.
  static constexpr int block_threads = 256;
  /// Warps that a multiprocessor has registers for, with one right-hand side.
  static constexpr int warps_per_processor = 32;
  /// Entries of a row whose components of x a thread polls together, with one right-hand side.
  static constexpr int entries_at_once = 3;
  /// Right-hand sides that are solved together in one sweep over a row, at least 1.
  static constexpr int rhs_per_sweep = 4;
  /// scheme::buffered: bytes of shared memory for the entries of the rows of one warp.
  static constexpr int buffer_bytes = 1536;
  /// scheme::buffered: entries of fewer than this many are not buffered.
  static constexpr int min_buffered = 32;
  /// How often a block polls whether all other blocks have started, before all blocks take the groups of
  /// nodes by ticket and not as the scheme assigns them to warps.
  static constexpr int patience = 4096;
  /// Launches of a solve, at most. analyze refuses a scheme that needs more (errc::unsupported).
  static constexpr std::int64_t max_launches = 20000;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// Rows are merged to tasks, tasks are assigned to warps, and the kernel solves them, all as a scheme says
/// (AG-SpTRSV: Hu, Sun, Li and Sun, ACM TACO 21(4), 2024).
///
/// Every scheme adds in a fixed order: the result is the same in every bit from solve to solve, and differs
/// between schemes. analyze throws errc::unsupported for a scheme that needs too many launches for the
/// system, and errc::invalid_argument for settings that are no scheme (see check_scheme).
///
/// If no scheme is given, a trained model chooses one by the features of the system. search_schemes
/// (sptrsv/scheme/search.hpp) finds one by measurements.
///
/// @tparam Tuning scheme_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::scheme_tuning>
struct basic_scheme {
  static_assert(Tuning::block_threads > 0 && Tuning::block_threads % 32 == 0 && Tuning::block_threads <= 1024,
                "scheme_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1, "scheme_tuning: rhs_per_sweep must be at least 1");

  static constexpr const char* name = "scheme";  ///< in solver_info and in messages
  using default_stream = stream_handle;          ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                         ///< the tuning constants

  std::optional<sptrsv::scheme> use{};  ///< the scheme; empty: the model chooses
};
/// The policy scheme with its own tuning constants.
using scheme = basic_scheme<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/scheme/scheme_engine.hpp"
