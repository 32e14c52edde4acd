// Turns errors of the CUDA runtime into exceptions.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "sptrsv/error.hpp"

namespace sptrsv::detail {

/// Throws the error of a failed call. `call`: its source text.
[[noreturn]] inline void throw_cuda_error(cudaError_t status, const char* call) {
  static_cast<void>(cudaGetLastError());  // clears the error, which is reported here and nowhere else
  throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::cuda_error,
              std::string(call) + " failed: " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}

}  // namespace sptrsv::detail

/// Throws `sptrsv::error` if the call of the CUDA runtime fails.
#define SPTRSV_CUDA_CHECK(call)                                  \
  do {                                                           \
    const cudaError_t sptrsv_status_ = (call);                   \
    if (sptrsv_status_ != cudaSuccess) {                         \
      ::sptrsv::detail::throw_cuda_error(sptrsv_status_, #call); \
    }                                                            \
  } while (false)
