// The memory pools of the GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/memory/pool_memory_resource.cuh"

namespace sptrsv_common {

/// Makes the pool of the library and CUDA's default pool, from which cuSPARSE may allocate, keep all their
/// memory. CUDA's default pool otherwise returns unused memory to the driver at every synchronisation, and
/// the time of work would include allocations of the driver.
inline void keep_pool_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  sptrsv::default_device_resource().set_release_threshold(std::numeric_limits<std::size_t>::max());
}

/// Returns the unused memory of both pools to the driver, so that the next work allocates as that of a new
/// program does.
inline void release_pool_memory() {
  cudaMemPool_t pool = nullptr;
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPTRSV_CUDA_CHECK(cudaMemPoolTrimTo(pool, 0));
  sptrsv::default_device_resource().release_unused();
}

}  // namespace sptrsv_common
