// SPDX-License-Identifier: Apache-2.0
// The supernodes of a distributed system, which all PEs know: the tree and the lists of rows, but no values.
//
// The system is C x = b (forward) or C^T x = b (backward) as in supernodal/panels.hpp. Column j of C stands
// for substitution index j, or, backward, for index size - 1 - j.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/distributed/distributed_team.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Which rows of the user each PE has handed in, and which column of C stands for which row.
struct row_map {
  std::int64_t size = 0;
  std::vector<std::int64_t> first_row;  ///< by PE, count + 1
  bool mirrored = false;  ///< column j of C stands for row size - 1 - j of the user, instead of row j

  [[nodiscard]] std::int64_t row_of(std::int64_t column) const {
    return mirrored ? size - 1 - column : column;
  }
  /// Returns the PE that has handed in the row for a column of C.
  [[nodiscard]] int home(std::int64_t column) const {
    const auto after = std::upper_bound(first_row.begin(), first_row.end(), row_of(column));
    return static_cast<int>(after - first_row.begin()) - 1;
  }
  /// Returns the columns [begin, end) of C whose rows a PE has handed in.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> columns_of(int pe) const {
    const std::int64_t begin = first_row[at(pe)];
    const std::int64_t end = first_row[at(pe) + 1];
    return mirrored ? std::pair(size - end, size - begin) : std::pair(begin, end);
  }
};

/// Consecutive entries of a row or of a column of C: a list of them takes little memory.
template <class Index>
struct entry_run {
  Index row;  ///< of the first entry, as `column`
  Index column;
  Index columns;  ///< of entries of a row; 1 if they are those of a column
  Index rows;     ///< of entries of a column; 1 if they are those of a row
};

/// Appends an entry. Entries of supernodes mostly prolong the last run.
template <class Index>
void append_entry(std::vector<entry_run<Index>>& runs, Index row, Index column) {
  if (!runs.empty()) {
    entry_run<Index>& last = runs.back();
    if (row == last.row && last.rows == 1 && column == last.column + last.columns) {
      ++last.columns;
      return;
    }
    if (column == last.column && last.columns == 1 && row == last.row + last.rows) {
      ++last.rows;
      return;
    }
  }
  runs.push_back({row, column, 1, 1});
}

/// Calls use(row, column) for the entries in the order in which they were appended.
template <class Index, class Use>
void for_entries_of(const std::vector<entry_run<Index>>& runs, const Use& use) {
  for (const entry_run<Index>& run : runs) {
    for (Index i = 0; i < run.rows; ++i) {
      for (Index j = 0; j < run.columns; ++j) {
        use(static_cast<Index>(run.row + i), static_cast<Index>(run.column + j));
      }
    }
  }
}

/// Sends each entry to the PE that has the row for its column. Returns the rows of the strictly lower entries
/// of the columns of this PE, ascending. `for_entries(use)` calls use(row, column, ...) for the entries of
/// this PE. Collective.
template <class Index, class Team, class ForEntries>
vertex_lists<Index> distribute_columns(Team& team, const row_map& map, const ForEntries& for_entries) {
  const auto own = map.columns_of(team.rank());
  const std::int64_t begin = own.first;
  const std::int64_t end = own.second;
  std::vector<std::vector<entry_run<Index>>> to(at(team.size()));
  for_entries([&](Index row, Index column, auto) {
    if (row != column) {
      append_entry(to[at(column >= begin && column < end ? team.rank() : map.home(column))], row, column);
    }
  });
  const auto received = exchange_all(team, std::move(to));
  auto columns = lists_of<Index>(end - begin, [&](const auto& add) {
    for (const auto& of_pe : received) {
      for_entries_of(of_pe, [&](Index row, Index column) { add(static_cast<Index>(column - begin), row); });
    }
  });
  for (std::size_t j = 0; j + 1 < columns.offsets.size(); ++j) {
    const auto rows = columns.vertices.begin() + columns.offsets[j];
    const auto rows_end = columns.vertices.begin() + columns.offsets[j + 1];
    if (!std::is_sorted(rows, rows_end)) {
      std::sort(rows, rows_end);
    }
  }
  return columns;
}

/// Returns the elements of all PEs in the order of columns of C. Collective.
template <class T, class Team>
std::vector<T> gather_by_column(Team& team, const row_map& map, const std::vector<T>& mine) {
  auto all = gather(team, mine);
  if (map.mirrored) {
    std::reverse(all.begin(), all.end());
  }
  std::vector<T> joined;
  for (const auto& of_pe : all) {
    joined.insert(joined.end(), of_pe.begin(), of_pe.end());
  }
  return joined;
}

/// Fundamental supernodes (supernodal/analysis/tree.hpp), and the rows below the last column of each. None
/// spans the columns of two PEs.
template <class Index>
struct fundamental_lists {
  supernodal::fundamental_supernodes of;
  vertex_lists<Index> rows;  ///< by supernode
};

/// Finds the parents of supernodes whose rows are known, and which are nested.
template <class Index>
void find_parents(fundamental_lists<Index>& f) {
  const auto& first = f.of.first;
  for (std::int64_t s = 0; s < count_of(f.of.row_count); ++s) {
    std::int64_t parent = -1;
    bool nested = true;
    const Index* const begin = f.rows.begin(s);
    const Index* const end = f.rows.end(s);
    if (begin != end) {
      parent = std::upper_bound(first.begin(), first.end(), *begin) - first.begin() - 1;
      const Index* const below = std::lower_bound(begin, end, static_cast<Index>(first[at(parent) + 1]));
      nested = std::includes(f.rows.begin(parent), f.rows.end(parent), below, end);
    }
    f.of.parent.push_back(parent);
    f.of.nested.push_back(nested ? 1 : 0);
  }
}

/// Finds the fundamental supernodes of C. All PEs return all of them. `part`: see distribute_columns.
/// Collective.
template <class Index, class Team>
fundamental_lists<Index> find_fundamental(Team& team, const row_map& map, const vertex_lists<Index>& part) {
  const std::int64_t first_column = map.columns_of(team.rank()).first;
  std::vector<Index> first_rows;
  for (std::int64_t j = 0; j < part.size(); ++j) {
    first_rows.push_back(part.begin(j) == part.end(j) ? Index{-1} : *part.begin(j));
  }
  std::vector<Index> children(static_cast<std::size_t>(map.size), 0);
  for (const Index row : gather_by_column(team, map, first_rows)) {
    if (row >= 0) {
      ++children[at(row)];
    }
  }
  const auto continues = [&](std::int64_t j) {
    return j > 0 && children[at(first_column + j)] == 1 &&
           part.end(j - 1) - part.begin(j - 1) == part.end(j) - part.begin(j) + 1 &&
           *part.begin(j - 1) == first_column + j &&
           std::equal(part.begin(j), part.end(j), part.begin(j - 1) + 1);
  };
  struct begin_and_rows {
    Index first;
    Index row_count;
  };
  std::vector<begin_and_rows> mine;
  std::vector<Index> rows;
  for (std::int64_t j = 0; j < part.size(); ++j) {
    if (!continues(j)) {
      mine.push_back({static_cast<Index>(first_column + j), 0});
    }
    if (j + 1 == part.size() || !continues(j + 1)) {
      mine.back().row_count = static_cast<Index>(part.end(j) - part.begin(j));
      rows.insert(rows.end(), part.begin(j), part.end(j));
    }
  }
  fundamental_lists<Index> found;
  found.rows = {{0}, gather_by_column(team, map, rows)};
  for (const begin_and_rows& s : gather_by_column(team, map, mine)) {
    found.of.first.push_back(s.first);
    found.of.row_count.push_back(s.row_count);
    found.rows.offsets.push_back(found.rows.offsets.back() + s.row_count);
  }
  found.of.first.push_back(map.size);
  find_parents(found);
  return found;
}

/// The supernodes of the plan.
template <class Index>
struct structure {
  bool backward = false;
  row_map map;
  supernodal::supernode_tree<Index> tree;
  std::vector<Index> supernode_of;       ///< by column
  std::vector<Index> first_descendant;   ///< by column: see supernodal::supernodes
  std::vector<std::int32_t> level;       ///< by supernode: supernode_tree::levels()
  std::vector<std::int64_t> range_rows;  ///< by supernode: where the rows below its merged range begin
  std::vector<Index> rows;               ///< the rows below merged ranges

  [[nodiscard]] std::int64_t first(std::int64_t s) const { return tree.first[at(s)]; }
  [[nodiscard]] std::int64_t range_end(std::int64_t s) const { return tree.range_end[at(s)]; }
  [[nodiscard]] std::int64_t supernode_at(std::int64_t column) const { return supernode_of[at(column)]; }
  /// Returns row `t` of the list of rows of a supernode.
  [[nodiscard]] std::int64_t row(std::int64_t s, std::int64_t t) const {
    const std::int64_t in_range = range_end(s) - first(s + 1);
    return t < in_range ? first(s + 1) + t : std::int64_t{rows[at(range_rows[at(s)] + t - in_range)]};
  }
  /// Returns whether a row is in the list of a supernode.
  [[nodiscard]] bool has_row(std::int64_t s, std::int64_t row) const {
    const auto below = rows.begin() + range_rows[at(s)];
    const std::int64_t below_count = tree.rows(s) - (range_end(s) - first(s + 1));
    return row >= first(s + 1) && (tree.is_nested || row < range_end(s) ||
                                   std::binary_search(below, below + below_count, static_cast<Index>(row)));
  }
  /// Returns the supernode of the first row of the list; -1 if the list is empty.
  [[nodiscard]] std::int64_t parent(std::int64_t s) const {
    return tree.rows(s) > 0 ? supernode_at(row(s, 0)) : -1;
  }
  /// Returns the substitution index for a column of C.
  [[nodiscard]] std::int64_t substitution_index(std::int64_t column) const {
    return backward ? map.size - 1 - column : column;
  }
};

/// Merges and cuts the fundamental supernodes. `cuts`: columns before which supernodes are cut, ascending.
template <class Index>
structure<Index> make_structure(const fundamental_lists<Index>& f, const row_map& map, bool backward,
                                const supernodal::merge_limits& limits, std::int64_t max_width,
                                const std::vector<std::int64_t>& cuts) {
  structure<Index> made;
  made.backward = backward;
  made.map = map;
  const auto merged = supernodal::merge<Index>(f.of, limits);
  made.tree = supernodal::cut(merged.ranges, map.size, f.of.is_nested(), max_width, cuts);
  made.level = made.tree.levels(backward);
  std::int64_t root = 0;  // of a merged range: its last fundamental supernode
  for (std::int64_t s = 0; s < made.tree.count(); ++s) {
    made.supernode_of.resize(static_cast<std::size_t>(made.first(s + 1)), static_cast<Index>(s));
    made.range_rows.push_back(count_of(made.rows));
    if (made.first(s + 1) == made.range_end(s)) {
      while (f.of.first[at(root + 1)] < made.range_end(s)) {
        ++root;
      }
      made.rows.insert(made.rows.end(), f.rows.begin(root), f.rows.end(root));
    }
  }
  for (std::int64_t j = 0, of = 0; j < map.size; ++j) {
    of += j == f.of.first[at(of) + 1] ? 1 : 0;
    made.first_descendant.push_back(merged.first_descendant[at(of)]);
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
