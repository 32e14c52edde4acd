// Other work on the GPU while something is tested: solves and copies on streams of their own, without a
// pause.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "examples/support/poisson.hpp"
#include "examples/support/seeded_values.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/sptrsv.hpp"

namespace sptrsv_acceptance {

namespace support = sptrsv_examples;

/// Copies by few blocks, so that it lasts.
__global__ void copy_slowly(const uint4* from, uint4* to, std::size_t size) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    to[i] = from[i];
  }
}

/// A stream with the work of one turn, some solves and a copy.
class busy_stream {
 public:
  busy_stream() {
    SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_.handle, cudaStreamNonBlocking));
    for (owned_event& event : turn_done_) {
      SPTRSV_CUDA_CHECK(
          cudaEventCreateWithFlags(&event.handle, cudaEventDisableTiming | cudaEventBlockingSync));
    }
    from_ = array<uint4>(copied, pool_, stream_.handle);
    to_ = array<uint4>(copied, pool_, stream_.handle);
    SPTRSV_CUDA_CHECK(cudaMemsetAsync(from_.data(), 0, from_.bytes(), stream_.handle));
  }
  busy_stream(const busy_stream&) = delete;  // owns a stream
  busy_stream& operator=(const busy_stream&) = delete;
  ~busy_stream() { static_cast<void>(cudaStreamSynchronize(stream_.handle)); }

  /// What is solved in each turn.
  template <class Policy>
  void solve_with(const Policy& policy) {
    const auto made = std::make_shared<other_system<Policy>>(policy, stream_.handle);
    solve_ = [made] { made->solve(); };
    is_right_ = [made] { return made->is_right(); };
  }

  /// Waits until the turn before the last is done, so that the stream has work all the time.
  void enqueue_turn(std::uint64_t turn) {
    owned_event& event = turn_done_[turn % 2];
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(event.handle));
    for (int k = 0; k < 4; ++k) {
      solve_();
    }
    copy_slowly<<<128, 256, 0, stream_.handle>>>(from_.data(), to_.data(), to_.size());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    SPTRSV_CUDA_CHECK(cudaEventRecord(event.handle, stream_.handle));
  }

  /// Whether the last solution is; synchronises.
  [[nodiscard]] bool is_right() const { return is_right_(); }

 private:
  static constexpr std::size_t copied = (std::size_t{16} << 20) / sizeof(uint4);
  template <class T>
  using array = sptrsv::buffer<T>;

  struct owned_stream {
    owned_stream() = default;
    owned_stream(const owned_stream&) = delete;
    owned_stream& operator=(const owned_stream&) = delete;
    ~owned_stream() { static_cast<void>(cudaStreamDestroy(handle)); }
    cudaStream_t handle = nullptr;
  };
  struct owned_event {
    owned_event() = default;
    owned_event(const owned_event&) = delete;
    owned_event& operator=(const owned_event&) = delete;
    ~owned_event() { static_cast<void>(cudaEventDestroy(handle)); }
    cudaEvent_t handle = nullptr;
  };

  /// Small, so that the kernels of all streams are on the device together.
  template <class Policy>
  class other_system {
   public:
    other_system(const Policy& policy, cudaStream_t stream)
        : stream_(stream),
          solver_(sptrsv::analyze(policy, sptrsv::to_device(matrix_, stream), {}, stream)),
          device_b_(sptrsv::to_device(b_, stream)),
          device_x_(sptrsv::to_device(b_, stream)) {}
    void solve() { solver_.solve(device_b_, device_x_, stream_); }
    [[nodiscard]] bool is_right() const {
      return sptrsv::backward_error(matrix_, {}, b_, sptrsv::to_host(device_x_, stream_)).ok();
    }

   private:
    sptrsv::csr_matrix<double> matrix_ = support::assemble_poisson(10);
    std::vector<double> b_ = support::seeded_vector<double>(matrix_.rows, 5);
    cudaStream_t stream_;
    decltype(sptrsv::analyze(std::declval<Policy>(), std::declval<sptrsv::device_csr_matrix<double>>(),
                             sptrsv::system_options{}, std::declval<cudaStream_t>())) solver_;
    array<double> device_b_;
    array<double> device_x_;
  };

  sptrsv::pool_memory_resource pool_;
  owned_stream stream_;  // before all that gives memory back on it
  owned_event turn_done_[2];
  array<uint4> from_;
  array<uint4> to_;
  std::function<void()> solve_;
  std::function<bool()> is_right_;
};

/// Keeps streams busy, from a thread of its own, as long as it lives.
class busy_streams {
 public:
  explicit busy_streams(std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      streams_.push_back(std::make_unique<busy_stream>());
      switch (k % 4) {
        case 0:
          streams_.back()->solve_with(sptrsv::policy::sync_free_warp{});
          break;
        case 1:
          streams_.back()->solve_with(sptrsv::policy::sync_free_column{});
          break;
        case 2:
          streams_.back()->solve_with(
              sptrsv::policy::dataflow{sptrsv::policy::dataflow_path::row_per_thread});
          break;
        default:
          streams_.back()->solve_with(sptrsv::policy::level_set{});
      }
    }
    enqueue_turn();
    worker_ = std::thread([this] {
      try {
        while (!stop_) {
          enqueue_turn();
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  busy_streams(const busy_streams&) = delete;  // its thread knows it
  busy_streams& operator=(const busy_streams&) = delete;
  ~busy_streams() { stop(); }

  /// Ends the work; whether its own solutions are right. Throws what the thread threw.
  [[nodiscard]] bool finish() {
    stop();
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    bool right = true;
    for (const auto& stream : streams_) {
      right = stream->is_right() && right;
    }
    return right;
  }
  /// Of each stream; after `finish`.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }

 private:
  void enqueue_turn() {
    for (const auto& stream : streams_) {
      stream->enqueue_turn(turns_);
    }
    ++turns_;
  }
  void stop() {
    stop_ = true;
    if (worker_.joinable()) {
      worker_.join();
    }
  }

  std::vector<std::unique_ptr<busy_stream>> streams_;
  std::uint64_t turns_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stop_{false};
  std::thread worker_;
};

}  // namespace sptrsv_acceptance
