// The GPU as a target of the suites (targets.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// A stream that does not wait for the default stream: work put on the wrong stream shows.
class owned_stream {
 public:
  owned_stream() { SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~owned_stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  owned_stream(const owned_stream&) = delete;
  owned_stream& operator=(const owned_stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class gpu_target : private owned_stream, public device_target<cudaStream_t> {
 public:
  static constexpr const char* name = "gpu";
  static constexpr bool is_slow = false;

  gpu_target() : device_target(owned_stream::get()) { static_cast<void>(pool_keeps_memory); }

 private:
  /// Otherwise the pool gives its memory back to the device at each synchronisation, which takes most of the
  /// time of small tests.
  inline static const bool pool_keeps_memory = [] {
    cudaMemPool_t pool = nullptr;
    std::uint64_t all = UINT64_MAX;
    return cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess &&
           cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) == cudaSuccess;
  }();
};

}  // namespace sptrsv::testing
