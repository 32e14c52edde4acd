// SPDX-License-Identifier: Apache-2.0
// Lists of vertices: the edges of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Lists of vertices, one for each vertex of a graph.
template <class Index, class Offset = std::int64_t>
struct vertex_lists {
  std::vector<Offset> offsets;  ///< by vertex: begin of its list; one more than vertices
  std::vector<Index> vertices;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  [[nodiscard]] const Index* begin(std::int64_t v) const { return vertices.data() + offsets[at(v)]; }
  [[nodiscard]] const Index* end(std::int64_t v) const { return begin(v + 1); }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return end(v) - begin(v); }
};

/// Returns the lists that `visit` describes: it calls its argument with (vertex, element) for each element,
/// in the order of each list, and it is called twice.
template <class Index, class Offset = std::int64_t, class Visit>
vertex_lists<Index, Offset> lists_of(std::int64_t size, const Visit& visit) {
  vertex_lists<Index, Offset> made;
  made.offsets.assign(at(size) + 1, Offset{0});
  visit([&](auto v, Index) { ++made.offsets[at(v) + 1]; });
  std::partial_sum(made.offsets.begin(), made.offsets.end(), made.offsets.begin());
  made.vertices.resize(at(made.offsets.back()));
  std::vector<Offset> next(made.offsets.begin(), made.offsets.end() - 1);
  visit([&](auto v, Index element) { made.vertices[at(next[at(v)]++)] = element; });
  return made;
}

/// Sorts entries by a key in [0, groups) with a stable counting sort. Writes the offsets of the groups, and
/// returns the entries in the sorted order.
template <class Offset, class Index>
std::vector<Offset> group_entries(const Index* keys, std::size_t entries, std::int64_t groups,
                                  std::vector<Offset>& offsets) {
  auto lists = lists_of<Offset, Offset>(groups, [&](const auto& add) {
    for (std::size_t e = 0; e < entries; ++e) {
      add(keys[e], static_cast<Offset>(e));
    }
  });
  offsets = std::move(lists.offsets);
  return std::move(lists.vertices);
}

/// Returns the entries of a stored matrix off the diagonal for which is_used(major, minor) is true, and their
/// reverses: the edges of an undirected graph, in which an edge may be twice.
template <class Index, class Offset, class Pattern, class IsUsed>
vertex_lists<Index, Offset> undirected_edges(const Pattern& a, const IsUsed& is_used) {
  return lists_of<Index, Offset>(a.size, [&](const auto& add) {
    for (std::int64_t m = 0; m < a.size; ++m) {
      for (auto e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
        if (a.indices[e] != m && is_used(m, a.indices[e])) {
          add(static_cast<Index>(m), a.indices[e]);
          add(a.indices[e], static_cast<Index>(m));
        }
      }
    }
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail
