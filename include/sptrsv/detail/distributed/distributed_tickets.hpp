// What the messages of a PE mean for its tickets: tasks that pass values on, and which blocks send.
#pragma once

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

/// Returns for each ticket of a solve whether its block sends values to other PEs; empty if none does.
/// `exchange_blocks`: the first tickets.
template <class Offset>
std::vector<char> find_senders(const supernodal::host_plan& tasks, const message_plan<Offset>& messages,
                               bool backward, std::int64_t exchange_blocks) {
  if (messages.guests.empty() && messages.sent.empty() && messages.sent_rows.empty() &&
      messages.passed.empty()) {
    return {};
  }
  std::vector<char> sends(at(exchange_blocks), 1);
  const auto is_sent = [&](std::int64_t index) {
    return !messages.sent.empty() && messages.sent[at(index)].first >= 0;
  };
  const auto node_sends = [&](std::int64_t first, std::int64_t columns, std::int64_t rows_begin,
                              std::int64_t rows) {
    for (std::int64_t j = first; j < first + columns; ++j) {
      const std::int64_t row = messages.row_at[at(j)];
      if ((row < 0 && messages.guests[at(-1 - row)].x.index >= 0) || (backward && is_sent(j)) ||
          (messages.sums >= 0 && is_sent(messages.sums + j))) {
        return true;
      }
    }
    for (std::int64_t e = rows_begin; !backward && e < rows_begin + rows; ++e) {
      if (is_sent(e)) {
        return true;
      }
    }
    return false;
  };
  const auto add_forests = [&] {
    for (const supernodal::forest& f : tasks.forests.forests) {
      sends.push_back(node_sends(f.first, f.columns, f.rows_begin, f.rows) ? 1 : 0);
    }
  };
  if (!backward) {
    add_forests();
  }
  for (const supernodal::task& t : tasks.tasks.tasks) {
    bool found = false;
    if (t.kind == supernodal::task_kind::warps) {
      for (std::int64_t i = t.begin; i < t.end; ++i) {
        const supernodal::supernode& node = tasks.tasks.small[at(i)];
        found = found || node_sends(node.first, node.columns, node.rows_begin, node.rows);
      }
    } else {
      found = t.kind == supernodal::task_kind::pass ||
              node_sends(t.node.first, t.node.columns, t.node.rows_begin, t.node.rows);
    }
    sends.push_back(found ? 1 : 0);
  }
  if (backward) {
    add_forests();
  }
  return sends;
}

}  // namespace sptrsv::detail::distributed
