// The policy column_block: diagonal blocks, and what lies below each of them.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::policy {

/// The column block algorithm (Lu, Niu and Liu, Efficient Block Algorithms for Parallel Sparse Triangular
/// Solve, ICPP 2020, Algorithm 4): a diagonal block is solved; then everything below it is multiplied by its
/// components of x, and the products are added to the sums of the rows there. The algorithm reads each
/// component of x about once, and updates a sum once for each block above its row.
///
/// The whole triangle is renumbered in level order, and each diagonal block again by its own levels. Diagonal
/// blocks are solved level by level, by rows that poll one another, or by one thread block; the blocks
/// between them are multiplied with one thread or several threads for each row. `kernels` says what chooses
/// the kernels. All steps are one launch. Additions are done in a fixed order: the result is the same in
/// every bit from solve to solve.
///
/// @tparam Tuning block_tuning, or a struct derived from it.
template <class Tuning = block_tuning>
struct basic_column_block {
  /// Name of the policy in solver_info and in messages.
  static constexpr const char* name = "column_block";
  /// Stream type of the solver: cudaStream_t.
  using default_stream = stream_handle;
  /// The tuning constants.
  using tuning = Tuning;

  /// Number of diagonal blocks, at most the number of rows. 0: the tuning's `default_blocks` if rows are long
  /// and the blocks fill the device, otherwise 1.
  int blocks = 0;
  block_kernels kernels{};  ///< how the kernels of the blocks are chosen
};
/// column_block with the tuning constants of the block policies.
using column_block = basic_column_block<>;

}  // namespace sptrsv::policy

#include "sptrsv/detail/papers/block/column_block_engine.hpp"
#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
