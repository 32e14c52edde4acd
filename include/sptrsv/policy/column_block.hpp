// SPDX-License-Identifier: Apache-2.0
// The policy column_block: diagonal blocks, and what lies below each of them.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// The column block algorithm (Lu, Niu and Liu, Efficient Block Algorithms for Parallel Sparse Triangular
/// Solve, ICPP 2020, Algorithm 4): a diagonal block is solved; then everything below it is multiplied by its
/// components of x, and the products are added to the sums of the rows there. The algorithm reads each
/// component of x about once, and updates a sum once for each block above its row.
///
/// block_kernels says how the blocks are solved.
///
/// @tparam Tuning block_tuning, or a struct derived from it that redefines some constants.
template <class Tuning = experimental::block_tuning>
struct basic_column_block {
  static constexpr const char* name = "column_block";  ///< in solver_info and in messages
  using default_stream = stream_handle;                ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                               ///< the tuning constants

  /// Number of diagonal blocks, at most the number of rows. 0: the tuning's `default_blocks` if rows are long
  /// and the blocks fill the device, otherwise 1.
  int blocks = 0;
  block_kernels kernels{};  ///< how the kernels of the blocks are chosen
};
/// column_block with the tuning constants of the block policies.
using column_block = basic_column_block<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/block/block_engine.hpp"
