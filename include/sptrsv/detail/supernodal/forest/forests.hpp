// SPDX-License-Identifier: Apache-2.0
// Forests: parts of the tree of supernodes that one thread block solves by itself, in shared memory.
//
// A forest is a run of consecutive supernodes that consists of whole subtrees. So its rows are its own
// columns and the rows below its roots. They have local numbers: first the columns, then the outside rows,
// which are those below the first root, below the second root, and so on. A forest is solved level by level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Where a forest stands in the arrays of a plan.
struct forest {
  std::int64_t first;       ///< first column
  std::int64_t panels;      ///< where its panels begin
  std::int64_t rows_begin;  ///< where its lists of rows begin among all lists
  std::int64_t items;       ///< where its products (forward) or columns (backward) begin
  std::int64_t outside;     ///< where its outside rows begin
  std::int64_t levels;      ///< where the beginnings of its levels begin
  /// Forward: how many contributions to sums come before those to its outside rows; see contribution_lists.
  std::int64_t contributions;
  // Backward, where they begin among those of all forests:
  std::int64_t nodes;       ///< its supernodes
  std::int64_t local_rows;  ///< its lists of rows, in local numbers
  std::int32_t columns;
  std::int32_t entries;        ///< in its panels
  std::int32_t rows;           ///< in its lists of rows
  std::int32_t outside_count;  ///< of outside rows
  std::int32_t level_count;    ///< forward, the last level has the rows of the diagonal blocks
  std::int32_t node_count;     ///< of supernodes
};

/// Forward: a row of a panel, in local numbers. Its product with the components of its supernode is added to
/// component `row`, or, in a diagonal block, completes it.
struct alignas(8) forest_product {
  static constexpr std::uint16_t is_last = 0x8000;     ///< no later product is added to this component
  static constexpr std::uint16_t is_guarded = 0x4000;  ///< entries may be zero by structure
  static constexpr std::uint16_t count_mask = 0x3fff;

  std::uint16_t row;
  std::uint16_t entry;   ///< its first entry in the panels of the forest
  std::uint16_t column;  ///< first component that it is multiplied with
  std::uint16_t count;   ///< number of entries, and flags
};

/// Backward: a column, in local numbers.
struct alignas(4) forest_column {
  std::uint16_t column;
  std::uint16_t node;  ///< its supernode
};

/// Backward: a supernode of a forest, in local numbers.
struct alignas(16) forest_node {
  std::uint16_t first;    ///< first column
  std::uint16_t columns;  ///< number of columns
  std::uint16_t panel;    ///< first entry of its panel
  std::uint16_t list;     ///< where its rows begin in the lists of the forest
  std::uint16_t rows;     ///< number of these rows
  std::uint16_t guarded;  ///< the entries of this many of them may be zero by structure
  std::uint16_t unused[2];
};

template <class Offset>
struct forests_view {
  forest* forests;
  std::int64_t count;
  forest_product* products;   ///< forward: by item, in the order of levels and rows
  forest_column* columns;     ///< backward: by item, in the order of levels
  forest_node* nodes;         ///< backward: by supernode
  std::uint16_t* local_rows;  ///< backward: by row of the lists of rows of forests
  std::int32_t* level_begin;  ///< by level: its first item, counted from that of the forest
  Offset* outside_rows;       ///< by outside row: its number in the lists of rows
};

/// The shared memory of a forest: its arrays one after the other.
struct forest_space {
  static constexpr std::int64_t slack = 32;  ///< of a copy; see copy_panel
  /// Largest local number, so that it fits beside the flags of forest_product.
  static constexpr std::int64_t max_count = forest_product::count_mask;

  std::int64_t scalar_bytes;
  bool backward;

  /// Returns the number of copies that fill a part of it, each with a word for copy_bulk.
  SPTRSV_HOST_DEVICE static constexpr int arrivals(bool backward) { return backward ? 4 : 2; }
  [[nodiscard]] SPTRSV_HOST_DEVICE static constexpr std::int64_t aligned(std::int64_t bytes) {
    return (bytes + 15) / 16 * 16;
  }
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t panels(std::int64_t entries) const {
    return aligned(entries * scalar_bytes + slack);
  }
  /// Products or columns.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t items(std::int64_t columns, std::int64_t rows) const {
    return aligned(slack + (backward ? columns * static_cast<std::int64_t>(sizeof(forest_column))
                                     : (columns + rows) * static_cast<std::int64_t>(sizeof(forest_product))));
  }
  /// Backward: the supernodes.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t nodes(std::int64_t count) const {
    return backward ? aligned(slack + count * static_cast<std::int64_t>(sizeof(forest_node))) : 0;
  }
  /// Backward: the lists of rows, in local numbers.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t lists(std::int64_t rows) const {
    return backward ? aligned(slack + rows * static_cast<std::int64_t>(sizeof(std::uint16_t))) : 0;
  }
  /// Components, reciprocals of pivots, and backward the right-hand side.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t components(std::int64_t columns, std::int64_t outside) const {
    return aligned(((backward ? 3 : 2) * columns + outside) * scalar_bytes);
  }
  /// The beginnings of levels, and the end.
  [[nodiscard]] SPTRSV_HOST_DEVICE static constexpr std::int64_t levels(std::int64_t count) {
    return (count + 1) * static_cast<std::int64_t>(sizeof(std::int32_t));
  }
};

/// The position of a supernode in its forest.
struct forest_place {
  std::int32_t level = -1;  ///< -1: it is in no forest
  std::int32_t root = -1;   ///< the root of its tree in the forest
  /// Of a root: local number of the first row below it. In no forest: how many forests come after it.
  std::int32_t outside = 0;
};

struct forest_list {
  std::vector<forest> forests;       ///< ascending
  std::vector<forest_place> places;  ///< by supernode
  std::int64_t outside_rows = 0;     ///< outside rows of all forests
  std::int64_t items = 0;            ///< products or columns of all forests
  std::int64_t levels = 0;           ///< beginnings of levels of all forests
  std::int64_t rows = 0;             ///< rows in the lists of rows of all forests
  std::int64_t nodes = 0;            ///< supernodes of all forests

  /// Returns how many products come before a supernode in no forest, forward: columns and rows of forests.
  [[nodiscard]] std::int64_t items_before(std::int64_t s) const {
    const auto after = static_cast<std::size_t>(places[at(s)].outside);
    return after == 0 ? items : forests[forests.size() - after].items;
  }
};

/// Chooses the forests of a nested tree: the largest subtrees that fit shared memory, neighbours together.
template <class Index>
class forest_finder {
 public:
  /// `level`: supernode_tree::levels(), from the roots if the space is that of a backward solve. `apart`: by
  /// supernode, whether no forest may contain it; empty: no supernode.
  forest_finder(const supernode_tree<Index>& tree, const std::vector<std::int32_t>& level,
                const forest_space& space, std::int64_t bytes, const std::vector<char>& apart = {})
      : tree_(tree), level_(level), space_(space), bytes_(bytes), apart_(apart) {}

  forest_list find() {
    list_.places.resize(static_cast<std::size_t>(tree_.count()));
    if (tree_.is_nested && bytes_ > 0) {
      find_subtrees();
      for (std::int64_t last = tree_.count() - 1; last >= 0;) {
        last = take_forest(last);
      }
      std::reverse(list_.forests.begin(), list_.forests.end());
      number();
    }
    return std::move(list_);
  }

 private:
  /// Finds the first supernode of each subtree.
  void find_subtrees() {
    subtree_size_.assign(list_.places.size(), 1);
    apart_.resize(subtree_size_.size(), 0);
    subtree_begin_.resize(list_.places.size());
    std::iota(subtree_begin_.begin(), subtree_begin_.end(), Index{0});
    for (std::size_t s = 0; s < subtree_size_.size(); ++s) {
      if (tree_.parent[s] >= 0) {
        const auto above = static_cast<std::size_t>(tree_.parent[s]);
        subtree_begin_[above] = std::min(subtree_begin_[above], subtree_begin_[s]);
        subtree_size_[above] += subtree_size_[s];
        apart_[above] = static_cast<char>(apart_[above] | apart_[s]);
      }
    }
  }

  /// Makes the forest that ends with supernode `last`, if it fits. Returns the supernode before it.
  std::int64_t take_forest(std::int64_t last) {
    std::int64_t first = last + 1;
    std::int64_t outside = 0;
    roots_.clear();
    while (first > 0 && is_subtree(first - 1) &&
           fits(subtree_begin_[at(first - 1)], last, outside + tree_.rows(first - 1))) {
      roots_.push_back(first - 1);
      outside += tree_.rows(first - 1);
      first = subtree_begin_[at(first - 1)];
    }
    if (first > last) {
      list_.places[at(last)].outside = static_cast<std::int32_t>(list_.forests.size());
      return last - 1;
    }
    forest made{};
    made.first = tree_.first[at(first)];
    made.panels = tree_.panel_begin[at(first)];
    made.rows_begin = tree_.rows_begin[at(first)];
    made.columns = static_cast<std::int32_t>(tree_.columns(first, last));
    made.entries = static_cast<std::int32_t>(tree_.entries(first, last));
    made.rows = static_cast<std::int32_t>(tree_.rows(first, last));
    made.outside_count = static_cast<std::int32_t>(outside);
    made.node_count = static_cast<std::int32_t>(last - first + 1);
    std::int32_t local = made.columns;
    for (auto root = roots_.rbegin(); root != roots_.rend(); ++root) {
      const std::int32_t level_of_root = space_.backward ? level_[at(*root)] : 0;
      for (std::int64_t s = subtree_begin_[at(*root)]; s <= *root; ++s) {
        const std::int32_t level = level_[at(s)] - level_of_root;
        list_.places[at(s)] = {level, static_cast<std::int32_t>(*root), local};
        made.level_count = std::max(made.level_count, level + 1);
      }
      local += static_cast<std::int32_t>(tree_.rows(*root));
    }
    made.level_count += space_.backward ? 0 : 1;
    list_.forests.push_back(made);
    return first - 1;
  }

  /// Returns whether its descendants are those just before it, and a forest may contain them all.
  [[nodiscard]] bool is_subtree(std::int64_t s) const {
    return apart_[at(s)] == 0 && subtree_size_[at(s)] == s - subtree_begin_[at(s)] + 1;
  }
  [[nodiscard]] bool fits(std::int64_t first, std::int64_t last, std::int64_t outside) const {
    constexpr std::int64_t most = forest_space::max_count;
    const std::int64_t m = tree_.columns(first, last);
    const std::int64_t rows = tree_.rows(first, last);
    const std::int64_t entries = tree_.entries(first, last);
    const std::int64_t nodes = last - first + 1;  // and at most one level more
    return m + outside <= most && m + rows <= most && entries <= most && nodes < most &&
           space_.panels(entries) + space_.items(m, rows) + space_.nodes(nodes) + space_.lists(rows) +
                   space_.components(m, outside) + forest_space::levels(nodes + 1) <=
               bytes_;
  }

  /// Places the arrays of the forests one after the other.
  void number() {
    for (forest& f : list_.forests) {
      f.items = list_.items;
      f.levels = list_.levels;
      f.outside = list_.outside_rows;
      f.contributions = f.rows_begin - list_.rows + f.outside;
      f.nodes = list_.nodes;
      f.local_rows = list_.rows;
      list_.rows += f.rows;
      list_.nodes += f.node_count;
      list_.items += f.columns + (space_.backward ? 0 : f.rows);
      list_.levels += f.level_count + 1;
      list_.outside_rows += f.outside_count;
    }
  }

  const supernode_tree<Index>& tree_;
  const std::vector<std::int32_t>& level_;
  forest_space space_;
  std::int64_t bytes_;
  std::vector<char> apart_;  ///< by supernode: whether its subtree has one that no forest may contain
  std::vector<Index> subtree_begin_;  ///< by supernode: the first one of its subtree
  std::vector<Index> subtree_size_;   ///< by supernode: supernodes in its subtree
  std::vector<std::int64_t> roots_;   ///< of the forest that is made, the last one first
  forest_list list_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
