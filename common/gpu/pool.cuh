// The memory pool of the GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_common {

/// Makes the default pool of the GPU keep its memory. By default it returns free memory to the driver at
/// every synchronisation, and the time of work would include allocations of the driver.
inline void keep_pool_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

}  // namespace sptrsv_common
