// The orders and schedules of host_parallel: every row is solved once, and no dependency lacks a wait.
#include "sptrsv/detail/host_parallel/host_parallel_schedule.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sptrsv/detail/host_parallel/task_board.hpp"
#include "sptrsv/solver.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

using triangle = detail::host_triangle<std::int32_t, std::int32_t>;
using order = detail::host_order<std::int32_t>;
using thread_schedule = detail::host_schedule<std::int32_t>;

triangle triangle_of(const pattern& p) {
  const auto a = make_matrix<double>(p, {}).by_rows;
  return detail::build_in_serial_order(detail::pattern_of(a.view()),
                                       detail::triangle_form(system_options{}, false));
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<pattern> all_patterns() {
  std::vector<pattern> all = patterns::smallest();
  for (const auto& more : {patterns::small(), patterns::deep()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  all.push_back(patterns::random(3000, 4, 1));
  all.push_back(patterns::stencil_3d(20, 20, 20));
  return all;
}

/// Windows as small as a row, and larger than the system.
const std::vector<std::int64_t> windows{1, 3, 64, 1000000};

void expect_sound(const triangle& t, const order& o, std::int64_t window) {
  const std::size_t n = t.row_offsets.size() - 1;
  ASSERT_EQ(o.rows.size(), n);
  ASSERT_EQ(o.window_offsets.front(), 0);
  ASSERT_EQ(at(o.window_offsets.back()), n);
  std::size_t in_window = 0;
  std::vector<char> solved(n, 0);
  for (std::size_t p = 0; p < n; ++p) {
    const std::size_t row = at(o.rows[p]);
    ASSERT_EQ(solved[row], 0) << "row " << row << " twice";
    in_window += p == at(o.window_offsets[in_window + 1]) ? 1U : 0U;
    EXPECT_GE(row, at(o.window_offsets[in_window]));
    EXPECT_LT(row, at(o.window_offsets[in_window + 1]));
    EXPECT_LE(o.window_offsets[in_window + 1] - o.window_offsets[in_window], window);
    for (std::int32_t e = t.row_offsets[row]; e < t.row_offsets[row + 1]; ++e) {
      EXPECT_LT(o.steps[at(t.columns[at(e)])], o.steps[row]) << "rows of a step need each other";
      EXPECT_EQ(solved[at(t.columns[at(e)])], 1);
    }
    if (p > 0) {
      EXPECT_LE(o.steps[at(o.rows[p - 1])], o.steps[row]);
    }
    solved[row] = 1;
  }
}

TEST(HostOrder, SolvesEachRowOnceAfterTheRowsThatItNeeds) {
  for (const pattern& p : all_patterns()) {
    const triangle t = triangle_of(p);
    for (const std::int64_t window : windows) {
      SCOPED_TRACE(p.name + ", windows of " + std::to_string(window));
      expect_sound(t, detail::window_order(t, window), window);
    }
  }
}

TEST(HostOrder, HasTheLevelsAsStepsOfOneWindow) {
  for (const pattern& p : all_patterns()) {
    const triangle t = triangle_of(p);
    const auto levels = detail::levels_on_host<std::int32_t>(t.row_offsets, t.columns);
    EXPECT_EQ(detail::window_order(t, p.size).steps, levels.level_of_row) << p.name;
  }
}

TEST(HostOrder, StartsWindowsWithGridLines) {
  EXPECT_EQ(detail::window_order(triangle_of(patterns::stencil_2d(30, 10)), 100).window_offsets,
            (std::vector<std::int32_t>{0, 90, 180, 270, 300}));
  EXPECT_EQ(detail::window_order(triangle_of(patterns::chain(250)), 100).window_offsets,
            (std::vector<std::int32_t>{0, 100, 200, 250}));
}

TEST(HostOrder, SortsTheRowsOfAStepByLength) {
  const triangle t = triangle_of(patterns::layers(400, 80, 5));
  const order o = detail::window_order(t, 400);
  const auto length = [&](std::int32_t row) { return t.row_offsets[at(row) + 1] - t.row_offsets[at(row)]; };
  for (std::size_t p = 1; p < o.rows.size(); ++p) {
    if (o.steps[at(o.rows[p])] == o.steps[at(o.rows[p - 1])]) {
      EXPECT_LE(length(o.rows[p - 1]), length(o.rows[p]));
    }
  }
}

/// Simulates the waits: a worker knows only the rows of other workers for which it has waited.
void expect_sound(const triangle& t, const thread_schedule& s) {
  const std::size_t n = t.row_offsets.size() - 1;
  const auto workers = at(s.workers);
  ASSERT_EQ(s.rows.size(), n);
  ASSERT_EQ(s.task_offsets.size(), s.tasks() + 1);
  ASSERT_EQ(s.wait_offsets.size(), s.tasks() + 1);
  ASSERT_EQ(s.task_offsets.front(), 0);
  ASSERT_EQ(at(s.task_offsets.back()), n);
  ASSERT_EQ(s.wait_offsets.back(), s.waits.size());
  ASSERT_EQ(s.list_offsets.size(), workers + 1);
  ASSERT_EQ(s.list_tasks.size(), s.tasks());
  for (std::size_t w = 0; w < workers; ++w) {
    for (std::size_t i = at(s.list_offsets[w]); i < at(s.list_offsets[w + 1]); ++i) {
      EXPECT_EQ(at(s.task_workers[at(s.list_tasks[i])]), w);
      EXPECT_TRUE(i == at(s.list_offsets[w]) || s.list_tasks[i - 1] < s.list_tasks[i]);
    }
  }
  std::vector<int> worker_of(n, -1);
  std::vector<std::int64_t> task_of(n, 0);  // counted from 1 among the tasks of its worker
  std::vector<std::int64_t> finished(workers, 0);
  std::vector<std::vector<std::int64_t>> known(workers, std::vector<std::int64_t>(workers, 0));
  for (std::size_t task = 0; task < s.tasks(); ++task) {
    const std::size_t w = at(s.task_workers[task]);
    ASSERT_LT(w, workers);
    for (std::size_t i = s.wait_offsets[task]; i < s.wait_offsets[task + 1]; ++i) {
      const std::size_t other = at(s.waits[i].worker);
      EXPECT_NE(other, w) << "waits for itself";
      EXPECT_LE(s.waits[i].tasks, finished[other]) << "waits for a later task: a deadlock on one thread";
      EXPECT_GT(s.waits[i].tasks, known[w][other]) << "an earlier wait implies it";
      known[w][other] = s.waits[i].tasks;
    }
    ++finished[w];
    ASSERT_LT(s.task_offsets[task], s.task_offsets[task + 1]) << "an empty task";
    for (std::int32_t p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
      const std::size_t row = at(s.rows[at(p)]);
      ASSERT_EQ(worker_of[row], -1) << "row " << row << " twice";
      worker_of[row] = static_cast<int>(w);
      task_of[row] = finished[w];
      for (std::int32_t e = t.row_offsets[row]; e < t.row_offsets[row + 1]; ++e) {
        const std::size_t column = at(t.columns[at(e)]);
        const int by = worker_of[column];
        ASSERT_NE(by, -1) << "row " << row << " comes before row " << column << ", which it needs";
        EXPECT_TRUE(by == static_cast<int>(w) || known[w][at(by)] >= task_of[column])
            << "row " << row << " does not wait for row " << column;
      }
    }
  }
}

/// Calls visit(triangle, schedule) for many schedules.
template <class Visit>
void for_each_schedule(Visit visit) {
  for (const pattern& p : all_patterns()) {
    const triangle t = triangle_of(p);
    for (const int workers : {1, 2, 3, 8}) {
      SCOPED_TRACE(p.name + ", " + std::to_string(workers) + " workers");
      for (const std::int64_t window : windows) {
        SCOPED_TRACE("windows of " + std::to_string(window));
        visit(t, detail::deal_windows(detail::window_order(t, window), t, workers));
      }
      visit(t, detail::share_levels(t, workers));
    }
    visit(t, detail::deal_windows(detail::natural_order<std::int32_t>(p.size), t, 1));
  }
}

TEST(HostSchedule, IsSoundForEveryPatternAndNumberOfWorkers) {
  for_each_schedule([](const triangle& t, const thread_schedule& s) { expect_sound(t, s); });
}

/// Adds 1 to the largest sum of the rows that a row needs. The sums are plain memory, so that ThreadSanitizer
/// sees a dependency without a wait.
TEST(HostSchedule, OrdersRowsOfThreads) {
  for_each_schedule([](const triangle& t, const thread_schedule& s) {
    const auto levels = detail::levels_on_host<std::int32_t>(t.row_offsets, t.columns);
    for (const int threads : {s.workers, (s.workers + 1) / 2, 1}) {
      std::vector<std::int32_t> level(s.rows.size(), -1);
      detail::task_board board(s.workers);
      const auto run = [&](int thread) {
        board.work(s, thread, [&](std::int32_t first, std::int32_t end) {
          for (std::int32_t p = first; p < end; ++p) {
            const std::size_t row = at(s.rows[at(p)]);
            std::int32_t found = 0;
            for (std::int32_t e = t.row_offsets[row]; e < t.row_offsets[row + 1]; ++e) {
              found = std::max(found, level[at(t.columns[at(e)])] + 1);
            }
            level[row] = found;
          }
        });
      };
      std::vector<std::thread> others;
      for (int thread = 1; thread < threads; ++thread) {
        others.emplace_back(run, thread);
      }
      run(0);
      for (std::thread& other : others) {
        other.join();
      }
      EXPECT_EQ(level, levels.level_of_row) << threads << " threads";
    }
  });
}

/// A thread that is held inside a task holds back its list only: another thread runs all that does not need
/// it, and then sleeps. The thread that is held waits for this, so the test hangs if a list belongs to a
/// thread.
TEST(TaskBoard, AHeldThreadHoldsBackOnlyTheTaskThatItRuns) {
  const triangle t = triangle_of(patterns::diagonal(100));
  const thread_schedule s = detail::deal_windows(detail::window_order(t, 10), t, 5);
  detail::task_board board(s.workers);
  std::atomic<int> others{0};
  std::atomic<bool> has_begun{false};
  std::thread held([&] {
    bool first = true;
    board.work(s, 1, [&](std::int32_t, std::int32_t) {
      if (std::exchange(first, false)) {
        has_begun = true;
        while (others < 8) {  // two tasks of each of the four other lists
          std::this_thread::yield();
        }
      }
    });
  });
  while (!has_begun) {
    std::this_thread::yield();
  }
  board.work(s, 0, [&](std::int32_t, std::int32_t) { ++others; });
  held.join();
  EXPECT_GE(others, 8);
}

/// A thread that waits for a task sleeps: the task ends only when a thread sleeps for it.
TEST(TaskBoard, AThreadThatWaitsForATaskSleeps) {
  const triangle t = triangle_of(patterns::chain(20));
  const thread_schedule s = detail::deal_windows(detail::window_order(t, 10), t, 2);
  detail::task_board board(s.workers);
  std::atomic<bool> has_begun{false};
  std::thread first([&] {
    board.work(s, 0, [&](std::int32_t begin, std::int32_t) {
      has_begun = true;
      while (begin == 0 && board.sleepers() == 0) {
        std::this_thread::yield();
      }
    });
  });
  while (!has_begun) {
    std::this_thread::yield();
  }
  board.work(s, 1, [](std::int32_t, std::int32_t) {});
  first.join();
  EXPECT_EQ(board.sleepers(), 0);
}

TEST(HostSchedule, SharesAWideLevelEvenly) {
  const triangle t = triangle_of(patterns::diagonal(100));
  const thread_schedule s = detail::share_levels(t, 4);
  EXPECT_EQ(s.task_offsets, (std::vector<std::int32_t>{0, 25, 50, 75, 100}));
  EXPECT_EQ(s.task_workers, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(s.waits.empty());
}

TEST(HostSchedule, SharesALevelIntoConsecutiveRowsSortedByLength) {
  // Even rows are longer than odd ones. Each worker has the rows of one half of the second level.
  pattern p{"alternating", 60, {}};
  for (std::int64_t row = 20; row < 60; ++row) {
    for (std::int64_t column = 0; column < (row % 2 == 0 ? 3 : 1); ++column) {
      p.entries.push_back({row, column});
    }
  }
  const triangle t = triangle_of(p);
  const thread_schedule s = detail::share_levels(t, 2);
  ASSERT_EQ(s.task_offsets, (std::vector<std::int32_t>{0, 10, 20, 40, 60}));
  for (std::size_t q = 20; q < 60; ++q) {
    EXPECT_EQ(s.rows[q] < 40, q < 40);
    EXPECT_EQ(s.rows[q] % 2, q % 20 < 10 ? 1 : 0);
  }
}

TEST(HostSchedule, DealsWindowsRoundRobin) {
  const triangle t = triangle_of(patterns::diagonal(100));
  const thread_schedule s = detail::deal_windows(detail::window_order(t, 30), t, 3);
  EXPECT_EQ(s.task_offsets, (std::vector<std::int32_t>{0, 30, 60, 90, 100}));
  EXPECT_EQ(s.task_workers, (std::vector<int>{0, 1, 2, 0}));
  EXPECT_TRUE(s.waits.empty());
}

TEST(HostSchedule, NeedsNoWaitOnOneWorker) {
  for (const pattern& p : {patterns::chain(50), patterns::stencil_2d(9, 9)}) {
    const triangle t = triangle_of(p);
    EXPECT_TRUE(detail::deal_windows(detail::window_order(t, 8), t, 1).waits.empty());
    EXPECT_TRUE(detail::share_levels(t, 1).waits.empty());
  }
}

TEST(HostSchedule, WorkersOfAGridFollowEachOtherClosely) {
  // Each window is a plane. A worker may start with a plane when the first tasks of the plane before are
  // done.
  const triangle t = triangle_of(patterns::stencil_3d(40, 40, 6));
  const thread_schedule s = detail::deal_windows(detail::window_order(t, 1600), t, 2);
  std::size_t second = 0;
  while (s.task_workers[second] == 0) {
    ++second;
  }
  ASSERT_GE(second, 4U) << "the first plane is one task";
  ASSERT_EQ(s.wait_offsets[second + 1] - s.wait_offsets[second], 1U);
  EXPECT_EQ(s.waits[s.wait_offsets[second]].tasks, 1);
}

}  // namespace
}  // namespace sptrsv::testing
