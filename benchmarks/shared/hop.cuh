// Measures the hop: the time in which a value passes from one SM to another through the L2 cache. The
// inter-block latency model multiplies it by the number of levels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/gpu/cuda_handles.cuh"
#include "common/measurement/statistics.hpp"
#include "sptrsv/detail/simt/cuda_context.cuh"
#include "sptrsv/detail/simt/cuda_executor.cuh"

namespace sptrsv_benchmarks {

/// Number of polls after which a kernel stops waiting. It takes seconds and ends a broken chain.
inline constexpr int max_polls = 1 << 23;

/// Polls without a pause until `done()` is true. Returns false if it is not true after max_polls.
template <class Done>
static __device__ __forceinline__ bool poll_until(Done done) {
  for (int poll = 0; poll < max_polls; ++poll) {
    if (done()) {
      return true;
    }
  }
  return false;
}

/// The arrays through which a chain passes its values; one element per link.
struct chain_arrays {
  std::uint64_t* values;
  int* flags;
};

/// A value that is its own flag, as in the kernels of the library that poll values.
struct polled_value {
  /// The bits of an element before its link has run: a NaN, all bytes 0xff.
  static constexpr std::uint64_t pending = ~std::uint64_t{0};
  static constexpr unsigned char unset_value = 0xff;  ///< of all bytes of the values before the chain runs

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

/// A chain x[i] = x[i - 1] + 1 whose links are distributed to the thread blocks round-robin, so that two
/// consecutive values are computed on different SMs. One thread per block; all blocks are resident.
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

/// Returns the nanoseconds per link: the median of several chains over all SMs, hence over near and far SMs.
/// Throws if a value does not arrive.
template <class Route = polled_value>
double measure_hop_ns(int processors, cudaStream_t stream) {
  constexpr int links = 20000;
  constexpr int chains = 9;
  const sptrsv::detail::cuda_executor on(stream);
  const sptrsv::buffer<std::uint64_t> values(links + 1, on.default_resource(), stream);
  const sptrsv::buffer<int> flags(links + 1, on.default_resource(), stream);
  const sptrsv::buffer<unsigned> broken(1, on.default_resource(), stream);
  std::vector<double> nanoseconds;
  on.fill_bytes(broken.data(), 0, broken.bytes());
  for (int k = 0; k < chains; ++k) {
    on.fill_bytes(values.data(), Route::unset_value, values.bytes());
    on.fill_bytes(values.data(), 0, sizeof(std::uint64_t));
    on.fill_bytes(flags.data(), 0, flags.bytes());
    on.fill_bytes(flags.data(), 1, sizeof(int));
    const double milliseconds = sptrsv_common::device_time(
        [&] {
          run_chain<Route><<<static_cast<unsigned>(processors), 1, 0, stream>>>({values.data(), flags.data()},
                                                                                links, broken.data());
        },
        stream);
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    nanoseconds.push_back(milliseconds * 1e6 / links);
  }
  unsigned is_broken = 0;
  double last = 0;
  on.download(&is_broken, broken.data(), sizeof(is_broken));
  on.download(&last, values.data() + links, sizeof(last));
  if (is_broken != 0 || last != links) {
    throw std::runtime_error("a value that a kernel waited for did not arrive");
  }
  return sptrsv_common::median(nanoseconds);
}

}  // namespace sptrsv_benchmarks
