// The kernel template of the library, which runs every agent, and its launch.
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

/// A fact about a kernel on each device, found once for each. Several threads may ask at the same time: one
/// of them finds it, and the others wait.
class kernel_fact {
 public:
  /// Returns the fact for the current device; calls `find()` if it is not known yet.
  template <class Find>
  [[nodiscard]] bool operator()(const Find& find) {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    if (static_cast<std::size_t>(device) >= known_.size()) {
      return find();
    }
    auto& known = known_[static_cast<std::size_t>(device)];
    if (known.load(std::memory_order_acquire) == answer::none) {
      const std::lock_guard<std::mutex> lock(finding_);
      if (known.load(std::memory_order_relaxed) == answer::none) {
        known.store(find() ? answer::yes : answer::no, std::memory_order_release);
      }
    }
    return known.load(std::memory_order_acquire) == answer::yes;
  }

 private:
  enum class answer : unsigned char { none, no, yes };

  std::array<std::atomic<answer>, 64> known_{};  ///< by device
  std::mutex finding_;
};

/// Returns whether the kernel `Kernel`, a run_agent, waits itself for what is before it in the stream. A
/// kernel that was compiled for an older virtual architecture does not, whatever device runs it. Drivers
/// before CUDA 12.3 do not record launches of such kernels in graphs.
///
/// The kernel is a template argument here and in allow_shared_memory, not only its agent: nvcc gives each
/// translation unit a kernel of its own for the same agent, with attributes of its own. A function whose
/// template argument is such a kernel belongs to one translation unit, too, and so do its static variables.
template <auto Kernel>
[[nodiscard]] bool waits_itself() {
  static kernel_fact waits;
  return waits([] {
    int driver = 0;
    cudaFuncAttributes attributes{};
    SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
    SPTRSV_CUDA_CHECK(cudaFuncGetAttributes(&attributes, Kernel));
    return attributes.ptxVersion >= 90 && driver >= 12030;
  });
}

/// The dynamic shared memory that a block of a kernel may have, on each device. The limit belongs to the
/// process: it only grows, so that threads with launches of different sizes do not disturb each other.
class shared_memory_limit {
 public:
  /// Raises the limit of `kernel` on the current device to `bytes` if it is lower.
  void raise(const void* kernel, std::size_t bytes) {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    const std::lock_guard<std::mutex> lock(raising_);
    std::size_t& limit = limits_[device];
    if (limit < bytes) {
      SPTRSV_CUDA_CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
      limit = bytes;
    }
  }

 private:
  std::map<int, std::size_t> limits_;  ///< in bytes, by device
  std::mutex raising_;
};

/// Lets `Kernel`, the run_agent of `Agent`, have `dynamic_bytes` of dynamic shared memory. A kernel must ask
/// for more than 48 KiB, its static shared memory included.
template <class Agent, auto Kernel>
void allow_shared_memory(std::size_t dynamic_bytes) {
  static shared_memory_limit limit;
  if (dynamic_bytes + sizeof(typename Agent::shared_storage) > 48 * 1024) {
    limit.raise(reinterpret_cast<const void*>(Kernel), dynamic_bytes);
  }
}

/// Launches an agent. If the kernel itself waits, its blocks may start as soon as the blocks of the kernel
/// before have ended; otherwise they start when all writes of that kernel are visible (programmatic dependent
/// launch).
template <class Agent>
void launch_agent(std::uint32_t blocks, const typename Agent::params& p, std::size_t dynamic_shared_bytes,
                  int threads, cudaStream_t stream) {
  constexpr auto kernel = &run_agent<Agent>;
  allow_shared_memory<Agent, kernel>(dynamic_shared_bytes);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = waits_itself<kernel>() ? 1 : 0;
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&p))};
  SPTRSV_CUDA_CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments));
}

}  // namespace sptrsv::detail::simt
