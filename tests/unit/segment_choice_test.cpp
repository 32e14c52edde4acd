// Where levels are cut: the longest way through the turns that are left.
#include "sptrsv/detail/dataflow/hybrid/choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::detail::dataflow {
namespace {

/// A step takes 1, a hand-off 10, a level on the grid 4; nothing else takes time.
struct round_numbers : dataflow_tuning {
  static constexpr double partitioned_hop_ns = 10;
  static constexpr double partitioned_late_poll_ns = 5;
  static constexpr double partitioned_poll_ns = 0;
  static constexpr double partitioned_many_tiles_factor = 1;
  static constexpr double partitioned_batched_global_entry_ns = 0;
  static constexpr double partitioned_launch_ns = 0;
  static constexpr double row_per_thread_launch_ns = 0;
  static constexpr double row_per_thread_level_ns = 4;
  static constexpr double row_per_thread_byte_ns = 0;
};

/// Four levels: two parts with 64 rows each, then one with 40 that wait for both, then the second one by
/// itself, twice.
const std::vector<partition_level> levels_of_partitions = {
    {-1, 64, 0, 0}, {-1, 64, 1, 0}, {0, 40, 1, 1}, {-1, 3, 1, 0}, {-1, 3, 1, 0}};
const std::vector<int> level_offsets = {0, 128, 168, 171, 174};

partitioned_counts partitioned_of(const std::vector<partition_level>& t) {
  constexpr shape_values shape{1, 32, 4, 1, false, 1};
  return {t.data(), t.size(), 2, shape, 1, 0, 16};
}

TEST(SegmentChoice, TailsAreTheLongestWaysThroughTheTurnsThatAreLeft) {
  const auto tails = remaining_times<round_numbers>(partitioned_of(levels_of_partitions), level_offsets);
  EXPECT_EQ(tails, (std::vector<double>{2 + 10 + 4, 4, 2, 1, 0}));
}

TEST(SegmentChoice, RowsThatWaitSeveralTimesMakeAHandOffLonger) {
  auto waiting = levels_of_partitions;
  waiting[2].rounds = 3;  // two more than are polled together
  EXPECT_EQ(remaining_times<round_numbers>(partitioned_of(waiting), level_offsets).front(),
            2 + 10 + 2 * 5 + 4);
}

TEST(SegmentChoice, OnePartTakesLevelAfterLevel) {
  const auto tails = remaining_times_of_one_partition<round_numbers>(partitioned_of(levels_of_partitions),
                                                                     level_offsets, 500);
  EXPECT_EQ(tails, (std::vector<double>{4 + 2 + 1 + 1, 4, 2, 1, 0}));
}

TEST(SegmentChoice, CutsWhereGridAndRelayTogetherTakeLeast) {
  const level_cut cut =
      best_cut<round_numbers>(partitioned_of(levels_of_partitions), level_offsets, 500, 8, 4, 1);
  EXPECT_EQ(cut.levels, 1);
  EXPECT_EQ(cut.rows, 128);
  EXPECT_EQ(cut.nanoseconds, 4 + 4);
}

TEST(SegmentChoice, OneLevelIsNotCut) {
  const std::vector<partition_level> one = {{-1, 64, 0, 0}};
  EXPECT_EQ(best_cut<round_numbers>(partitioned_of(one), std::vector<int>{0, 64}, 0, 8, 4, 1).levels, 0);
}

}  // namespace
}  // namespace sptrsv::detail::dataflow
