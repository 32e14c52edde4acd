// Methods to hand a value on between two GPUs that can access each other's memory.
#pragma once

#include <chrono>
#include <cuda/atomic>

#include "benchmarks/shared/hop.cuh"
#include "timing.cuh"

namespace sptrsv_benchmarks::hand_off {

/// One of two threads, on two GPUs, that take the links alternately. It waits until `in` holds the number of
/// its link and stores the next number into `out`.
static __global__ void count_alternately(double* in, double* out, int first, int links, outcome* result) {
  const cuda::atomic_ref<double, cuda::thread_scope_system> mine(*in);
  const cuda::atomic_ref<double, cuda::thread_scope_system> other(*out);
  double expected = first;
  for (int i = first; i < links; i += 2) {
    if (!poll_until([&] { return mine.load(cuda::memory_order_relaxed) == expected; })) {
      result->broken = 1;
      return;
    }
    other.store(expected + 1, cuda::memory_order_relaxed);
    expected += 2;
  }
}

/// The memory and the stream of one of the two GPUs: a slot for a number and the outcome of its kernels. It
/// is allocated by cudaMalloc, because a peer cannot access the memory of a pool.
class peer_side {
 public:
  explicit peer_side(int device) : device_(device) {
    SPTRSV_CUDA_CHECK(cudaSetDevice(device_));
    SPTRSV_CUDA_CHECK(cudaMalloc(&slot, sizeof(double)));
    SPTRSV_CUDA_CHECK(cudaMalloc(&result, sizeof(outcome)));
    SPTRSV_CUDA_CHECK(cudaMemset(result, 0, sizeof(outcome)));
    SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~peer_side() {
    static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(cudaFree(slot));
    static_cast<void>(cudaFree(result));
    static_cast<void>(cudaStreamDestroy(stream));
    static_cast<void>(cudaSetDevice(0));
  }
  peer_side(const peer_side&) = delete;  // owns memory
  peer_side& operator=(const peer_side&) = delete;

  /// Allows kernels of this device to access the memory of the device `other`.
  void open(int other) const {
    int can = 0;
    SPTRSV_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device_, other));
    if (can == 0) {
      throw not_available("the devices cannot access each other's memory");
    }
    SPTRSV_CUDA_CHECK(cudaSetDevice(device_));
    const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
    static_cast<void>(cudaGetLastError());
    if (status != cudaErrorPeerAccessAlreadyEnabled) {
      SPTRSV_CUDA_CHECK(status);
    }
  }
  /// Writes a number into the slot. Synchronises.
  void set(double value) const {
    SPTRSV_CUDA_CHECK(cudaSetDevice(device_));
    SPTRSV_CUDA_CHECK(cudaMemcpy(slot, &value, sizeof(value), cudaMemcpyHostToDevice));
  }
  void enqueue(double* in, double* out, int first, int links) const {
    SPTRSV_CUDA_CHECK(cudaSetDevice(device_));
    count_alternately<<<1, 1, 0, stream>>>(in, out, first, links, result);
    SPTRSV_CUDA_CHECK(cudaGetLastError());
  }
  void finish() const {
    SPTRSV_CUDA_CHECK(cudaSetDevice(device_));
    SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
    outcome seen{};
    SPTRSV_CUDA_CHECK(cudaMemcpy(&seen, result, sizeof(seen), cudaMemcpyDeviceToHost));
    if (seen.broken != 0) {
      throw std::runtime_error("a value that a kernel waited for did not arrive");
    }
  }

  double* slot = nullptr;
  outcome* result = nullptr;
  cudaStream_t stream = nullptr;

 private:
  int device_;
};

/// Measures devices 0 and 1 by the clock of the host. With `remote_store` a thread polls the memory of its
/// own device and stores into that of the other; without, it polls the memory of the other device and stores
/// into its own.
inline double measure_between_devices(bool remote_store) {
  int devices = 0;
  SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    throw not_available("there is one device");
  }
  const peer_side left(0);
  const peer_side right(1);
  left.open(1);
  right.open(0);
  return slope_of(20000, [&](int links) {
    // Each thread polls its `in`. The number of link 0 is there from the beginning, for the thread of the
    // left device.
    double* const left_in = remote_store ? left.slot : right.slot;
    double* const right_in = remote_store ? right.slot : left.slot;
    (remote_store ? left : right).set(0);
    (remote_store ? right : left).set(-1);
    const auto start = std::chrono::steady_clock::now();
    left.enqueue(left_in, right_in, 0, links);
    right.enqueue(right_in, left_in, 1, links);
    left.finish();
    right.finish();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  });
}

}  // namespace sptrsv_benchmarks::hand_off
