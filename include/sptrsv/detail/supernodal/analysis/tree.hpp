// SPDX-License-Identifier: Apache-2.0
// The supernodes of a plan, found on the host from the fundamental supernodes of the pattern: merged with
// their parents, cut to their widths, and numbered by levels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The fundamental supernodes: consecutive columns of which each has the structure of the one before without
/// its first row, and no other child in the tree of columns. By supernode, in the order of columns.
struct fundamental_supernodes {
  std::vector<std::int64_t> first;      ///< count + 1: the first column
  std::vector<std::int64_t> row_count;  ///< rows below the last column
  std::vector<std::int64_t> parent;     ///< the supernode that begins with the first of these rows; -1: none
  /// Whether all these rows are columns of the parent or rows below it. In a complete factor they are.
  std::vector<char> nested;

  [[nodiscard]] std::int64_t count() const { return count_of(parent); }
  /// Returns whether the pattern is that of a complete factor.
  [[nodiscard]] bool is_nested() const { return std::find(nested.begin(), nested.end(), 0) == nested.end(); }
};

/// When a supernode becomes part of its parent; see supernodal_tuning.
struct merge_limits {
  double max_padding;
  double max_narrow_padding;
  std::int64_t narrow_width;

  /// Returns whether a panel of this size may hold only `in_pattern` entries of the pattern.
  [[nodiscard]] SPTRSV_HOST_DEVICE bool allow(std::int64_t entries, std::int64_t in_pattern,
                                              std::int64_t columns) const {
    return static_cast<double>(entries - in_pattern) <=
           static_cast<double>(entries) * (columns <= narrow_width ? max_narrow_padding : max_padding);
  }
};

template <class Index>
struct merged_columns {
  Index first;          ///< first column
  Index rows;           ///< rows below the last column
  Index parent;         ///< the merged supernode of the first of these rows; -1: none
  Index parent_column;  ///< this row, as a column; -1: none
};

template <class Index>
struct merged_supernodes {
  std::vector<merged_columns<Index>> ranges;  ///< ascending
  std::vector<Index> first_descendant;        ///< by fundamental supernode: see supernodes::first_descendant
};

inline bool is_ancestor(const fundamental_supernodes& f, std::int64_t ancestor, std::int64_t node) {
  while (node >= 0 && node < ancestor) {
    node = f.parent[at(node)];
  }
  return node == ancestor;
}

/// Merges supernodes with their parents, from the leaves to the roots. A supernode is merged only if it lies
/// just before its parent and all descendants of the parent that are already in the same range, so that no
/// column moves and the descendants of a column are consecutive.
template <class Index>
merged_supernodes<Index> merge(const fundamental_supernodes& f, const merge_limits& limits) {
  struct range_of_supernodes {
    std::int64_t begin;
    std::int64_t end;      ///< one past the last one, the root of the others
    std::int64_t entries;  ///< entries of the pattern in their columns, without the diagonal
  };
  std::vector<range_of_supernodes> ranges;
  for (std::int64_t p = 0; p < f.count(); ++p) {
    const auto panel_entries = [&](std::int64_t columns) {
      return panel_row(columns + f.row_count[at(p)], columns);
    };
    range_of_supernodes range{p, p + 1, panel_entries(f.first[at(p + 1)] - f.first[at(p)])};
    while (!ranges.empty()) {
      const range_of_supernodes child = ranges.back();
      const std::int64_t parent = f.parent[at(child.end - 1)];
      const bool is_inside = parent >= range.begin && parent <= p;
      if (!is_inside || !f.nested[at(child.end - 1)] || !is_ancestor(f, parent, range.begin)) {
        break;
      }
      const std::int64_t columns = f.first[at(p + 1)] - f.first[at(child.begin)];
      if (!limits.allow(panel_entries(columns), child.entries + range.entries, columns)) {
        break;
      }
      range.begin = child.begin;
      range.entries += child.entries;
      ranges.pop_back();
    }
    ranges.push_back(range);
  }

  merged_supernodes<Index> result;
  result.first_descendant.assign(f.first.begin(), f.first.end() - 1);
  std::vector<Index> range_of;  // by fundamental supernode
  for (const range_of_supernodes& range : ranges) {
    const auto root = static_cast<std::size_t>(range.end) - 1;
    for (std::int64_t node = range.begin; node + 1 < range.end; ++node) {
      Index& of_parent = result.first_descendant[at(f.parent[at(node)])];
      of_parent = std::min(of_parent, result.first_descendant[at(node)]);
    }
    range_of.resize(root + 1, static_cast<Index>(result.ranges.size()));
    result.ranges.push_back({static_cast<Index>(f.first[at(range.begin)]),
                             static_cast<Index>(f.row_count[root]), static_cast<Index>(f.parent[root]), -1});
  }
  for (merged_columns<Index>& range : result.ranges) {
    if (range.parent >= 0) {
      range.parent_column = static_cast<Index>(f.first[at(range.parent)]);
      range.parent = range_of[at(range.parent)];
    }
  }
  return result;
}

/// The supernodes of a plan, and their tree, on the host.
template <class Index>
struct supernode_tree {
  std::vector<Index> first;               ///< by supernode, count + 1: its first column
  std::vector<Index> range_end;           ///< by supernode: one past the last column of its merged range
  std::vector<std::int64_t> rows_begin;   ///< by supernode, count + 1
  std::vector<std::int64_t> panel_begin;  ///< by supernode, count + 1
  /// By supernode: the supernode of the first row below it; -1: none. Meaningless unless `is_nested`.
  std::vector<Index> parent;
  /// Whether the pattern is that of a complete factor: supernodes need their children only.
  bool is_nested = true;

  [[nodiscard]] std::int64_t count() const { return count_of(parent); }
  // Of a supernode, or of all from s to `last`:
  [[nodiscard]] std::int64_t columns(std::int64_t s, std::int64_t last) const {
    return first[at(last) + 1] - first[at(s)];
  }
  [[nodiscard]] std::int64_t columns(std::int64_t s) const { return columns(s, s); }
  [[nodiscard]] std::int64_t rows(std::int64_t s, std::int64_t last) const {
    return rows_begin[at(last) + 1] - rows_begin[at(s)];
  }
  [[nodiscard]] std::int64_t rows(std::int64_t s) const { return rows(s, s); }
  [[nodiscard]] std::int64_t entries(std::int64_t s, std::int64_t last) const {
    return panel_begin[at(last) + 1] - panel_begin[at(s)];
  }
  [[nodiscard]] std::int64_t entries(std::int64_t s) const { return entries(s, s); }

  [[nodiscard]] supernode node(std::int64_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {first[at], columns(s), rows_begin[at], rows(s), panel_begin[at], range_end[at] - first[at], 0};
  }

  /// Returns the levels: the longest path from a leaf, or `from_roots`; all are 0 unless `is_nested`.
  [[nodiscard]] std::vector<std::int32_t> levels(bool from_roots) const {
    std::vector<std::int32_t> level(parent.size(), 0);
    if (!is_nested) {
      return level;
    }
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::size_t s = from_roots ? level.size() - 1 - i : i;
      if (parent[s] >= 0) {
        std::int32_t& above = level[at(parent[s])];
        if (from_roots) {
          level[s] = above + 1;
        } else {
          above = std::max(above, level[s] + 1);
        }
      }
    }
    return level;
  }
};

/// A supernode of a plan, as it is cut from a merged one.
template <class Index>
struct cut_supernode {
  Index first;      ///< first column
  Index range_end;  ///< see supernode_tree
  Index rows;       ///< rows below it
  Index parent;     ///< see supernode_tree
};

template <class Index>
supernode_tree<Index> tree_of(const std::vector<cut_supernode<Index>>& made, std::int64_t size,
                              bool is_nested) {
  supernode_tree<Index> tree;
  tree.is_nested = is_nested;
  const std::size_t count = made.size();
  tree.first.resize(count + 1, static_cast<Index>(size));
  tree.range_end.resize(count);
  tree.rows_begin.resize(count + 1);
  tree.panel_begin.resize(count + 1);
  tree.parent.resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    tree.first[s] = made[s].first;
    tree.range_end[s] = made[s].range_end;
    tree.parent[s] = made[s].parent;
    const std::int64_t columns =
        (s + 1 < count ? std::int64_t{made[s + 1].first} : size) - std::int64_t{made[s].first};
    tree.rows_begin[s + 1] = tree.rows_begin[s] + made[s].rows;
    tree.panel_begin[s + 1] = tree.panel_begin[s] + panel_row(columns + made[s].rows, columns);
  }
  return tree;
}

/// Cuts merged supernodes into chains of at most `max_width` columns, and before `cuts`, which ascend.
template <class Index>
supernode_tree<Index> cut(const std::vector<merged_columns<Index>>& merged, std::int64_t size, bool is_nested,
                          std::int64_t max_width, const std::vector<std::int64_t>& cuts) {
  std::vector<cut_supernode<Index>> made;
  made.reserve(merged.size() + static_cast<std::size_t>(size / max_width) + cuts.size());
  std::vector<std::size_t> first_of;  // by merged supernode, and for the end: its first supernode
  first_of.reserve(merged.size() + 1);
  auto next_cut = cuts.begin();
  for (std::size_t i = 0; i < merged.size(); ++i) {
    first_of.push_back(made.size());
    const std::int64_t end = i + 1 < merged.size() ? std::int64_t{merged[i + 1].first} : size;
    for (std::int64_t begin = merged[i].first; begin < end;) {
      next_cut = std::upper_bound(next_cut, cuts.end(), begin);
      const std::int64_t widest = std::min(end, begin + max_width);
      const std::int64_t stop = next_cut != cuts.end() ? std::min(widest, *next_cut) : widest;
      // A supernode in the middle of a range is followed by its parent. The last one gets its own below.
      made.push_back({static_cast<Index>(begin), static_cast<Index>(end),
                      static_cast<Index>(end - stop + merged[i].rows), static_cast<Index>(made.size() + 1)});
      begin = stop;
    }
  }
  first_of.push_back(made.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    Index parent = -1;
    if (merged[i].parent >= 0) {
      const auto above = static_cast<std::size_t>(merged[i].parent);
      std::size_t s = first_of[above];
      while (s + 1 < first_of[above + 1] && made[s + 1].first <= merged[i].parent_column) {
        ++s;
      }
      parent = static_cast<Index>(s);
    }
    made[first_of[i + 1] - 1].parent = parent;
  }
  return tree_of(made, size, is_nested);
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
