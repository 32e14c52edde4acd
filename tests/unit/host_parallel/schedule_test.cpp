// The schedule of host_parallel: every row is solved once, and no dependency lacks a wait.
#include "sptrsv/detail/host_parallel/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sptrsv/solver.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

struct scheduled {
  detail::host_triangle<std::int32_t, std::int32_t> triangle;
  detail::host_levels<std::int32_t> levels;
  detail::host_schedule<std::int32_t> schedule;
};

scheduled schedule_of(const pattern& p, int workers) {
  const auto a = make_matrix<double>(p, {}).by_rows;
  scheduled s;
  const auto view = detail::pattern_of(a.view());
  s.triangle = detail::build_on_host(view, detail::triangle_form(system_options{}, false));
  s.levels = detail::levels_on_host<std::int32_t>(s.triangle.row_offsets, s.triangle.columns);
  s.schedule = detail::make_schedule(s.levels, s.triangle.row_offsets, s.triangle.columns, workers);
  return s;
}

/// Simulates the waits: a worker knows only the rows of other workers for which it has waited.
void expect_sound(const pattern& p, int workers) {
  const scheduled s = schedule_of(p, workers);
  const auto n = static_cast<std::size_t>(p.size);
  const auto count = static_cast<std::size_t>(workers);
  ASSERT_EQ(s.schedule.levels, s.levels.count());
  ASSERT_EQ(s.schedule.task_offsets.size(), static_cast<std::size_t>(s.schedule.levels) * count + 1);
  std::vector<int> worker_of(n, -1);
  std::vector<std::vector<std::int32_t>> known(count, std::vector<std::int32_t>(count, -1));
  for (std::size_t task = 0; task + 1 < s.schedule.task_offsets.size(); ++task) {
    const std::size_t w = task % count;
    const auto level = static_cast<std::int32_t>(task / count);
    for (std::size_t i = s.schedule.wait_offsets[task]; i < s.schedule.wait_offsets[task + 1]; ++i) {
      const auto& wait = s.schedule.waits[i];
      const auto other = static_cast<std::size_t>(wait.worker);
      EXPECT_NE(other, w) << "waits for itself";
      EXPECT_LT(wait.level, level) << "waits for a level that is not earlier: a deadlock on one thread";
      EXPECT_GT(wait.level, known[w][other]) << "an earlier wait implies it";
      known[w][other] = wait.level;
    }
    for (std::int32_t r = s.schedule.task_offsets[task]; r < s.schedule.task_offsets[task + 1]; ++r) {
      const auto row = static_cast<std::size_t>(s.schedule.rows[static_cast<std::size_t>(r)]);
      ASSERT_EQ(worker_of[row], -1) << "row " << row << " twice";
      worker_of[row] = static_cast<int>(w);
      EXPECT_EQ(s.levels.level_of_row[row], level);
      for (std::int32_t e = s.triangle.row_offsets[row]; e < s.triangle.row_offsets[row + 1]; ++e) {
        const auto column = static_cast<std::size_t>(s.triangle.columns[static_cast<std::size_t>(e)]);
        const int by = worker_of[column];
        ASSERT_NE(by, -1) << "row " << row << " comes before row " << column << ", which it needs";
        EXPECT_TRUE(by == static_cast<int>(w) ||
                    known[w][static_cast<std::size_t>(by)] >= s.levels.level_of_row[column])
            << "row " << row << " does not wait for row " << column;
      }
    }
  }
  for (const int w : worker_of) {
    EXPECT_NE(w, -1);
  }
}

TEST(HostSchedule, IsSoundForEveryPatternAndNumberOfWorkers) {
  std::vector<pattern> all = patterns::smallest();
  for (const auto& more : {patterns::small(), patterns::deep()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const pattern& p : all) {
    for (const int workers : {1, 2, 3, 8}) {
      SCOPED_TRACE(p.name + ", " + std::to_string(workers) + " workers");
      expect_sound(p, workers);
    }
  }
}

TEST(HostSchedule, SharesAWideLevelEvenly) {
  const scheduled s = schedule_of(patterns::diagonal(100), 4);
  EXPECT_EQ(s.schedule.task_offsets, (std::vector<std::int32_t>{0, 25, 50, 75, 100}));
  EXPECT_TRUE(s.schedule.waits.empty());
}

TEST(HostSchedule, NeedsNoWaitForAChainOnOneWorker) {
  EXPECT_TRUE(schedule_of(patterns::chain(50), 1).schedule.waits.empty());
  EXPECT_TRUE(schedule_of(patterns::stencil_2d(9, 9), 1).schedule.waits.empty());
}

}  // namespace
}  // namespace sptrsv::testing
