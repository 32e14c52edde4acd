// Other systems out of one: its graph under another numbering. A solver's time depends on the order of the
// rows as much as on the entries, so a few matrices give many systems to learn from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "orderings.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_benchmarks {

/// The new number of each vertex where blocks of `size` consecutive ones are put in random order.
inline std::vector<vertex> random_blocks(vertex n, vertex size, std::uint64_t seed) {
  const std::vector<vertex> block_at = random_permutation((n + size - 1) / size, seed);
  std::vector<vertex> place_of(static_cast<std::size_t>(n));
  vertex place = 0;
  for (const vertex block : block_at) {
    const vertex end = std::min((block + 1) * size, n);
    for (vertex v = block * size; v < end; ++v) {
      place_of[static_cast<std::size_t>(v)] = place++;
    }
  }
  return place_of;
}

/// The new number of each vertex by colour: each vertex takes the least colour that no earlier neighbour has.
/// `entries` is symmetric.
inline std::vector<vertex> by_colours(vertex n, const std::vector<entry>& entries) {
  const adjacency graph(n, entries);
  std::vector<vertex> colour(static_cast<std::size_t>(n), n);
  std::vector<vertex> taken_by(static_cast<std::size_t>(n), n);  // of a colour: the last vertex to see it
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
  std::vector<vertex> place_of(static_cast<std::size_t>(n));
  for (std::size_t v = 0; v < place_of.size(); ++v) {
    place_of[v] = first_of[static_cast<std::size_t>(colour[v])]++;
  }
  return place_of;
}

/// What renumbered() knows: the transposed system (the last row first), the leading half of the rows, all
/// rows or blocks of 256 rows in random order, reverse Cuthill-McKee, and a greedy colouring.
inline const std::vector<std::string>& renumberings() {
  static const std::vector<std::string> names{"reversed", "half", "random", "blocks", "rcm", "colours"};
  return names;
}

/// The lower triangle of L + L^T under another numbering; `lower`: L.
inline pattern renumbered(const pattern& lower, const std::string& kind) {
  const vertex n = kind == "half" ? (lower.rows() + 1) / 2 : lower.rows();
  std::vector<entry> edges;
  for (vertex i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (vertex e = lower.row_offsets[row]; e < lower.row_offsets[row + 1] - 1; ++e) {
      edges.push_back({i, lower.columns[static_cast<std::size_t>(e)]});
    }
  }
  std::vector<vertex> place_of;
  if (kind == "reversed") {
    place_of.resize(static_cast<std::size_t>(n));
    std::iota(place_of.rbegin(), place_of.rend(), 0);
  } else if (kind == "random") {
    place_of = random_permutation(n, 11);
  } else if (kind == "blocks") {
    place_of = random_blocks(n, 256, 13);
  } else if (kind == "rcm") {
    place_of = reverse_cuthill_mckee(n, both_directions(edges));
  } else if (kind == "colours") {
    place_of = by_colours(n, both_directions(edges));
  } else {
    SPTRSV_EXPECTS(kind == "half", sptrsv::errc::invalid_argument, "there is no renumbering " + kind);
  }
  return pattern_of_edges(n, edges, place_of);
}

}  // namespace sptrsv_benchmarks
