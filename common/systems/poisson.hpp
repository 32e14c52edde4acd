// Poisson's equation on a cube, discretised by finite differences.
#pragma once

#include <cstdint>

#include "sptrsv/matrix.hpp"

namespace sptrsv_common {

/// Largest number of grid points in a direction for which 32-bit offsets can address the matrix.
inline constexpr std::int64_t max_poisson_grid = 600;

/// Returns the 7-point Laplacian on a `grid` x `grid` x `grid` cube with zero boundary values. The points are
/// in natural order (x fastest). The matrix is symmetric and positive definite, its columns ascend, and it
/// holds both triangles.
inline sptrsv::csr_matrix<double> assemble_poisson(std::int64_t grid) {
  const std::int64_t line = grid;
  const std::int64_t plane = grid * grid;
  sptrsv::csr_matrix<double> a;
  a.rows = a.columns = plane * grid;
  a.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
  a.column_indices.reserve(static_cast<std::size_t>(7 * a.rows));
  a.values.reserve(static_cast<std::size_t>(7 * a.rows));
  const auto append_if = [&](bool inside, std::int64_t column, double value) {
    if (inside) {
      a.column_indices.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(value);
    }
  };
  a.row_offsets.push_back(0);
  for (std::int64_t z = 0, row = 0; z < grid; ++z) {
    for (std::int64_t y = 0; y < grid; ++y) {
      for (std::int64_t x = 0; x < grid; ++x, ++row) {
        append_if(z > 0, row - plane, -1);
        append_if(y > 0, row - line, -1);
        append_if(x > 0, row - 1, -1);
        append_if(true, row, 6);
        append_if(x + 1 < grid, row + 1, -1);
        append_if(y + 1 < grid, row + line, -1);
        append_if(z + 1 < grid, row + plane, -1);
        a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
      }
    }
  }
  return a;
}

}  // namespace sptrsv_common
