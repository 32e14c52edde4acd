// Device memory by cudaMalloc, beside the pool of the library.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_trial {

/// An array of uninitialised elements.
template <class T>
class device_array {
 public:
  explicit device_array(std::int64_t size) : bytes_(static_cast<std::size_t>(size) * sizeof(T)) {
    SPTRSV_CUDA_CHECK(cudaMalloc(&data_, bytes_));
  }
  ~device_array() { static_cast<void>(cudaFree(data_)); }
  device_array(const device_array&) = delete;  // owns the memory
  device_array& operator=(const device_array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace sptrsv_trial
