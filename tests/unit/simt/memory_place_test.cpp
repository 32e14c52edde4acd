// The memory that kernels of a GPU can read, and the sentence about memory that they cannot read.
#include <gtest/gtest.h>

#include <string>

#include "sptrsv/detail/simt/simt_executor.hpp"

namespace sptrsv::testing {
namespace {

using detail::simt::why_unreachable;

TEST(MemoryPlace, OfTheCurrentGpuManagedOrMappedIsTaken) {
  EXPECT_EQ(why_unreachable(true, 0, 0), "");
  EXPECT_EQ(why_unreachable(true, 3, 3), "");
  EXPECT_EQ(why_unreachable(true, -1, 2), "");
}

TEST(MemoryPlace, OfAnotherGpuOrOfTheHostIsRefused) {
  const std::string other = "it is memory of GPU 1, and GPU 0 is the current one";
  EXPECT_EQ(why_unreachable(true, 1, 0), other);   // with access of peers, too
  EXPECT_EQ(why_unreachable(false, 1, 0), other);  // what the runtime cannot map is not called host memory
  EXPECT_EQ(why_unreachable(false, -1, 0), "it is host memory, and the GPU takes device memory");
}

}  // namespace
}  // namespace sptrsv::testing
