// The part of a plan that one PE carries out: its supernodes, tasks and forests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/agent.hpp"
#include "sptrsv/detail/distributed/structure.hpp"
#include "sptrsv/detail/supernodal/plan.hpp"

namespace sptrsv::detail::distributed {

/// The supernodes of a PE. Its columns are numbered in the order of C: those that it solves for, and those
/// that stand in the lists of rows of its supernodes, its *ghosts*, which other PEs solve for. A ghost is a
/// supernode of one column, without rows.
template <class Index>
struct local_structure {
  supernodal::supernode_tree<Index> tree;
  std::vector<Index> columns;           ///< by column: its number in C
  std::vector<Index> local;             ///< by column of C: its number here; -1: it has none
  std::vector<Index> rows;              ///< the lists of rows
  std::vector<Index> supernode_of;      ///< by column
  std::vector<Index> first_descendant;  ///< by column; see supernodal::supernodes
  std::vector<Index> whole;             ///< by supernode: its number in C; -1: a ghost
  std::vector<std::int32_t> level;      ///< by supernode, in the whole tree
  std::vector<char> apart;              ///< by supernode: a ghost, or a parent of supernodes of other PEs

  [[nodiscard]] bool is_ghost(std::int64_t s) const { return whole[static_cast<std::size_t>(s)] < 0; }
};

/// Makes the supernodes of PE `rank`.
template <class Index>
local_structure<Index> make_local(const structure<Index>& of, const std::vector<int>& owner, int rank) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto is_own = [&](std::int64_t s) { return owner[at(s)] == rank; };
  local_structure<Index> made;
  made.local.assign(at(of.map.size), -1);
  for (std::int64_t s = 0; s < of.tree.count(); ++s) {
    if (is_own(s)) {
      std::fill(made.local.begin() + of.first(s), made.local.begin() + of.first(s + 1), Index{0});
      for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
        made.local[at(of.row(s, t))] = 0;
      }
    }
  }
  for (std::int64_t j = 0; j < of.map.size; ++j) {
    if (made.local[at(j)] == 0) {
      made.local[at(j)] = static_cast<Index>(made.columns.size());
      made.columns.push_back(static_cast<Index>(j));
    }
  }
  auto& tree = made.tree;
  tree.is_nested = of.tree.is_nested;
  tree.first.push_back(0);
  tree.rows_begin.push_back(0);
  tree.panel_begin.push_back(0);
  const auto count = static_cast<std::int64_t>(made.columns.size());
  std::vector<Index> local_supernode(at(of.tree.count()), -1);
  for (std::int64_t j = 0; j < count;) {
    const std::int64_t s = of.supernode_at(made.columns[at(j)]);
    const bool own = is_own(s);
    const std::int64_t end = j + (own ? of.tree.columns(s) : 1);
    made.whole.push_back(own ? static_cast<Index>(s) : Index{-1});
    made.level.push_back(own ? of.level[at(s)] : 0);
    made.apart.push_back(own ? 0 : 1);
    std::int64_t range_end = end;
    if (own) {
      local_supernode[at(s)] = static_cast<Index>(made.whole.size() - 1);
      range_end = std::int64_t{made.local[at(of.range_end(s) - 1)]} + 1;
      for (std::int64_t t = 0; t < of.tree.rows(s); ++t) {
        made.rows.push_back(made.local[at(of.row(s, t))]);
      }
    }
    made.supernode_of.resize(at(end), static_cast<Index>(made.whole.size() - 1));
    tree.first.push_back(static_cast<Index>(end));
    tree.range_end.push_back(static_cast<Index>(range_end));
    tree.rows_begin.push_back(static_cast<std::int64_t>(made.rows.size()));
    tree.panel_begin.push_back(tree.panel_begin.back() + (own ? of.tree.entries(s) : 0));
    j = end;
  }
  for (std::size_t s = 0; s < made.whole.size(); ++s) {
    const auto begin = at(tree.rows_begin[s]);
    tree.parent.push_back(begin == at(tree.rows_begin[s + 1]) ? Index{-1}
                                                              : made.supernode_of[at(made.rows[begin])]);
  }
  for (const Index j : made.columns) {
    const auto descendant =
        std::lower_bound(made.columns.begin(), made.columns.end(), of.first_descendant[at(j)]);
    made.first_descendant.push_back(static_cast<Index>(descendant - made.columns.begin()));
  }
  for (std::int64_t s = 0; s < of.tree.count(); ++s) {
    if (of.tree.rows(s) > 0 && !is_own(s) && is_own(of.parent(s))) {
      made.apart[at(local_supernode[at(of.parent(s))])] = 1;
    }
  }
  return made;
}

/// Plans the tasks and forests of a PE. A ghost has none.
template <class Tuning, class Scalar, class Offset, class Index>
supernodal::host_plan plan_tasks(const local_structure<Index>& of, bool backward,
                                 const supernodal::panel_space<Tuning, Scalar>& space) {
  constexpr int strip_columns = supernodal::backward_product<Tuning, Scalar, Index, Offset, 1>::strip_columns;
  supernodal::host_plan made;
  if (of.tree.count() == 0) {
    return made;
  }
  made.forests =
      supernodal::forest_finder(of.tree, of.level, {sizeof(Scalar), backward}, space.bytes(), of.apart)
          .find();
  auto placed = made.forests;
  for (std::size_t s = 0; s < of.whole.size(); ++s) {
    placed.places[s].level = of.whole[s] < 0 ? 0 : placed.places[s].level;
  }
  made.tasks =
      supernodal::task_lister(of.tree, of.level, placed, backward,
                              {Tuning::block_threads, space.warp_entries(), space.block_entries(),
                               Tuning::block_threads, strip_columns, space.strip_rows(strip_columns)})
          .make();
  return made;
}

}  // namespace sptrsv::detail::distributed
