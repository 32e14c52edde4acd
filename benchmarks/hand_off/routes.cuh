// Handing on from SM to SM through device memory: the routes that a chain of bench/hop.cuh may take beside
// the value that is its own flag.
#pragma once

#include "benchmarks/bench/hop.cuh"

namespace sptrsv_benchmarks::hand_off {

/// st.release and ld.acquire of a flag beside the value.
struct released_flag {
  static constexpr unsigned char unset_value = 0;

  template <class Context>
  __device__ static bool receive(Context& ctx, const chain_arrays& in, int i, double& value) {
    const bool came = poll_until([&] { return ctx.load_acquire(in.flags + i) != 0; });
    value = sptrsv::detail::bit_cast<double>(ctx.load(in.values + i));
    return came;
  }
  template <class Context>
  __device__ static void send(Context& ctx, const chain_arrays& in, int i, double value) {
    ctx.store(in.values + i, sptrsv::detail::bit_cast<std::uint64_t>(value));
    ctx.store_release(in.flags + i, 1);
  }
};

/// The hand-off of the first sync-free codes: the value, __threadfence, a volatile flag.
struct fenced_flag {
  static constexpr unsigned char unset_value = 0;

  template <class Context>
  __device__ static bool receive(Context&, const chain_arrays& in, int i, double& value) {
    const volatile int* const flags = in.flags;
    const bool came = poll_until([&] { return flags[i] != 0; });
    __threadfence();
    value = sptrsv::detail::bit_cast<double>(in.values[i]);
    return came;
  }
  template <class Context>
  __device__ static void send(Context&, const chain_arrays& in, int i, double value) {
    in.values[i] = sptrsv::detail::bit_cast<std::uint64_t>(value);
    __threadfence();
    static_cast<volatile int*>(in.flags)[i] = 1;
  }
};

/// What column-wise methods do, as it is published: atomicAdd on the sum, __threadfence, atomicSub on the
/// counter.
struct counted_sum {
  static constexpr unsigned char unset_value = 0;

  template <class Context>
  __device__ static bool receive(Context&, const chain_arrays& in, int i, double& value) {
    const volatile int* const counters = in.flags;
    const bool came = poll_until([&] { return counters[i] != 0; });
    value = reinterpret_cast<const volatile double*>(in.values)[i];
    return came;
  }
  template <class Context>
  __device__ static void send(Context&, const chain_arrays& in, int i, double value) {
    atomicAdd(reinterpret_cast<double*>(in.values) + i, value);
    __threadfence();
    atomicSub(in.flags + i, 1);
  }
};

/// The same as the policies of the library do it: reductions, a release fence between them; relaxed looks,
/// then an acquire fence.
struct reduced_sum {
  static constexpr unsigned char unset_value = 0;

  template <class Context>
  __device__ static bool receive(Context& ctx, const chain_arrays& in, int i, double& value) {
    const bool came = poll_until([&] { return ctx.load_relaxed(in.flags + i) != 0; });
    ctx.fence_acquire();
    value = ctx.load_relaxed(reinterpret_cast<const double*>(in.values) + i);
    return came;
  }
  template <class Context>
  __device__ static void send(Context& ctx, const chain_arrays& in, int i, double value) {
    ctx.reduce_add(reinterpret_cast<double*>(in.values) + i, value);
    ctx.fence_release();
    ctx.reduce_add(in.flags + i, 1);
  }
};

}  // namespace sptrsv_benchmarks::hand_off
