// SPDX-License-Identifier: Apache-2.0
// The part of a plan that one PE carries out: its supernodes, tasks and forests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/distributed_agent.hpp"
#include "sptrsv/detail/distributed/supernodes/owners.hpp"
#include "sptrsv/detail/supernodal/supernodal_plan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// The supernodes of a PE: those that it solves for, and its *shares* of panels whose columns another PE
/// solves for. Its columns are numbered in the order of supernodes of C: those of a supernode or share, then
/// the *ghosts* among them, which stand in the lists of rows of other supernodes here, and which another PE
/// solves for. A ghost is a supernode of one column, without rows. The columns of the merged range of a
/// supernode follow it without gaps, because kernels look up its first descendants there. Where a share of
/// another panel would stand between them, they follow as *copies*, which are ghosts that no list names.
template <class Index>
struct local_structure {
  supernodal::supernode_tree<Index> tree;
  std::vector<Index> columns;  ///< by column: its number in C
  /// By column of C: its number here, but not among the columns of a share; -1: it has none.
  std::vector<Index> local;
  std::vector<Index> here;          ///< by supernode of C: its number here, also of a share; -1: it has none
  std::vector<Index> rows;          ///< the lists of rows
  std::vector<Index> supernode_of;  ///< by column
  std::vector<Index> first_descendant;  ///< by column; see supernodal::supernodes
  std::vector<Index> whole;             ///< by supernode: its number in C; -1: a ghost
  std::vector<std::int32_t> level;      ///< by supernode, in the whole tree
  std::vector<std::int32_t> step;       ///< by supernode: of its tasks; see task_order
  /// By supernode: whether no forest may contain it: a ghost, one whose panel is divided, or a parent of
  /// supernodes of other PEs.
  std::vector<char> apart;
  std::vector<char> is_share;  ///< by supernode

  [[nodiscard]] bool is_ghost(std::int64_t s) const { return whole[at(s)] < 0; }
  /// Returns whether lists of rows may name a ghost: it is not a copy.
  [[nodiscard]] bool is_named(std::int64_t ghost) const {
    const auto column = static_cast<std::size_t>(tree.first[at(ghost)]);
    return static_cast<std::size_t>(local[at(columns[column])]) == column;
  }
  /// Returns the number here of a column of supernode `s` of C, which is a supernode or share of this PE.
  [[nodiscard]] std::int64_t column_here(const structure<Index>& of, std::int64_t s,
                                         std::int64_t column) const {
    const auto local_s = static_cast<std::size_t>(here[at(s)]);
    return tree.first[local_s] + column - of.first(s);
  }
  /// Returns where a column stands in the list of rows of a supernode: often at `near` or beside it.
  [[nodiscard]] std::int64_t find_row_near(std::int64_t s, std::int64_t column, std::int64_t near) const {
    const auto begin = rows.begin() + tree.rows_begin[at(s)];
    for (const std::int64_t t : {near, near + 1, near - 1}) {
      if (t >= 0 && t < tree.rows(s) && begin[t] == column) {
        return t;
      }
    }
    return std::lower_bound(begin, begin + tree.rows(s), static_cast<Index>(column)) - begin;
  }
};

/// Makes the supernodes and shares of PE `rank`.
template <class Index>
class local_maker {
 public:
  local_maker(const structure<Index>& of, const ownership& owners, int rank)
      : of_(of), owners_(owners.panels), order_(owners.order(of)), tree_(owners.tree), rank_(rank) {}

  local_structure<Index> make() {
    number_columns();
    list_rows();
    find_descendants();
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const std::int64_t above = of_.parent(s);
      if (above >= 0 && made_.here[at(above)] >= 0 &&
          (owners_.solver[at(s)] != rank_ || owners_.is_divided(s))) {
        made_.apart[at(made_.here[at(above)])] = 1;
      }
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is_own_row(std::int64_t s, std::int64_t row) const {
    return owners_.of_rows(s, of_.supernode_at(row)) == rank_;
  }

  void number_columns() {
    made_.local.assign(at(of_.map.size), -1);
    made_.here.assign(at(of_.tree.count()), -1);
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      const std::int64_t number = sharer_number(owners_, s, rank_);
      made_.here[at(s)] = number < 0 ? -1 : 0;
      if (number == 0) {
        std::fill(made_.local.begin() + of_.first(s), made_.local.begin() + of_.first(s + 1), Index{0});
      }
      for (std::int64_t t = 0; number >= 0 && t < of_.tree.rows(s); ++t) {
        if (is_own_row(s, of_.row(s, t))) {
          made_.local[at(of_.row(s, t))] = 0;
        }
      }
    }
    for (std::int64_t s = 0; s < of_.tree.count(); ++s) {
      begin_.push_back(static_cast<Index>(made_.columns.size()));
      const bool solves = owners_.solver[at(s)] == rank_;
      if (made_.here[at(s)] == 0) {
        made_.here[at(s)] = static_cast<Index>(made_.whole.size());
        for (std::int64_t j = of_.first(s); j < of_.first(s + 1); ++j) {
          made_.local[at(j)] = solves ? static_cast<Index>(made_.columns.size()) : made_.local[at(j)];
          made_.columns.push_back(static_cast<Index>(j));
        }
        add(s, solves);
        copy_range(s);
      }
      for (std::int64_t j = of_.first(s); !solves && j < of_.first(s + 1); ++j) {
        if (made_.local[at(j)] == 0) {
          made_.local[at(j)] = static_cast<Index>(made_.columns.size());
          made_.columns.push_back(static_cast<Index>(j));
          add(-1, false);
        }
      }
    }
  }
  /// Adds a supernode with the columns that have been added last; `s` < 0: a ghost.
  void add(std::int64_t s, bool solves) {
    const auto end = static_cast<Index>(made_.columns.size());
    supernodes_.push_back({static_cast<Index>(made_.supernode_of.size()), end, 0, -1});
    made_.supernode_of.resize(made_.columns.size(), static_cast<Index>(made_.whole.size()));
    made_.whole.push_back(static_cast<Index>(s));
    made_.is_share.push_back(s >= 0 && !solves ? 1 : 0);
    made_.apart.push_back(s < 0 || owners_.is_divided(s) ? 1 : 0);
    made_.level.push_back(s >= 0 ? of_.level[at(s)] : 0);
    std::int32_t depth = 0;
    if (s >= 0 && !solves) {
      const auto sharers = static_cast<std::int64_t>(owners_.sharers_of(s).size());
      depth = message_tree::of(tree_, sharers).depth(sharer_number(owners_, s, rank_));
    }
    made_.step.push_back(s >= 0 && of_.tree.is_nested ? order_.of_tasks(of_.level[at(s)], depth) : 0);
  }

  /// Adds copies of the rows of supernode `s` that are columns of its merged range.
  void copy_range(std::int64_t s) {
    if (!owners_.is_divided(of_.supernode_at(of_.range_end(s) - 1))) {
      return;
    }
    for (std::int64_t row = of_.first(s + 1); row < of_.range_end(s); ++row) {
      if (is_own_row(s, row)) {
        made_.columns.push_back(static_cast<Index>(row));
        add(-1, false);
      }
    }
  }

  void list_rows() {
    for (std::size_t s = 0; s < supernodes_.size(); ++s) {
      const std::int64_t whole = made_.whole[s];
      const auto begin = made_.rows.size();
      supernodal::cut_supernode<Index>& node = supernodes_[s];
      for (std::int64_t t = 0; whole >= 0 && t < of_.tree.rows(whole); ++t) {
        const std::int64_t row = of_.row(whole, t);
        if (is_own_row(whole, row)) {
          made_.rows.push_back(made_.local[at(row)]);
          node.range_end = static_cast<Index>(node.range_end + (row < of_.range_end(whole) ? 1 : 0));
        }
      }
      node.rows = static_cast<Index>(made_.rows.size() - begin);
      node.parent = node.rows == 0 ? Index{-1} : made_.supernode_of[at(made_.rows[begin])];
    }
    made_.tree = supernodal::tree_of(supernodes_, count_of(made_.columns), of_.tree.is_nested);
  }

  void find_descendants() {
    for (const Index j : made_.columns) {
      const std::int64_t descendant = of_.first_descendant[at(j)];
      const std::int64_t s = of_.supernode_at(descendant);
      const bool is_here = made_.here[at(s)] >= 0;
      made_.first_descendant.push_back(is_here ? static_cast<Index>(made_.column_here(of_, s, descendant))
                                               : begin_[at(s)]);
    }
  }

  const structure<Index>& of_;
  const panel_owners& owners_;
  task_order order_;
  pe_tree tree_;
  int rank_;
  std::vector<Index> begin_;  ///< by supernode of C: where its columns begin here
  std::vector<supernodal::cut_supernode<Index>> supernodes_;  ///< of this PE
  local_structure<Index> made_;
};

/// Plans the tasks and forests of a PE. A ghost has none.
template <class Tuning, class Scalar, class Index>
supernodal::host_plan plan_tasks(const local_structure<Index>& of, bool backward,
                                 const supernodal::panel_space<Tuning, Scalar>& space) {
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
      supernodal::task_lister(of.tree, of.step, placed, backward, space.limits(), of.is_share).make();
  return made;
}

/// The messages that a PE sends and receives in one solve.
template <class Offset>
struct message_plan {
  /// Number of values that a buffer holds for each right-hand side: first the values of this PE's own blocks,
  /// then those that it receives.
  std::int64_t values = 0;
  std::vector<std::int64_t> received;  ///< indices of what others send
  std::vector<std::int64_t> row_at;    ///< by column: its row here, or -1 - the number of a guest
  std::vector<std::int64_t> guests;    ///< as pe_params::guests
  std::vector<message_range> sent;     ///< by row or column, as pe_params::sent; empty if nothing is sent
  std::vector<message> messages;       ///< by guest that of x, and then those that the ranges of `sent` count
  std::vector<sent_row> sent_rows;     ///< rows of b that go to other PEs
  std::vector<received_row> received_rows;  ///< rows of x that come from other PEs
  std::int64_t sums = -1;                   ///< where the messages of sums begin in `sent`; forward
  std::vector<passed_value> passed;         ///< by number in tasks of kind `pass`, in the order of steps
  std::vector<std::int32_t> passed_step;    ///< by passed value; see task_order
  std::vector<supernodal::named_sources<Offset>> named;  ///< forward: see solve_params; backward: pe_params
  std::vector<Offset> sources;                           ///< that `named` counts
};

/// Adds tasks of kind `pass` for what a PE passes on, each before the other tasks of its step. Returns the
/// number of tasks and forests.
template <class Index, class Offset>
std::int64_t add_passing(const local_structure<Index>& local, const message_plan<Offset>& messages,
                         std::int64_t block_threads, supernodal::host_plan& tasks) {
  std::vector<supernodal::task> all;
  const auto& small = tasks.tasks.small;
  const auto count = count_of(messages.passed);
  std::int64_t next = 0;
  const auto add_until = [&](std::int32_t step) {
    while (next < count && messages.passed_step[at(next)] <= step) {
      const std::int64_t begin = next;
      const std::int32_t own = messages.passed_step[at(begin)];
      while (next < count && next < begin + block_threads && messages.passed_step[at(next)] == own) {
        ++next;
      }
      all.push_back({{}, begin, next, 0, 0, 0, supernodal::task_kind::pass});
    }
  };
  for (const supernodal::task& t : tasks.tasks.tasks) {
    const bool is_warps = t.kind == supernodal::task_kind::warps;
    const std::int64_t column = is_warps ? small[at(t.begin)].first : t.node.first;
    add_until(local.step[at(local.supernode_of[at(column)])]);
    all.push_back(t);
  }
  add_until(std::numeric_limits<std::int32_t>::max());
  tasks.tasks.tasks = std::move(all);
  return static_cast<std::int64_t>(tasks.forests.forests.size() + tasks.tasks.tasks.size());
}

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
