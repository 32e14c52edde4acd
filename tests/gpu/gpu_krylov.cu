// Krylov methods on the GPU.
#include "contract/krylov_suite.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using gpu_krylov = ::testing::Types<krylov_case<policy::automatic<>, gpu_target, double>,
                                    krylov_case<policy::sync_free_thread, gpu_target, float>,
                                    krylov_case<policy::sync_free_thread, gpu_target, std::complex<double>>,
                                    krylov_case<policy::sync_free_thread, gpu_target, std::complex<float>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(gpu, krylov_suite, gpu_krylov, krylov_case_names);

}  // namespace sptrsv::testing
