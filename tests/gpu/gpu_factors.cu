// Both factors of a matrix, and sweeps, on the GPU.
#include "contract/factors_suite.hpp"
#include "contract/sweeps_suite.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using gpu_factors = ::testing::Types<
    factors_case<policy::automatic<>, gpu_target, double>,
    factors_case<policy::sync_free_thread, gpu_target, std::complex<float>, std::int32_t, std::int64_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu, factors_suite, gpu_factors, sweeps_case_names);

using gpu_sweeps = ::testing::Types<
    sweeps_case<policy::automatic<>, gpu_target, double>,
    sweeps_case<policy::sync_free_thread, gpu_target, std::complex<float>, std::int32_t, std::int64_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu, sweeps_suite, gpu_sweeps, sweeps_case_names);

}  // namespace sptrsv::testing
