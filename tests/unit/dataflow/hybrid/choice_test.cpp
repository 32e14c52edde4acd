// The cut of the hybrid path: the longest path through the partition levels that are left.
#include "sptrsv/detail/dataflow/hybrid.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid {
namespace {

using partitioned::level_counts;

/// A tile takes 1, a hand-off 10, a further poll directly after it 5; nothing else takes time.
constexpr partitioned::cost_constants round_numbers{0, 1, 1.5, 10, 0, 5, 0.8, 0};
/// A level takes 4 on the row_per_thread path.
constexpr row_per_thread::solve_costs levels_only{0, 4, 0, 0};

/// Four levels of two partitions: in the first one both solve 64 rows; then the first partition solves 40
/// rows that wait for the second one; then the second partition solves 3 rows, twice.
const std::vector<level_counts> levels_of_partitions = {
    {64, 0, 0, 0}, {64, 0, 0, 0}, {40, level_counts::need_of(0, 1), 0, 1},
    {0, 0, 0, 0},  {0, 0, 0, 0},  {3, 0, 0, 0},
    {0, 0, 0, 0},  {3, 0, 0, 0}};
const std::vector<std::int64_t> offsets = {0, 128, 168, 171, 174};

partitioned_profile profile_of(const std::vector<level_counts>& cells) {
  return {cells.data(), static_cast<std::int64_t>(cells.size()) / 2, 2, {32, 1, 1, 1}, round_numbers, 16};
}

TEST(HybridChoice, LevelOffsetsAreTheRowsBeforeEachLevel) {
  EXPECT_EQ(level_offsets(profile_of(levels_of_partitions)), offsets);
}

TEST(HybridChoice, RemainingTimesAreTheLongestPathsThroughTheRemainingPartitionLevels) {
  const auto times = remaining_times(profile_of(levels_of_partitions));
  EXPECT_EQ(times, (std::vector<double>{2 + 10 + 2, 2, 2, 1, 0}));
}

TEST(HybridChoice, RowsThatPollSeveralTimesMakeAHandOffLonger) {
  auto waiting = levels_of_partitions;
  waiting[2].rounds = 3;  // two more than are polled together
  EXPECT_EQ(remaining_times(profile_of(waiting)).front(), 2 + 10 + 2 * 5 + 2);
}

TEST(HybridChoice, OnePartitionSolvesTheRestLevelAfterLevelWhereThatIsFaster) {
  auto slow = profile_of(levels_of_partitions);
  slow.nanoseconds = 160;
  const level_cut cut = best_cut(slow, offsets, 500, levels_only);
  EXPECT_EQ(cut.levels, 1);
  EXPECT_EQ(cut.nanoseconds, 4 + (2 + 1 + 1));
}

TEST(HybridChoice, TheGlobalEntriesOfOnePartitionCount) {
  auto entries = levels_of_partitions;
  entries[0].global_entries = 5;
  entries[1].global_entries = 4;
  entries[5].global_entries = 3;
  EXPECT_EQ(profile_of(entries).global_entries_ns(), 7 * 0.8);
}

TEST(HybridChoice, CutsWhereBothPathsTogetherTakeTheLeastTime) {
  const level_cut cut = best_cut(profile_of(levels_of_partitions), offsets, 500, levels_only);
  EXPECT_EQ(cut.levels, 1);
  EXPECT_EQ(cut.rows, 128);
  EXPECT_EQ(cut.nanoseconds, 4 + 2 * 16.0 / 14);
}

TEST(HybridChoice, OneLevelIsNotCut) {
  const std::vector<level_counts> one = {{64, 0, 0, 0}, {0, 0, 0, 0}};
  EXPECT_EQ(best_cut(profile_of(one), {0, 64}, 0, levels_only).levels, 0);
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::hybrid
