// SPDX-License-Identifier: Apache-2.0
// Turns errors of the CUDA runtime into exceptions, keeps errors of the user, and owns handles.
//
// The runtime has one error for each host thread, which stays until cudaGetLastError returns it. An error
// that the user has not asked for yet must still be there after each call of the library.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <thread>
#include <utility>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Takes back the error that a call of the library has just left in this thread, if it failed. Returns its
/// status. Nothing else in the library clears an error: after a call that succeeded it would be the user's.
inline cudaError_t forget_failure(cudaError_t status) {
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  return status;
}

/// Returns the status of `call`, which may fail although all is well, or reads or clears the error of its
/// thread, as CUB does. While an error of the user is pending, another thread makes the call.
template <class Call>
cudaError_t call_apart(const Call& call) {
  if (cudaPeekAtLastError() == cudaSuccess) {
    return forget_failure(call());
  }
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  std::thread([&] {
    status = status == cudaSuccess ? cudaSetDevice(device) : status;
    status = status == cudaSuccess ? call() : status;
  }).join();
  return status;
}

/// Throws the error of a call if it failed. `call`: its source text.
inline void check_status(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    const bool no_gpu = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
    throw error(
        status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::cuda_error,
        std::string(call) + " failed: " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status) +
            (no_gpu ? "; without a GPU use policy::host_serial or policy::host_parallel and host memory"
                    : ""));
  }
}

/// Owns a handle of CUDA. Empty until a call has written to address(); move-only.
template <class Handle, auto Destroy>
class owned {
 public:
  owned() noexcept = default;
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned() {
    if (handle_ != nullptr) {
      static_cast<void>(Destroy(handle_));
    }
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  [[nodiscard]] Handle* address() noexcept { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

}  // namespace sptrsv::SPTRSV_ABI::detail

/// Throws `sptrsv::error` if the call of the CUDA runtime fails.
#define SPTRSV_CUDA_CHECK(call) ::sptrsv::detail::check_status(::sptrsv::detail::forget_failure(call), #call)
