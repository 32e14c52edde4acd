// The plan of a distributed solve: supernodes, which PE owns which block, the trees, and the tasks of a PE.
//
// All PEs know the supernodes and which blocks of them have entries. Each PE holds the entries of its own
// blocks only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/team.hpp"
#include "sptrsv/detail/distributed/trees.hpp"

namespace sptrsv::detail::distributed {

/// An entry of the lower triangular system, by substitution index, and where its value comes from.
struct entry {
  std::int64_t row;
  std::int64_t column;
  std::int64_t source;  ///< index of the entry in the local part of PE `pe`
  std::int64_t pe;
};

inline bool is_before(const entry& a, const entry& b) {
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

/// A block of rows of supernode `row` and columns of supernode `column`.
struct block_index {
  std::int64_t row;
  std::int64_t column;
  std::int64_t entries;
};

/// The grid of PEs over which blocks are dealt cyclically.
struct pe_grid {
  int rows = 0;
  int columns = 0;

  /// Returns the PE that owns a block.
  [[nodiscard]] int owner(std::int64_t row, std::int64_t column) const {
    return static_cast<int>(row % rows) * columns + static_cast<int>(column % columns);
  }
};

/// The part of the plan that all PEs know.
struct shared_plan {
  pe_grid grid;
  std::int64_t size = 0;
  std::vector<std::int64_t> first_row;  ///< by PE, count + 1: its first row of the user's numbering
  bool reversed = false;                ///< substitution index p is row size - 1 - p of the user
  std::vector<std::int64_t> first;      ///< by supernode, count + 1: its first column
  std::vector<std::int64_t> supernode;  ///< by column
  std::vector<pe_tree> column_trees;    ///< by supernode: who needs its x; the root solves it
  std::vector<pe_tree> row_trees;       ///< by supernode: who sums for its rows; the root solves them
  std::vector<std::int64_t> level;      ///< by supernode
  std::int64_t levels = 0;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(first.size()) - 1; }
  /// Returns the row of the user for a substitution index.
  [[nodiscard]] std::int64_t row_of(std::int64_t index) const { return reversed ? size - 1 - index : index; }
  /// Returns the PE that has handed in a row.
  [[nodiscard]] int home(std::int64_t index) const {
    const auto after = std::upper_bound(first_row.begin(), first_row.end(), row_of(index));
    return static_cast<int>(after - first_row.begin()) - 1;
  }
  [[nodiscard]] std::int64_t supernode_of(std::int64_t index) const {
    return supernode[static_cast<std::size_t>(index)];
  }
  /// Takes the supernodes: their first columns, and the end.
  void set_supernodes(std::vector<std::int64_t> first_columns) {
    first = std::move(first_columns);
    supernode.clear();
    for (std::int64_t s = 0; s < count(); ++s) {
      supernode.resize(static_cast<std::size_t>(first[static_cast<std::size_t>(s) + 1]), s);
    }
  }
};

/// Sends each entry to the PE that target(entry) names. Returns those of this PE, sorted. Collective.
template <class Team, class Target>
std::vector<entry> distribute(Team& team, const std::vector<entry>& entries, const Target& target) {
  std::vector<std::vector<entry>> to(static_cast<std::size_t>(team.size()));
  for (const entry& e : entries) {
    to[static_cast<std::size_t>(target(e))].push_back(e);
  }
  std::vector<entry> mine;
  for (const auto& received : exchange_all(team, to)) {
    mine.insert(mine.end(), received.begin(), received.end());
  }
  std::sort(mine.begin(), mine.end(), is_before);
  return mine;
}

/// Finds the supernodes: at most `max_width` consecutive columns with entries in the same rows below them,
/// and full in their own rows. `rows`: all entries of the rows of this PE, sorted. Collective.
template <class Team>
std::vector<std::int64_t> find_supernodes(Team& team, std::int64_t size, const std::vector<entry>& rows,
                                          std::int64_t max_width) {
  // 1 by column: all rows of this PE have both this column and the next one, or neither.
  std::vector<unsigned char> joins(static_cast<std::size_t>(size), 1);
  const auto split = [&](std::int64_t column) {
    if (column >= 0) {
      joins[static_cast<std::size_t>(column)] = 0;
    }
  };
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const entry& here = rows[e];
    if (here.column == here.row) {
      continue;
    }
    if (e == 0 || rows[e - 1].row != here.row || rows[e - 1].column != here.column - 1) {
      split(here.column - 1);
    }
    const bool has_next =
        e + 1 < rows.size() && rows[e + 1].row == here.row && rows[e + 1].column == here.column + 1;
    if (!has_next && here.column + 1 < here.row) {
      split(here.column);
    }
  }
  // A row joins its column to the column before only if it has that entry.
  std::vector<std::int64_t> linked;
  for (const entry& e : rows) {
    if (e.column == e.row - 1) {
      linked.push_back(e.column);
    }
  }
  std::vector<unsigned char> has_link(static_cast<std::size_t>(size), 0);
  for (const auto& of_pe : gather(team, linked)) {
    for (const std::int64_t column : of_pe) {
      has_link[static_cast<std::size_t>(column)] = 1;
    }
  }
  for (const auto& of_pe : gather(team, joins)) {
    for (std::size_t j = 0; j < joins.size(); ++j) {
      joins[j] = joins[j] & of_pe[j];
    }
  }
  std::vector<std::int64_t> first;
  for (std::int64_t j = 0; j < size; ++j) {
    const auto before = static_cast<std::size_t>(j - 1);
    if (j == 0 || joins[before] == 0 || has_link[before] == 0 || j - first.back() == max_width) {
      first.push_back(j);
    }
  }
  first.push_back(size);
  return first;
}

/// Returns the blocks of all PEs that have entries, without the diagonal blocks: sorted by row, then by
/// column. `rows`: entries of the rows of this PE. Collective.
template <class Team>
std::vector<block_index> find_blocks(Team& team, const shared_plan& plan, const std::vector<entry>& rows) {
  std::vector<block_index> mine;
  std::vector<std::size_t> place(static_cast<std::size_t>(plan.count()), 0);  // by column: where in `mine`
  std::size_t begin = 0;  // of the blocks of the supernode of the row
  for (const entry& e : rows) {
    const std::int64_t row = plan.supernode_of(e.row);
    const std::int64_t column = plan.supernode_of(e.column);
    if (row == column) {
      continue;
    }
    if (begin < mine.size() && mine[begin].row != row) {
      begin = mine.size();
    }
    std::size_t& at = place[static_cast<std::size_t>(column)];
    if (at < begin || at >= mine.size() || mine[at].column != column) {
      at = mine.size();
      mine.push_back({row, column, 0});
    }
    ++mine[at].entries;
  }
  std::vector<block_index> found;
  for (const auto& of_pe : gather(team, mine)) {
    found.insert(found.end(), of_pe.begin(), of_pe.end());
  }
  std::sort(found.begin(), found.end(), [](const block_index& a, const block_index& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  std::vector<block_index> all;
  for (const block_index& b : found) {
    if (!all.empty() && all.back().row == b.row && all.back().column == b.column) {
      all.back().entries += b.entries;
    } else {
      all.push_back(b);
    }
  }
  return all;
}

/// Finds the levels of the supernodes.
inline void find_levels(shared_plan& plan, const std::vector<block_index>& blocks) {
  plan.level.assign(static_cast<std::size_t>(plan.count()), 0);
  for (const block_index& b : blocks) {
    std::int64_t& level = plan.level[static_cast<std::size_t>(b.row)];
    level = std::max(level, plan.level[static_cast<std::size_t>(b.column)] + 1);
  }
  plan.levels = plan.count() == 0 ? 0 : *std::max_element(plan.level.begin(), plan.level.end()) + 1;
}

/// Makes the trees for the grid of the plan.
inline void make_trees(shared_plan& plan, const std::vector<block_index>& blocks, int flat_tree) {
  const auto count = static_cast<std::size_t>(plan.count());
  std::vector<std::set<int>> needs(count);
  std::vector<std::set<int>> sums(count);
  for (const block_index& b : blocks) {
    const int owner = plan.grid.owner(b.row, b.column);
    needs[static_cast<std::size_t>(b.column)].insert(owner);
    sums[static_cast<std::size_t>(b.row)].insert(owner);
  }
  plan.column_trees.clear();
  plan.row_trees.clear();
  for (std::size_t s = 0; s < count; ++s) {
    for (std::int64_t i = plan.first[s]; i < plan.first[s + 1]; ++i) {
      needs[s].insert(plan.home(i));
    }
    const int root = plan.grid.owner(static_cast<std::int64_t>(s), static_cast<std::int64_t>(s));
    const auto tree_of = [&](std::set<int>& members) {
      members.erase(root);
      return pe_tree(root, std::vector<int>(members.begin(), members.end()), flat_tree);
    };
    plan.column_trees.push_back(tree_of(needs[s]));
    plan.row_trees.push_back(tree_of(sums[s]));
  }
}

}  // namespace sptrsv::detail::distributed
