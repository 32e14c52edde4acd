// The device policies on the GPU, for double: the contract, graphs, memory, streams, and the memory of an
// analysis.
#include "contract/analysis_memory_suite.hpp"
#include "contract/contract_suite.hpp"
#include "gpu/gpu_graph_suite.cuh"
#include "gpu/gpu_memory_suite.cuh"
#include "gpu/gpu_stream_suite.cuh"
#include "support/gpu_target.cuh"

namespace sptrsv::testing {

using on_gpu = device_policies<gpu_target, double>;
SPTRSV_TEST_CONTRACT(gpu_f64, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f64, gpu_graphs, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f64, gpu_memory, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f64, gpu_streams, on_gpu);
SPTRSV_TEST_POLICIES(gpu_f64, analysis_memory, on_gpu);

}  // namespace sptrsv::testing
