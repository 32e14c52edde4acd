// The GPU as a target of the suites (targets.hpp).
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/cuda_handles.cuh"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// A stream that does not wait for the default stream, so that tests fail if work is enqueued on the wrong
/// stream.
using owned_stream = sptrsv_common::cuda_stream;

class gpu_target : private owned_stream, public device_target<cudaStream_t> {
 public:
  static constexpr const char* name = "gpu";
  static constexpr bool is_slow = false;

  gpu_target() : device_target(owned_stream::get()) {}
};

}  // namespace sptrsv::testing
