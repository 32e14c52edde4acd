// Scheduling, third hierarchy: assigns the levels of nodes to launches (Hu et al. 2024, section 4.4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/papers/scheme/grouping.hpp"

namespace sptrsv::detail::schemes {

/// A launch: the groups of one or more levels.
struct node_launch {
  std::int64_t first_group;
  std::int64_t groups;
  bool waits;    ///< true: rows wait for rows of the same launch
  bool signals;  ///< true: rows of this or a later launch wait, so values must be signalled
};

/// Makes the launches. A level of more than `threshold` groups is a launch of its own; consecutive smaller
/// levels share one launch. Rows of one level do not wait for one another unless they are in one node.
template <class Index>
std::vector<node_launch> make_launches(const grouped_nodes<Index>& groups, double threshold) {
  std::vector<node_launch> made;
  bool open = false;  // true: the last launch takes further levels
  for (std::size_t level = 0; level + 1 < groups.level_offsets.size(); ++level) {
    const std::int64_t first = groups.level_offsets[level];
    const std::int64_t count = groups.level_offsets[level + 1] - first;
    const bool alone = static_cast<double>(count) > threshold;
    if (open && !alone) {
      made.back().groups += count;
      made.back().waits = true;
    } else {
      made.push_back({first, count, groups.level_inner[level] != 0, false});
    }
    open = !alone;
  }
  bool later_waits = false;
  for (auto launch = made.rbegin(); launch != made.rend(); ++launch) {
    later_waits = later_waits || launch->waits;
    launch->signals = later_waits;
  }
  return made;
}

}  // namespace sptrsv::detail::schemes
