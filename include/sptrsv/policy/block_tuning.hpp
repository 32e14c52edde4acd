// SPDX-License-Identifier: Apache-2.0
// What the block policies (sptrsv/policy/block.hpp) share: the cut, the choice of kernels and the tuning
// constants.
#pragma once

#include <cstdint>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// How the triangle is cut into diagonal blocks (triangles) and rectangles between them.
enum class block_cut : std::uint8_t {
  columns,   ///< below each triangle one rectangle with all rows, used once the triangle is solved
  rows,      ///< left of each triangle one rectangle with all columns, used before the triangle is solved
  recursive  ///< triangle, square, triangle; both triangles are cut in the same way
};

/// The decision tree that chooses a kernel for each block.
enum class block_selector {
  fitted,  ///< what was measured with the kernels of this library
  paper    ///< the tree of the paper (Algorithm 7), measured on an NVIDIA Titan RTX
};

/// The kernel of the diagonal blocks.
enum class triangle_kernel {
  chosen,     ///< the selector chooses for each block
  by_levels,  ///< one step for each level
  sync_free,  ///< one thread or one warp for each row; each component of x is its own flag
  serial      ///< one thread block solves the levels one after the other
};

/// The kernel of the blocks below or beside the diagonal blocks.
enum class square_kernel {
  chosen,       ///< the selector chooses for each block
  scalar_csr,   ///< one thread for each row
  vector_csr,   ///< several threads for each row
  scalar_dcsr,  ///< one thread for each row that is not empty
  vector_dcsr   ///< several threads for each row that is not empty
};

/// How the kernels of the blocks are chosen.
///
/// The whole triangle is renumbered in level order, and each diagonal block again by its own levels. Diagonal
/// blocks are solved level by level, by rows that poll one another, or by one thread block; the blocks
/// between them are multiplied with one thread or several threads for each row. All steps are one launch.
/// Additions are done in a fixed order: the result is the same in every bit from solve to solve.
struct block_kernels {
  block_selector selector = block_selector::fitted;    ///< used where a kernel is `chosen`
  triangle_kernel triangle = triangle_kernel::chosen;  ///< for all diagonal blocks
  square_kernel square = square_kernel::chosen;        ///< for all other blocks
};

}  // namespace sptrsv::SPTRSV_ABI::policy

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of column_block, row_block and recursive_block.
struct block_tuning {
  /// @name Kernels
  ///@{

  /// Threads of a thread block: a multiple of 32, at most 1024. A thread block draws one ticket for each
  /// task.
  static constexpr int block_threads = 256;
  /// Entries of a row that a thread polls together.
  static constexpr int entries_at_once = 4;
  /// Right-hand sides that are solved together in one sweep over a row: 1 to `block_threads`.
  static constexpr int rhs_per_sweep = 4;
  /// triangle_kernel::sync_free: each of 32 consecutive rows gets a warp if the rows have at least this many
  /// entries on average, otherwise a thread.
  static constexpr int entries_for_a_warp = 16;
  /// triangle_kernel::sync_free: a warp first polls one component of this many levels before its own, the
  /// gate; 0: no gates.
  static constexpr int gate_levels = 6;
  /// In a square or a level with one thread for each row, a whole warp shares rows of more than this many
  /// entries.
  static constexpr int shared_row = 128;
  /// A whole thread block shares rows of a square or of a level that have more than this many entries.
  static constexpr int block_row = 2048;
  /// Rounds that a thread block makes over its rows, 1 to 32, at most: as many as leave enough thread blocks
  /// for the device.
  static constexpr int max_rounds = 8;
  ///@}

  /// @name Number of diagonal blocks, if the policy does not name it
  /// Fitted to the times of 1 to 64 diagonal blocks for 11 systems on one NVIDIA H200
  /// (benchmarks/block_kernels.cu).
  ///@{

  /// A triangle is divided into this many diagonal blocks if its rows are long and its blocks fill the
  /// device; otherwise it is not divided.
  static constexpr int default_blocks = 4;
  /// Rows are long if they have at least this many entries on average, without the diagonal.
  static constexpr int entries_for_a_cut = 14;
  /// A block fills the device if it has this many rows for each warp that the device holds at once. (The
  /// paper has 20 rows for each core, which would be 80 for each warp here.)
  static constexpr int rows_per_warp = 12;
  ///@}

  /// @name Thresholds for squares
  /// Those of the paper, for both selectors. No thresholds that were fitted to the times of 818 blocks of 11
  /// systems on one NVIDIA H200 (`benchmarks/python fit-block-kernels`) did better on systems that they had
  /// not been fitted to.
  ///@{

  /// One thread is chosen for each row of a square with at most this many entries per row, empty rows
  /// included.
  static constexpr double scalar_entries = 12;
  /// Where several threads share a row, the entries that each of them processes.
  static constexpr double entries_per_lane = 4;
  /// The storage of a square leaves out its empty rows if their share of all rows is larger than this, with
  /// one thread for each row.
  static constexpr double scalar_empty_ratio = 0.5;
  /// The same with several threads for each row.
  static constexpr double vector_empty_ratio = 0.15;
  ///@}
};

}  // namespace sptrsv::SPTRSV_ABI::experimental
