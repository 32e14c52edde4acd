// SPDX-License-Identifier: Apache-2.0
// CUDA graphs of the library's launches, built node by node.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/detail/simt/cuda_kernel.cuh"

namespace sptrsv::SPTRSV_ABI::detail::simt {

inline cudaError_t destroy_executable(cudaGraphExec_t graph) {
  return forget_failure(cudaGraphExecDestroy(graph));
}
inline cudaError_t destroy_graph(cudaGraph_t graph) { return forget_failure(cudaGraphDestroy(graph)); }

using recorded_graph = owned<cudaGraph_t, &destroy_graph>;
/// An executable CUDA graph.
using cuda_graph = owned<cudaGraphExec_t, &destroy_executable>;

/// A graph whose nodes are launches, each after the one before. Nothing is captured: while a stream is
/// captured, calls such as cudaMalloc or cudaDeviceSynchronize in other threads of the program fail and
/// destroy the capture.
class graph_recorder {
 public:
  graph_recorder() { SPTRSV_CUDA_CHECK(cudaGraphCreate(graph_.address(), 0)); }

  /// Adds a launch of an agent, see launchable::launch.
  template <class Agent>
  void launch(std::uint32_t blocks, const typename Agent::params& p, std::size_t dynamic_shared_bytes = 0,
              int threads = Agent::block_threads) const {
    launch(kernel_of<Agent>(), blocks, &p, dynamic_shared_bytes, threads);
  }

  [[nodiscard]] cuda_graph instantiate() const {
    cuda_graph executable;
    SPTRSV_CUDA_CHECK(cudaGraphInstantiate(executable.address(), graph_.get(), 0));
    return executable;
  }

 private:
  void launch(launchable& kernel, std::uint32_t blocks, const void* p, std::size_t dynamic_shared_bytes,
              int threads) const {
    kernel.allow_shared_memory(dynamic_shared_bytes);
    void* arguments[] = {const_cast<void*>(p)};
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeKernel;
    node.kernel.func = const_cast<void*>(kernel.get());
    node.kernel.gridDim = dim3(blocks);
    node.kernel.blockDim = dim3(static_cast<unsigned>(threads));
    node.kernel.sharedMemBytes = static_cast<unsigned>(dynamic_shared_bytes);
    node.kernel.kernelParams = arguments;
    last_ = add(node, kernel.waits_itself());
  }
  /// Adds a node after the last one. `is_early`: its blocks may be placed before the last node has ended.
  [[nodiscard]] cudaGraphNode_t add(cudaGraphNodeParams& node, bool is_early) const {
    cudaGraphNode_t added = nullptr;
    const std::size_t dependencies = last_ == nullptr ? 0 : 1;
#if CUDART_VERSION >= 12030
    cudaGraphEdgeData edge{};
    if (is_early) {
      edge.from_port = cudaGraphKernelNodePortProgrammatic;
      edge.type = cudaGraphDependencyTypeProgrammatic;
    }
#endif
#if CUDART_VERSION >= 13000
    SPTRSV_CUDA_CHECK(cudaGraphAddNode(&added, graph_.get(), &last_, &edge, dependencies, &node));
#elif CUDART_VERSION >= 12030
    SPTRSV_CUDA_CHECK(cudaGraphAddNode_v2(&added, graph_.get(), &last_, &edge, dependencies, &node));
#else
    static_cast<void>(is_early);
    const cudaKernelNodeParams kernel{node.kernel.func,         node.kernel.gridDim,
                                      node.kernel.blockDim,     node.kernel.sharedMemBytes,
                                      node.kernel.kernelParams, nullptr};
    SPTRSV_CUDA_CHECK(cudaGraphAddKernelNode(&added, graph_.get(), &last_, dependencies, &kernel));
#endif
    return added;
  }

  recorded_graph graph_;
  mutable cudaGraphNode_t last_ = nullptr;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
