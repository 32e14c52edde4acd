// SPDX-License-Identifier: Apache-2.0
// The policy recursive_block: triangles that are halved recursively.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The recursive block algorithm (Lu, Niu and Liu, Efficient Block Algorithms for Parallel Sparse Triangular
/// Solve, ICPP 2020, Algorithms 6 and 7): the triangle is divided into two triangles and a square between
/// them, and the triangles are divided in the same way, `depth` times. The solve is a loop over 2^depth
/// triangles and 2^depth - 1 squares. The reads of x and the updates of sums grow with the depth only.
///
/// block_kernels says how the blocks are solved.
///
/// @tparam Tuning block_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::block_tuning>
struct basic_recursive_block {
  static constexpr const char* name = "recursive_block";  ///< in solver_info and in messages
  using default_stream = stream_handle;                   ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                                  ///< the tuning constants

  /// Number of divisions, at most 30 (otherwise analyze throws errc::invalid_argument) and as far as there
  /// are rows. Negative: as many as give the tuning's `default_blocks` triangles if rows are long and the
  /// blocks fill the device, otherwise 0.
  int depth = -1;
  block_kernels kernels{};  ///< how the kernels of the blocks are chosen
};
/// recursive_block with the tuning constants of the block policies.
using recursive_block = basic_recursive_block<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/block/block_engine.hpp"
