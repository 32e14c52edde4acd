// How the three block algorithms cut a triangle: Lu, Niu, Liu, Efficient Block Algorithms for Parallel Sparse
// Triangular Solve, 2020, figure 2 and algorithms 4 to 6.
//
// All three have the same diagonal blocks, the triangles, and differ in what lies below them. In the order of
// execution triangle i is part 2 i; between it and triangle i - 1 there is one rectangle, part 2 i - 1.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::block {

enum class scheme : std::uint8_t {
  columns,   ///< below each triangle all rows of its columns: used once they are solved
  rows,      ///< left of each triangle all columns of its rows: taken when they are needed
  recursive  ///< halves: triangle, square, triangle, the triangles likewise
};

/// Part `i` of 2 * blocks - 1, in places of rows and columns.
struct part {
  bool is_triangle;
  std::int64_t first_row;
  std::int64_t last_row;  ///< one past the end
  std::int64_t first_column;
  std::int64_t last_column;  ///< one past the end

  [[nodiscard]] std::int64_t rows() const { return last_row - first_row; }
};

/// The power of two that a square's triangle `block`, the first of its rows, is a multiple of: the side of
/// the square in blocks.
SPTRSV_HOST_DEVICE std::int64_t side_of_square(std::int64_t block) { return block & -block; }

/// The part of the entries in block row `row` and block column `column` <= `row`.
SPTRSV_HOST_DEVICE std::int64_t part_of(scheme cut, std::int64_t row, std::int64_t column) {
  if (row == column) {
    return 2 * row;
  }
  switch (cut) {
    case scheme::columns:
      return 2 * column + 1;
    case scheme::rows:
      return 2 * row - 1;
    default:
      break;
  }
  // The square of the largest side that has `row` and not `column` in its rows.
  std::int64_t first = row;
  while (first - side_of_square(first) > column) {
    first -= side_of_square(first);
  }
  return 2 * first - 1;
}

/// Block i has the rows bounds[i] ... bounds[i + 1] - 1; halving the blocks keeps every second bound.
inline std::vector<std::int64_t> even_bounds(std::int64_t size, std::int64_t blocks) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= blocks; ++i) {
    bounds.push_back(size / blocks * i + size % blocks * i / blocks);
  }
  return bounds;
}

/// In the order of execution. `bounds`: of a power of two of blocks if the scheme is recursive.
inline std::vector<part> parts_of(scheme cut, const std::vector<std::int64_t>& bounds) {
  const auto blocks = static_cast<std::int64_t>(bounds.size()) - 1;
  const auto bound = [&](std::int64_t block) { return bounds[static_cast<std::size_t>(block)]; };
  std::vector<part> parts;
  for (std::int64_t i = 0; i < blocks; ++i) {
    if (i > 0) {
      const std::int64_t side = side_of_square(i);
      switch (cut) {
        case scheme::columns:
          parts.push_back({false, bound(i), bound(blocks), bound(i - 1), bound(i)});
          break;
        case scheme::rows:
          parts.push_back({false, bound(i), bound(i + 1), bound(0), bound(i)});
          break;
        case scheme::recursive:
          parts.push_back({false, bound(i), bound(i + side), bound(i - side), bound(i)});
          break;
      }
    }
    parts.push_back({true, bound(i), bound(i + 1), bound(i), bound(i + 1)});
  }
  return parts;
}

}  // namespace sptrsv::detail::block
