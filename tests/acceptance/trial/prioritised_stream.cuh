// Streams of the lowest and the highest priority that the GPU has.
#pragma once

#include <cuda_runtime.h>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_trial {

enum class stream_priority { lowest, highest };

/// A stream that does not wait for the default stream.
class prioritised_stream {
 public:
  explicit prioritised_stream(stream_priority priority) {
    int lowest = 0;
    int highest = 0;
    SPTRSV_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    SPTRSV_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                   priority == stream_priority::lowest ? lowest : highest));
  }
  ~prioritised_stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  prioritised_stream(const prioritised_stream&) = delete;  // owns the stream
  prioritised_stream& operator=(const prioritised_stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace sptrsv_trial
