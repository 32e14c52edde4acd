// Methods to hand a value on between two GPUs that can access each other's memory.
#pragma once

#include <chrono>
#include <cuda/atomic>
#include <vector>

#include "benchmarks/shared/hop.cuh"
#include "sptrsv/detail/distributed/parameters.hpp"
#include "sptrsv/detail/simt/cuda_context.cuh"
#include "timing.cuh"

namespace sptrsv_benchmarks::hand_off {

/// The parts of a message of several values that a warp sends to another GPU.
enum class message_parts {
  values_and_signal,      ///< the values are stored, then the signal: nothing orders them
  fenced,                 ///< with a fence between them
  fenced_through_outbox,  ///< and the values are first written to memory of the sender and read again
};

/// The memory in which a GPU receives messages, and its outbox.
struct message_box {
  static constexpr int most_words = 128;
  double values[most_words];
  double outbox[most_words];
  unsigned long long signal;
};

/// One of two warps, on two GPUs, that take the links alternately. It waits for the signal of its link, reads
/// the values, and sends a message with the next number. Words: 1, or a multiple of 32.
template <int Words, message_parts Parts>
static __global__ void send_alternately(message_box* own, message_box* peer, int first, int links,
                                        outcome* result) {
  constexpr int of_lane = Words < 32 ? 1 : Words / 32;
  const int lane = static_cast<int>(threadIdx.x);
  const bool has_values = lane < Words;
  const cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> came(own->signal);
  const cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> sent(peer->signal);
  for (int i = first; i < links; i += 2) {
    const auto number = static_cast<unsigned long long>(i);
    if (!poll_until([&] { return came.load(cuda::memory_order_acquire) == number; })) {
      result->broken = 1;
      return;
    }
    double value[of_lane];
    for (int k = 0; k < of_lane; ++k) {
      value[k] = has_values ? __ldcg(own->values + lane + 32 * k) + 1 : 0;
    }
    if (Parts == message_parts::fenced_through_outbox) {
      for (int k = 0; k < of_lane && has_values; ++k) {
        __stcg(own->outbox + lane + 32 * k, value[k]);
      }
      __syncwarp();
      for (int k = 0; k < of_lane && has_values; ++k) {
        value[k] = __ldcg(own->outbox + lane + 32 * k);
      }
    }
    for (int k = 0; k < of_lane && has_values; ++k) {
      cuda::atomic_ref<double, cuda::thread_scope_system>(peer->values[lane + 32 * k])
          .store(value[k], cuda::memory_order_relaxed);
    }
    __syncwarp();
    if (lane == 0) {
      if (Parts != message_parts::values_and_signal) {
        __threadfence_system();
      }
      sent.store(number + 1, cuda::memory_order_relaxed);
    }
    __syncwarp();
  }
}

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

using distributed_params =
    sptrsv::detail::distributed::pe_params<double, int, int, sptrsv::detail::distributed::no_mail>;

/// Each lane of a warp sends a value to `count` receivers, as a distributed solve does.
static __global__ void send_to_receivers(const __grid_constant__ distributed_params p, int most, int count) {
  sptrsv::detail::simt::cuda_context ctx;
  const auto lane = static_cast<std::int64_t>(threadIdx.x);
  p.send_all(ctx, {lane * most, count}, 0, 1.0);
}

/// Measures after which time a distributed solve sends a value to the next receiver. The receivers have
/// memory of this device, and what says where they are comes from the L2 cache.
inline double measure_next_receiver() {
  constexpr int receivers = 8;
  constexpr int most = 4096;
  std::vector<sptrsv::detail::distributed::message> messages;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < most; ++i) {
      messages.push_back({lane, i % receivers, 0});
    }
  }
  using word = sptrsv::detail::value_flag<double>::word;
  const auto memory = sptrsv::to_device(std::vector<word>(64 * receivers), cudaStream_t{});
  std::vector<word*> of_receiver;
  for (int r = 0; r < receivers; ++r) {
    of_receiver.push_back(memory.data() + 64 * r);
  }
  const auto addresses = sptrsv::to_device(of_receiver, cudaStream_t{});
  const auto on_device = sptrsv::to_device(messages, cudaStream_t{});
  distributed_params p{};
  p.in.of_pe = addresses.data();
  p.messages = on_device.data();
  return time_of_link(most, [&](int count) { send_to_receivers<<<1, 32>>>(p, most, count); });
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

/// Measures messages of `Words` values between devices 0 and 1 by the clock of the host. A warp polls the
/// signal in the memory of its own device.
template <int Words, message_parts Parts>
double measure_messages() {
  int devices = 0;
  SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    throw not_available("there is one device");
  }
  const peer_side sides[] = {peer_side(0), peer_side(1)};
  sides[0].open(1);
  sides[1].open(0);
  message_box* boxes[2];
  for (int d = 0; d < 2; ++d) {
    SPTRSV_CUDA_CHECK(cudaSetDevice(d));
    SPTRSV_CUDA_CHECK(cudaMalloc(&boxes[d], sizeof(message_box)));
  }
  const double ns = slope_of(20000, [&](int links) {
    for (int d = 0; d < 2; ++d) {
      // The signal of link 0 is there from the beginning, for the warp of device 0.
      SPTRSV_CUDA_CHECK(cudaSetDevice(d));
      SPTRSV_CUDA_CHECK(cudaMemset(boxes[d], 0, sizeof(message_box)));
      SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    }
    const auto start = std::chrono::steady_clock::now();
    for (int d = 0; d < 2; ++d) {
      SPTRSV_CUDA_CHECK(cudaSetDevice(d));
      send_alternately<Words, Parts>
          <<<1, 32, 0, sides[d].stream>>>(boxes[d], boxes[1 - d], d, links, sides[d].result);
      SPTRSV_CUDA_CHECK(cudaGetLastError());
    }
    sides[0].finish();
    sides[1].finish();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  });
  for (int d = 0; d < 2; ++d) {
    SPTRSV_CUDA_CHECK(cudaSetDevice(d));
    static_cast<void>(cudaFree(boxes[d]));
  }
  SPTRSV_CUDA_CHECK(cudaSetDevice(0));
  return ns;
}

}  // namespace sptrsv_benchmarks::hand_off
