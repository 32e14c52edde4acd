// The device policies on the GPU, for std::complex<float>: the contract, graphs, memory and streams.
#include "solver/contract_suite.hpp"
#include "solver/gpu_graph_suite.cuh"
#include "solver/gpu_memory_suite.cuh"
#include "solver/gpu_stream_suite.cuh"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = device_policies<gpu_target, std::complex<float>>;
SPTRSV_TEST_CONTRACT(gpu_c64, on_gpu);
SPTRSV_TEST_POLICIES(gpu_c64, gpu_graphs, on_gpu);
SPTRSV_TEST_POLICIES(gpu_c64, gpu_memory, on_gpu);
SPTRSV_TEST_POLICIES(gpu_c64, gpu_streams, on_gpu);

}  // namespace sptrsv::testing
