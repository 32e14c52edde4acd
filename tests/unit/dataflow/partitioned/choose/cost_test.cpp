// The cost model of the partitioned path on small tables, by hand.
#include "sptrsv/detail/dataflow/partitioned/choose/cost.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::detail::dataflow::partitioned {
namespace {

/// A launch takes 1000, a tile 10, a hand-off 100.
struct round_numbers : dataflow_tuning {
  static constexpr double partitioned_launch_ns = 1000;
  static constexpr double partitioned_many_tiles_factor = 2;
  static constexpr double partitioned_further_rhs_factor = 3;
  static constexpr double partitioned_hop_ns = 100;
  static constexpr double partitioned_poll_ns = 1;
  static constexpr double partitioned_late_poll_ns = 5;
  static constexpr double partitioned_global_entry_ns = 4;
  static constexpr double partitioned_batched_global_entry_ns = 2;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr shape_values tiles_of_32_rows{1, 32, 4, 1, false, 1};
constexpr shape_values batched{1, 32, 4, 3, false, 1};  // polls three pairs together

struct table {
  std::vector<partition_level> levels;  // need, rows, partition, rounds, begins_level
  std::vector<std::int32_t> global_entries;

  [[nodiscard]] double time(const shape_values& shape, std::int64_t rounds = 1, int rhs_together = 1,
                            double limit = infinity) const {
    predicted_ends memory;
    return solve_nanoseconds<round_numbers>(levels.data(), levels.size(), global_entries.data(),
                                            static_cast<std::int64_t>(global_entries.size()), shape, 10,
                                            rhs_together, rounds, limit, memory);
  }
};

TEST(PartitionedCost, OnePartitionSolvesItsLevelsOneAfterTheOther) {
  const table three_levels{{{-1, 32, 0, 0, 0}, {-1, 1, 0, 0, 0}, {-1, 5, 0, 0, 0}}, {0}};
  EXPECT_EQ(three_levels.time(tiles_of_32_rows), 1000 + 3 * 10);
  const table two_tiles{{{-1, 33, 0, 0, 0}}, {0}};
  EXPECT_EQ(two_tiles.time(tiles_of_32_rows), 1000 + 2 * (2 * 10));
}

TEST(PartitionedCost, APartitionWaitsForWhatItNeeds) {
  const table waits{{{-1, 1, 0, 0, 0}, {-1, 1, 1, 0, 0}, {0, 1, 1, 1, 0}}, {0, 0}};
  EXPECT_EQ(waits.time(tiles_of_32_rows), 1000 + 10 + 100 + 10);
  const table has_come{{{-1, 1, 0, 0, 0}, {-1, 32 * 50, 1, 0, 0}, {0, 1, 1, 1, 0}}, {0, 0}};
  EXPECT_EQ(has_come.time(tiles_of_32_rows), 1000 + 50 * 20 + 10) << "its own rows take longer";
}

TEST(PartitionedCost, RowsPollFurtherEntriesAfterThoseThatArePolledTogether) {
  const table polls{{{-1, 1, 0, 0, 0}, {0, 1, 1, 4, 0}}, {0, 0}};
  EXPECT_EQ(polls.time(tiles_of_32_rows), 1000 + 10 + (100 + 3 * 5) + (10 + 3 * 1));
  EXPECT_EQ(polls.time(tiles_of_32_rows, 1, 2), 1000 + 10 + (100 + 3 * 5) + (10 + 3 * 1 * 2));
  EXPECT_EQ(polls.time(batched), 1000 + 10 + (100 + 5) + (10 + 1));
}

TEST(PartitionedCost, ThePartitionWithMostGlobalEntriesCounts) {
  const table entries{{{-1, 1, 0, 0, 0}, {-1, 1, 1, 0, 0}}, {3, 7}};
  EXPECT_EQ(entries.time(tiles_of_32_rows), 1000 + 10 + 7 * 4);
  EXPECT_EQ(entries.time(batched), 1000 + 10 + 7 * 2);
}

TEST(PartitionedCost, IsInfiniteBeyondTheLimit) {
  const table three_levels{{{-1, 1, 0, 0, 0}, {-1, 1, 0, 0, 0}, {-1, 1, 0, 0, 0}}, {5}};
  const double time = 1000 + 3 * 10 + 5 * 4;
  EXPECT_EQ(three_levels.time(tiles_of_32_rows, 1, 1, time), time);
  EXPECT_EQ(three_levels.time(tiles_of_32_rows, 1, 1, time - 1), infinity);
}

/// The second partition waits for the first one, whose next round overlaps with the round of the second one.
TEST(PartitionedCost, RoundsOverlap) {
  const table chain{{{-1, 1, 0, 0, 0}, {0, 32 * 50, 1, 1, 0}}, {0, 6}};
  const double first = 10 + 100 + 50 * 20;
  const double next = 50 * 20;  // the second partition is the slower one
  const double entries = 6 * 4;
  EXPECT_EQ(chain.time(tiles_of_32_rows, 1), 1000 + first + entries);
  EXPECT_EQ(chain.time(tiles_of_32_rows, 2), 1000 + first + 3 * next + 2 * entries);
  EXPECT_EQ(chain.time(tiles_of_32_rows, 3), 1000 + first + 3 * 2 * next + 3 * entries);
  EXPECT_EQ(chain.time(tiles_of_32_rows, 7), 1000 + first + 3 * 6 * next + 7 * entries)
      << "rounds after the third one are not simulated";
}

}  // namespace
}  // namespace sptrsv::detail::dataflow::partitioned
