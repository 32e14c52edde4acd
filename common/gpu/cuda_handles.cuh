// Owners of CUDA streams and events, the clock of the GPU, and graphs of what a program enqueues.
#pragma once

#include <cuda_runtime.h>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/detail/simt/cuda_kernel.cuh"

namespace sptrsv_common {

/// A stream that does not wait for the default stream.
class cuda_stream {
 public:
  cuda_stream() { SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~cuda_stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  cuda_stream(const cuda_stream&) = delete;  // owns the stream
  cuda_stream& operator=(const cuda_stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event. By default it takes the time.
class cuda_event {
 public:
  explicit cuda_event(unsigned flags = cudaEventDefault) {
    SPTRSV_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags));
  }
  ~cuda_event() { static_cast<void>(cudaEventDestroy(event_)); }
  cuda_event(const cuda_event&) = delete;  // owns the event
  cuda_event& operator=(const cuda_event&) = delete;

  void record(cudaStream_t stream = nullptr) { SPTRSV_CUDA_CHECK(cudaEventRecord(event_, stream)); }

  void synchronize() const { SPTRSV_CUDA_CHECK(cudaEventSynchronize(event_)); }

  /// Lets the work that is enqueued on `stream` from now on wait for this event.
  void make_wait(cudaStream_t stream) const { SPTRSV_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }

  /// Waits for this event. Returns the time since `start`.
  [[nodiscard]] double milliseconds_since(const cuda_event& start) const {
    float elapsed = 0;
    synchronize();
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

/// Returns a graph of what `work(stream)` enqueues, by a capture: no other thread may synchronise the device
/// meanwhile. In the global mode no other thread may allocate or synchronise, either, unless it has asked for
/// the thread-local mode (cudaThreadExchangeStreamCaptureMode).
template <class Work>
sptrsv::detail::simt::cuda_graph capture(const Work& work,
                                         cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
  const cuda_stream stream;
  sptrsv::detail::simt::recorded_graph graph;
  sptrsv::detail::simt::cuda_graph executable;
  SPTRSV_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), mode));
  work(stream.get());
  SPTRSV_CUDA_CHECK(cudaStreamEndCapture(stream.get(), graph.address()));
  SPTRSV_CUDA_CHECK(cudaGraphInstantiate(executable.address(), graph.get(), 0));
  return executable;
}

}  // namespace sptrsv_common
