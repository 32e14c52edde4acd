// The device policies on the GPU, for float: the contract, and bad input.
#include "contract/bad_input_suite.hpp"
#include "contract/contract_suite.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = device_policies<gpu_target, float>;
SPTRSV_TEST_CONTRACT(gpu_f32, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f32, bad_input, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f32, host_memory_for_a_device_policy, on_gpu);

}  // namespace sptrsv::testing
