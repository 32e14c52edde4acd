// SPDX-License-Identifier: Apache-2.0
// The kernel template of the library, which runs every agent, its launch, and CUDA graphs of such launches.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/detail/simt/cuda_context.cuh"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// The largest number of threads and of blocks on an SM, by the compute capability that is compiled for. A
/// compute capability that is not listed gets the smallest values of those from 8.0 on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int processor_threads = 1024;
inline constexpr int processor_blocks = 16;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
inline constexpr int processor_threads = 2048;
inline constexpr int processor_blocks = 32;
#else
inline constexpr int processor_threads = 1536;
inline constexpr int processor_blocks = 16;
#endif

/// Number of blocks on an SM for which the compiler limits the registers; 0: the agent asks for no limit.
template <class Agent, class = void>
inline constexpr int min_blocks = 0;
template <class Agent>
inline constexpr int min_blocks<Agent, std::void_t<decltype(Agent::warps_per_processor)>> = std::min(
    std::min(Agent::warps_per_processor * 32, processor_threads) / Agent::block_threads, processor_blocks);

/// Runs an agent. From compute capability 9.0 on the kernel itself waits for the work before it in the
/// stream, before it accesses memory; see `launchable`.
template <class Agent>
__global__ void __launch_bounds__(Agent::block_threads, min_blocks<Agent>)
    run_agent(const __grid_constant__ typename Agent::params p) {
  __shared__ typename Agent::shared_storage shared;
  cuda_context ctx;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  Agent::run(ctx, shared, p);
}

/// A kernel as the host needs it to launch it. What is known of it on each device is found once. The
/// functions are the same for all kernels, so that a program with many kernels compiles them once. Several
/// threads may call them at the same time.
class launchable {
 public:
  /// `static_bytes`: shared memory that the kernel declares itself.
  launchable(const void* kernel, std::size_t static_bytes) : kernel_(kernel), static_bytes_(static_bytes) {}

  [[nodiscard]] const void* get() const { return kernel_; }

  /// Returns whether the kernel itself waits for what is before it in the stream. A kernel that was compiled
  /// for an older virtual architecture does not, whatever device runs it. Drivers before CUDA 12.3 do not
  /// record launches of such kernels in graphs.
  [[nodiscard]] bool waits_itself() {
    const int device = current_device();
    if (at(device) >= waits_.size()) {
      return find_waits();
    }
    auto& known = waits_[at(device)];
    if (known.load(std::memory_order_acquire) == answer::none) {
      const std::lock_guard<std::mutex> lock(finding_);
      if (known.load(std::memory_order_relaxed) == answer::none) {
        known.store(find_waits() ? answer::yes : answer::no, std::memory_order_release);
      }
    }
    return known.load(std::memory_order_acquire) == answer::yes;
  }

  /// Lets a block have `dynamic_bytes` of dynamic shared memory. A kernel must ask for more than 48 KiB, its
  /// static shared memory included. The limit belongs to the process and the device: it only grows, so that
  /// threads with launches of different sizes do not disturb each other.
  void allow_shared_memory(std::size_t dynamic_bytes) {
    if (dynamic_bytes + static_bytes_ <= 48 * 1024) {
      return;
    }
    const int device = current_device();
    const std::lock_guard<std::mutex> lock(raising_);
    std::size_t& limit = limits_[device];
    if (limit < dynamic_bytes) {
      set_attribute(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(dynamic_bytes));
      limit = dynamic_bytes;
    }
  }

  /// Lets SMs use as much memory as they can for shared memory, and not for the L1 cache, while the kernel
  /// runs. An SM changes the division only when no block runs on it. So a kernel that waits for another one
  /// on the same device asks for the same division as that one.
  void prefer_shared_memory() const {
    set_attribute(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  }

  /// Launches the kernel with the argument at `p`. If it waits itself, its blocks may start as soon as the
  /// blocks of the kernel before have ended; otherwise when all its writes are visible (programmatic
  /// dependent launch).
  void launch(std::uint32_t blocks, const void* p, std::size_t dynamic_shared_bytes, int threads,
              cudaStream_t stream) {
    allow_shared_memory(dynamic_shared_bytes);
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = dynamic_shared_bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = waits_itself() ? 1 : 0;
    void* arguments[] = {const_cast<void*>(p)};
    SPTRSV_CUDA_CHECK(cudaLaunchKernelExC(&config, kernel_, arguments));
  }

  /// Returns the number of blocks that are resident on the current device at a time; 0 if not even one fits.
  [[nodiscard]] std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes, int threads) {
    int processors = 0;
    int per_processor = 0;
    allow_shared_memory(dynamic_shared_bytes);
    SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, current_device()));
    SPTRSV_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel_, threads,
                                                                    dynamic_shared_bytes));
    return static_cast<std::uint32_t>(processors * per_processor);
  }

 private:
  enum class answer : unsigned char { none, no, yes };

  static int current_device() {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    return device;
  }
  /// Sets an attribute of the kernel. (The runtime clears a pending error where it does this.)
  void set_attribute(cudaFuncAttribute attribute, int value) const {
    check_status(call_apart([&] { return cudaFuncSetAttribute(kernel_, attribute, value); }),
                 "cudaFuncSetAttribute");
  }
  [[nodiscard]] bool find_waits() const {
    int driver = 0;
    cudaFuncAttributes attributes{};
    SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
    SPTRSV_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel_));
    return attributes.ptxVersion >= 90 && driver >= 12030;
  }

  const void* kernel_;
  std::size_t static_bytes_;
  std::array<std::atomic<answer>, 64> waits_{};  ///< by device
  std::mutex finding_;
  std::map<int, std::size_t> limits_;  ///< of dynamic shared memory in bytes, by device
  std::mutex raising_;
};

/// Returns `Kernel`, the run_agent of `Agent`.
///
/// The kernel is a template argument here, not only its agent: nvcc gives each translation unit a kernel of
/// its own for the same agent, with attributes of its own. A function whose template argument is such a
/// kernel belongs to one translation unit, too, and so do its static variables.
template <class Agent, auto Kernel>
[[nodiscard]] launchable& kernel_of_unit() {
  static launchable kernel(reinterpret_cast<const void*>(Kernel), sizeof(typename Agent::shared_storage));
  return kernel;
}
template <class Agent>
[[nodiscard]] launchable& kernel_of() {
  constexpr auto kernel = &run_agent<Agent>;
  return kernel_of_unit<Agent, kernel>();
}

inline cudaError_t destroy_executable(cudaGraphExec_t graph) {
  return forget_failure(cudaGraphExecDestroy(graph));
}
inline cudaError_t destroy_graph(cudaGraph_t graph) { return forget_failure(cudaGraphDestroy(graph)); }

using recorded_graph = owned<cudaGraph_t, &destroy_graph>;
/// An executable CUDA graph.
using cuda_graph = owned<cudaGraphExec_t, &destroy_executable>;

/// A graph whose nodes are launches, each after the one before. Nothing is captured: while a stream is
/// captured, cudaMalloc, cudaDeviceSynchronize and others fail in other threads and destroy the capture.
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
    cudaGraphNode_t added = nullptr;
    const std::size_t dependencies = last_ == nullptr ? 0 : 1;
#if CUDART_VERSION >= 12030
    cudaGraphEdgeData edge{};
    if (kernel.waits_itself()) {  // its blocks may be placed before the last node has ended
      edge.from_port = cudaGraphKernelNodePortProgrammatic;
      edge.type = cudaGraphDependencyTypeProgrammatic;
    }
#endif
#if CUDART_VERSION >= 13000
    SPTRSV_CUDA_CHECK(cudaGraphAddNode(&added, graph_.get(), &last_, &edge, dependencies, &node));
#elif CUDART_VERSION >= 12030
    SPTRSV_CUDA_CHECK(cudaGraphAddNode_v2(&added, graph_.get(), &last_, &edge, dependencies, &node));
#else
    const cudaKernelNodeParams old_node{node.kernel.func,         node.kernel.gridDim,
                                        node.kernel.blockDim,     node.kernel.sharedMemBytes,
                                        node.kernel.kernelParams, nullptr};
    SPTRSV_CUDA_CHECK(cudaGraphAddKernelNode(&added, graph_.get(), &last_, dependencies, &old_node));
#endif
    last_ = added;
  }

  recorded_graph graph_;
  mutable cudaGraphNode_t last_ = nullptr;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
