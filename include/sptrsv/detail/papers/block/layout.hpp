// SPDX-License-Identifier: Apache-2.0
// How the three block algorithms cut a triangle: Lu, Niu, Liu, Efficient Block Algorithms for Parallel Sparse
// Triangular Solve, 2020, Figure 2 and Algorithms 4 to 6.
//
// A part is one submatrix of the cut: a triangle (diagonal block) or a rectangle below the diagonal blocks.
// All three algorithms have the same triangles and differ in the rectangles. In the order of execution
// triangle i is part 2 i, and the rectangle between triangles i - 1 and i is part 2 i - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/block/block_choice.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// The three algorithms.
enum class scheme : std::uint8_t {
  columns,  ///< below each triangle one rectangle with all rows, used once the triangle is solved
  /// Left of each triangle one rectangle with all columns, used before the triangle is solved.
  rows,
  recursive  ///< triangle, square, triangle; both triangles are cut in the same way
};

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
  bool is_compressed = false;    ///< true: only rows with entries are stored
  std::int64_t stored_rows = 0;
  std::int64_t offsets = 0;    ///< index of its first row offset; the part has stored_rows + 1 of them
  std::int64_t numbers = 0;    ///< index of its first row number, if it is compressed
  std::size_t first_step = 0;  ///< of the plan; a square without entries has no steps
  std::size_t last_step = 0;   ///< one past the last step

  [[nodiscard]] std::int64_t rows() const { return last_row - first_row; }
  [[nodiscard]] std::int64_t columns() const { return last_column - first_column; }
};

/// Returns the side, in blocks, of the square whose first block row is `block`: the largest power of two that
/// divides `block`.
SPTRSV_HOST_DEVICE std::int64_t side_of_square(std::int64_t block) { return block & -block; }

/// Returns the part of the entries in block row `row` and block column `column` <= `row`.
SPTRSV_HOST_DEVICE std::int64_t part_of(scheme cut, std::int64_t row, std::int64_t column) {
  if (row == column) {
    return 2 * row;
  }
  if (cut != scheme::recursive) {
    return cut == scheme::columns ? 2 * column + 1 : 2 * row - 1;
  }
  // Find the largest square whose rows include block row `row` and whose rows begin after block column
  // `column`.
  std::int64_t first = row;
  while (first - side_of_square(first) > column) {
    first -= side_of_square(first);
  }
  return 2 * first - 1;
}

/// Returns the bounds of the blocks: block i has the rows bounds[i] ... bounds[i + 1] - 1. Halving the number
/// of blocks keeps every second bound.
inline std::vector<std::int64_t> even_bounds(std::int64_t size, std::int64_t blocks) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= blocks; ++i) {
    bounds.push_back(size / blocks * i + size % blocks * i / blocks);
  }
  return bounds;
}

/// Returns the parts in the order of execution. If the scheme is recursive, `bounds` must describe a power of
/// two of blocks.
inline std::vector<part> parts_of(scheme cut, const std::vector<std::int64_t>& bounds) {
  const auto blocks = static_cast<std::int64_t>(bounds.size()) - 1;
  const auto bound = [&](std::int64_t block) { return bounds[at(block)]; };
  std::vector<part> parts;
  for (std::int64_t i = 0; i < blocks; ++i) {
    if (i > 0) {
      const std::int64_t side = cut == scheme::recursive ? side_of_square(i) : 1;
      const std::int64_t end = cut == scheme::columns ? blocks : i + side;
      const std::int64_t begin = cut == scheme::rows ? 0 : i - side;
      parts.push_back({false, bound(i), bound(end), bound(begin), bound(i)});
    }
    parts.push_back({true, bound(i), bound(i + 1), bound(i), bound(i + 1)});
  }
  return parts;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::block
