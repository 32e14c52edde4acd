// Products of sizes.
#include "sptrsv/detail/base/make_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sptrsv::SPTRSV_ABI::detail {
namespace {

TEST(CheckedProduct, MultipliesUpToTheLargestSize) {
  EXPECT_EQ(checked_product(3, std::int64_t{5}, std::size_t{7}), 105);
  EXPECT_EQ(checked_product(0, INT64_MAX, INT64_MAX), 0);
  EXPECT_EQ(checked_product(INT64_MAX, 1, 0), 0);
  EXPECT_EQ(checked_product(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
}

TEST(CheckedProduct, RefusesWhatWouldWrap) {
  const auto refused = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    try {
      checked_product(a, b, c);
    } catch (const error& e) {
      return e.code() == errc::out_of_memory;
    }
    return false;
  };
  EXPECT_TRUE(refused(INT64_MAX, 2, 1));
  EXPECT_TRUE(refused(std::int64_t{1} << 32, std::int64_t{1} << 32, 1));  // 2^64: the low 64 bits are 0
  EXPECT_TRUE(refused(1'000'000, 30'000'000'000'000, 8));
  EXPECT_TRUE(refused(2, INT64_MAX / 4, 3));
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail
