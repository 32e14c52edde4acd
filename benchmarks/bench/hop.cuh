// What it takes to hand a value on through the L2 cache: the floor of a solve, per level.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/simt/cuda_context.cuh"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "statistics.hpp"

namespace sptrsv_benchmarks {

/// What a value holds until it is computed: a NaN, as bytes of 0xff leave it.
inline constexpr std::uint64_t hop_pending = ~std::uint64_t{0};

/// A chain x[i] = x[i - 1] + 1 whose links are held by the blocks in turn: each value is computed on another
/// SM than the one before and is its own flag, as in the kernels that wait for values. One thread a block,
/// all blocks resident.
static __global__ void run_hop_chain(std::uint64_t* x, int links) {
  sptrsv::detail::simt::cuda_context ctx;
  for (int i = static_cast<int>(blockIdx.x) + 1; i <= links; i += static_cast<int>(gridDim.x)) {
    std::uint64_t bits = hop_pending;
    while (bits == hop_pending) {  // without a pause: this is the floor
      bits = ctx.load_relaxed(x + i - 1);
    }
    ctx.store_relaxed(x + i,
                      sptrsv::detail::bit_cast<std::uint64_t>(sptrsv::detail::bit_cast<double>(bits) + 1));
  }
}

/// Nanoseconds a link: the median of several chains over all SMs, hence over near and far ones.
inline double measure_hop_ns(int processors, cudaStream_t stream) {
  constexpr int links = 20000;
  constexpr int chains = 9;
  const sptrsv::detail::cuda_executor on(stream);
  const sptrsv::buffer<std::uint64_t> x(links + 1, on.default_resource(), stream);
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  SPTRSV_CUDA_CHECK(cudaEventCreate(&start));
  SPTRSV_CUDA_CHECK(cudaEventCreate(&stop));
  std::vector<double> nanoseconds;
  for (int k = 0; k < chains; ++k) {
    on.fill_bytes(x.data(), 0xff, x.bytes());
    on.fill_bytes(x.data(), 0, sizeof(std::uint64_t));
    SPTRSV_CUDA_CHECK(cudaEventRecord(start, stream));
    run_hop_chain<<<static_cast<unsigned>(processors), 1, 0, stream>>>(x.data(), links);
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    SPTRSV_CUDA_CHECK(cudaEventRecord(stop, stream));
    float milliseconds = 0;
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(stop));
    SPTRSV_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    nanoseconds.push_back(static_cast<double>(milliseconds) * 1e6 / links);
  }
  static_cast<void>(cudaEventDestroy(start));
  static_cast<void>(cudaEventDestroy(stop));
  return median(nanoseconds);
}

}  // namespace sptrsv_benchmarks
