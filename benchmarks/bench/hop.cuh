// What it takes to hand a value on from SM to SM: the floor of a solve, per level, and what other ways of
// handing on are compared with.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "sptrsv/detail/simt/cuda_context.cuh"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "statistics.hpp"

namespace sptrsv_benchmarks {

/// Looks at memory after which a wait is given up: seconds, so that a broken chain ends and is reported.
inline constexpr int max_polls = 1 << 23;

/// Looks until `done()` holds; false: it never did. Without a pause: this is the floor.
template <class Done>
static __device__ __forceinline__ bool poll_until(Done done) {
  for (int look = 0; look < max_polls; ++look) {
    if (done()) {
      return true;
    }
  }
  return false;
}

/// The arrays that a chain hands its values on in, an element a link.
struct chain_arrays {
  std::uint64_t* values;
  int* flags;
};

/// A value that is its own flag, as in the kernels that wait for values.
struct polled_value {
  /// What a value holds until it is computed: a NaN, as bytes of 0xff leave it.
  static constexpr std::uint64_t pending = ~std::uint64_t{0};
  static constexpr unsigned char unset_value = 0xff;  ///< bytes that values hold before the chain runs

  template <class Context>
  __device__ static bool receive(Context& ctx, const chain_arrays& in, int i, double& value) {
    std::uint64_t bits = pending;
    const bool came = poll_until([&] { return (bits = ctx.load_relaxed(in.values + i)) != pending; });
    value = sptrsv::detail::bit_cast<double>(bits);
    return came;
  }
  template <class Context>
  __device__ static void send(Context& ctx, const chain_arrays& in, int i, double value) {
    ctx.store_relaxed(in.values + i, sptrsv::detail::bit_cast<std::uint64_t>(value));
  }
};

/// A chain x[i] = x[i - 1] + 1 whose links are held by the blocks in turn: each value is computed on another
/// SM than the one before. One thread a block, all blocks resident.
template <class Route>
static __global__ void run_chain(chain_arrays in, int links, unsigned* broken) {
  sptrsv::detail::simt::cuda_context ctx;
  for (int i = static_cast<int>(blockIdx.x) + 1; i <= links; i += static_cast<int>(gridDim.x)) {
    double value = 0;
    if (!Route::receive(ctx, in, i - 1, value)) {
      ctx.store_relaxed(broken, 1u);
      return;
    }
    Route::send(ctx, in, i, value + 1);
  }
}

/// Nanoseconds a link: the median of several chains over all SMs, hence over near and far ones. Throws if a
/// value does not arrive.
template <class Route = polled_value>
double measure_hop_ns(int processors, cudaStream_t stream) {
  constexpr int links = 20000;
  constexpr int chains = 9;
  const sptrsv::detail::cuda_executor on(stream);
  const sptrsv::buffer<std::uint64_t> values(links + 1, on.default_resource(), stream);
  const sptrsv::buffer<int> flags(links + 1, on.default_resource(), stream);
  const sptrsv::buffer<unsigned> broken(1, on.default_resource(), stream);
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  SPTRSV_CUDA_CHECK(cudaEventCreate(&start));
  SPTRSV_CUDA_CHECK(cudaEventCreate(&stop));
  std::vector<double> nanoseconds;
  on.fill_bytes(broken.data(), 0, broken.bytes());
  for (int k = 0; k < chains; ++k) {
    on.fill_bytes(values.data(), Route::unset_value, values.bytes());
    on.fill_bytes(values.data(), 0, sizeof(std::uint64_t));
    on.fill_bytes(flags.data(), 0, flags.bytes());
    on.fill_bytes(flags.data(), 1, sizeof(int));
    SPTRSV_CUDA_CHECK(cudaEventRecord(start, stream));
    run_chain<Route><<<static_cast<unsigned>(processors), 1, 0, stream>>>({values.data(), flags.data()},
                                                                          links, broken.data());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    SPTRSV_CUDA_CHECK(cudaEventRecord(stop, stream));
    float milliseconds = 0;
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(stop));
    SPTRSV_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    nanoseconds.push_back(static_cast<double>(milliseconds) * 1e6 / links);
  }
  static_cast<void>(cudaEventDestroy(start));
  static_cast<void>(cudaEventDestroy(stop));
  unsigned is_broken = 0;
  double last = 0;
  on.download(&is_broken, broken.data(), sizeof(is_broken));
  on.download(&last, values.data() + links, sizeof(last));
  if (is_broken != 0 || last != links) {
    throw std::runtime_error("a value that was handed on did not arrive");
  }
  return median(nanoseconds);
}

}  // namespace sptrsv_benchmarks
