// The analysis of the device policies, on the GPU.
#include "contract/analysis_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(gpu, analysis, every_index<gpu_target>, type_names);

using wide_offsets = case_types<gpu_target, double, std::int32_t, std::int64_t>;
struct large_analysis : analysis<wide_offsets> {};

TEST_F(large_analysis, of_matrices_that_fill_the_device) {
  const std::vector<pattern> all = {patterns::stencil_2d(250, 270), patterns::stencil_3d(30, 31, 32),
                                    patterns::chain(30000), patterns::dense(500),
                                    patterns::power_law(30000, 3)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : covering_forms(i)) {
      compare(all[i], f);
    }
  }
}

}  // namespace sptrsv::testing
