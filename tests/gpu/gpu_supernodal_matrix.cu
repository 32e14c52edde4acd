// Lower triangles in supernodal panels on the GPU.
#include "contract/supernodal_matrix_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

INSTANTIATE_TYPED_TEST_SUITE_P(gpu, supernodal_matrices, supernodal_matrix_types<gpu_target>, type_names);

}  // namespace sptrsv::testing
