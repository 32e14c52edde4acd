// The choice among the paths of dataflow: a function of predicted times, without a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::testing {
namespace {

using detail::dataflow::path_choice;
using detail::dataflow::path_times;
using detail::dataflow::time_limits;
using policy::dataflow_path;

constexpr double never = std::numeric_limits<double>::infinity();

path_choice<dataflow_path> choice(dataflow_path wanted = dataflow_path::automatic, time_limits limits = {}) {
  using tuning = experimental::dataflow_tuning;
  return {wanted,
          limits,
          tuning::hybrid_gain,
          tuning::single_block_gain,
          tuning::partitioned_gain,
          tuning::natural_blocks_gain};
}

/// A system with the times that were predicted for it, in nanoseconds, and the path that it takes.
struct recorded_system {
  const char* name;
  path_times times;  ///< row_per_thread, partitioned, single_block, hybrid, one_partition
  dataflow_path path;
};

TEST(PathChoice, TakesThePathOfRecordedSystems) {
  const recorded_system systems[] = {
      {"1138_bus, lower", {13682, 7521, never, never, never}, dataflow_path::partitioned},
      {"1138_bus, upper, 8 right-hand sides",
       {16641, 11222, never, never, never},
       dataflow_path::partitioned},
      {"aig_adder, upper", {4476, never, never, never, never}, dataflow_path::row_per_thread},
      {"bcspwr09, lower", {9094, 9230, never, never, never}, dataflow_path::partitioned},
      {"bcspwr09, lower, 8 right-hand sides",
       {10896, 16746, never, never, never},
       dataflow_path::row_per_thread},
      {"fac_ybus_case2869pegase_L, lower", {never, 27522, never, 23083, never}, dataflow_path::hybrid},
  };
  for (const recorded_system& of : systems) {
    EXPECT_EQ(choice()(of.times), of.path) << of.name;
  }
}

TEST(PathChoice, TakesThePathThatIsAskedFor) {
  const path_times slow_but_possible{1, 100, 100, 100, 1};
  for (const dataflow_path path : {dataflow_path::row_per_thread, dataflow_path::partitioned,
                                   dataflow_path::single_block, dataflow_path::natural_blocks}) {
    path_times times = slow_but_possible;
    times.single_block = path == dataflow_path::single_block ? 100 : never;
    times.natural_blocks = path == dataflow_path::natural_blocks ? 100 : never;
    EXPECT_EQ(choice(path)(times), path);
  }
  EXPECT_EQ(choice(dataflow_path::hybrid)({1, 100, never, 100, never}), dataflow_path::hybrid);
  EXPECT_EQ(choice(dataflow_path::hybrid)({1, 100, never, never, never}), dataflow_path::row_per_thread)
      << "without a cut it is one of the other paths";
}

TEST(PathChoice, IsEmptyIfThePathThatIsAskedForCannotSolveTheSystem) {
  EXPECT_EQ(choice(dataflow_path::single_block)({1, 1, never, never, 1}), std::nullopt);
  EXPECT_EQ(choice(dataflow_path::natural_blocks)({1, 1, 1, never, 1}), std::nullopt);
  EXPECT_EQ(choice(dataflow_path::partitioned)({1, never, never, never, never}), std::nullopt);
}

TEST(PathChoice, TakesSingleBlockUpToAShareOfTheTimeOfOnePartition) {
  EXPECT_EQ(choice()({1, 1, 65, never, 100}), dataflow_path::single_block);
  EXPECT_NE(choice()({1, 1, 66, never, 100}), dataflow_path::single_block);
}

TEST(PathChoice, TakesNaturalBlocksIfTheySaveATenthOfTheBestOtherPath) {
  EXPECT_EQ(choice()({100, 120, never, never, 50, 89}), dataflow_path::natural_blocks);
  EXPECT_EQ(choice()({100, 120, never, never, 50, 91}), dataflow_path::row_per_thread);
  EXPECT_EQ(choice()({never, never, 60, never, 100, 59}), dataflow_path::natural_blocks);
  EXPECT_EQ(choice()({never, never, 60, never, 100, 61}), dataflow_path::single_block);
}

/// Before other paths are predicted, a share of the time of one partition is the limit.
TEST(PathChoice, TakesNaturalBlocksUpToAShareOfTheTimeOfOnePartition) {
  EXPECT_EQ(choice()({never, never, never, never, 100, 65}), dataflow_path::natural_blocks);
  EXPECT_NE(choice()({never, never, never, never, 100, 66}), dataflow_path::natural_blocks);
}

TEST(PathChoice, TakesHybridIfItSavesATenth) {
  EXPECT_EQ(choice()({100, 120, never, 89, never}), dataflow_path::hybrid);
  EXPECT_EQ(choice()({100, 120, never, 91, never}), dataflow_path::row_per_thread);
}

/// A rewritten system must be faster than the system as it is.
TEST(PathChoice, IsEmptyIfNoPathMeetsItsLimit) {
  const time_limits only_partitioned{100, 0, false};
  EXPECT_EQ(choice(dataflow_path::automatic, only_partitioned)({200, 99, never, never, never}),
            dataflow_path::partitioned);
  EXPECT_EQ(choice(dataflow_path::automatic, only_partitioned)({200, 100, never, never, never}),
            std::nullopt);
  EXPECT_EQ(choice(dataflow_path::automatic, only_partitioned)({98, 99, never, never, never}), std::nullopt)
      << "row_per_thread would be faster";
  EXPECT_EQ(choice(dataflow_path::automatic, only_partitioned)({}), std::nullopt);
  const time_limits both{100, 50, true};
  EXPECT_EQ(choice(dataflow_path::automatic, both)({49, 60, never, never, never}),
            dataflow_path::row_per_thread);
  EXPECT_EQ(choice(dataflow_path::automatic, both)({50, 60, never, never, never}),
            dataflow_path::partitioned);
  EXPECT_EQ(choice(dataflow_path::automatic, both)({50, 100, never, never, never}), std::nullopt);
}

TEST(PathChoice, NamesThePredictionsThatLedToIt) {
  const path_times times{30e3, 20e3, never, never, never};
  const auto by_time = choice().predictions(dataflow_path::partitioned, times);
  ASSERT_EQ(by_time.size(), 2u);
  EXPECT_EQ(choice().text("partitioned", by_time),
            "partitioned, by the predicted time of a solve: partitioned 0.02 ms, row_per_thread 0.03 ms");
  const auto asked_for =
      choice(dataflow_path::hybrid).predictions(dataflow_path::hybrid, {9, 8, never, 5, never});
  ASSERT_EQ(asked_for.size(), 2u);
  EXPECT_EQ(asked_for[1].name, "single path");
  EXPECT_EQ(asked_for[1].nanoseconds, 8);
}

}  // namespace
}  // namespace sptrsv::testing
