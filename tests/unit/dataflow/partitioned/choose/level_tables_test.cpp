// The tables of partition levels that are counted on the device, against a serial count.
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

namespace partitioned = detail::dataflow::partitioned;
using partitioned::partitioning;
using partitioned::shape_values;

constexpr shape_values shape_of_one_lane{1, 32, 2, 1, false, 1};
constexpr shape_values shape_of_four_lanes{4, 64, 2, 2, false, 1};

/// A cell, in values that compare.
using cell_values =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  // need, rows, global, rounds

/// The cells of a table by level, then by partition.
struct counted_table {
  std::vector<cell_values> cells;
  bool needs_later_partition = false;
};

/// Counts as level_counts.hpp describes, row by row.
counted_table count_serially(const pattern& p, const std::vector<std::int64_t>& levels,
                             const std::vector<std::int64_t>& partitions, std::int64_t partition_count,
                             const shape_values& shape) {
  struct counts {
    std::int64_t need = 0;
    std::int64_t rows = 0;
    std::int64_t global_entries = 0;
    std::int64_t rounds = 0;
  };
  const std::int64_t level_count = *std::max_element(levels.begin(), levels.end());
  std::vector<counts> cells(static_cast<std::size_t>(level_count * partition_count));
  counted_table table;
  std::vector<std::vector<std::int64_t>> columns(static_cast<std::size_t>(p.size));
  for (const position& e : p.entries) {
    columns[static_cast<std::size_t>(e.row)].push_back(e.column);
  }
  const auto at = [](const std::vector<std::int64_t>& of_row, std::int64_t row) {
    return of_row[static_cast<std::size_t>(row)];
  };
  for (std::int64_t row = 0; row < p.size; ++row) {
    const std::int64_t own = at(partitions, row);
    counts& c = cells[static_cast<std::size_t>((at(levels, row) - 1) * partition_count + own)];
    ++c.rows;
    auto& of_row = columns[static_cast<std::size_t>(row)];
    std::sort(of_row.rbegin(), of_row.rend());  // the last columns are the first ones to be shared
    std::int64_t shared = 0;
    std::int64_t global = 0;
    for (const std::int64_t column : of_row) {
      const std::int64_t other = at(partitions, column);
      if (other == own && shared < shape.shared_entries()) {
        ++shared;
        continue;
      }
      ++global;
      c.need =
          std::max(c.need, (at(levels, column) - 1) * partitioned::level_counts::level_stride + other + 1);
      table.needs_later_partition = table.needs_later_partition || other > own;
    }
    c.rounds = std::max(c.rounds, (global + 2 * shape.lanes - 1) / (2 * shape.lanes));
    c.global_entries += global;
  }
  for (const counts& c : cells) {
    table.cells.emplace_back(c.need, c.rows, c.global_entries, c.rounds);
  }
  return table;
}

class LevelTables : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  /// Counts one table for each partitioning and shape, all together, and compares each with a serial count.
  void check(const pattern& p, const std::vector<partitioning>& partitionings) {
    const auto there = where.upload(make(p, {}).by_rows);
    const auto triangle =
        detail::build_on_device(detail::pattern_of(detail::view_of(there)),
                                detail::triangle_form(system_options{}, false), where.on(), where.resource());
    const auto levels = detail::levels_of_rows(triangle, where.on(), where.resource());
    partitioned::table_batch batch;
    const auto& tables = batch.tables;
    for (const partitioning& division : partitionings) {
      for (const shape_values& shape : {shape_of_one_lane, shape_of_four_lanes}) {
        batch.tables.push_back({division, shape, batch.cells, 1});
        batch.cells += division.partitions * levels.count;
      }
    }
    partitioned::count_level_tables(
        std::vector{partitioned::counting_job<std::int32_t, std::int32_t>{batch, triangle, levels}},
        where.on(), where.resource());
    partitioned::predict_params params{};
    params.size = p.size;
    params.entries = triangle.entries();
    params.levels = levels.count;
    params.max_rhs = 1;
    params.resident_blocks = 1;
    params.constants = partitioned::cost_constants::of<experimental::dataflow_tuning>();
    params.shapes[0] = {32, 1, 1, 100};
    std::vector<partitioned::prediction_job> jobs;
    jobs.push_back({batch, params, false, {}});
    const auto predictions =
        partitioned::simulate(std::move(jobs), where.on(), where.resource()).front().of_shapes;
    const std::vector<partitioned::level_counts> cells = where.download(batch.counted);
    const auto level = where.download(levels.of_row);
    for (std::int64_t l = 0; l < levels.count; ++l) {
      std::int32_t rows = 0;
      where.on().download(&rows, batch.level_rows() + l, sizeof(rows));
      EXPECT_EQ(rows, std::count(level.begin(), level.end(), l + 1)) << l;
    }
    ASSERT_EQ(predictions.size(), tables.size());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const partitioning& division = tables[i].rows;
      SCOPED_TRACE(p.name + ", " + std::to_string(division.partitions) + " partitions, " +
                   std::to_string(tables[i].shape.lanes) + " lanes");
      const auto expected = count_serially(p, {level.begin(), level.end()}, partitions_of(p, division),
                                           division.partitions, tables[i].shape);
      std::vector<cell_values> seen;
      for (std::int64_t k = 0; k < division.partitions * levels.count; ++k) {
        const partitioned::level_counts& c = cells[static_cast<std::size_t>(tables[i].begin + k)];
        seen.emplace_back(c.need, c.rows, c.global_entries, c.rounds);
      }
      EXPECT_EQ(seen, expected.cells);
      EXPECT_EQ(predictions[i].needs_later != 0, expected.needs_later_partition);
    }
  }

 private:
  /// Returns the partition of each row: as many boxes, or shares of the work, which is a row's entries and
  /// one.
  static std::vector<std::int64_t> partitions_of(const pattern& p, const partitioning& division) {
    std::vector<std::int64_t> of_row;
    const auto work = static_cast<std::int64_t>(p.entries.size()) + p.size;
    auto entry = p.entries.begin();
    for (std::int64_t row = 0; row < p.size; ++row) {
      entry = std::find_if(entry, p.entries.end(), [&](const position& e) { return e.row >= row; });
      const std::int64_t before = entry - p.entries.begin() + row;
      of_row.push_back(division.boxes.are_used() ? division.boxes.partition_of(row)
                                                 : before * division.partitions / work);
    }
    return of_row;
  }
};

TEST_F(LevelTables, AreASerialCount) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    where.device().settings = hostile_settings(seed, 0);
    for (const pattern& p : {patterns::random(300, 5, seed), patterns::power_law(257, seed),
                             patterns::layers(300, 60, 7), patterns::stencil_2d(17, 19)}) {
      check(p, {{1, {}}, {3, {}}, {16, {}}, {256, {}}});
    }
  }
}

TEST_F(LevelTables, CountBoxesAndSayIfOneNeedsALaterOne) {
  const partitioned::block_partition boxes{{6, 5, 4}, {2, 1, 3}};
  check(patterns::stencil_3d(6, 5, 4), {{6, boxes}, {4, {}}});
  check(patterns::stencil_3d_27(6, 5, 4), {{6, boxes}});
  const auto ahead = patterns::stencil_3d_27(6, 5, 4).entries;
  EXPECT_TRUE(std::any_of(ahead.begin(), ahead.end(), [&](const position& e) {
    return boxes.partition_of(e.column) > boxes.partition_of(e.row);
  })) << "the test sees a box that needs a later one";
}

}  // namespace
}  // namespace sptrsv::testing
