// A program of several translation units that launch the same kernel.
#include <gtest/gtest.h>

#include "gpu/gpu_translation_units.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv::testing {
namespace {

/// Each unit's kernel needs a limit of its own for its shared memory.
TEST(GpuTranslationUnits, LaunchTheSameAgentWithMuchSharedMemory) {
  const auto out = to_device(std::vector<std::uint32_t>(1));
  const std::size_t words = detail::cuda_executor(nullptr).shared_limit() / sizeof(std::uint32_t);
  EXPECT_EQ(run_with_shared_words(words, out.data()), 7U);
  EXPECT_EQ(run_in_other_unit(words, out.data()), 7U);
}

}  // namespace
}  // namespace sptrsv::testing
