// Events of CUDA as a clock.
#pragma once

#include <cuda_runtime.h>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_common {

/// An event that takes the time.
class cuda_event {
 public:
  cuda_event() { SPTRSV_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~cuda_event() { static_cast<void>(cudaEventDestroy(event_)); }
  cuda_event(const cuda_event&) = delete;  // owns the event
  cuda_event& operator=(const cuda_event&) = delete;

  void record(cudaStream_t stream = nullptr) { SPTRSV_CUDA_CHECK(cudaEventRecord(event_, stream)); }

  /// Waits for this event. Returns the time since `start`.
  [[nodiscard]] double milliseconds_since(const cuda_event& start) const {
    float elapsed = 0;
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(event_));
    SPTRSV_CUDA_CHECK(cudaEventElapsedTime(&elapsed, start.event_, event_));
    return elapsed;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Returns the milliseconds between the start and the end of what `work` enqueues on `stream`, by the clock
/// of the GPU. Synchronises.
template <class Work>
double device_time(const Work& work, cudaStream_t stream = nullptr) {
  cuda_event start;
  cuda_event stop;
  start.record(stream);
  work();
  stop.record(stream);
  return stop.milliseconds_since(start);
}

}  // namespace sptrsv_common
