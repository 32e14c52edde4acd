// The device policies on the GPU, for std::complex<double>: the contract.
#include "contract/contract_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = device_policies<gpu_target, std::complex<double>>;
SPTRSV_TEST_CONTRACT(gpu_c128, on_gpu);

}  // namespace sptrsv::testing
