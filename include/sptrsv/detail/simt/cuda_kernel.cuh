// The kernel template of the library, which runs every agent, and its launch.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/detail/simt/cuda_context.cuh"

namespace sptrsv::detail::simt {

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

/// Number of blocks on an SM for which the compiler limits the registers; 0 if the agent does not ask for a
/// limit.
template <class Agent, class = void>
inline constexpr int min_blocks = 0;
template <class Agent>
inline constexpr int min_blocks<Agent, std::void_t<decltype(Agent::warps_per_processor)>> = std::min(
    std::min(Agent::warps_per_processor * 32, processor_threads) / Agent::block_threads, processor_blocks);

/// Runs an agent. From compute capability 9.0 on the kernel itself waits for the work before it in the
/// stream, before it accesses memory; see `launch_agent`.
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

/// Answers whether a kernel itself waits for the work before it. Asks the driver once for each device.
class self_waiting {
 public:
  /// Returns the answer for the current device; false for a device with a number of 64 or more.
  [[nodiscard]] bool operator()(const void* kernel) {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    if (static_cast<std::size_t>(device) >= known_.size()) {
      return false;
    }
    auto& known = known_[static_cast<std::size_t>(device)];
    if (known.load(std::memory_order_relaxed) == answer::none) {
      known.store(waits(kernel) ? answer::yes : answer::no, std::memory_order_relaxed);
    }
    return known.load(std::memory_order_relaxed) == answer::yes;
  }

 private:
  enum class answer : unsigned char { none, no, yes };

  /// Returns whether the kernel was compiled with the wait, for virtual architecture 9.0 or later, and the
  /// driver can record such launches in graphs, as drivers from CUDA 12.3 on can.
  [[nodiscard]] static bool waits(const void* kernel) {
    int driver = 0;
    cudaFuncAttributes attributes{};
    SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
    SPTRSV_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion >= 90 && driver >= 12030;
  }

  std::array<std::atomic<answer>, 64> known_{};  ///< by device
};

/// Launches an agent. If the kernel itself waits, its blocks may start as soon as the blocks of the kernel
/// before have ended; otherwise they start when all writes of that kernel are visible (programmatic dependent
/// launch).
template <class Agent>
void launch_agent(std::uint32_t blocks, const typename Agent::params& p, std::size_t dynamic_shared_bytes,
                  int threads, cudaStream_t stream) {
  static self_waiting waits;
  const auto kernel = reinterpret_cast<const void*>(&run_agent<Agent>);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = waits(kernel) ? 1 : 0;
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&p))};
  SPTRSV_CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
}

}  // namespace sptrsv::detail::simt
