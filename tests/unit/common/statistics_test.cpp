// Ratios and means of measured times, and their text.
#include "common/measurement/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/terminal/table.hpp"

namespace {

using namespace sptrsv_common;

constexpr double infinite_time = std::numeric_limits<double>::infinity();
constexpr double undefined_time = std::numeric_limits<double>::quiet_NaN();
constexpr double times_without_value[] = {0.0, -0.0, -3.77, infinite_time, -infinite_time, undefined_time};

TEST(statistics, a_ratio_has_a_value_for_positive_times_only) {
  EXPECT_EQ(ratio_of(6, 2), 3);
  EXPECT_EQ(ratio_of(std::nullopt, 2), std::nullopt);
  EXPECT_EQ(ratio_of(2, std::nullopt), std::nullopt);
  EXPECT_EQ(ratio_of(1e300, 1e-300), std::nullopt);
  for (const double time : times_without_value) {
    EXPECT_EQ(if_positive(time), std::nullopt) << time;
    EXPECT_EQ(ratio_of(time, 2), std::nullopt) << time;
    EXPECT_EQ(ratio_of(2, time), std::nullopt) << time;
    EXPECT_EQ(ratio_of(time, time), std::nullopt) << time;
  }
}

TEST(statistics, ratios_without_a_value_are_left_out_of_the_mean) {
  ratio_summary of;
  of.add(8, "fast");
  for (const double ratio : times_without_value) {
    of.add(ratio, "none");
  }
  of.add(ratio_of(-0.1, 3), "difference");
  of.add(2, "slow");
  EXPECT_EQ(of.count(), 2);
  EXPECT_EQ(of.left_out(), 7);
  EXPECT_DOUBLE_EQ(of.mean().value_or(0), 4);
  EXPECT_EQ(of.worst(), 2);
  EXPECT_EQ(of.worst_name(), "slow");
}

TEST(statistics, no_ratios_have_no_mean) {
  ratio_summary of;
  EXPECT_EQ(of.mean(), std::nullopt);
  of.add(-1, "none");
  EXPECT_EQ(of.mean(), std::nullopt);
  EXPECT_EQ(of.worst(), std::nullopt);
}

TEST(statistics, no_value_is_a_dash) {
  EXPECT_EQ(cell(1.25, "%.1f"), "1.2");
  EXPECT_EQ(cell(ratio_of(1, 0), "%.1f"), "-");
  EXPECT_EQ(cell(ratio_summary().mean(), "%.1f"), "-");
}

}  // namespace
