// Renumberings of a lower triangle.
#include "common/generators/renumberings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/generators/grids.hpp"

namespace sptrsv_common {
namespace {

void expect_lower_triangle(const pattern& p) {
  for (std::size_t i = 0; i + 1 < p.row_offsets.size(); ++i) {
    const auto first = p.columns.begin() + p.row_offsets[i];
    const auto last = p.columns.begin() + p.row_offsets[i + 1];
    ASSERT_LT(first, last);
    EXPECT_EQ(last[-1], static_cast<vertex>(i));
    EXPECT_TRUE(std::is_sorted(first, last));
    EXPECT_EQ(std::adjacent_find(first, last), last);
  }
}

std::vector<vertex> sorted_degrees(const pattern& p) {
  std::vector<vertex> degrees(static_cast<std::size_t>(p.rows()), -2);  // the diagonal counts twice
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    for (vertex e = p.row_offsets[i]; e < p.row_offsets[i + 1]; ++e) {
      ++degrees[i];
      ++degrees[static_cast<std::size_t>(p.columns[static_cast<std::size_t>(e)])];
    }
  }
  std::sort(degrees.begin(), degrees.end());
  return degrees;
}

vertex levels_of(const pattern& p) {
  std::vector<vertex> level(static_cast<std::size_t>(p.rows()), 0);
  for (std::size_t i = 0; i < level.size(); ++i) {
    for (vertex e = p.row_offsets[i]; e < p.row_offsets[i + 1] - 1; ++e) {
      level[i] =
          std::max(level[i], level[static_cast<std::size_t>(p.columns[static_cast<std::size_t>(e)])] + 1);
    }
  }
  return 1 + *std::max_element(level.begin(), level.end());
}

TEST(Renumberings, KeepTheGraph) {
  random_stream random(5);
  const pattern lower = pattern_of_rows(700, [&](vertex i, std::vector<vertex>& out) {
    for (int k = 0; k < 3 && i > 0; ++k) {
      out.push_back(random.below(i));
    }
  });
  for (const std::string& kind : renumberings()) {
    SCOPED_TRACE(kind);
    const pattern made = renumbered(lower, kind);
    expect_lower_triangle(made);
    if (kind != "half") {
      EXPECT_EQ(sorted_degrees(made), sorted_degrees(lower));
      EXPECT_NE(made.columns, lower.columns);
    }
  }
}

TEST(Renumberings, HalfIsTheLeadingRows) {
  const pattern lower = box_stencil({5, 5});
  const pattern half = renumbered(lower, "half");
  ASSERT_EQ(half.rows(), 13);
  EXPECT_TRUE(std::equal(half.row_offsets.begin(), half.row_offsets.end(), lower.row_offsets.begin()));
  EXPECT_TRUE(std::equal(half.columns.begin(), half.columns.end(), lower.columns.begin()));
}

TEST(Renumberings, HaveTheLevelsOfTheirKind) {
  const pattern lower = star_stencil({40, 20});
  EXPECT_EQ(levels_of(lower), 59);
  EXPECT_EQ(levels_of(renumbered(lower, "reversed")), 59);
  EXPECT_EQ(levels_of(renumbered(lower, "colours")), 2);
  EXPECT_LT(levels_of(renumbered(lower, "random")), 30);
}

TEST(Renumberings, BlocksKeepTheirRowsTogether) {
  const std::vector<vertex> place_of = random_blocks(10, 4, 1);
  for (const vertex v : {1, 2, 3, 5, 6, 7, 9}) {
    EXPECT_EQ(place_of[static_cast<std::size_t>(v)], place_of[static_cast<std::size_t>(v) - 1] + 1);
  }
  std::vector<vertex> sorted = place_of;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(sorted[i], static_cast<vertex>(i));
  }
}

TEST(Renumberings, UnknownOnesAreRefused) {
  EXPECT_THROW(static_cast<void>(renumbered(star_stencil({2, 2}), "shuffled")), sptrsv::error);
}

}  // namespace
}  // namespace sptrsv_common
