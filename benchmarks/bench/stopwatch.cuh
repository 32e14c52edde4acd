// Times work on the device by events.
#pragma once

#include <cuda_runtime.h>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_benchmarks {

/// Two events around work on the default stream of the current device.
class stopwatch {
 public:
  stopwatch() {
    SPTRSV_CUDA_CHECK(cudaEventCreate(&start_));
    SPTRSV_CUDA_CHECK(cudaEventCreate(&stop_));
  }
  ~stopwatch() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  stopwatch(const stopwatch&) = delete;  // owns the events
  stopwatch& operator=(const stopwatch&) = delete;

  /// Nanoseconds between the end of what was enqueued before and the end of `work`. Synchronises.
  template <class Work>
  double time(const Work& work) {
    SPTRSV_CUDA_CHECK(cudaEventRecord(start_));
    work();
    SPTRSV_CUDA_CHECK(cudaEventRecord(stop_));
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    SPTRSV_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace sptrsv_benchmarks
