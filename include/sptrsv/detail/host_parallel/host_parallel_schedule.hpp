// SPDX-License-Identifier: Apache-2.0
// The orders in which host_parallel solves rows, and its schedule: the lists of tasks of the workers, and
// which tasks of other lists a task waits for.
//
// Natural order has the best locality, but a core waits for every row that needs the row before it. In level
// order consecutive rows are independent, so that a core works on many rows at once, but rows that are near
// in memory are solved at different times. A window is a run of consecutive rows that the L1 cache holds;
// level order inside each window has both advantages:
//
//   rows       0 .. 4095            4096 .. 8191         ...
//   windows    | window 0         | window 1           | ...
//   solved as  step 0, step 1 ..  | step k, step k+1 ..| ...   a step: independent rows of a window
//
// The rows of a step are sorted by length, because the branch at the end of a row is predicted if the row is
// as long as the row before it.
//
// Park, Smelyanskiy, Sundaram, Dubey: Sparsifying Synchronization for High-Performance Shared-Memory Sparse
// Triangular Solver, ISC 2014. There is no barrier after a level: a task waits for the lists that it depends
// on, and only if an earlier wait of its list does not imply this one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The ways in which host_parallel solves a system.
enum class host_path {
  natural,   ///< one worker, natural order
  windows,   ///< one worker, level order inside windows
  pipeline,  ///< level order inside windows, which are dealt to the workers
  levels,    ///< level order; all workers share each level
};

/// Returns the name of a path in solver_info.
inline const char* name_of(host_path path) {
  constexpr const char* names[] = {"natural", "windows", "pipeline", "levels"};
  return names[static_cast<int>(path)];
}

/// An order in which rows may be solved.
template <class Index>
struct host_order {
  std::vector<Index> window_offsets;  ///< by window: its first row; number of windows + 1
  std::vector<Index> rows;            ///< by solve index: the row
  /// By row: its step. Rows of a step do not need each other. Empty for natural order.
  std::vector<Index> steps;
};

/// Returns natural order: one window.
template <class Index>
host_order<Index> natural_order(std::int64_t size) {
  host_order<Index> order;
  order.window_offsets = {0, static_cast<Index>(size)};
  order.rows.resize(at(size));
  std::iota(order.rows.begin(), order.rows.end(), Index{0});
  return order;
}

/// Sorts rows by a key in [0, keys) with a stable counting sort.
template <class Index, class Key>
void sort_rows(Index* rows, std::size_t count, std::int64_t keys, const Key& key) {
  const auto sorted = lists_of<Index, Index>(keys, [&](const auto& add) {
    std::for_each(rows, rows + count, [&](Index row) { add(key(row), row); });
  });
  std::copy(sorted.vertices.begin(), sorted.vertices.end(), rows);
}

/// Sorts rows of a triangle by length. Long rows count as equally long: they end rarely.
template <class Index, class Offset>
void sort_by_length(Index* rows, std::size_t count, const host_triangle<Index, Offset>& t) {
  constexpr std::int64_t max_length = 63;
  if (count > 1) {
    sort_rows(rows, count, max_length + 1, [&](Index row) { return std::min(t.length(row), max_length); });
  }
}

/// Returns the end of the window that starts with row `first`: a row that does not need the row before it,
/// for example the first point of a grid line. A window that starts inside a line could not be started before
/// the window before it is nearly finished. If there is no such row in the second half, the window has
/// `window` rows.
template <class Index, class Offset>
std::size_t end_of_window(const host_triangle<Index, Offset>& t, std::size_t first, std::size_t window) {
  const std::size_t size = at(t.size());
  if (size - first <= window) {
    return size;
  }
  for (std::size_t row = first + window; row > first + window / 2; --row) {
    const auto begin = t.columns.begin() + static_cast<std::ptrdiff_t>(t.row_offsets[row]);
    const auto end = t.columns.begin() + static_cast<std::ptrdiff_t>(t.row_offsets[row + 1]);
    if (std::find(begin, end, static_cast<Index>(row - 1)) == end) {
      return row;
    }
  }
  return first + window;
}

/// Returns level order inside windows of at most `window` rows (>= 1). With one window of all rows the steps
/// are the levels of the triangle. The rows of a step are sorted by length. Linear time.
template <class Index, class Offset>
host_order<Index> window_order(const host_triangle<Index, Offset>& t, std::int64_t window) {
  const std::size_t size = at(t.size());
  host_order<Index> order = natural_order<Index>(t.size());
  order.window_offsets = {0};
  order.steps.resize(size);
  Index first_step = 0;
  for (std::size_t first = 0; first < size;) {
    const std::size_t end = end_of_window(t, first, static_cast<std::size_t>(window));
    const Index next_step = find_levels(t.row_offsets, t.columns, first, end, first_step, order.steps);
    Index* const rows = order.rows.data() + first;
    sort_by_length(rows, end - first, t);
    sort_rows(rows, end - first, next_step - first_step,
              [&](Index row) { return order.steps[at(row)] - first_step; });
    order.window_offsets.push_back(static_cast<Index>(end));
    first_step = next_step;
    first = end;
  }
  return order;
}

/// A wait: until the first `tasks` tasks of the list of `worker` are finished.
struct host_wait {
  int worker;
  std::int64_t tasks;
};

/// The tasks and the waits of all workers. A task needs earlier tasks only. The tasks of a worker, its list,
/// are solved one after the other in ascending order.
template <class Index>
struct host_schedule {
  host_path path = host_path::natural;
  double nanoseconds = 0;  ///< predicted time of a solve
  int workers = 1;
  std::vector<Index> rows;  ///< by solve index: the row
  /// Task t solves rows[task_offsets[t]] ... rows[task_offsets[t + 1] - 1], one after the other.
  std::vector<Index> task_offsets{0};
  std::vector<int> task_workers;  ///< by task: its worker
  /// Task t first waits for waits[wait_offsets[t]] ... waits[wait_offsets[t + 1] - 1].
  std::vector<std::size_t> wait_offsets{0};
  std::vector<host_wait> waits;
  /// The list of worker w: tasks list_tasks[list_offsets[w]] ... list_tasks[list_offsets[w + 1] - 1].
  std::vector<Index> list_offsets;
  std::vector<Index> list_tasks;

  [[nodiscard]] std::size_t tasks() const { return task_workers.size(); }
  [[nodiscard]] std::int64_t tasks_of(std::size_t worker) const {
    return list_offsets[worker + 1] - list_offsets[worker];
  }
  /// Returns the bytes of all but the rows.
  [[nodiscard]] std::size_t bytes() const {
    return (task_offsets.size() + list_offsets.size() + list_tasks.size()) * sizeof(Index) +
           task_workers.size() * sizeof(int) + wait_offsets.size() * sizeof(std::size_t) +
           waits.size() * sizeof(host_wait);
  }
  /// Adds the task that ends before rows[end].
  void add_task(std::size_t end, std::size_t worker) {
    task_offsets.push_back(static_cast<Index>(end));
    task_workers.push_back(static_cast<int>(worker));
  }
};

/// Entries and rows of a task, at least. So a task takes longer than a wait, and its entries stay in the L1
/// cache for further right-hand sides.
inline constexpr std::int64_t host_task_entries = 1000;

/// Adds the lists of the workers and the waits to a schedule that has all tasks. A wait is left out if an
/// earlier wait of the same list implies it.
template <class Index, class Offset>
void append_lists_and_waits(host_schedule<Index>& s, const host_triangle<Index, Offset>& t) {
  s.list_tasks =
      group_entries<Index>(s.task_workers.data(), s.task_workers.size(), s.workers, s.list_offsets);
  if (s.workers == 1) {
    s.wait_offsets.assign(s.tasks() + 1, 0);
    return;
  }
  struct origin {
    std::size_t worker;
    std::int64_t tasks;  // that its worker has finished when the row is solved
  };
  const std::size_t workers = at(s.workers);
  std::vector<origin> origins(s.rows.size());
  std::vector<std::int64_t> finished(workers, 0);
  // [w][other]: for how many tasks of `other` w has waited.
  std::vector<std::vector<std::int64_t>> waited(workers, finished);
  std::vector<std::int64_t> needed;
  s.wait_offsets.reserve(s.tasks() + 1);
  for (std::size_t task = 0; task < s.tasks(); ++task) {
    const std::size_t w = at(s.task_workers[task]);
    ++finished[w];
    needed = waited[w];
    for (Index p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
      const std::size_t row = at(s.rows[at(p)]);
      origins[row] = {w, finished[w]};
      for (Offset e = t.row_offsets[row]; e < t.row_offsets[row + 1]; ++e) {
        const origin& from = origins[at(t.columns[at(e)])];
        needed[from.worker] = std::max(needed[from.worker], from.tasks);
      }
    }
    for (std::size_t other = 0; other < workers; ++other) {
      if (other != w && needed[other] > waited[w][other]) {
        s.waits.push_back({static_cast<int>(other), needed[other]});
      }
    }
    s.wait_offsets.push_back(s.waits.size());
    waited[w].swap(needed);
  }
}

/// Makes the schedule in which each window belongs to one worker, and the workers take the windows
/// round-robin. A task is one or several steps of a window. A worker may start a window as soon as the first
/// rows of its neighbours' windows are solved, so that the workers follow each other as in a pipeline.
template <class Index, class Offset>
host_schedule<Index> deal_windows(const host_order<Index>& order, const host_triangle<Index, Offset>& t,
                                  int workers) {
  host_schedule<Index> s;
  s.workers = workers;
  s.rows = order.rows;
  for (std::size_t window = 0; window + 1 < order.window_offsets.size(); ++window) {
    const std::size_t end = at(order.window_offsets[window + 1]);
    std::int64_t entries = 0;
    for (std::size_t p = at(order.window_offsets[window]); p < end; ++p) {
      entries += t.length(s.rows[p]) + 1;
      const auto ends_step = [&] {
        return order.steps.empty() || order.steps[at(s.rows[p + 1])] != order.steps[at(s.rows[p])];
      };
      if (p + 1 == end || (entries >= host_task_entries && ends_step())) {
        s.add_task(p + 1, window % at(workers));
        entries = 0;
      }
    }
  }
  append_lists_and_waits(s, t);
  return s;
}

/// Makes the schedule in which all workers share each level: a task is a run of ascending rows of a level,
/// with about the same number of entries for each worker, sorted by length. Components that share a cache
/// line belong to one worker, so that the line does not move between cores with each row.
template <class Index, class Offset>
host_schedule<Index> share_levels(const host_triangle<Index, Offset>& t, int workers) {
  host_levels<Index> levels = levels_on_host<Index>(t.row_offsets, t.columns);
  host_schedule<Index> s;
  s.workers = workers;
  s.rows = std::move(levels.rows);
  const auto entries_of = [&](std::size_t p) { return t.length(s.rows[p]) + 1; };
  for (std::size_t level = 0; level + 1 < levels.level_offsets.size(); ++level) {
    const std::size_t end = at(levels.level_offsets[level + 1]);
    std::size_t next = at(levels.level_offsets[level]);
    std::int64_t all = 0;
    for (std::size_t p = next; p < end; ++p) {
      all += entries_of(p);
    }
    for (std::int64_t before = 0; next < end;) {
      const std::size_t first = next;
      const std::int64_t worker = before * workers / all;
      while (before * workers / all == worker) {
        before += entries_of(next++);
      }
      sort_by_length(s.rows.data() + first, next - first, t);
      s.add_task(next, at(worker));
    }
  }
  append_lists_and_waits(s, t);
  return s;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
