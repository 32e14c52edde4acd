// SPDX-License-Identifier: Apache-2.0
// The policies column_block, row_block and recursive_block: diagonal blocks, and products with the blocks
// between them (Lu, Niu and Liu, Efficient Block Algorithms for Parallel Sparse Triangular Solve, ICPP 2020).
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// A block algorithm. block_kernels says how the blocks are solved.
///
/// @tparam Cut the algorithm: see column_block, row_block and recursive_block.
/// @tparam Tuning block_tuning, or a struct derived from it that redefines some constants.
template <block_cut Cut, class Tuning = experimental::block_tuning>
struct basic_block {
  /// In solver_info and in messages.
  static constexpr const char* name = Cut == block_cut::columns ? "column_block"
                                      : Cut == block_cut::rows  ? "row_block"
                                                                : "recursive_block";
  using default_stream = stream_handle;  ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                 ///< the tuning constants

  /// Number of diagonal blocks, at most the number of rows; recursive_block takes the largest power of two
  /// that is not larger. 0: the tuning's `default_blocks` if rows are long and the blocks fill the device,
  /// otherwise 1.
  int blocks = 0;
  block_kernels kernels{};  ///< how the kernels of the blocks are chosen
};

/// The column block algorithm (Algorithm 4): a diagonal block is solved; then everything below it is
/// multiplied by its components of x, and the products are added to the sums of the rows there. The algorithm
/// reads each component of x about once, and updates a sum once for each block above its row.
template <class Tuning>
using basic_column_block = basic_block<block_cut::columns, Tuning>;
/// column_block with the tuning constants of the block policies.
using column_block = basic_block<block_cut::columns>;

/// The row block algorithm (Algorithm 5): before a diagonal block is solved, everything left of it is
/// multiplied by the components of x of the earlier blocks. The algorithm updates each sum once, and reads a
/// component of x once for each block below its own.
template <class Tuning>
using basic_row_block = basic_block<block_cut::rows, Tuning>;
/// row_block with the tuning constants of the block policies.
using row_block = basic_block<block_cut::rows>;

/// The recursive block algorithm (Algorithms 6 and 7): the triangle is divided into two triangles and a
/// square between them, and the triangles are divided in the same way. The solve is a loop over
/// `blocks` triangles and `blocks` - 1 squares. The reads of x and the updates of sums grow with the
/// logarithm of `blocks` only.
template <class Tuning>
using basic_recursive_block = basic_block<block_cut::recursive, Tuning>;
/// recursive_block with the tuning constants of the block policies.
using recursive_block = basic_block<block_cut::recursive>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/papers/block/block_engine.hpp"
