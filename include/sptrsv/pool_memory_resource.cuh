// The default memory resource of the GPU policies; the header of every GPU policy includes it in a
// translation unit that nvcc compiles.
#pragma once

#include <cstddef>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/memory_resource.hpp"

namespace sptrsv {

/// The stream-ordered memory pool of the current device (cudaMallocAsync, cudaFreeAsync).
class pool_memory_resource final : public memory_resource {
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    void* p = nullptr;
    SPTRSV_CUDA_CHECK(cudaMallocAsync(&p, bytes, stream));
    return p;
  }
  void do_deallocate(void* p, std::size_t, stream_handle stream) noexcept override {
    static_cast<void>(cudaFreeAsync(p, stream));
  }
};

}  // namespace sptrsv
