// The tables of partition levels that are counted on the device, against a serial count.
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/detail/analysis/device_levels.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

namespace partitioned = detail::dataflow::partitioned;
using partitioned::partitioning;
using partitioned::shape_values;

constexpr shape_values one_lane{1, 32, 2, 1, false, 1};
constexpr shape_values four_lanes{4, 64, 2, 2, false, 1};

/// A table, in values that compare.
struct counted_table {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>
      levels;                              // need, rows, partition, rounds
  std::vector<std::int64_t> level_begins;  // the first partition level of each level
  std::vector<std::int64_t> global_entries;
  bool needs_later_partition = false;
};

/// Counts as level_counts.hpp describes, row by row.
counted_table count_serially(const pattern& p, const std::vector<std::int64_t>& levels,
                             const std::vector<std::int64_t>& partitions, std::int64_t partition_count,
                             const shape_values& shape) {
  struct cell {
    std::pair<std::int64_t, std::int64_t> need{-1, -1};  // level and partition
    std::int64_t rows = 0;
    std::int64_t rounds = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, cell> cells;  // by level and partition
  counted_table table;
  table.global_entries.resize(static_cast<std::size_t>(partition_count), 0);
  const auto key_of = [&](std::int64_t row) {
    return std::pair(levels[static_cast<std::size_t>(row)], partitions[static_cast<std::size_t>(row)]);
  };
  std::vector<std::vector<std::int64_t>> columns(static_cast<std::size_t>(p.size));
  for (const position& e : p.entries) {
    columns[static_cast<std::size_t>(e.row)].push_back(e.column);
  }
  for (std::int64_t row = 0; row < p.size; ++row) {
    const auto key = key_of(row);
    cell& c = cells[key];
    ++c.rows;
    auto& of_row = columns[static_cast<std::size_t>(row)];
    std::sort(of_row.rbegin(), of_row.rend());  // the last columns are the first ones to be shared
    std::int64_t shared = 0;
    std::int64_t global = 0;
    for (const std::int64_t column : of_row) {
      const auto needed = key_of(column);
      if (needed.second == key.second && shared < shape.shared_entries()) {
        ++shared;
        continue;
      }
      ++global;
      c.need = std::max(c.need, needed);
      table.needs_later_partition = table.needs_later_partition || needed.second > key.second;
    }
    c.rounds = std::max(c.rounds, (global + 2 * shape.lanes - 1) / (2 * shape.lanes));
    table.global_entries[static_cast<std::size_t>(key.second)] += global;
  }
  std::int64_t last_level = -1;
  for (const auto& [key, c] : cells) {
    if (key.first != last_level) {
      last_level = key.first;
      table.level_begins.push_back(static_cast<std::int64_t>(table.levels.size()));
    }
    const auto need = cells.find(c.need);
    table.levels.emplace_back(need == cells.end() ? -1 : std::distance(cells.begin(), need), c.rows,
                              key.second, c.rounds);
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
    std::vector<partitioned::level_table> tables;
    std::int64_t cells = 0;
    for (const partitioning& division : partitionings) {
      for (const shape_values& shape : {one_lane, four_lanes}) {
        tables.push_back({division, shape, cells});
        cells += division.partitions * levels.count;
      }
    }
    const auto counted =
        partitioned::count_level_tables(tables, cells, triangle, levels, where.on(), where.resource());
    ASSERT_EQ(counted.summaries.size(), tables.size());
    const auto level = where.download(levels.of_row);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const partitioning& division = tables[i].rows;
      SCOPED_TRACE(p.name + ", " + std::to_string(division.partitions) + " partitions, " +
                   std::to_string(tables[i].shape.lanes) + " lanes");
      const auto expected = count_serially(p, {level.begin(), level.end()}, partitions_of(p, division),
                                           division.partitions, tables[i].shape);
      const partitioned::level_table_summary& summary = counted.summaries[i];
      counted_table seen;
      for (std::int32_t k = summary.first; k < summary.end; ++k) {
        const partitioned::partition_level& l = counted.levels[static_cast<std::size_t>(k)];
        if (l.begins_level != 0) {
          seen.level_begins.push_back(k - summary.first);
        }
        seen.levels.emplace_back(l.need, l.rows, l.partition, l.rounds);
      }
      seen.global_entries.assign(summary.global_entries, summary.global_entries + division.partitions);
      seen.needs_later_partition = summary.needs_later_partition != 0;
      EXPECT_EQ(seen.levels, expected.levels);
      EXPECT_EQ(seen.level_begins, expected.level_begins);
      EXPECT_EQ(seen.global_entries, expected.global_entries);
      EXPECT_EQ(seen.needs_later_partition, expected.needs_later_partition);
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
