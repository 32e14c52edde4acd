// Methods to hand a value on inside an SM: registers, shuffles, shared memory, barriers.
#pragma once

#include "benchmarks/shared/hop.cuh"
#include "timing.cuh"

namespace sptrsv_benchmarks::hand_off {

/// Applies the operation `Step` repeatedly in one thread or one warp. Each application needs the result of
/// the one before.
template <class Step>
static __global__ void repeat_step(int links, double a, double b, outcome* out) {
  __shared__ double slots[32];
  double x = a;
#pragma unroll 8
  for (int i = 0; i < links; ++i) {
    x = Step::apply(x, a, b, slots + threadIdx.x % 32);
  }
  if (x == 42 || threadIdx.x == 0) {
    out->last = x;
  }
}

struct multiply_add_and_multiply {
  static __device__ __forceinline__ double apply(double x, double a, double b, double*) {
    return __dmul_rn(fma(x, a, b), a);
  }
};
struct multiply_add_and_shuffle {
  static __device__ __forceinline__ double apply(double x, double a, double b, double*) {
    return __shfl_xor_sync(0xffffffffu, fma(x, a, b), 1);
  }
};
struct subtract_and_divide {
  static __device__ __forceinline__ double apply(double x, double a, double b, double*) {
    return (a - x) / b;
  }
};
struct store_and_load {
  static __device__ __forceinline__ double apply(double x, double, double, double* slot) {
    *static_cast<volatile double*>(slot) = x;
    return *static_cast<volatile double*>(slot);
  }
};

template <class Step>
double measure_step(int threads) {
  const outcome_memory out;
  return time_of_link(200000, [&](int links) {
    repeat_step<Step><<<1, static_cast<unsigned>(threads)>>>(links, 0.75, 1.25, out.data());
  });
}

/// The warps of a block take the links round-robin. A warp waits until its slot holds the number of its link
/// and writes the next number into the slot of the next warp. The value is its own flag.
static __global__ void pass_between_warps(int links, outcome* out) {
  __shared__ volatile double slots[32];
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x < 32) {
    slots[threadIdx.x] = threadIdx.x == 0 ? 0 : -1;
  }
  __syncthreads();
  double expected = warp;
  for (int i = warp; threadIdx.x % 32 == 0 && i < links; i += warps) {
    if (!poll_until([&] { return slots[warp] == expected; })) {
      out->broken = 1;
      break;
    }
    slots[(warp + 1) % warps] = expected + 1;
    expected += warps;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out->last = slots[links % warps];
  }
}

inline double measure_between_warps(int warps) {
  const outcome_memory out;
  const double nanoseconds = time_of_link(100000, [&](int links) {
    pass_between_warps<<<1, static_cast<unsigned>(warps * 32)>>>(links, out.data());
  });
  out.check();
  return nanoseconds;
}

static __global__ void repeat_barrier(int links) {
  for (int i = 0; i < links; ++i) {
    __syncthreads();
  }
}

inline double measure_barrier(int warps) {
  return time_of_link(200000,
                      [&](int links) { repeat_barrier<<<1, static_cast<unsigned>(warps * 32)>>>(links); });
}

}  // namespace sptrsv_benchmarks::hand_off
