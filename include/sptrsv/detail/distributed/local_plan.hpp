// The part of a plan that one PE carries out: its tasks and its entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/distributed/agent.hpp"
#include "sptrsv/detail/distributed/plan.hpp"

namespace sptrsv::detail::distributed {

/// The tasks and entries of a PE, as its kernel reads them.
template <class Index>
struct local_plan {
  std::vector<task> tasks;
  std::vector<Index> sources;          ///< by column of a panel
  std::vector<entry> entries;          ///< of all panels and diagonal blocks: where their values come from
  std::vector<std::int64_t> value_at;  ///< by entry: where it stands among the values
  std::int64_t value_count = 0;        ///< with the zeros of panels and diagonal blocks
  std::vector<std::int64_t> unit_at;   ///< where diagonal blocks have a 1 that is not stored
  std::vector<std::int64_t> partials;
  std::vector<int> targets;
  std::int64_t slots = 0;  ///< partial sums that the PE receives from others and from itself
};

/// Makes the tasks of PE `rank`. `entries`: those of its blocks, sorted. `chunk_columns`: the largest number
/// of columns that one task multiplies with x.
template <class Index>
class local_planner {
 public:
  local_planner(const shared_plan& plan, int rank, const std::vector<entry>& entries, bool unit,
                std::int64_t chunk_columns)
      : plan_(plan), rank_(rank), entries_(entries), unit_(unit), chunk_columns_(chunk_columns) {}

  local_plan<Index> make() {
    place_slots();
    for (std::int64_t s = 0; s < plan_.count(); ++s) {
      add_send(s);
      if (rows_tree(s).has(rank_)) {
        add_sums(s);
      }
      if (column_tree(s).has(rank_) && column_tree(s).root() != rank_) {
        add_hand_on(s);
      }
    }
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [level, t] : tasks_) {
      made_.tasks.push_back(t);
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
  [[nodiscard]] std::int64_t level(std::int64_t s) const { return plan_.level[static_cast<std::size_t>(s)]; }
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
    return t;
  }
  void set_targets(task& t, const std::vector<int>& pes) {
    t.targets = static_cast<std::int64_t>(made_.targets.size());
    t.target_count = static_cast<std::int32_t>(pes.size());
    made_.targets.insert(made_.targets.end(), pes.begin(), pes.end());
  }

  void add_send(std::int64_t s) {
    task t = new_task(task_kind::send_b, s);
    if (t.own_begin < t.own_end && column_tree(s).root() != rank_) {
      set_targets(t, {column_tree(s).root()});
      tasks_.emplace_back(-1, t);
    }
  }
  void add_hand_on(std::int64_t s) {
    task t = new_task(task_kind::hand_on, s);
    set_targets(t, column_tree(s).children(rank_));
    tasks_.push_back({level(s), t});
  }

  /// Adds the tasks that sum for the rows of a supernode. The last one multiplies the last columns, which
  /// tend to be solved last. If there are many columns, it gets the sums over the others from further tasks.
  void add_sums(std::int64_t s) {
    const bool solves = rows_tree(s).root() == rank_;
    task t = new_task(solves ? task_kind::solve : task_kind::sum, s);
    const panel_rows rows = rows_of(t);
    std::vector<std::int64_t> slots;
    for (const int child : rows_tree(s).children(rank_)) {
      slots.push_back(slot(s, child));
    }
    const auto count = static_cast<std::int64_t>(rows.sources.size());
    std::int64_t begin = 0;
    for (; count - begin > chunk_columns_; begin += chunk_columns_) {
      task chunk = new_task(task_kind::sum, s);
      set_targets(chunk, {rank_});
      chunk.slot = 2 * plan_.size + made_.slots;
      slots.push_back(chunk.slot);
      made_.slots += t.columns;
      add_panel(chunk, rows, begin, begin + chunk_columns_);
      tasks_.push_back({level_after(rows, begin, begin + chunk_columns_), chunk});
    }
    set_targets(t, solves ? column_tree(s).children(rank_) : std::vector<int>{rows_tree(s).parent(rank_)});
    t.slot = solves ? 0 : slot(s, rank_);
    t.partials = static_cast<std::int64_t>(made_.partials.size());
    t.partial_count = static_cast<std::int32_t>(slots.size());
    made_.partials.insert(made_.partials.end(), slots.begin(), slots.end());
    add_panel(t, rows, begin, count);
    if (solves) {
      add_diagonal(t, rows);
    }
    tasks_.push_back({level(s), t});
  }

  /// The entries of this PE in the rows of a supernode.
  struct panel_rows {
    std::vector<entry>::const_iterator begin;
    std::vector<entry>::const_iterator end;
    std::vector<std::int64_t> sources;  ///< columns with entries, without those of the supernode
  };
  [[nodiscard]] panel_rows rows_of(const task& t) const {
    const auto at = [&](std::int64_t row) {
      return std::lower_bound(entries_.begin(), entries_.end(), entry{row, 0, 0, 0}, is_before);
    };
    panel_rows rows{at(t.first), at(t.first + t.columns), {}};
    for (auto e = rows.begin; e != rows.end; ++e) {
      if (e->column < t.first) {
        rows.sources.push_back(e->column);
      }
    }
    std::sort(rows.sources.begin(), rows.sources.end());
    rows.sources.erase(std::unique(rows.sources.begin(), rows.sources.end()), rows.sources.end());
    return rows;
  }
  /// Returns the level of a task that needs x of the sources [begin, end).
  [[nodiscard]] std::int64_t level_after(const panel_rows& rows, std::int64_t begin, std::int64_t end) const {
    std::int64_t after = 0;
    for (std::int64_t c = begin; c < end; ++c) {
      after = std::max(after, level(plan_.supernode_of(rows.sources[static_cast<std::size_t>(c)])) + 1);
    }
    return after;
  }
  /// Gives a task the columns of the sources [begin, end).
  void add_panel(task& t, const panel_rows& rows, std::int64_t begin, std::int64_t end) {
    const auto first = rows.sources.begin() + begin;
    const auto last = rows.sources.begin() + end;
    t.panel = made_.value_count;
    t.sources = static_cast<std::int64_t>(made_.sources.size());
    t.source_count = static_cast<std::int32_t>(end - begin);
    made_.sources.insert(made_.sources.end(), first, last);
    made_.value_count += t.columns * (end - begin);
    for (auto e = rows.begin; e != rows.end; ++e) {
      const auto at = std::lower_bound(first, last, e->column);
      if (at != last && *at == e->column) {
        add_entry(*e, t.panel + (at - first) * t.columns + (e->row - t.first));
      }
    }
  }
  void add_diagonal(task& t, const panel_rows& rows) {
    t.diagonal = made_.value_count;
    made_.value_count += std::int64_t{t.columns} * t.columns;
    for (auto e = rows.begin; e != rows.end; ++e) {
      if (e->column >= t.first) {
        add_entry(*e, t.diagonal + (e->column - t.first) * t.columns + (e->row - t.first));
      }
    }
    for (std::int64_t i = 0; unit_ && i < t.columns; ++i) {
      made_.unit_at.push_back(t.diagonal + i * (t.columns + 1));
    }
  }
  void add_entry(const entry& e, std::int64_t at) {
    made_.entries.push_back(e);
    made_.value_at.push_back(at);
  }

  const shared_plan& plan_;
  int rank_;
  const std::vector<entry>& entries_;
  bool unit_;
  std::int64_t chunk_columns_;
  std::vector<std::vector<std::pair<int, std::int64_t>>> slot_of_child_;  // by supernode
  std::vector<std::pair<std::int64_t, task>> tasks_;                      // with their levels
  local_plan<Index> made_;
};

}  // namespace sptrsv::detail::distributed
