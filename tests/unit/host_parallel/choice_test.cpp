// The paths and numbers of workers that host_parallel chooses.
#include "sptrsv/detail/host_parallel/host_parallel_choice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"
#include "support/matrices.hpp"

namespace sptrsv::testing {
namespace {

using detail::host_path;

detail::host_schedule<std::int32_t> plan_of(const pattern& p, int asked, int available) {
  const auto a = make_matrix<double>(p, {}).by_rows;
  const auto t = detail::build_in_serial_order(detail::pattern_of(a.view()),
                                               detail::triangle_form(system_options{}, false));
  std::vector<std::int32_t> level_of_row;
  const std::int64_t levels = detail::find_levels(t.row_offsets, t.columns, level_of_row);
  detail::host_planner<std::int32_t, std::int32_t> planner(t, levels);
  if (asked > 1) {
    return planner.plan_workers(asked);
  }
  auto one_worker = planner.plan_one_worker();
  auto several = planner.plan_busy_workers(one_worker.nanoseconds, asked == 0 ? available : 1);
  return several ? *several : one_worker;
}

void expect_choice(const pattern& p, int available, host_path path, int workers) {
  const auto plan = plan_of(p, 0, available);
  EXPECT_EQ(detail::name_of(plan.path), std::string(detail::name_of(path))) << p.name;
  EXPECT_EQ(plan.workers, workers) << p.name;
}

TEST(HostChoice, SolvesRowsThatNeedEachOtherInNaturalOrder) {
  expect_choice(patterns::chain(20000), 8, host_path::natural, 1);
  expect_choice(patterns::band(20000, 3), 8, host_path::natural, 1);
  expect_choice(patterns::dense(60), 8, host_path::natural, 1);
}

TEST(HostChoice, TakesWindowsWhereACoreWouldWaitForEachRow) {
  expect_choice(patterns::stencil_2d(200, 200), 1, host_path::windows, 1);
  expect_choice(patterns::stencil_3d(20, 20, 20), 1, host_path::windows, 1);
}

TEST(HostChoice, TakesOneWorkerForASmallSystem) {
  expect_choice(patterns::stencil_2d(40, 40), 16, host_path::windows, 1);
  expect_choice(patterns::diagonal(1000), 16, host_path::natural, 1);
}

TEST(HostChoice, DealsTheWindowsOfAGridToTwoWorkers) {
  expect_choice(patterns::stencil_3d(64, 64, 64), 2, host_path::pipeline, 2);
}

TEST(HostChoice, SharesTheLevelsIfWindowsFollowEachOther) {
  // The first rows of a window need the last rows of the window before.
  pattern p{"gap", 200000, {}};
  for (std::int64_t row = 2000; row < p.size; ++row) {
    for (const std::int64_t distance :
         {1900 + row * 7919 % 50, 1800 + row * 6661 % 50, 1700 + row * 37 % 50}) {
      p.entries.push_back({row, row - distance});
    }
  }
  expect_choice(p, 2, host_path::levels, 2);
}

TEST(HostChoice, TakesNoMoreWorkersThanAreBusy) {
  // A worker may start with a window when the first of 12 tasks of the window before is done.
  const auto plan = plan_of(patterns::stencil_2d(500, 500), 0, 64);
  EXPECT_EQ(plan.path, host_path::pipeline);
  EXPECT_GT(plan.workers, 1);
  EXPECT_LT(plan.workers, 16);
}

TEST(HostChoice, TakesTheWorkersThatAreAskedFor) {
  for (const pattern& p : {patterns::chain(50), patterns::stencil_2d(60, 60), patterns::diagonal(3)}) {
    for (const int workers : {1, 2, 5}) {
      EXPECT_EQ(plan_of(p, workers, 1).workers, workers) << p.name;
    }
  }
}

TEST(HostChoice, IsReported) {
  const pattern p = patterns::stencil_2d(200, 200);
  const auto info = analyze(policy::host_parallel{1}, make_matrix<double>(p, {}).by_rows).info();
  EXPECT_EQ(info.path, "windows");
  EXPECT_EQ(info.device, "host, 1 worker");
  ASSERT_EQ(info.predictions.size(), 2U);
  EXPECT_EQ(info.predictions[0].name, "natural");
  EXPECT_LT(info.predictions[1].nanoseconds, info.predictions[0].nanoseconds);
  EXPECT_EQ(info.plan.find("windows, by the predicted time of a solve: natural "), 0U) << info.plan;
  EXPECT_EQ(info.levels, 399);
  EXPECT_EQ(info.longest_row, 2);
}

}  // namespace
}  // namespace sptrsv::testing
