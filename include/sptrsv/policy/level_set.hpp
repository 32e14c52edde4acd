// SPDX-License-Identifier: Apache-2.0
// The policy level_set: level scheduling.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/shared_options.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of level_set.
struct level_set_tuning {
  /// Threads of a block in a launch that solves one wide level: a multiple of 32, at most 1024.
  static constexpr int wide_block_threads = 256;
  /// Threads of the one block that solves consecutive narrow levels: a multiple of 32, at most 1024.
  static constexpr int narrow_block_threads = 512;
  /// A level is narrow if its rows need at most this many threads. One block solves such a level faster than
  /// a launch of its own.
  static constexpr int narrow_lanes = 1024;
  /// Threads that the device runs at once. The number of threads per row is chosen by this value.
  static constexpr int device_lanes = 200000;
  /// Right-hand sides that are solved together in one sweep over a row, at least 1.
  static constexpr int rhs_per_sweep = 4;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// How level_set launches its levels.
enum class level_launches {
  /// One launch for each wide level and one launch of one block for consecutive narrow levels, with a barrier
  /// between two levels. A CUDA graph replays all launches.
  fused,
  /// As in Li and Zhang: one launch for each level and one warp for each row (column); no CUDA graph.
  separate
};

/// Level scheduling (Anderson and Saad 1989; Li and Zhang, Efficient Parallel Implementations of Sparse
/// Triangular Solves for GPU Architectures, 2020, section 4.1).
///
/// The rows of a level depend on rows of earlier levels only and are solved together: by rows (LEVR,
/// Algorithm 1) or by columns (LEVC, Algorithm 2). The policy suits systems with few, wide levels.
///
/// By rows, the result is the same in every bit from solve to solve. By columns, components are updated by
/// atomic additions in any order: the backward error has the same bound, but the bits may differ from solve
/// to solve, and an update of a float whose result is subnormal gives zero.
///
/// @tparam Tuning level_set_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::level_set_tuning>
struct basic_level_set {
  static_assert(Tuning::wide_block_threads > 0 && Tuning::wide_block_threads % 32 == 0 &&
                    Tuning::wide_block_threads <= 1024,
                "level_set_tuning: wide_block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::narrow_block_threads > 0 && Tuning::narrow_block_threads % 32 == 0 &&
                    Tuning::narrow_block_threads <= 1024,
                "level_set_tuning: narrow_block_threads must be a multiple of 32, at most 1024");
  static_assert(Tuning::rhs_per_sweep >= 1, "level_set_tuning: rhs_per_sweep must be at least 1");

  static constexpr const char* name = "level_set";  ///< in solver_info and in messages
  using default_stream = stream_handle;             ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                            ///< the tuning constants

  orientation by = orientation::rows;               ///< by rows (LEVR) or by columns (LEVC)
  level_launches launches = level_launches::fused;  ///< how levels are launched
};
/// level_set with its own tuning constants.
using level_set = basic_level_set<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/level_set/level_set_engine.hpp"
