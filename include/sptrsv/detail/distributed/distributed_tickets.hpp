// SPDX-License-Identifier: Apache-2.0
// What the messages of a PE mean for its tickets: tasks that pass values on, and which blocks send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/messages.hpp"

namespace sptrsv::detail::distributed {

/// Adds tasks of kind `pass` for what a PE passes on, each before the other tasks of its step. Returns the
/// number of tasks and forests.
template <class Index, class Offset>
std::int64_t add_passing(const local_structure<Index>& local, const message_plan<Offset>& messages,
                         std::int64_t block_threads, supernodal::host_plan& tasks) {
  std::vector<supernodal::task> all;
  const auto& small = tasks.tasks.small;
  const auto count = static_cast<std::int64_t>(messages.passed.size());
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

/// How the values that a PE sends are dealt to tickets.
struct ticket_limits {
  std::int64_t exchange_blocks;   ///< the first tickets, which send b
  std::int64_t values_per_block;  ///< of these tickets
  int warps;                      ///< of a block
};

/// Goes through the tickets of a solve: those that send b, forests and tasks. For each value that the block
/// of a ticket sends it calls use.add(warp, message), with the warp that computes it, or 0; at the end of the
/// ticket use.end_ticket(is_of_block), where is_of_block says whether the block computes the values together.
template <class Offset, class Use>
class ticket_walk {
 public:
  ticket_walk(const supernodal::host_plan& tasks, message_plan<Offset>& messages, bool backward,
              const ticket_limits& limits, Use& use)
      : tasks_(tasks), messages_(messages), backward_(backward), limits_(limits), use_(use) {}

  void run() {
    const auto rows = static_cast<std::int64_t>(messages_.sent_rows.size());
    for (std::int64_t block = 0; block < limits_.exchange_blocks; ++block) {
      const std::int64_t end = std::min(rows, (block + 1) * limits_.values_per_block);
      for (std::int64_t i = block * limits_.values_per_block; i < end; ++i) {
        use_.add(0, messages_.sent_rows[at(i)].to);
      }
      use_.end_ticket(true);
    }
    if (!backward_) {
      add_forests();
    }
    for (const supernodal::task& t : tasks_.tasks.tasks) {
      add_task(t);
    }
    if (backward_) {
      add_forests();
    }
  }

 private:
  void add_columns(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end && !messages_.row_at.empty(); ++j) {
      const std::int64_t row = messages_.row_at[at(j)];
      if (row < 0 && messages_.guests[at(-1 - row)].x.index >= 0) {
        use_.add(warp, messages_.guests[at(-1 - row)].x);
      }
      if (backward_) {
        add_sent(warp, j, j + 1);
      }
    }
  }
  /// Adds the values of the inbox [begin, end).
  void add_sent(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && !messages_.sent.empty(); ++i) {
      add_all(warp, messages_.sent[at(i)]);
    }
  }
  void add_all(int warp, const message_range& range) {
    for (std::int64_t m = 0; range.first >= 0 && m < range.count; ++m) {
      use_.add(warp, messages_.messages[at(range.first + m)]);
    }
  }
  /// Adds what a task with the rows [begin, end) of the panel sends, which it computes completely.
  void add_rows(int warp, const supernodal::supernode& node, std::int64_t begin, std::int64_t end) {
    const std::int64_t k = node.columns;
    if (begin == 0 && messages_.sums >= 0) {
      add_sent(warp, messages_.sums + node.first, messages_.sums + node.first + k);
    }
    add_columns(warp, node.first + std::min(begin, k), node.first + std::min(end, k));
    if (!backward_) {
      add_sent(warp, node.rows_begin + std::max(begin, k) - k, node.rows_begin + std::max(end, k) - k);
    }
  }

  void add_task(const supernodal::task& t) {
    using supernodal::task_kind;
    const supernodal::supernode& node = t.node;
    switch (t.kind) {
      case task_kind::warps:
        for (std::int64_t i = t.begin; i < t.end; ++i) {
          const supernodal::supernode& small = tasks_.tasks.small[at(i)];
          add_rows(static_cast<int>(i - t.begin), small, 0, small.height());
        }
        break;
      case task_kind::whole:
        if (backward_) {
          add_columns(0, node.first, node.first + node.columns);
        } else {
          add_rows(0, node, t.begin, t.end);
        }
        break;
      case task_kind::tile:
        if (!backward_) {  // backward, a tile has partial sums only
          add_rows(0, node, t.begin, t.end);
        }
        break;
      case task_kind::last_strip:
        add_columns(0, node.first + t.column,
                    node.first + std::min<std::int64_t>(node.columns, t.column + supernodal::strip_columns));
        break;
      case task_kind::pass:
        for (std::int64_t i = t.begin; i < t.end; ++i) {
          add_all(0, messages_.passed[at(i)].to);
        }
        break;
      case task_kind::sums:
      case task_kind::strip:
        break;
    }
    use_.end_ticket(t.kind != task_kind::warps);
  }

  void add_forests() {
    for (const supernodal::forest& f : tasks_.forests.forests) {
      add_columns(0, f.first, f.first + f.columns);
      if (!backward_) {
        add_sent(0, f.rows_begin, f.rows_begin + f.rows);
      }
      use_.end_ticket(true);
    }
  }

  const supernodal::host_plan& tasks_;
  message_plan<Offset>& messages_;
  bool backward_;
  const ticket_limits& limits_;
  Use& use_;
};

/// Returns for each ticket of a solve whether its block sends values to other PEs; empty if none does.
template <class Offset>
std::vector<char> find_senders(const supernodal::host_plan& tasks, message_plan<Offset>& messages,
                               bool backward, const ticket_limits& limits) {
  struct {
    std::vector<char> sends;
    char found = 0;
    void add(int /*warp*/, const message& /*to*/) { found = 1; }
    void end_ticket(bool /*is_of_block*/) { sends.push_back(std::exchange(found, char{0})); }
  } use;
  ticket_walk(tasks, messages, backward, limits, use).run();
  const bool sends_any = std::find(use.sends.begin(), use.sends.end(), 1) != use.sends.end();
  return sends_any ? use.sends : std::vector<char>();
}

}  // namespace sptrsv::detail::distributed
