// SPDX-License-Identifier: Apache-2.0
// The model of a solve with one right-hand side: the longest path of the tree of supernodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Nanoseconds of a solve: for each supernode on the longest path of the tree, for each byte of the factor, b
/// and x, and for each supernode. Measured on one NVIDIA H200 in double; see docs/lab_log/supernodal.md.
struct path_costs {
  double level;
  double byte;
  double supernode;

  static constexpr path_costs of(bool backward) {
    return backward ? path_costs{1686, 1 / 3074.0, 0.234} : path_costs{2522, 1 / 4208.0, 0.239};
  }
};

/// Returns the path with the most supernodes, and of these that with the most bytes in its panels; one
/// without supernodes if the tree is not nested. `entries`: of the factor. `scalar_bytes`: of an entry.
template <class Index>
critical_path find_critical_path(const supernode_tree<Index>& tree, bool backward, std::int64_t entries,
                                 std::int64_t scalar_bytes) {
  critical_path longest;
  if (!tree.is_nested || tree.count() == 0) {
    return longest;
  }
  using length = std::pair<std::int64_t, std::int64_t>;  // supernodes, entries of their panels
  std::vector<length> below(
      static_cast<std::size_t>(tree.count()));  // by supernode: of a path that ends before it
  length found{};
  for (std::size_t s = 0; s < below.size(); ++s) {
    const length own{below[s].first + 1, below[s].second + tree.entries(static_cast<std::int64_t>(s))};
    found = std::max(found, own);
    if (tree.parent[s] >= 0) {
      length& above = below[at(tree.parent[s])];
      above = std::max(above, own);
    }
  }
  longest.supernodes = found.first;
  longest.bytes = found.second * scalar_bytes;
  longest.hops = found.first - 1;
  const path_costs costs = path_costs::of(backward);
  const double bytes = static_cast<double>(scalar_bytes) *
                       (static_cast<double>(entries) + 3 * static_cast<double>(tree.first.back()));
  longest.nanoseconds = costs.level * static_cast<double>(found.first) + costs.byte * bytes +
                        costs.supernode * static_cast<double>(tree.count());
  return longest;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
