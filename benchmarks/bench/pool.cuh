// The pool from which device memory comes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_benchmarks {

/// Without this the pool gives its memory back to the driver at every synchronisation, and an analysis would
/// be timed with the driver's allocations.
inline void keep_pool_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

}  // namespace sptrsv_benchmarks
