// The contract of the device policies, on the GPU, for float.
#include "solver/contract_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = main_device_policies<gpu_target, float>;
SPTRSV_TEST_CONTRACT(gpu_f32, on_gpu);

}  // namespace sptrsv::testing
