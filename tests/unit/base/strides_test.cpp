// The checks of the strides of a view.
#include "sptrsv/detail/base/check_space.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace sptrsv::SPTRSV_ABI::detail {
namespace {

/// By comparison of all pairs of elements.
TEST(Strides, OverlapIsFoundExactly) {
  for (std::int64_t rows = 1; rows <= 4; ++rows) {
    for (std::int64_t columns = 1; columns <= 4; ++columns) {
      for (std::int64_t row_stride = -7; row_stride <= 7; ++row_stride) {
        for (std::int64_t column_stride = -7; column_stride <= 7; ++column_stride) {
          const dense_view<double> v(nullptr, rows, columns, row_stride, column_stride);
          std::set<std::int64_t> offsets;
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              offsets.insert(i * row_stride + j * column_stride);
            }
          }
          const bool overlaps = static_cast<std::int64_t>(offsets.size()) != rows * columns;
          const bool repeats = (rows > 1 && row_stride == 0) || (columns > 1 && column_stride == 0);
          EXPECT_EQ(elements_overlap(v, false), overlaps) << row_stride << ", " << column_stride;
          EXPECT_EQ(elements_overlap(v, true), overlaps && !repeats) << row_stride << ", " << column_stride;
        }
      }
    }
  }
}

TEST(Strides, ExtentsThatWouldWrapAreFound) {
  const auto fits = [](std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                       std::int64_t column_stride) {
    return fits_address_space(dense_view<double>(nullptr, rows, columns, row_stride, column_stride));
  };
  constexpr std::int64_t most = INT64_MAX / 8;
  EXPECT_TRUE(fits(1, 1, INT64_MIN, INT64_MAX));
  EXPECT_TRUE(fits(2, 1, most, 0));
  EXPECT_TRUE(fits(2, 1, -most, 0));
  EXPECT_FALSE(fits(2, 1, most + 1, 0));
  EXPECT_FALSE(fits(2, 1, INT64_MIN, 0));
  EXPECT_FALSE(fits(2, 2, most, 1));
  EXPECT_FALSE(fits(3, 3, std::int64_t{1} << 62, std::int64_t{1} << 62));
  EXPECT_TRUE(fits(1000, 1000, 1, 1000));
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail
