// Methods to hand a value on from SM to SM through device memory, for the chain of shared/hop.cuh: those in
// which the value is not its own flag.
#pragma once

#include "benchmarks/shared/hop.cuh"

namespace sptrsv_benchmarks::hand_off {

/// A flag beside the value, with st.release and ld.acquire.
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
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(in.flags + i)), "r"(1)
                 : "memory");
  }
};

/// The method of the first sync-free codes: the value, __threadfence, a volatile flag.
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

/// The published method of column-wise solvers: atomicAdd on the sum, __threadfence, atomicSub on the
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

/// The method of the column-wise policies of the library: two reductions with a release fence between them;
/// relaxed polling, then an acquire fence.
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
