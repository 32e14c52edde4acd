// Makes other systems of a matrix by renumbering its graph. The time of a solve depends on the order of the
// rows as much as on the entries, so a few matrices give many systems to train a model with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "orderings.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common {

/// Returns the new number of each vertex if blocks of `size` consecutive vertices are put in random order.
inline std::vector<vertex> random_blocks(vertex n, vertex size, std::uint64_t seed) {
  const std::vector<vertex> block_at = random_permutation((n + size - 1) / size, seed);
  std::vector<vertex> new_number(static_cast<std::size_t>(n));
  vertex next = 0;
  for (const vertex block : block_at) {
    const vertex end = std::min((block + 1) * size, n);
    for (vertex v = block * size; v < end; ++v) {
      new_number[static_cast<std::size_t>(v)] = next++;
    }
  }
  return new_number;
}

/// Returns the new number of each vertex by colour. Each vertex takes the smallest colour that no earlier
/// neighbour has. `entries` is symmetric.
inline std::vector<vertex> by_colours(vertex n, const std::vector<entry>& entries) {
  const adjacency graph(n, entries);
  std::vector<vertex> colour(static_cast<std::size_t>(n), n);
  // By colour: the last vertex with a neighbour of this colour.
  std::vector<vertex> taken_by(static_cast<std::size_t>(n), n);
  std::vector<vertex> first_of(static_cast<std::size_t>(n) + 1, 0);
  for (vertex v = 0; v < n; ++v) {
    for (const vertex* w = graph.begin(v); w != graph.end(v); ++w) {
      if (*w < v) {
        taken_by[static_cast<std::size_t>(colour[static_cast<std::size_t>(*w)])] = v;
      }
    }
    std::size_t free = 0;
    while (taken_by[free] == v) {
      ++free;
    }
    colour[static_cast<std::size_t>(v)] = static_cast<vertex>(free);
    ++first_of[free + 1];
  }
  std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());
  std::vector<vertex> new_number(static_cast<std::size_t>(n));
  for (std::size_t v = 0; v < new_number.size(); ++v) {
    new_number[v] = first_of[static_cast<std::size_t>(colour[v])]++;
  }
  return new_number;
}

/// Returns the kinds of renumbered(): the transposed system (the last row first), the leading half of the
/// rows, all rows in random order, blocks of 256 rows in random order, reverse Cuthill-McKee, and a greedy
/// colouring.
inline const std::vector<std::string>& renumberings() {
  static const std::vector<std::string> names{"reversed", "half", "random", "blocks", "rcm", "colours"};
  return names;
}

/// Returns the lower triangle of L + L^T under another numbering. `lower`: L. `kind`: of renumberings().
inline pattern renumbered(const pattern& lower, const std::string& kind) {
  const vertex n = kind == "half" ? (lower.rows() + 1) / 2 : lower.rows();
  std::vector<entry> edges;
  for (vertex i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (vertex e = lower.row_offsets[row]; e < lower.row_offsets[row + 1] - 1; ++e) {
      edges.push_back({i, lower.columns[static_cast<std::size_t>(e)]});
    }
  }
  std::vector<vertex> new_number;
  if (kind == "reversed") {
    new_number.resize(static_cast<std::size_t>(n));
    std::iota(new_number.rbegin(), new_number.rend(), 0);
  } else if (kind == "random") {
    new_number = random_permutation(n, 11);
  } else if (kind == "blocks") {
    new_number = random_blocks(n, 256, 13);
  } else if (kind == "rcm") {
    new_number = reverse_cuthill_mckee(n, both_directions(edges));
  } else if (kind == "colours") {
    new_number = by_colours(n, both_directions(edges));
  } else {
    SPTRSV_EXPECTS(kind == "half", sptrsv::errc::invalid_argument, "there is no renumbering " + kind);
  }
  return pattern_of_edges(n, edges, new_number);
}

}  // namespace sptrsv_common
