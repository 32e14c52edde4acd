// The number of thread blocks of a launch.
#include <gtest/gtest.h>

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {
namespace {

TEST(BlockCount, RoundsUp) {
  EXPECT_EQ(block_count(0, 256), 0u);
  EXPECT_EQ(block_count(1, 256), 1u);
  EXPECT_EQ(block_count(256, 256), 1u);
  EXPECT_EQ(block_count(257, 256), 2u);
  EXPECT_EQ(block_count(INT32_MAX, 1), 2147483647u);
  EXPECT_EQ(block_count(std::int64_t{INT32_MAX} * 256, 256), 2147483647u);
}

/// 32 bits would wrap to a few blocks, which leave most of the work undone.
TEST(BlockCount, IsRefusedIfALaunchCannotHaveIt) {
  for (const std::int64_t work : {std::int64_t{INT32_MAX} * 256 + 1, std::int64_t{1} << 40, INT64_MAX}) {
    try {
      block_count(work, 256);
      FAIL() << work;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::unsupported);
    }
  }
}

}  // namespace
}  // namespace sptrsv::SPTRSV_ABI::detail::simt
