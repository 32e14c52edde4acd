// The library's one kernel, and its launch.
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

/// What an SM holds at most, by the compute capability compiled for; of one not known here, what all but the
/// oldest hold.
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

/// Blocks for which the compiler bounds the registers: 0 where the agent does not ask for any.
template <class Agent, class = void>
inline constexpr int min_blocks = 0;
template <class Agent>
inline constexpr int min_blocks<Agent, std::void_t<decltype(Agent::warps_per_processor)>> = std::min(
    std::min(Agent::warps_per_processor * 32, processor_threads) / Agent::block_threads, processor_blocks);

/// The one kernel of the library: its body is the agent. From compute capability 9.0 on it waits itself for
/// what is before it in the stream, before it touches memory, see `launch_agent`.
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

/// Whether a kernel waits itself, by device: asked once for each.
class self_waiting {
 public:
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

  /// What was compiled for an older virtual architecture does not wait, whatever runs it. Drivers before
  /// CUDA 12.3 do not record such launches in graphs.
  [[nodiscard]] static bool waits(const void* kernel) {
    int driver = 0;
    cudaFuncAttributes attributes{};
    SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
    SPTRSV_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion >= 90 && driver >= 12030;
  }

  std::array<std::atomic<answer>, 64> known_{};
};

/// Launches an agent. If its kernel waits itself, its blocks may be placed as soon as those of the kernel
/// before have ended, not when all that these wrote is visible (programmatic dependent launch).
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
