// Finite-difference Laplacians on regular grids. The points are in lexicographic order, x fastest.
#pragma once

#include <array>
#include <vector>

#include "pattern.hpp"

namespace sptrsv_common {

/// Number of points in each direction; a grid with z = 1 has two dimensions.
struct grid {
  vertex x = 1;
  vertex y = 1;
  vertex z = 1;
  [[nodiscard]] vertex points() const { return x * y * z; }
};

/// The stencil with the neighbours along the axes: 5 points in two dimensions, 7 points in three.
inline pattern star_stencil(const grid& g) {
  return pattern_of_rows(g.points(), [=](vertex i, std::vector<vertex>& out) {
    const std::array<vertex, 3> steps{g.x * g.y, g.x, 1};
    const std::array<bool, 3> inside{i >= g.x * g.y, i / g.x % g.y > 0, i % g.x > 0};
    for (std::size_t d = 0; d < 3; ++d) {
      if (inside[d]) {
        out.push_back(i - steps[d]);
      }
    }
  });
}

/// The stencil with all neighbours in the surrounding box: 9 points in two dimensions, 27 points in three.
inline pattern box_stencil(const grid& g) {
  return pattern_of_rows(g.points(), [=](vertex i, std::vector<vertex>& out) {
    const vertex x = i % g.x;
    const vertex y = i / g.x % g.y;
    const vertex z = i / (g.x * g.y);
    for (vertex dz = z > 0 ? -1 : 0; dz <= 0; ++dz) {
      for (vertex dy = y > 0 ? -1 : 0; dy <= (y + 1 < g.y ? 1 : 0); ++dy) {
        for (vertex dx = x > 0 ? -1 : 0; dx <= (x + 1 < g.x ? 1 : 0); ++dx) {
          const vertex j = i + (dz * g.y + dy) * g.x + dx;
          if (j < i) {
            out.push_back(j);
          }
        }
      }
    }
  });
}

/// Returns the edges of star_stencil, for orderings.
inline std::vector<entry> star_edges(const grid& g) {
  std::vector<entry> edges;
  const pattern p = star_stencil(g);
  for (vertex i = 0; i < p.rows(); ++i) {
    for (vertex e = p.row_offsets[static_cast<std::size_t>(i)];
         e < p.row_offsets[static_cast<std::size_t>(i) + 1] - 1; ++e) {
      edges.push_back({i, p.columns[static_cast<std::size_t>(e)]});
    }
  }
  return edges;
}

}  // namespace sptrsv_common
