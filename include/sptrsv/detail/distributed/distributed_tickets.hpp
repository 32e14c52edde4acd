// SPDX-License-Identifier: Apache-2.0
// What the messages of a PE mean for its tickets: tasks that pass values on, and which blocks send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/distributed/messages.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

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

/// The values that a PE sends in a solve, in the order of tickets: those that send b, forests and tasks.
struct sent_values {
  struct value {
    std::int64_t ticket;
    int warp;  ///< that computes it; 0 if the block computes its values together
    message* to;
  };
  std::vector<value> values;
  std::vector<char> is_of_block;  ///< by ticket: whether the block computes its values together

  /// Returns for each ticket whether its block sends values to other PEs; empty if none does.
  [[nodiscard]] std::vector<char> senders() const {
    std::vector<char> sends(values.empty() ? 0 : is_of_block.size(), 0);
    for (const value& v : values) {
      sends[at(v.ticket)] = 1;
    }
    return sends;
  }
};

/// Goes through the tickets of a solve and finds what they send.
template <class Offset>
class ticket_walk {
 public:
  ticket_walk(const supernodal::host_plan& tasks, message_plan<Offset>& messages, bool backward)
      : tasks_(tasks), messages_(messages), backward_(backward) {}

  /// `exchange_blocks`: the first tickets, which send b, `values_per_block` values each.
  sent_values find(std::int64_t exchange_blocks, std::int64_t values_per_block) {
    const auto rows = static_cast<std::int64_t>(messages_.sent_rows.size());
    for (std::int64_t begin = 0; begin < exchange_blocks * values_per_block; begin += values_per_block) {
      for (std::int64_t i = begin; i < std::min(rows, begin + values_per_block); ++i) {
        add(0, messages_.sent_rows[at(i)].to);
      }
      end_ticket(true);
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
    return std::move(found_);
  }

 private:
  void add(int warp, message& to) {
    found_.values.push_back({static_cast<std::int64_t>(found_.is_of_block.size()), warp, &to});
  }
  void end_ticket(bool is_of_block) { found_.is_of_block.push_back(is_of_block ? 1 : 0); }

  void add_columns(int warp, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end && !messages_.row_at.empty(); ++j) {
      const std::int64_t guest = -1 - messages_.row_at[at(j)];
      if (guest >= 0 && messages_.messages[at(guest)].index >= 0) {
        add(warp, messages_.messages[at(guest)]);
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
      add(warp, messages_.messages[at(range.first + m)]);
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
      case task_kind::tile:
        if (!backward_) {
          add_rows(0, node, t.begin, t.end);
        } else if (t.kind == task_kind::whole) {  // a tile has partial sums only
          add_columns(0, node.first, node.first + node.columns);
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
    end_ticket(t.kind != task_kind::warps);
  }

  void add_forests() {
    for (const supernodal::forest& f : tasks_.forests.forests) {
      add_columns(0, f.first, f.first + f.columns);
      if (!backward_) {
        add_sent(0, f.rows_begin, f.rows_begin + f.rows);
      }
      end_ticket(true);
    }
  }

  const supernodal::host_plan& tasks_;
  message_plan<Offset>& messages_;
  bool backward_;
  sent_values found_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
