// SPDX-License-Identifier: Apache-2.0
// The run of a schedule of host_parallel by several threads.
//
// A thread that the operating system has taken its core from must not hold the others back. So no list
// belongs to a thread. Each thread has a list that it prefers, whose rows its cache holds. If the next task
// of this list has to wait for a few microseconds, the thread takes a task of another list. So one thread can
// finish all lists. It waits longer only for tasks that other threads have begun, and then it sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/host_parallel/host_parallel_schedule.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// How far the lists of a schedule are solved.
class task_board {
 public:
  explicit task_board(int lists) : lists_(static_cast<std::size_t>(lists)) {}

  /// Begins with nothing solved. No thread may be in `work`.
  void reset() {
    for (list_state& list : lists_) {
      list.word.store(0, std::memory_order_relaxed);
      list.last_thread.store(-1, std::memory_order_relaxed);
    }
  }

  /// Runs tasks of `s` by calls of solve_rows(first, end) with solve indices. Any number of threads may call
  /// it, each with another number; the last one returns when all rows are solved. Every task is run once.
  template <class Index, class SolveRows>
  void work(const host_schedule<Index>& s, int thread, const SolveRows& solve_rows) {
    runner<Index, SolveRows> run{*this, s, thread, solve_rows};
    const std::size_t own = static_cast<std::size_t>(thread) % lists_.size();
    while (!run.is_begun_to_the_end(own)) {
      run.one_task(own);
    }
    while (run.one_task_of_others()) {
    }
  }

  /// Returns how many threads sleep until a task of another thread is finished.
  [[nodiscard]] int sleepers() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sleepers_;
  }

  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + lists_.size() * sizeof(list_state); }

 private:
  // The word of a list: the number of its finished tasks, times 4, and two bits.
  static constexpr std::int64_t is_running = 1;    ///< a thread runs the next task
  static constexpr std::int64_t has_sleepers = 2;  ///< other threads sleep until it is finished
  static constexpr std::int64_t one_finished = 4;

  /// Padded, because one core writes it and others poll it.
  struct alignas(64) list_state {
    std::atomic<std::int64_t> word{0};
    std::atomic<int> last_thread{-1};  ///< that took a task
  };

  /// Solves rows on one thread: its own tasks first, then tasks of other threads.
  template <class Index, class SolveRows>
  struct runner {
    task_board& board;
    const host_schedule<Index>& s;
    int thread;
    const SolveRows& solve_rows;
    bool has_helped = false;  ///< whether the thread has taken tasks of lists that are not its own

    [[nodiscard]] std::int64_t word_of(std::size_t list) const {
      return board.lists_[list].word.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool is_begun_to_the_end(std::size_t list) const {
      const std::int64_t word = word_of(list);
      return word / one_finished + (word & is_running) ==
             static_cast<std::int64_t>(s.list_offsets[list + 1] - s.list_offsets[list]);
    }
    /// Returns the task of a list that follows the finished ones.
    [[nodiscard]] std::size_t task_after(std::size_t list, std::int64_t word) const {
      return at(s.list_tasks[at(s.list_offsets[list] + word / one_finished)]);
    }
    /// Returns the first list that a task waits for, or -1.
    [[nodiscard]] int blocker_of(std::size_t task) const {
      for (std::size_t i = s.wait_offsets[task]; i < s.wait_offsets[task + 1]; ++i) {
        const host_wait& wait = s.waits[i];
        if (word_of(static_cast<std::size_t>(wait.worker)) / one_finished < wait.tasks) {
          return wait.worker;
        }
      }
      return -1;
    }
    /// Returns whether a thread may take the next task of a list.
    [[nodiscard]] bool is_ready(std::size_t list, std::int64_t word) const {
      return (word & is_running) == 0 && !is_begun_to_the_end(list) && blocker_of(task_after(list, word)) < 0;
    }

    /// Runs the next task of a list, if it is ready and no other thread takes it. Returns whether it did.
    [[nodiscard]] bool take(std::size_t list) const {
      list_state& state = board.lists_[list];
      std::int64_t word = word_of(list);
      if (!is_ready(list, word) ||
          !state.word.compare_exchange_strong(word, word + is_running, std::memory_order_acquire)) {
        return false;
      }
      const std::size_t task = task_after(list, word);
      state.last_thread.store(thread, std::memory_order_relaxed);
      solve_rows(s.task_offsets[task], s.task_offsets[task + 1]);
      const std::int64_t begun =
          state.word.exchange((word / one_finished + 1) * one_finished, std::memory_order_acq_rel);
      if ((begun & has_sleepers) != 0) {
        const std::lock_guard<std::mutex> lock(board.mutex_);
        board.finished_.notify_all();
      }
      return true;
    }

    /// Takes a task of any list.
    [[nodiscard]] bool take_any() {
      for (std::size_t list = 0; list < board.lists_.size(); ++list) {
        if (take(list)) {
          has_helped = true;
          return true;
        }
      }
      return false;
    }
    /// Takes a task of a list that no other thread has taken from since this one did.
    [[nodiscard]] bool take_abandoned(std::size_t own) const {
      for (std::size_t list = 0; has_helped && list < board.lists_.size(); ++list) {
        if (list != own && board.lists_[list].last_thread.load(std::memory_order_relaxed) == thread &&
            take(list)) {
          return true;
        }
      }
      return false;
    }

    /// Runs a task of `own`, or if that has to wait, of another list; or waits for a task of another thread.
    void one_task(std::size_t own) {
      if (!take(own) && !take_abandoned(own) &&
          !spin_until([&] { return is_ready(own, word_of(own)) || is_begun_to_the_end(own); }) &&
          !take_any()) {
        sleep_for(own);
      }
    }
    /// Runs a task of another list. Returns false if all of them are begun or wait for other threads.
    [[nodiscard]] bool one_task_of_others() {
      const auto nothing_left = [&] {
        for (std::size_t list = 0; list < board.lists_.size(); ++list) {
          if (!is_begun_to_the_end(list)) {
            return false;
          }
        }
        return true;
      };
      return take_abandoned(board.lists_.size()) || (!spin_until(nothing_left) && take_any());
    }

    /// Sleeps until the running task is finished that the next task of `list` waits for, over several lists.
    void sleep_for(std::size_t list) const {
      std::int64_t word = word_of(list);
      while ((word & is_running) == 0) {
        const int blocker = is_begun_to_the_end(list) ? -1 : blocker_of(task_after(list, word));
        if (blocker < 0) {
          return;
        }
        list = static_cast<std::size_t>(blocker);
        word = word_of(list);
      }
      std::atomic<std::int64_t>& state = board.lists_[list].word;
      const std::int64_t finished = word / one_finished;
      std::unique_lock<std::mutex> lock(board.mutex_);
      state.fetch_or(has_sleepers);
      ++board.sleepers_;
      board.finished_.wait(lock, [&] { return word_of(list) / one_finished != finished; });
      --board.sleepers_;
    }
  };

  std::vector<list_state> lists_;
  std::mutex mutex_;
  std::condition_variable finished_;  ///< a task that has sleepers
  int sleepers_ = 0;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
