// The part of a plan that one PE carries out: its tasks and its entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "sptrsv/detail/distributed/agent.hpp"
#include "sptrsv/detail/distributed/plan.hpp"

namespace sptrsv::detail::distributed {

/// The tasks and entries of a PE, as its kernel reads them.
struct local_plan {
  std::vector<task> tasks;
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int64_t> columns;      ///< by entry
  std::vector<entry> entries;             ///< by entry: where its value comes from
  std::vector<entry> diagonal_entries;    ///< entries of the diagonal blocks
  std::vector<std::int64_t> diagonal_at;  ///< by such entry: where it stands
  std::int64_t diagonal_size = 0;         ///< of all diagonal blocks
  std::vector<std::int64_t> unit_at;      ///< where they have a 1 that is not stored
  std::vector<std::int64_t> partials;
  std::vector<int> targets;
  std::int64_t slots = 0;  ///< partial sums that the PE receives
};

/// Makes the tasks of PE `rank`. `entries`: those of its blocks, sorted.
class local_planner {
 public:
  local_planner(const shared_plan& plan, int rank, const std::vector<entry>& entries, bool unit)
      : plan_(plan), rank_(rank), entries_(entries), unit_(unit) {}

  local_plan make() {
    place_slots();
    std::vector<std::int64_t> order(static_cast<std::size_t>(plan_.count()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (const std::int64_t s : order) {
      add_send(s);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return plan_.level[static_cast<std::size_t>(a)] < plan_.level[static_cast<std::size_t>(b)];
    });
    for (const std::int64_t s : order) {
      if (rows_tree(s).has(rank_)) {
        add_sum(s);
      }
      if (column_tree(s).has(rank_) && column_tree(s).root() != rank_) {
        add_hand_on(s);
      }
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] const pe_tree& rows_tree(std::int64_t s) const {
    return plan_.row_trees[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] const pe_tree& column_tree(std::int64_t s) const {
    return plan_.column_trees[static_cast<std::size_t>(s)];
  }

  /// Finds where the sums of each PE for each supernode stand in the inbox of its parent in the tree. The
  /// inboxes are filled in the order of supernodes; a parent receives the sums of its children one after the
  /// other.
  void place_slots() {
    std::vector<std::int64_t> used(plan_.first_row.size() - 1, 0);
    slot_of_child_.resize(static_cast<std::size_t>(plan_.count()));
    for (std::int64_t s = 0; s < plan_.count(); ++s) {
      for (const int pe : rows_tree(s).members()) {
        std::int64_t& at = used[static_cast<std::size_t>(pe)];
        for (const int child : rows_tree(s).children(pe)) {
          slot_of_child_[static_cast<std::size_t>(s)].push_back({child, 2 * plan_.size + at});
          at += columns(s);
        }
      }
    }
    made_.slots = *std::max_element(used.begin(), used.end());
  }
  [[nodiscard]] std::int64_t slot(std::int64_t s, int child) const {
    for (const auto& [pe, at] : slot_of_child_[static_cast<std::size_t>(s)]) {
      if (pe == child) {
        return at;
      }
    }
    return -1;
  }
  [[nodiscard]] std::int64_t columns(std::int64_t s) const {
    return plan_.first[static_cast<std::size_t>(s) + 1] - plan_.first[static_cast<std::size_t>(s)];
  }

  [[nodiscard]] task new_task(task_kind kind, std::int64_t s) const {
    task t{};
    t.kind = kind;
    t.columns = static_cast<std::int32_t>(columns(s));
    t.first = plan_.first[static_cast<std::size_t>(s)];
    while (t.own_begin < t.columns && plan_.home(t.first + t.own_begin) != rank_) {
      ++t.own_begin;
    }
    t.own_end = t.own_begin;
    while (t.own_end < t.columns && plan_.home(t.first + t.own_end) == rank_) {
      ++t.own_end;
    }
    t.targets = static_cast<std::int64_t>(made_.targets.size());
    return t;
  }
  void set_targets(task& t, const std::vector<int>& pes) {
    t.target_count = static_cast<std::int32_t>(pes.size());
    made_.targets.insert(made_.targets.end(), pes.begin(), pes.end());
  }

  void add_send(std::int64_t s) {
    task t = new_task(task_kind::send_b, s);
    if (t.own_begin < t.own_end && column_tree(s).root() != rank_) {
      set_targets(t, {column_tree(s).root()});
      made_.tasks.push_back(t);
    }
  }
  void add_hand_on(std::int64_t s) {
    task t = new_task(task_kind::hand_on, s);
    set_targets(t, column_tree(s).children(rank_));
    made_.tasks.push_back(t);
  }
  void add_sum(std::int64_t s) {
    const bool solves = rows_tree(s).root() == rank_;
    task t = new_task(solves ? task_kind::solve : task_kind::sum, s);
    const int parent = rows_tree(s).parent(rank_);
    set_targets(t, solves ? column_tree(s).children(rank_) : std::vector<int>{parent});
    t.slot = solves ? 0 : slot(s, rank_);
    t.partials = static_cast<std::int64_t>(made_.partials.size());
    for (const int child : rows_tree(s).children(rank_)) {
      made_.partials.push_back(slot(s, child));
      ++t.partial_count;
    }
    t.rows = static_cast<std::int64_t>(made_.row_begin.size()) - 1;
    t.diagonal = made_.diagonal_size;
    for (std::int64_t i = t.first; i < t.first + t.columns; ++i) {
      const auto begin = std::lower_bound(entries_.begin(), entries_.end(), entry{i, 0, 0, 0}, is_before);
      for (auto e = begin; e != entries_.end() && e->row == i; ++e) {
        if (e->column < t.first) {
          made_.columns.push_back(e->column);
          made_.entries.push_back(*e);
        } else {
          made_.diagonal_entries.push_back(*e);
          made_.diagonal_at.push_back(t.diagonal + (i - t.first) * t.columns + (e->column - t.first));
        }
      }
      made_.row_begin.push_back(static_cast<std::int64_t>(made_.columns.size()));
      if (solves && unit_) {
        made_.unit_at.push_back(t.diagonal + (i - t.first) * t.columns + (i - t.first));
      }
    }
    made_.diagonal_size += solves ? std::int64_t{t.columns} * t.columns : 0;
    made_.tasks.push_back(t);
  }

  const shared_plan& plan_;
  int rank_;
  const std::vector<entry>& entries_;
  bool unit_;
  std::vector<std::vector<std::pair<int, std::int64_t>>> slot_of_child_;  // by supernode
  local_plan made_;
};

}  // namespace sptrsv::detail::distributed
