// SPDX-License-Identifier: Apache-2.0
// The policy row_block: diagonal blocks, and what lies left of each of them.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The row block algorithm (Lu, Niu and Liu, Efficient Block Algorithms for Parallel Sparse Triangular Solve,
/// ICPP 2020, Algorithm 5): before a diagonal block is solved, everything left of it is multiplied by the
/// components of x of the earlier blocks. The algorithm updates each sum once, and reads a component of x
/// once for each block below its own.
///
/// block_kernels says how the blocks are solved.
///
/// @tparam Tuning block_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::block_tuning>
struct basic_row_block {
  static constexpr const char* name = "row_block";  ///< in solver_info and in messages
  using default_stream = stream_handle;             ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                            ///< the tuning constants

  /// Number of diagonal blocks, at most the number of rows. 0: the tuning's `default_blocks` if rows are long
  /// and the blocks fill the device, otherwise 1.
  int blocks = 0;
  block_kernels kernels{};  ///< how the kernels of the blocks are chosen
};
/// row_block with the tuning constants of the block policies.
using row_block = basic_row_block<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/block/block_engine.hpp"
