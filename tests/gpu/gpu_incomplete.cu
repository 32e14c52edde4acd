// Incomplete factorisations on the GPU.
#include "contract/incomplete_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(gpu, incomplete, incomplete_types<gpu_target>, type_names);
INSTANTIATE_TYPED_TEST_SUITE_P(gpu_single, incomplete, incomplete_single_types<gpu_target>, type_names);

}  // namespace sptrsv::testing
