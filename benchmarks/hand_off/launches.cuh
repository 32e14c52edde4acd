// Methods to hand a value on by a barrier of the whole grid or by the end of a kernel.
#pragma once

#include <cooperative_groups.h>

#include "timing.cuh"

namespace sptrsv_benchmarks::hand_off {

static __global__ void repeat_grid_barrier(int links) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < links; ++i) {
    grid.sync();
  }
}

/// Measures a barrier of a grid with one block of 256 threads per SM.
inline double measure_grid_barrier(int processors) {
  int device = 0;
  int cooperative = 0;
  SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
  SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  if (cooperative == 0) {
    throw not_available("the device has no cooperative launches");
  }
  return time_of_link(10000, [&](int links) {
    void* arguments[] = {&links};
    SPTRSV_CUDA_CHECK(cudaLaunchCooperativeKernel(
        repeat_grid_barrier, dim3(static_cast<unsigned>(processors)), dim3(256), arguments, 0, nullptr));
  });
}

static __global__ void do_nothing() {}

inline double measure_launch() {
  return time_of_link(2000, [](int links) {
    for (int i = 0; i < links; ++i) {
      do_nothing<<<1, 32>>>();
    }
  });
}

/// An instantiated graph that is a chain of kernel nodes.
class node_chain {
 public:
  explicit node_chain(int nodes) {
    cudaGraph_t graph = nullptr;
    SPTRSV_CUDA_CHECK(cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(do_nothing);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    cudaGraphNode_t before = nullptr;
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < nodes && status == cudaSuccess; ++i) {
      cudaGraphNode_t node = nullptr;
      status = cudaGraphAddKernelNode(&node, graph, &before, i == 0 ? 0 : 1, &kernel);
      before = node;
    }
    if (status == cudaSuccess) {
      status = cudaGraphInstantiate(&executable_, graph, 0);
    }
    static_cast<void>(cudaGraphDestroy(graph));
    SPTRSV_CUDA_CHECK(status);
  }
  ~node_chain() { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  node_chain(const node_chain&) = delete;  // owns the graph
  node_chain& operator=(const node_chain&) = delete;

  void launch() const { SPTRSV_CUDA_CHECK(cudaGraphLaunch(executable_, nullptr)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

inline double measure_graph_node() {
  constexpr int links = 2000;
  const node_chain many(links);
  const node_chain few(links / 4);
  return time_of_link(links, [&](int count) { (count == links ? many : few).launch(); });
}

}  // namespace sptrsv_benchmarks::hand_off
