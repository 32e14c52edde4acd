// Matrices of graphs: social networks, geometric graphs, meshes and road networks.
#pragma once

#include <cmath>
#include <vector>

#include "pattern.hpp"

namespace sptrsv_common {

/// The graph of the Graph500 benchmark: 2^scale vertices, `edge_factor` draws of an edge per vertex with the
/// probabilities 0.57, 0.19, 0.19 and 0.05 of the quadrants, and a random numbering of the vertices.
inline pattern kronecker(int scale, int edge_factor, std::uint64_t seed) {
  random_stream random(seed);
  const vertex n = vertex{1} << scale;
  std::vector<entry> edges(static_cast<std::size_t>(n) * static_cast<std::size_t>(edge_factor));
  for (entry& e : edges) {
    e = {0, 0};
    for (int bit = 0; bit < scale; ++bit) {
      const double quadrant = random.uniform();
      e.row = 2 * e.row + (quadrant >= 0.76 ? 1 : 0);
      e.column = 2 * e.column + ((quadrant >= 0.57 && quadrant < 0.76) || quadrant >= 0.95 ? 1 : 0);
    }
  }
  return pattern_of_edges(n, edges, random_permutation(n, seed + 1));
}

/// Random points of the unit square, with an edge between two points that are closer than a radius. The
/// radius is chosen such that a point has `degree` neighbours on average. Points are numbered by rows of
/// square cells as wide as the radius.
inline pattern random_geometric(vertex n, double degree, std::uint64_t seed) {
  struct point {
    double x;
    double y;
    std::int64_t cell;
  };
  random_stream random(seed);
  const double radius = std::sqrt(degree / (3.14159265358979 * static_cast<double>(n)));
  const auto side = static_cast<std::int64_t>(1 / radius);  // cells are at least as wide as the radius
  std::vector<point> points(static_cast<std::size_t>(n));
  for (point& p : points) {
    p.x = random.uniform();
    p.y = random.uniform();
    const auto cell_of = [&](double v) { return static_cast<std::int64_t>(v * static_cast<double>(side)); };
    p.cell = cell_of(p.y) * side + cell_of(p.x);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const point& a, const point& b) { return a.cell < b.cell; });
  std::vector<vertex> first_of(static_cast<std::size_t>(side * side) + 1, 0);
  for (const point& p : points) {
    ++first_of[static_cast<std::size_t>(p.cell) + 1];
  }
  std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());

  return pattern_of_rows(n, [&](vertex i, std::vector<vertex>& out) {
    const point& p = points[static_cast<std::size_t>(i)];
    const std::int64_t row = p.cell / side;
    const std::int64_t column = p.cell % side;
    for (std::int64_t r = std::max<std::int64_t>(row - 1, 0); r <= row; ++r) {
      const auto left = static_cast<std::size_t>(r * side + std::max<std::int64_t>(column - 1, 0));
      const auto right = static_cast<std::size_t>(r * side + std::min(column + 1, side - 1));
      for (vertex j = first_of[left]; j < std::min(i, first_of[right + 1]); ++j) {
        const point& q = points[static_cast<std::size_t>(j)];
        if ((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) < radius * radius) {
          out.push_back(j);
        }
      }
    }
  });
}

/// Returns the number of a grid point along Morton's curve, which keeps neighbours together in squares of
/// every size.
inline std::uint64_t morton(std::uint32_t x, std::uint32_t y) {
  std::uint64_t key = 0;
  for (int bit = 0; bit < 32; ++bit) {
    key |= static_cast<std::uint64_t>(x >> bit & 1) << (2 * bit);
    key |= static_cast<std::uint64_t>(y >> bit & 1) << (2 * bit + 1);
  }
  return key;
}

/// A triangulation of 4^log_side points: a square grid in which a random diagonal cuts each square. The
/// degrees are those of a Delaunay mesh (4 to 8, 6 on average). Points are numbered along Morton's curve.
inline pattern triangulated_mesh(int log_side, std::uint64_t seed) {
  random_stream random(seed);
  const std::uint32_t side = 1u << log_side;
  const auto number = [](std::uint32_t x, std::uint32_t y) { return static_cast<vertex>(morton(x, y)); };
  std::vector<entry> edges;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      if (x + 1 < side) {
        edges.push_back({number(x, y), number(x + 1, y)});
      }
      if (y + 1 < side) {
        edges.push_back({number(x, y), number(x, y + 1)});
      }
      if (x + 1 < side && y + 1 < side) {
        edges.push_back(random.below(2) == 0 ? entry{number(x, y), number(x + 1, y + 1)}
                                             : entry{number(x + 1, y), number(x, y + 1)});
      }
    }
  }
  return pattern_of_edges(static_cast<vertex>(side * side), edges);
}

/// Junctions on a `side` x `side` grid with four fifths of the streets between neighbours. Each street is a
/// path of 0 to 8 further vertices. Degrees are 1 to 4, most of them 2. Vertices are numbered along Morton's
/// curve.
inline pattern road_network(std::uint32_t side, std::uint64_t seed) {
  random_stream random(seed);
  constexpr std::uint32_t block = 16;  // distance of two junctions; the vertices of a street lie between them
  std::vector<std::uint64_t> keys;
  std::vector<entry> edges;
  const auto add = [&](std::uint32_t x, std::uint32_t y) {
    keys.push_back(morton(x, y));
    return static_cast<vertex>(keys.size() - 1);
  };
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      add(x * block, y * block);
    }
  }
  const auto build_street = [&](std::uint32_t x, std::uint32_t y, bool to_the_right) {
    const vertex length = random.below(9);
    auto last = static_cast<vertex>(y * side + x);
    for (vertex k = 1; k <= length; ++k) {
      const auto step = static_cast<std::uint32_t>(k);
      const vertex next = add(x * block + (to_the_right ? step : 0), y * block + (to_the_right ? 0 : step));
      edges.push_back({last, next});
      last = next;
    }
    edges.push_back({last, static_cast<vertex>(to_the_right ? y * side + x + 1 : (y + 1) * side + x)});
  };
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      if (x + 1 < side && random.uniform() < 0.8) {
        build_street(x, y, true);
      }
      if (y + 1 < side && random.uniform() < 0.8) {
        build_street(x, y, false);
      }
    }
  }
  std::vector<vertex> by_key(keys.size());
  std::iota(by_key.begin(), by_key.end(), 0);
  std::sort(by_key.begin(), by_key.end(), [&](vertex a, vertex b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  std::vector<vertex> new_number(keys.size());
  for (std::size_t k = 0; k < by_key.size(); ++k) {
    new_number[static_cast<std::size_t>(by_key[k])] = static_cast<vertex>(k);
  }
  return pattern_of_edges(static_cast<vertex>(keys.size()), edges, new_number);
}

}  // namespace sptrsv_common
