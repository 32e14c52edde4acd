// The solve order of partitioned plans: partitions, levels, tiles and slices.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "unit/dataflow/partitioned/build/built_plan.hpp"

namespace sptrsv::testing {
namespace {

using detail::dataflow::partitioned::block_partition;

/// A pattern, row by row.
struct row_facts {
  std::vector<std::vector<std::int64_t>> columns;
  std::vector<std::int64_t> levels;  ///< from 1

  explicit row_facts(const pattern& p)
      : columns(static_cast<std::size_t>(p.size)), levels(static_cast<std::size_t>(p.size), 1) {
    for (const position& e : p.entries) {  // rows ascend
      const auto row = static_cast<std::size_t>(e.row);
      columns[row].push_back(e.column);
      levels[row] = std::max(levels[row], levels[static_cast<std::size_t>(e.column)] + 1);
    }
  }
};

class PartitionedOrder : public partitioned_planning {
 public:
  /// No row is split, so that a row code is the row.
  void check(const pattern& p, plan_settings s) {
    SCOPED_TRACE(p.name + ", " + s.name());
    s.longest_row = p.size;
    const auto built = build(make(p, {}), {}, s);
    ASSERT_TRUE(built);
    plan = *built;
    facts = row_facts(p);
    read_rows();
    expect_each_row_once();
    expect_partitions();
    expect_tiles();
  }

 private:
  std::size_t tile_of_slice(std::size_t slice) const {
    return slice / static_cast<std::size_t>(plan.tile_slices());
  }
  std::size_t partition_of(std::int64_t solve_index) const {
    const auto& begins = plan.partition_begins;
    return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), solve_index) -
                                    begins.begin() - 1);
  }

  /// Reads the rows by solve index, and the solve index at which each tile begins.
  void read_rows() {
    rows.clear();
    tile_begins.clear();
    for (std::size_t k = 0; k < plan.slices(); ++k) {
      const std::uint32_t slice = plan.slice_begins[k];
      const auto head = plan.head(slice);
      if (k % static_cast<std::size_t>(plan.tile_slices()) == 0) {
        tile_begins.push_back(static_cast<std::int64_t>(rows.size()));
      }
      ASSERT_LE(head.rows(), plan.settings.shape.slice_rows());
      ASSERT_TRUE(head.rows() == 0 || head.first_solve_index == static_cast<std::int64_t>(rows.size()))
          << "slice " << k << " does not follow the slice before it";
      for (int r = 0; r < head.rows(); ++r) {
        rows.push_back(plan.read<std::int32_t>(slice, plan.format.offsets(head).row_codes, r));
      }
    }
    tile_begins.push_back(static_cast<std::int64_t>(rows.size()));
    ASSERT_EQ(static_cast<std::int64_t>(tile_begins.size()), plan.tiles + 1);
  }

  void expect_each_row_once() {
    std::vector<std::int64_t> sorted = rows;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> all(facts.columns.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
  }

  /// Partitions are boxes; or they are contiguous in the order of substitution and have about the same work.
  void expect_partitions() {
    const plan_settings& s = plan.settings;
    ASSERT_EQ(static_cast<std::int64_t>(plan.partition_begins.size()), s.partitions + 1);
    ASSERT_EQ(plan.partition_begins.front(), 0);
    ASSERT_EQ(plan.partition_begins.back(), plan.solve_size);
    std::size_t all = 0;
    std::size_t longest = 0;
    for (const auto& columns : facts.columns) {
      all += columns.size() + 1;
      longest = std::max(longest, columns.size() + 1);
    }
    std::int64_t next_row = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(s.partitions); ++p) {
      std::size_t work = 0;
      std::int64_t last_row = next_row - 1;
      for (auto i = static_cast<std::size_t>(plan.partition_begins[p]);
           i < static_cast<std::size_t>(plan.partition_begins[p + 1]); ++i) {
        if (s.boxes.are_used()) {
          ASSERT_EQ(s.boxes.partition_of(rows[i]), static_cast<std::int64_t>(p));
          continue;
        }
        ASSERT_GE(rows[i], next_row) << "partition " << p << " has a row before those of an earlier one";
        last_row = std::max(last_row, rows[i]);
        work += facts.columns[static_cast<std::size_t>(rows[i])].size() + 1;
      }
      next_row = last_row + 1;
      EXPECT_LE(work, all / static_cast<std::size_t>(s.partitions) + longest + 1);
    }
  }

  /// Levels ascend in a partition. A tile has rows of one level, and all tiles of a level but its last one
  /// are full. In a slice the rows that need another partition come first.
  void expect_tiles() {
    const auto level_at = [&](std::int64_t i) {
      return facts.levels[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    };
    for (std::size_t t = 0; t + 1 < tile_begins.size(); ++t) {
      const std::int64_t begin = tile_begins[t];
      const std::int64_t end = tile_begins[t + 1];
      const int tile_rows = plan.settings.shape.tile_rows();
      ASSERT_LT(begin, end) << "an empty tile";
      ASSERT_LE(end - begin, tile_rows);
      ASSERT_EQ(partition_of(begin), partition_of(end - 1)) << "a tile of two partitions";
      for (std::int64_t i = begin; i < end; ++i) {
        ASSERT_EQ(level_at(i), level_at(begin)) << "a tile of two levels";
        const bool begins_slice = (i - begin) % plan.settings.shape.slice_rows() == 0;
        ASSERT_TRUE(begins_slice || needs_other(i - 1) || !needs_other(i)) << "solve index " << i;
      }
      if (t > 0 && partition_of(begin - 1) == partition_of(begin)) {
        ASSERT_GE(level_at(begin), level_at(begin - 1)) << "levels do not ascend";
        ASSERT_TRUE(level_at(begin) > level_at(begin - 1) || begin - tile_begins[t - 1] == tile_rows)
            << "a tile in the middle of a level is not full";
      }
    }
  }
  [[nodiscard]] bool needs_other(std::int64_t solve_index) const {
    const auto& columns =
        facts.columns[static_cast<std::size_t>(rows[static_cast<std::size_t>(solve_index)])];
    return std::any_of(columns.begin(), columns.end(), [&](std::int64_t column) {
      const auto at = std::find(rows.begin(), rows.end(), column) - rows.begin();
      return partition_of(at) != partition_of(solve_index);
    });
  }

  built_plan plan;
  row_facts facts{{}};
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> tile_begins;
};

TEST_F(PartitionedOrder, HasContiguousPartitionsOfAscendingLevels) {
  for (const pattern& p : patterns::small()) {
    for (const std::int64_t partitions : {1, 3, 16}) {
      check(p, {{1, 32, 4, 1, false, 1}, 3, partitions, 64});
      check(p, {{8, 64, 2, 1, false, 1}, 2, partitions, 64});
    }
  }
}

TEST_F(PartitionedOrder, HasPartitionsThatAreBoxes) {
  const block_partition boxes{{6, 7, 8}, {2, 1, 3}};
  check(patterns::stencil_3d(6, 7, 8), {{1, 32, 4, 1, false, 1}, 3, boxes.partitions(), 64, 32, boxes});
  check(patterns::stencil_3d(6, 7, 8), {{4, 64, 4, 1, false, 1}, 3, boxes.partitions(), 64, 32, boxes});
}

TEST_F(PartitionedOrder, LeavesPartitionsWithoutRowsEmpty) {
  check(patterns::chain(5), {{1, 32, 4, 1, false, 1}, 2, 40, 64});
  check(patterns::arrow_row(40), {{1, 32, 4, 1, false, 1}, 2, 16, 64});
}

}  // namespace
}  // namespace sptrsv::testing
