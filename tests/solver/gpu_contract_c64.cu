// The contract of the device policies, on the GPU, for std::complex<float>.
#include "solver/contract_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = main_device_policies<gpu_target, std::complex<float>>;
SPTRSV_TEST_CONTRACT(gpu_c64, on_gpu);

}  // namespace sptrsv::testing
