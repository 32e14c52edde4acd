// SPDX-License-Identifier: Apache-2.0
// The run of a schedule of host_parallel by several threads.
//
// A thread that the operating system has taken its core from must not hold the others back. So no list
// belongs to a thread. A thread holds a list while it runs tasks of it, first the list that it prefers, whose
// rows its cache holds. When the next task has to wait for a list that no thread holds, or for a few
// microseconds, the thread gives the list back and takes another one. So one thread can finish all lists. It
// waits longer only for lists that other threads hold, and then it sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <vector>

#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/host_parallel/host_parallel_schedule.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// How far the lists of a schedule are solved.
class task_board {
 public:
  explicit task_board(int lists) : lists_(at(lists)) {}

  /// Begins with nothing solved. No thread may be in `work`.
  void reset() {
    for (list_state& list : lists_) {
      list.finished = 0;
    }
  }

  /// Runs tasks of `s` by calls of solve_rows(first, end) with solve indices. Any number of threads may call
  /// it, each with another number. Every task is run once. Thread 0 returns when all rows are solved. Others
  /// return when they find nothing to do.
  template <class Index, class SolveRows>
  void work(const host_schedule<Index>& s, int thread, const SolveRows& solve_rows) {
    const std::size_t own = at(thread) % lists_.size();
    for (;;) {
      bool has_run = false;
      bool is_all_finished = true;
      std::size_t held = own;  // a list that another thread holds, if there is one
      for (std::size_t i = 0; i < lists_.size() && !has_run; ++i) {
        const std::size_t list = (own + i) % lists_.size();
        if (lists_[list].finished < s.tasks_of(list)) {
          is_all_finished = false;
          has_run = run_list(s, list, solve_rows, held);
        }
      }
      const bool is_own_finished = lists_[own].finished == s.tasks_of(own);
      if (is_all_finished || (thread > 0 && is_own_finished && !has_run)) {
        return;
      }
      if (!has_run) {
        wait_for(lists_[held], is_own_finished ? s.tasks_of(held) : lists_[held].finished + 1);
      }
    }
  }

  /// Returns how many threads sleep until another thread has finished a task.
  [[nodiscard]] int sleepers() const {
    return std::accumulate(lists_.begin(), lists_.end(), 0,
                           [](int sum, const list_state& list) { return sum + list.sleepers; });
  }

  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + lists_.size() * sizeof(list_state); }

 private:
  /// Padded, because one core writes it and others poll it.
  struct alignas(64) list_state {
    std::atomic<std::int64_t> finished{0};  ///< tasks
    std::atomic<bool> is_held{false};       ///< by a thread, which alone runs tasks of the list
    std::atomic<int> sleepers{0};           ///< threads that sleep until a task is finished

    /// Returns whether the first `tasks` tasks are finished, or no thread works on them.
    [[nodiscard]] bool is_done_or_free(std::int64_t tasks) const { return finished >= tasks || !is_held; }
  };

  /// Runs tasks of a list until one has to wait, unless another thread holds the list. Returns whether it has
  /// run one. Sets `held` to the list of another thread that it waits for.
  template <class Index, class SolveRows>
  bool run_list(const host_schedule<Index>& s, std::size_t list, const SolveRows& solve_rows,
                std::size_t& held) {
    list_state& state = lists_[list];
    if (state.is_held || state.is_held.exchange(true)) {
      held = list;
      return false;
    }
    const std::int64_t first = state.finished;
    std::int64_t next = first;
    for (; next < s.tasks_of(list); ++next) {
      const auto task = at(s.list_tasks[at(s.list_offsets[list] + next)]);
      if (!is_ready(s, task, held)) {
        break;
      }
      solve_rows(s.task_offsets[task], s.task_offsets[task + 1]);
      state.finished = next + 1;
      wake_sleepers(state);
    }
    state.is_held = false;
    wake_sleepers(state);
    return next > first;
  }

  /// Returns whether a task may be run, after a few microseconds if other threads hold the lists that it
  /// waits for. Otherwise sets `held` to such a list.
  template <class Index>
  bool is_ready(const host_schedule<Index>& s, std::size_t task, std::size_t& held) const {
    for (std::size_t i = s.wait_offsets[task]; i < s.wait_offsets[task + 1]; ++i) {
      const std::size_t list = at(s.waits[i].worker);
      const std::int64_t tasks = s.waits[i].tasks;
      if (!spin_until([&] { return lists_[list].is_done_or_free(tasks); })) {
        held = list;
      }
      if (lists_[list].finished < tasks) {
        return false;
      }
    }
    return true;
  }

  void wake_sleepers(const list_state& list) {
    if (list.sleepers > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      finished_.notify_all();
    }
  }

  /// Waits until the first `tasks` tasks of a list are finished or no thread holds it; sleeps if that takes
  /// long.
  void wait_for(list_state& list, std::int64_t tasks) {
    const auto is_over = [&] { return list.is_done_or_free(tasks); };
    if (!spin_until(is_over)) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++list.sleepers;
      finished_.wait(lock, is_over);
      --list.sleepers;
    }
  }

  std::vector<list_state> lists_;
  std::mutex mutex_;
  std::condition_variable finished_;  ///< a task of a list that has sleepers
};

}  // namespace sptrsv::SPTRSV_ABI::detail
