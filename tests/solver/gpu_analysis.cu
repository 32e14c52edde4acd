// The analysis of the device policies, on the GPU.
#include "solver/analysis_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using gpu_cases = every_index<gpu_target, double, sync_free_warp>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu, analysis, gpu_cases, case_names);

using wide_case = suite_case<gpu_target, sync_free_warp, double, std::int32_t, std::int64_t>;
struct large_analysis : analysis<wide_case> {};

TEST_F(large_analysis, of_matrices_that_fill_the_device) {
  const std::vector<pattern> all = {patterns::stencil_2d(250, 260), patterns::stencil_3d(30, 31, 32),
                                    patterns::chain(30000), patterns::dense(500),
                                    patterns::power_law(30000, 3)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : covering_forms(i)) {
      compare(all[i], f);
    }
  }
}

}  // namespace sptrsv::testing
