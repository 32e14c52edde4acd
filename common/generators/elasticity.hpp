// A matrix as finite elements for elasticity make it: three unknowns per node.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "grids.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_common {

/// Returns the lower triangle of the stiffness matrix of a grid of nodes with springs to all nodes of the
/// surrounding box, 26 inside the grid. Each node has three unknowns, its displacements. A spring in the
/// direction d adds the full 3 x 3 block d d^T / |d|^2 + (I + 1 1^T) / 10, which is positive definite, to the
/// diagonal blocks of its two nodes and subtracts it between them. A tenth of the identity holds each node in
/// its place, so the matrix is positive definite. Columns ascend.
inline sptrsv::csr_matrix<double> elasticity_matrix(const grid& g) {
  const vertex n = 3 * g.points();
  sptrsv::csr_matrix<double> made{n, n, {0}, {}, {}};
  using block = std::array<std::array<double, 3>, 3>;
  const auto spring = [](const std::array<vertex, 3>& d) {
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    block made_block{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        made_block[i][j] = d[i] * d[j] / square + (i == j ? 0.2 : 0.1);
      }
    }
    return made_block;
  };
  for (vertex node = 0; node < g.points(); ++node) {
    const std::array<vertex, 3> at{node % g.x, node / g.x % g.y, node / (g.x * g.y)};
    block diagonal{};
    std::array<std::vector<vertex>, 3> columns;
    std::array<std::vector<double>, 3> values;
    for (vertex k = 0; k < 27; ++k) {
      const std::array<vertex, 3> d{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      const std::array<vertex, 3> to{at[0] + d[0], at[1] + d[1], at[2] + d[2]};
      const bool inside = to[0] >= 0 && to[0] < g.x && to[1] >= 0 && to[1] < g.y && to[2] >= 0 && to[2] < g.z;
      if (k == 13 || !inside) {
        continue;
      }
      const block of = spring(d);
      const vertex other = (to[2] * g.y + to[1]) * g.x + to[0];
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          diagonal[i][j] += of[i][j];
          if (other < node) {
            columns[i].push_back(3 * other + static_cast<vertex>(j));
            values[i].push_back(-of[i][j]);
          }
        }
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        columns[i].push_back(3 * node + static_cast<vertex>(j));
        values[i].push_back(diagonal[i][j] + (i == j ? 0.1 : 0));
      }
      made.column_indices.insert(made.column_indices.end(), columns[i].begin(), columns[i].end());
      made.values.insert(made.values.end(), values[i].begin(), values[i].end());
      made.row_offsets.push_back(static_cast<vertex>(made.values.size()));
    }
  }
  return made;
}

}  // namespace sptrsv_common
