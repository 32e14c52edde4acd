// SPDX-License-Identifier: Apache-2.0
// How the three block algorithms cut a triangle into parts, and the kernel of each part: Lu, Niu, Liu,
// Efficient Block Algorithms for Parallel Sparse Triangular Solve, 2020, Figure 2 and Algorithms 4 to 7.
//
// A part is one submatrix of the cut: a triangle (diagonal block) or a rectangle below the diagonal blocks.
// All three algorithms have the same triangles and differ in the rectangles. In the order of execution
// triangle i is part 2 i, and the rectangle between triangles i - 1 and i is part 2 i - 1. The kernel is
// chosen by the decision tree of the paper, or as measured with this library's kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/policy/block_tuning.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// The numbers of a diagonal block (triangle) by which its kernel is chosen.
struct triangle_facts {
  std::int64_t rows;
  std::int64_t entries;  ///< entries without the diagonal
  std::int64_t levels;
};

/// The numbers of a block below the diagonal (square) by which its kernel is chosen.
struct square_facts {
  std::int64_t rows;
  std::int64_t rows_with_entries;  ///< rows that have entries, at least 1
  std::int64_t entries;
};

/// Returns the paper's kernel for a triangle. Its row length has the diagonal, and is rounded down.
inline policy::triangle_kernel paper_triangle(const triangle_facts& t) {
  const std::int64_t row_length = t.entries / t.rows + 1;
  if (t.levels == 1) {
    return policy::triangle_kernel::by_levels;
  }
  if (t.levels > 20000) {
    return policy::triangle_kernel::serial;
  }
  return (row_length == 1 && t.levels <= 100) || (row_length <= 15 && t.levels <= 20)
             ? policy::triangle_kernel::by_levels
             : policy::triangle_kernel::sync_free;
}

/// Returns the choice of a kernel for a square by the thresholds of Tuning, for both selectors.
template <class Tuning>
policy::square_kernel square_by_thresholds(const square_facts& s) {
  const double empty = static_cast<double>(s.rows - s.rows_with_entries) / static_cast<double>(s.rows);
  if (static_cast<double>(s.entries) <= Tuning::scalar_entries * static_cast<double>(s.rows)) {
    return empty > Tuning::scalar_empty_ratio ? policy::square_kernel::scalar_dcsr
                                              : policy::square_kernel::scalar_csr;
  }
  return empty > Tuning::vector_empty_ratio ? policy::square_kernel::vector_dcsr
                                            : policy::square_kernel::vector_csr;
}

/// Returns the number of diagonal blocks if the user asks for none. `entries` does not count the diagonal;
/// `resident` is the number of thread blocks that the device holds at once.
template <class Tuning>
std::int64_t blocks_by_default(std::int64_t rows, std::int64_t entries, std::int64_t resident) {
  const std::int64_t warps = resident * (Tuning::block_threads / 32);
  const bool is_long = entries >= Tuning::entries_for_a_cut * rows;
  return is_long && rows >= Tuning::default_blocks * Tuning::rows_per_warp * warps ? Tuning::default_blocks
                                                                                   : 1;
}

/// Returns the kernel that the policy asks for, or the selector's choice.
inline policy::triangle_kernel choose_triangle(const policy::block_kernels& kernels,
                                               const triangle_facts& t) {
  if (kernels.triangle != policy::triangle_kernel::chosen) {
    return kernels.triangle;
  }
  if (kernels.selector == policy::block_selector::paper) {
    return paper_triangle(t);
  }
  // sync_free was the fastest with two levels and 5 rows per level, or more.
  return t.levels == 1 ? policy::triangle_kernel::by_levels : policy::triangle_kernel::sync_free;
}

inline bool is_scalar(policy::square_kernel kernel) {
  return kernel == policy::square_kernel::scalar_csr || kernel == policy::square_kernel::scalar_dcsr;
}

/// Returns how many lanes share a row of `entries` entries, a power of two. The paper uses a warp.
template <class Tuning>
int shared_row_lanes(policy::block_selector selector, double entries) {
  if (selector == policy::block_selector::paper) {
    return 32;
  }
  const double wanted = entries / Tuning::entries_per_lane;
  return wanted >= 32 ? 32 : std::max(2, simt::ceil_power_of_two(static_cast<int>(wanted)));
}

/// One of the 2 * blocks - 1 parts. Rows and columns are solve indices.
struct part {
  bool is_triangle;
  std::int64_t first_row;
  std::int64_t last_row;  ///< one past the last row
  std::int64_t first_column;
  std::int64_t last_column;  ///< one past the last column
  // The analysis fills in the rest.
  triangle_facts triangle{};
  square_facts square{};
  policy::triangle_kernel of_triangle{};
  policy::square_kernel of_square{};
  std::int64_t first_level = 0;  ///< index of a triangle's first level among the levels of all triangles
  std::int64_t first_warp = 0;   ///< first warp that solves its rows if they poll one another
  std::int64_t last_warp = 0;    ///< one past the last warp
  std::int64_t stored_rows = 0;
  std::int64_t offsets = 0;    ///< index of its first row offset; the part has stored_rows + 1 of them
  std::int64_t numbers = 0;    ///< index of its first row number, if it is compressed
  std::size_t first_step = 0;  ///< of the plan; a square without entries has no steps
  std::size_t last_step = 0;   ///< one past the last step

  [[nodiscard]] std::int64_t rows() const { return last_row - first_row; }
  [[nodiscard]] std::int64_t columns() const { return last_column - first_column; }
  /// Returns whether only rows with entries are stored (DCSR).
  [[nodiscard]] bool is_compressed() const {
    return of_square == policy::square_kernel::scalar_dcsr || of_square == policy::square_kernel::vector_dcsr;
  }
};

/// Returns the side of the square that begins with block row `block`: the largest power of two divisor.
SPTRSV_HOST_DEVICE std::int64_t side_of_square(std::int64_t block) { return block & -block; }

/// Returns the part of the entries in block row `row` and block column `column` <= `row`.
SPTRSV_HOST_DEVICE std::int64_t part_of(policy::block_cut cut, std::int64_t row, std::int64_t column) {
  if (row == column) {
    return 2 * row;
  }
  if (cut != policy::block_cut::recursive) {
    return cut == policy::block_cut::columns ? 2 * column + 1 : 2 * row - 1;
  }
  // Find the largest square whose rows include block row `row` and whose rows begin after block column
  // `column`.
  std::int64_t first = row;
  while (first - side_of_square(first) > column) {
    first -= side_of_square(first);
  }
  return 2 * first - 1;
}

/// Returns the first row of each block, and the end. Halving the blocks keeps every second bound.
inline std::vector<std::int64_t> even_bounds(std::int64_t size, std::int64_t blocks) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= blocks; ++i) {
    bounds.push_back(size / blocks * i + size % blocks * i / blocks);
  }
  return bounds;
}

/// Returns the parts in the order of execution. A recursive cut needs a power of two of blocks.
inline std::vector<part> parts_of(policy::block_cut cut, const std::vector<std::int64_t>& bounds) {
  const auto blocks = static_cast<std::int64_t>(bounds.size()) - 1;
  const auto bound = [&](std::int64_t block) { return bounds[at(block)]; };
  std::vector<part> parts;
  for (std::int64_t i = 0; i < blocks; ++i) {
    if (i > 0) {
      const std::int64_t side = cut == policy::block_cut::recursive ? side_of_square(i) : 1;
      const std::int64_t end = cut == policy::block_cut::columns ? blocks : i + side;
      const std::int64_t begin = cut == policy::block_cut::rows ? 0 : i - side;
      parts.push_back({false, bound(i), bound(end), bound(begin), bound(i)});
    }
    parts.push_back({true, bound(i), bound(i + 1), bound(i), bound(i + 1)});
  }
  return parts;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::block
