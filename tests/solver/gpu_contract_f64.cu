// The contract of the device policies, on the GPU, for double.
#include "solver/contract_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = device_policies<gpu_target, double>;
SPTRSV_TEST_CONTRACT(gpu_f64, on_gpu);

}  // namespace sptrsv::testing
