// Partitions that are boxes of a grid.
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/order.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

namespace partitioned = detail::dataflow::partitioned;
using partitioned::block_partition;

std::string name_of(const block_partition& b) {
  std::string text;
  for (int d = 0; d < 3; ++d) {
    text += std::to_string(b.size[d]) + " in " + std::to_string(b.count[d]) + (d < 2 ? ", " : "");
  }
  return text;
}

const std::vector<block_partition> divisions = {
    {{4, 5, 6}, {1, 1, 1}}, {{4, 5, 6}, {2, 1, 3}},   {{5, 7, 3}, {5, 7, 3}},
    {{9, 1, 4}, {4, 1, 3}}, {{16, 16, 8}, {3, 5, 2}},
};

/// Box k of a direction holds the points from ceil(k * size / count) on.
TEST(BlockPartition, PutsEachRowInTheBoxOfItsGridPoint) {
  for (const block_partition& b : divisions) {
    SCOPED_TRACE(name_of(b));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(b.partitions()), 0);
    const auto box_of = [&](std::int64_t point, int d) {
      std::int64_t box = 0;
      while ((box + 1) * b.size[d] <= point * b.count[d]) {
        ++box;
      }
      return box;
    };
    std::int64_t row = 0;
    for (std::int64_t z = 0; z < b.size[2]; ++z) {
      for (std::int64_t y = 0; y < b.size[1]; ++y) {
        for (std::int64_t x = 0; x < b.size[0]; ++x, ++row) {
          const std::int64_t expected =
              (box_of(z, 2) * b.count[1] + box_of(y, 1)) * b.count[0] + box_of(x, 0);
          ASSERT_EQ(b.partition_of(row), expected) << x << ", " << y << ", " << z;
          ++rows.at(static_cast<std::size_t>(expected));
        }
      }
    }
    EXPECT_GT(*std::min_element(rows.begin(), rows.end()), 0) << "an empty box";
  }
}

TEST(BlockPartition, NeedsNoLaterBoxForSevenPointStencils) {
  for (const block_partition& b : divisions) {
    SCOPED_TRACE(name_of(b));
    for (const position& e : patterns::stencil_3d(b.size[0], b.size[1], b.size[2]).entries) {
      ASSERT_LE(b.partition_of(e.column), b.partition_of(e.row)) << e.row << " needs " << e.column;
    }
  }
}

class GridDetection : public on_target<case_types<emulator_target, double, std::int32_t, std::int32_t>> {
 public:
  partitioned::detected_grid find(const pattern& p) {
    const auto there = where.upload(make(p, {}).by_rows);
    const auto triangle =
        detail::build_on_device(detail::pattern_of(detail::view_of(there)),
                                detail::triangle_form(system_options{}, false), where.on(), where.resource());
    return partitioned::find_grid(triangle, where.on());
  }
  static std::vector<std::int32_t> size_of(const partitioned::detected_grid& g) {
    return {g.boxes.size, g.boxes.size + 3};
  }
  using sizes = std::vector<std::int32_t>;
};

TEST_F(GridDetection, FindsTheSizesOfStencils) {
  const auto seven = find(patterns::stencil_3d(9, 10, 11));
  EXPECT_EQ(size_of(seven), (sizes{9, 10, 11}));
  EXPECT_FALSE(seven.needs_rows_ahead);
  EXPECT_EQ(seven.boxes.partitions(), 1) << "the grid is not divided";
  const auto twenty_seven = find(patterns::stencil_3d_27(7, 8, 9));
  EXPECT_EQ(size_of(twenty_seven), (sizes{7, 8, 9}));
  EXPECT_TRUE(twenty_seven.needs_rows_ahead);
}

TEST_F(GridDetection, FindsNoGridOfThreeDimensionsElsewhere) {
  for (const pattern& p : {patterns::stencil_2d(24, 40), patterns::band(300, 10), patterns::chain(300),
                           patterns::diagonal(300), patterns::dense(60)}) {
    EXPECT_FALSE(find(p).boxes.are_used()) << p.name;
  }
}

}  // namespace
}  // namespace sptrsv::testing
