// Orderings of a matrix, and the patterns of incomplete factors of the reordered matrix. IC(0) and ILU(0)
// have no fill: the factor L has the pattern of the lower triangle of the reordered matrix.
#pragma once

#include <algorithm>
#include <vector>

#include "grids.hpp"
#include "pattern.hpp"

namespace sptrsv_common {

/// The neighbours of each vertex of a graph.
class adjacency {
 public:
  adjacency(vertex n, const std::vector<entry>& entries) : offsets_(static_cast<std::size_t>(n) + 1, 0) {
    for (const entry& e : entries) {
      ++offsets_[static_cast<std::size_t>(e.row) + 1];
    }
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    neighbours_.resize(entries.size());
    std::vector<vertex> cursor(offsets_.begin(), offsets_.end() - 1);
    for (const entry& e : entries) {
      neighbours_[static_cast<std::size_t>(cursor[static_cast<std::size_t>(e.row)]++)] = e.column;
    }
  }
  [[nodiscard]] vertex vertices() const { return static_cast<vertex>(offsets_.size() - 1); }
  [[nodiscard]] vertex degree(vertex v) const {
    return offsets_[static_cast<std::size_t>(v) + 1] - offsets_[static_cast<std::size_t>(v)];
  }
  [[nodiscard]] const vertex* begin(vertex v) const {
    return neighbours_.data() + offsets_[static_cast<std::size_t>(v)];
  }
  [[nodiscard]] const vertex* end(vertex v) const { return begin(v) + degree(v); }

 private:
  std::vector<vertex> offsets_;
  std::vector<vertex> neighbours_;
};

/// Appends vertices to `order` in the order of a breadth-first search from `root` that visits neighbours by
/// degree (Cuthill and McKee 1969), and marks them in `seen`.
inline void search_breadth_first(const adjacency& graph, vertex root, std::vector<vertex>& order,
                                 std::vector<char>& seen) {
  std::size_t next = order.size();
  order.push_back(root);
  seen[static_cast<std::size_t>(root)] = 1;
  while (next < order.size()) {
    const vertex v = order[next++];
    const auto first = static_cast<std::ptrdiff_t>(order.size());
    for (const vertex* w = graph.begin(v); w != graph.end(v); ++w) {
      if (seen[static_cast<std::size_t>(*w)] == 0) {
        seen[static_cast<std::size_t>(*w)] = 1;
        order.push_back(*w);
      }
    }
    std::stable_sort(order.begin() + first, order.end(),
                     [&](vertex a, vertex b) { return graph.degree(a) < graph.degree(b); });
  }
}

/// Returns the new number of each vertex by reverse Cuthill-McKee. The search starts at the last vertex of a
/// trial search, which lies at the border of the graph. `entries` is symmetric.
inline std::vector<vertex> reverse_cuthill_mckee(vertex n, const std::vector<entry>& entries) {
  const adjacency graph(n, entries);
  std::vector<vertex> order;
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  for (vertex v = 0; v < n; ++v) {
    if (seen[static_cast<std::size_t>(v)] == 0) {
      std::vector<vertex> trial;
      std::vector<char> seen_in_trial(seen);
      search_breadth_first(graph, v, trial, seen_in_trial);
      search_breadth_first(graph, trial.back(), order, seen);
    }
  }
  std::vector<vertex> new_number(static_cast<std::size_t>(n));
  for (vertex k = 0; k < n; ++k) {
    new_number[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = n - 1 - k;
  }
  return new_number;
}

enum class ordering { natural, rcm, random };

/// Returns the new number of each vertex under an ordering; empty for the natural one.
inline std::vector<vertex> numbering(ordering kind, vertex n, const std::vector<entry>& symmetric) {
  return kind == ordering::rcm      ? reverse_cuthill_mckee(n, symmetric)
         : kind == ordering::random ? random_permutation(n, 11)
                                    : std::vector<vertex>{};
}

/// Returns L of the IC(0) of the 5-point or 7-point Laplacian.
inline pattern incomplete_cholesky_of_grid(const grid& g, ordering kind) {
  const auto entries = both_directions(star_edges(g));
  return pattern_of_entries(g.points(), entries, numbering(kind, g.points(), entries));
}

/// Returns L of the ILU(0) of an unsymmetric matrix: the 9-point stencil of a 2-D grid that keeps each entry
/// with the probability 0.7. Upwinding and dropping leave such a pattern.
inline pattern incomplete_lu_of_grid(const grid& g, ordering kind, std::uint64_t seed) {
  random_stream random(seed);
  const pattern full = box_stencil(g);
  std::vector<entry> kept;
  for (vertex i = 0; i < full.rows(); ++i) {
    for (vertex e = full.row_offsets[static_cast<std::size_t>(i)];
         e < full.row_offsets[static_cast<std::size_t>(i) + 1] - 1; ++e) {
      const vertex j = full.columns[static_cast<std::size_t>(e)];
      if (random.uniform() < 0.7) {
        kept.push_back({i, j});
      }
      if (random.uniform() < 0.7) {
        kept.push_back({j, i});
      }
    }
  }
  return pattern_of_entries(g.points(), kept, numbering(kind, g.points(), both_directions(kept)));
}

}  // namespace sptrsv_common
