// The predictions of the partitioned path for small tables, by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/dataflow/hybrid.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

namespace partitioned = detail::dataflow::partitioned;
namespace hybrid = detail::dataflow::hybrid;
using partitioned::costed_shape;
using partitioned::level_counts;
using partitioned::prediction;

/// A launch takes 1000, a tile 10, a hand-off 100.
constexpr partitioned::cost_constants round_numbers{1000, 2, 3, 100, 1, 5, 4, 2};
constexpr costed_shape tiles_of_32_rows{32, 1, 1, 10};
constexpr costed_shape batched{32, 3, 1, 10};  // polls three pairs together

/// Returns a cell that needs no other partition.
level_counts cell(int rows, int global_entries = 0) { return {rows, 0, global_entries, 0}; }
/// Returns a cell with `rounds` polls that needs another one.
level_counts waiting(int rows, int rounds, std::int64_t level, std::int64_t partition,
                     int global_entries = 0) {
  return {rows, level_counts::need_of(level, partition), global_entries, rounds};
}

/// Cells by level, then by partition.
struct table {
  std::int64_t partitions;
  std::vector<level_counts> cells;

  [[nodiscard]] std::int64_t levels() const { return static_cast<std::int64_t>(cells.size()) / partitions; }
  [[nodiscard]] std::int64_t rows() const {
    std::int64_t sum = 0;
    for (const level_counts& c : cells) {
      sum += c.rows;
    }
    return sum;
  }
};

class PartitionedPrediction
    : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  /// Predicts all tables with all shapes together. The tables have the same number of levels.
  std::vector<prediction> predict(const std::vector<table>& tables, const std::vector<costed_shape>& shapes,
                                  std::int64_t max_rhs = 1) {
    partitioned::table_batch described;
    std::vector<level_counts> cells;
    for (const table& t : tables) {
      const std::uint32_t all = (std::uint32_t{1} << shapes.size()) - 1;
      described.tables.push_back(
          {{t.partitions, {}, false, factor}, {}, static_cast<std::int64_t>(cells.size()), all});
      cells.insert(cells.end(), t.cells.begin(), t.cells.end());
    }
    const table& first = tables.front();
    std::vector<std::int32_t> level_rows;
    for (std::int64_t level = 0; level < first.levels(); ++level) {
      const auto begin = first.cells.begin() + level * first.partitions;
      level_rows.push_back(std::accumulate(begin, begin + first.partitions, 0,
                                           [](int sum, const level_counts& c) { return sum + c.rows; }));
    }
    described.cells = static_cast<std::int64_t>(cells.size());
    // The numbers of rows stand behind the cells.
    level_rows.resize((level_rows.size() + 3) / 4 * 4);
    for (auto rows = level_rows.begin(); rows != level_rows.end(); rows += 4) {
      cells.push_back({rows[0], rows[1], rows[2], rows[3]});
    }
    described.counted = where.upload(cells);
    partitioned::predict_params params{};
    params.size = first.rows();
    params.entries = entries;
    params.levels = first.levels();
    params.max_rhs = max_rhs;
    params.resident_blocks = 1;
    params.constants = round_numbers;
    params.row_per_thread = row_per_thread;
    std::copy(shapes.begin(), shapes.end(), params.shapes);
    std::vector<partitioned::prediction_job> jobs;
    jobs.push_back({described, params, true, {}});
    return partitioned::simulate(std::move(jobs), where.on(), where.resource()).front().of_shapes;
  }
  double time(const table& t, const costed_shape& shape, std::int64_t max_rhs = 1) {
    return predict({t}, {shape}, max_rhs).front().nanoseconds;
  }

  std::int64_t entries = 500;
  double factor = 1;  ///< of the partitionings
  detail::dataflow::row_per_thread::solve_costs row_per_thread{2000, 60, 1, 0.5};
};

TEST_F(PartitionedPrediction, OnePartitionSolvesItsLevelsOneAfterTheOther) {
  const table three_levels{1, {cell(32), cell(1), cell(5)}};
  EXPECT_EQ(time(three_levels, tiles_of_32_rows), 1000 + 3 * 10);
  EXPECT_EQ(time({1, {cell(33)}}, tiles_of_32_rows), 1000 + 2 * (2 * 10));
}

TEST_F(PartitionedPrediction, APartitionWaitsForWhatItNeeds) {
  const table waits{2, {cell(1), cell(1), cell(0), waiting(1, 1, 0, 0)}};
  EXPECT_EQ(time(waits, tiles_of_32_rows), 1000 + 10 + 100 + 10);
  const table has_come{2, {cell(1), cell(32 * 50), cell(0), waiting(1, 1, 0, 0)}};
  EXPECT_EQ(time(has_come, tiles_of_32_rows), 1000 + 50 * 20 + 10) << "its own rows take longer";
}

TEST_F(PartitionedPrediction, RowsPollFurtherEntriesAfterThoseThatArePolledTogether) {
  const table polls{2, {cell(1), cell(0), cell(0), waiting(1, 4, 0, 0)}};
  EXPECT_EQ(time(polls, tiles_of_32_rows), 1000 + 10 + (100 + 3 * 5) + (10 + 3 * 1));
  EXPECT_EQ(time(polls, batched), 1000 + 10 + (100 + 5) + (10 + 1));
  costed_shape together = tiles_of_32_rows;
  together.rhs_together = 2;
  EXPECT_EQ(time(polls, together, 2), 1000 + 10 + (100 + 3 * 5) + (10 + 3 * 1 * 2));
}

TEST_F(PartitionedPrediction, ThePartitionWithMostGlobalEntriesCounts) {
  const table with_entries{2, {cell(1, 1), cell(1, 4), cell(1, 2), cell(1, 3)}};
  EXPECT_EQ(time(with_entries, tiles_of_32_rows), 1000 + 2 * 10 + 7 * 4);
  EXPECT_EQ(time(with_entries, batched), 1000 + 2 * 10 + 7 * 2);
}

/// The second partition waits for the first one, whose next round overlaps with the round of the second one.
TEST_F(PartitionedPrediction, RoundsOverlap) {
  const table chain{2, {cell(1), cell(0), cell(0), waiting(32 * 50, 1, 0, 0, 6)}};
  const double first = 10 + 100 + 50 * 20;
  const double next = 50 * 20;  // the second partition is the slower one
  const double of_entries = 6 * 4;
  EXPECT_EQ(time(chain, tiles_of_32_rows, 1), 1000 + first + of_entries);
  EXPECT_EQ(time(chain, tiles_of_32_rows, 2), 1000 + first + 3 * next + 2 * of_entries);
  EXPECT_EQ(time(chain, tiles_of_32_rows, 3), 1000 + first + 3 * 2 * next + 3 * of_entries);
  EXPECT_EQ(time(chain, tiles_of_32_rows, 7), 1000 + first + 3 * 6 * next + 7 * of_entries)
      << "rounds after the third one are not simulated";
}

TEST_F(PartitionedPrediction, CountsTilesAndFindsPartitionsThatNeedALaterOne) {
  const auto found = predict({{2, {cell(33), cell(1), waiting(65, 1, 0, 1), cell(0)}},
                              {1, {cell(34), cell(65)}},
                              {2, {cell(33), cell(1), cell(65), waiting(64, 1, 0, 0)}}},
                             {tiles_of_32_rows, {64, 1, 1, 20}});
  ASSERT_EQ(found.size(), 6);
  const std::int64_t tiles[] = {2 + 1 + 3, 1 + 1 + 2, 2 + 3, 1 + 2, 2 + 1 + 3 + 2, 1 + 1 + 2 + 1};
  const bool needs_later[] = {true, true, false, false, false, false};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].tiles, tiles[i]) << i;
    EXPECT_EQ(found[i].needs_later != 0, needs_later[i]) << i;
  }
}

/// Simulates one partition level after the other, as the comment of the agent says.
double simulate(const table& t, const costed_shape& shape) {
  std::vector<float> end_of_partition(static_cast<std::size_t>(t.partitions), 0.0f);
  std::vector<std::int64_t> entries_of_partition(static_cast<std::size_t>(t.partitions), 0);
  std::vector<float> ends;
  for (std::size_t i = 0; i < t.cells.size(); ++i) {
    const std::size_t partition = i % static_cast<std::size_t>(t.partitions);
    float& end = end_of_partition[partition];
    const level_counts& c = t.cells[i];
    if (c.rows > 0) {
      if (c.needs_other()) {
        const auto needed = static_cast<std::size_t>(c.needed_level() * t.partitions + c.needed_partition());
        end = std::max(end, ends[needed] + shape.hand_off_nanoseconds(c, round_numbers));
      }
      end += shape.level_nanoseconds(c, round_numbers);
      entries_of_partition[partition] += c.global_entries;
    }
    ends.push_back(end);
  }
  const std::int64_t most = *std::max_element(entries_of_partition.begin(), entries_of_partition.end());
  return round_numbers.launch + shape.global_entry_nanoseconds(most, round_numbers) +
         static_cast<double>(*std::max_element(end_of_partition.begin(), end_of_partition.end()));
}

/// Returns a table with drawn cells, most of which need a cell with rows of up to `reach` levels before.
table drawn_table(std::int64_t partitions, std::int64_t levels, std::int64_t reach, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  table t{partitions, {}};
  for (std::int64_t level = 0; level < levels; ++level) {
    for (std::int64_t partition = 0; partition < partitions; ++partition) {
      const int rows = draw() % 4 == 0 ? 0 : static_cast<int>(draw() % 80);
      const auto back = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(reach));
      const auto other = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(partition + 1));
      const std::int64_t needed = (level - 1 - back) * partitions + other;
      if (rows == 0 || needed < 0 || t.cells[static_cast<std::size_t>(needed)].rows == 0) {
        t.cells.push_back(cell(rows));
      } else {
        t.cells.push_back(waiting(rows, static_cast<int>(draw() % 4), level - 1 - back, other,
                                  static_cast<int>(draw() % 10)));
      }
    }
  }
  return t;
}

TEST_F(PartitionedPrediction, IsASerialSimulation) {
  const costed_shape other{64, 2, 1, 17};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    where.device().settings = hostile_settings(seed, 0);
    // The cells of 256 partitions are taken 8 levels at a time.
    const std::vector<table> tables = {drawn_table(1, 70, 3, seed), drawn_table(32, 70, 60, seed),
                                       drawn_table(33, 70, 5, seed), drawn_table(256, 70, 69, seed)};
    const auto found = predict(tables, {tiles_of_32_rows, other});
    for (std::size_t i = 0; i < tables.size(); ++i) {
      EXPECT_EQ(found[2 * i].nanoseconds, simulate(tables[i], tiles_of_32_rows)) << seed << ", " << i;
      EXPECT_EQ(found[2 * i + 1].nanoseconds, simulate(tables[i], other)) << seed << ", " << i;
    }
  }
}

/// The estimate decides whether the best cut is looked for.
TEST_F(PartitionedPrediction, EstimatesTheTimeOfTheBestCut) {
  for (const std::int64_t partitions : {1, 5, 40}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const table t = drawn_table(partitions, 50, 4, seed);
      entries = 3 * t.rows();
      row_per_thread.level = seed % 2 == 0 ? 5 : 60;
      factor = seed < 3 ? 1 : 1.5;
      const prediction found = predict({t}, {tiles_of_32_rows}).front();
      const double nanoseconds = round_numbers.launch + factor * (found.nanoseconds - round_numbers.launch);
      const hybrid::partitioned_profile profile{t.cells.data(),   t.levels(),    partitions,
                                                tiles_of_32_rows, round_numbers, nanoseconds};
      const auto cut = hybrid::best_cut(profile, hybrid::level_offsets(profile), entries, row_per_thread);
      const double longest_hand_off = 100 + 3 * 5;
      EXPECT_LE(found.hybrid_nanoseconds, 1.00001 * cut.nanoseconds + factor * longest_hand_off)
          << partitions << ", " << seed;
      EXPECT_GT(found.hybrid_nanoseconds, 0.8 * cut.nanoseconds) << partitions << ", " << seed;
    }
  }
}

}  // namespace
}  // namespace sptrsv::testing
