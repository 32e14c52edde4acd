// The supernodes of a plan, found on the host from the fundamental supernodes of the pattern: merged with
// their parents, cut to their widths, and numbered by levels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::detail::supernodal {

/// The fundamental supernodes: consecutive columns of which each has the structure of the one before without
/// its first row, and no other child in the tree of columns. By supernode, in the order of columns.
struct fundamental_supernodes {
  std::vector<std::int64_t> first;      ///< count + 1: the first column
  std::vector<std::int64_t> row_count;  ///< rows below the last column
  std::vector<std::int64_t> parent;     ///< the supernode that begins with the first of these rows; -1: none
  /// Whether all these rows are columns of the parent or rows below it. In a complete factor they are.
  std::vector<char> nested;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(parent.size()); }
  /// Returns whether the pattern is that of a complete factor.
  [[nodiscard]] bool is_nested() const { return std::find(nested.begin(), nested.end(), 0) == nested.end(); }
};

/// When a supernode becomes part of its parent; see supernodal_tuning.
struct merge_limits {
  double max_padding;
  double max_narrow_padding;
  std::int64_t narrow_width;
};

/// Fundamental supernodes that form one supernode.
struct merged_range {
  std::int64_t begin;    ///< first fundamental supernode
  std::int64_t end;      ///< one past the last one, the root of the others
  std::int64_t entries;  ///< entries of the pattern in the columns of the range, without the diagonal
};

/// The supernodes after merging.
struct merged_supernodes {
  std::vector<merged_range> ranges;            ///< ascending
  std::vector<std::int64_t> first_descendant;  ///< by fundamental supernode: see supernodes::first_descendant
};

/// Returns whether `ancestor` is `node` or an ancestor of it.
inline bool is_ancestor(const fundamental_supernodes& f, std::int64_t ancestor, std::int64_t node) {
  while (node >= 0 && node < ancestor) {
    node = f.parent[static_cast<std::size_t>(node)];
  }
  return node == ancestor;
}

/// Merges supernodes with their parents, from the leaves to the roots. A supernode is merged only if it lies
/// just before its parent and all descendants of the parent that are already in the same range, so that no
/// column moves and the descendants of a column are consecutive.
inline merged_supernodes merge(const fundamental_supernodes& f, const merge_limits& limits) {
  const auto at = [](const auto& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  merged_supernodes result;
  auto& ranges = result.ranges;
  for (std::int64_t p = 0; p < f.count(); ++p) {
    const auto panel_entries = [&](std::int64_t columns) {
      return panel_row(columns + at(f.row_count, p), columns);
    };
    merged_range range{p, p + 1, panel_entries(at(f.first, p + 1) - at(f.first, p))};
    while (!ranges.empty()) {
      const merged_range child = ranges.back();
      const std::int64_t parent = at(f.parent, child.end - 1);
      const bool is_inside = parent >= range.begin && parent <= p;
      if (!is_inside || !at(f.nested, child.end - 1) || !is_ancestor(f, parent, range.begin)) {
        break;
      }
      const std::int64_t columns = at(f.first, p + 1) - at(f.first, child.begin);
      const auto entries = static_cast<double>(panel_entries(columns));
      const double zeros = entries - static_cast<double>(child.entries + range.entries);
      if (zeros >
          entries * (columns <= limits.narrow_width ? limits.max_narrow_padding : limits.max_padding)) {
        break;
      }
      range.begin = child.begin;
      range.entries += child.entries;
      ranges.pop_back();
    }
    ranges.push_back(range);
  }

  auto& first_descendant = result.first_descendant;
  first_descendant.assign(f.first.begin(), f.first.end() - 1);
  for (const merged_range& range : ranges) {
    for (std::int64_t node = range.begin; node + 1 < range.end; ++node) {
      const auto parent = static_cast<std::size_t>(at(f.parent, node));
      first_descendant[parent] = std::min(first_descendant[parent], at(first_descendant, node));
    }
  }
  return result;
}

/// The supernodes of a plan, and their tree, on the host.
struct supernode_tree {
  std::vector<std::int64_t> first;        ///< by supernode, count + 1: its first column
  std::vector<std::int64_t> range_end;    ///< by supernode: one past the last column of its merged range
  std::vector<std::int64_t> rows_begin;   ///< by supernode, count + 1
  std::vector<std::int64_t> panel_begin;  ///< by supernode, count + 1
  /// By supernode: the supernode of the first row below it; -1: none. Meaningless unless `is_nested`.
  std::vector<std::int64_t> parent;
  bool is_nested =
      true;  ///< whether the pattern is that of a complete factor: a supernode needs its children only

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(range_end.size()); }
  [[nodiscard]] std::int64_t columns(std::int64_t s) const {
    return first[static_cast<std::size_t>(s) + 1] - first[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::int64_t rows(std::int64_t s) const {
    return rows_begin[static_cast<std::size_t>(s) + 1] - rows_begin[static_cast<std::size_t>(s)];
  }

  [[nodiscard]] supernode node(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {first[at], columns(s), rows_begin[at], rows(s), panel_begin[at], range_end[at] - first[at]};
  }

  /// Returns the level of each supernode, counted from 0: the longest path from a leaf, or, if `from_roots`,
  /// from a root. All levels are 0 unless `is_nested`.
  [[nodiscard]] std::vector<std::int64_t> levels(bool from_roots) const {
    std::vector<std::int64_t> level(static_cast<std::size_t>(count()), 0);
    if (!is_nested) {
      return level;
    }
    for (std::int64_t i = 0; i < count(); ++i) {
      const std::int64_t s = from_roots ? count() - 1 - i : i;
      const std::int64_t p = parent[static_cast<std::size_t>(s)];
      if (p >= 0) {
        const auto child = static_cast<std::size_t>(s);
        const auto above = static_cast<std::size_t>(p);
        if (from_roots) {
          level[child] = level[above] + 1;
        } else {
          level[above] = std::max(level[above], level[child] + 1);
        }
      }
    }
    return level;
  }
};

/// Cuts the merged supernodes into chains of supernodes of at most `max_width` columns, and before the
/// columns `cuts`, which ascend.
inline supernode_tree cut(const fundamental_supernodes& f, const merged_supernodes& merged,
                          std::int64_t max_width, const std::vector<std::int64_t>& cuts) {
  supernode_tree tree;
  for (auto* array : {&tree.first, &tree.range_end, &tree.rows_begin, &tree.panel_begin, &tree.parent}) {
    array->reserve(merged.ranges.size() + 1);
  }
  std::vector<std::int64_t> supernode_of(
      f.parent.size());  // by fundamental supernode: that of its first column
  tree.rows_begin.push_back(0);
  tree.panel_begin.push_back(0);
  auto next_cut = cuts.begin();
  for (const merged_range& range : merged.ranges) {
    const auto last = static_cast<std::size_t>(range.end) - 1;
    const std::int64_t end = f.first[last + 1];
    std::int64_t begin = f.first[static_cast<std::size_t>(range.begin)];
    std::int64_t fundamental = range.begin;
    while (begin < end) {
      while (next_cut != cuts.end() && *next_cut <= begin) {
        ++next_cut;
      }
      std::int64_t stop = std::min(end, begin + max_width);
      stop = next_cut != cuts.end() ? std::min(stop, *next_cut) : stop;
      const std::int64_t columns = stop - begin;
      const std::int64_t rows = end - stop + f.row_count[last];
      for (; fundamental < range.end && f.first[static_cast<std::size_t>(fundamental)] < stop;
           ++fundamental) {
        supernode_of[static_cast<std::size_t>(fundamental)] = tree.count();
      }
      tree.first.push_back(begin);
      tree.range_end.push_back(end);
      tree.rows_begin.push_back(tree.rows_begin.back() + rows);
      tree.panel_begin.push_back(tree.panel_begin.back() + panel_row(columns + rows, columns));
      // A supernode in the middle of a range is followed by its parent. The last one gets its own below.
      tree.parent.push_back(stop < end ? tree.count() : -2 - f.parent[last]);
      begin = stop;
    }
    tree.is_nested = tree.is_nested && f.nested[last] != 0;
  }
  tree.first.push_back(f.first.back());
  for (std::int64_t& parent : tree.parent) {
    if (parent < 0) {
      const std::int64_t fundamental = -2 - parent;
      parent = fundamental < 0 ? -1 : supernode_of[static_cast<std::size_t>(fundamental)];
    }
  }
  return tree;
}

}  // namespace sptrsv::detail::supernodal
