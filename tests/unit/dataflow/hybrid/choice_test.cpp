// The cut of the hybrid path: the longest path through the partition levels that are left.
#include "sptrsv/detail/dataflow/hybrid/choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::detail::dataflow::hybrid {
namespace {

/// A tile takes 1, a hand-off 10, a level on the row_per_thread path 4; nothing else takes time.
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

/// Four levels of two partitions: in the first one both solve 64 rows; then the first partition solves 40
/// rows that wait for the second one; then the second partition solves 3 rows, twice.
const std::vector<partitioned::partition_level> levels_of_partitions = {
    {-1, 64, 0, 0, 1}, {-1, 64, 1, 0, 0}, {0, 40, 1, 1, 1}, {-1, 3, 1, 0, 1}, {-1, 3, 1, 0, 1}};
const std::vector<int> level_offsets = {0, 128, 168, 171, 174};

partitioned_profile profile_of(const std::vector<partitioned::partition_level>& t) {
  constexpr partitioned::shape_values shape{1, 32, 4, 1, false, 1};
  return {t.data(), t.size(), 2, shape, 1, 0, 16};
}

TEST(HybridChoice, LevelOffsetsAreTheRowsBeforeEachLevel) {
  EXPECT_EQ(dataflow::hybrid::level_offsets(levels_of_partitions.data(), levels_of_partitions.size()),
            (std::vector<std::int64_t>{0, 128, 168, 171, 174}));
}

TEST(HybridChoice, RemainingTimesAreTheLongestPathsThroughTheRemainingPartitionLevels) {
  const auto times = remaining_times<round_numbers>(profile_of(levels_of_partitions), level_offsets);
  EXPECT_EQ(times, (std::vector<double>{2 + 10 + 4, 4, 2, 1, 0}));
}

TEST(HybridChoice, RowsThatPollSeveralTimesMakeAHandOffLonger) {
  auto waiting = levels_of_partitions;
  waiting[2].rounds = 3;  // two more than are polled together
  EXPECT_EQ(remaining_times<round_numbers>(profile_of(waiting), level_offsets).front(), 2 + 10 + 2 * 5 + 4);
}

TEST(HybridChoice, OnePartitionSolvesLevelAfterLevel) {
  const auto times =
      remaining_times_of_one_partition<round_numbers>(profile_of(levels_of_partitions), level_offsets, 500);
  EXPECT_EQ(times, (std::vector<double>{4 + 2 + 1 + 1, 4, 2, 1, 0}));
}

TEST(HybridChoice, CutsWhereBothPathsTogetherTakeTheLeastTime) {
  const level_cut cut =
      best_cut<round_numbers>(profile_of(levels_of_partitions), level_offsets, 500, 8, 4, 1);
  EXPECT_EQ(cut.levels, 1);
  EXPECT_EQ(cut.rows, 128);
  EXPECT_EQ(cut.nanoseconds, 4 + 4);
}

TEST(HybridChoice, OneLevelIsNotCut) {
  const std::vector<partitioned::partition_level> one = {{-1, 64, 0, 0, 1}};
  EXPECT_EQ(best_cut<round_numbers>(profile_of(one), std::vector<int>{0, 64}, 0, 8, 4, 1).levels, 0);
}

}  // namespace
}  // namespace sptrsv::detail::dataflow::hybrid
