// Other work on the GPU during a test: solves and copies on other streams, without a pause.
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

#include "common/gpu/cuda_handles.cuh"
#include "common/systems/poisson.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/sptrsv.hpp"

namespace sptrsv_acceptance {

namespace common = sptrsv_common;

/// Copies with few thread blocks, so that the copy takes long.
__global__ void copy_slowly(const uint4* from, uint4* to, std::size_t size) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    to[i] = from[i];
  }
}

/// A stream with the work of one round: some solves and a copy.
class busy_stream {
 public:
  busy_stream() {
    from_ = array<uint4>(copied, pool_, stream_.get());
    to_ = array<uint4>(copied, pool_, stream_.get());
    SPTRSV_CUDA_CHECK(cudaMemsetAsync(from_.data(), 0, from_.bytes(), stream_.get()));
  }
  busy_stream(const busy_stream&) = delete;  // owns a stream
  busy_stream& operator=(const busy_stream&) = delete;
  ~busy_stream() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

  /// Sets the policy of the solves.
  template <class Policy>
  void solve_with(const Policy& policy) {
    const auto made = std::make_shared<other_system<Policy>>(policy, stream_.get());
    solve_ = [made] { made->solve(); };
    is_right_ = [made] { return made->is_right(); };
  }

  /// Waits until the last round but one has finished, then enqueues a round. So the stream always has work.
  void enqueue_round(std::uint64_t round) {
    common::cuda_event& event = round_done_[round % 2];
    event.synchronize();
    for (int k = 0; k < 4; ++k) {
      solve_();
    }
    copy_slowly<<<128, 256, 0, stream_.get()>>>(from_.data(), to_.data(), to_.size());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
    event.record(stream_.get());
  }

  /// Returns whether the last solution is right. Synchronises.
  [[nodiscard]] bool is_right() const { return is_right_(); }

 private:
  static constexpr std::size_t copied = (std::size_t{16} << 20) / sizeof(uint4);
  template <class T>
  using array = sptrsv::buffer<T>;

  /// A small system, so that the kernels of all streams run on the device at the same time.
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
    sptrsv::csr_matrix<double> matrix_ = common::assemble_poisson(10);
    std::vector<double> b_ = common::seeded_vector<double>(matrix_.rows, 5);
    cudaStream_t stream_;
    decltype(sptrsv::analyze(std::declval<Policy>(), std::declval<sptrsv::device_csr_matrix<double>>(),
                             sptrsv::system_options{}, std::declval<cudaStream_t>())) solver_;
    array<double> device_b_;
    array<double> device_x_;
  };

  sptrsv::pool_memory_resource pool_;
  common::cuda_stream stream_;  // declared before the buffers, which free their memory on it
  static constexpr unsigned event_flags = cudaEventDisableTiming | cudaEventBlockingSync;
  common::cuda_event round_done_[2] = {common::cuda_event(event_flags), common::cuda_event(event_flags)};
  array<uint4> from_;
  array<uint4> to_;
  std::function<void()> solve_;
  std::function<bool()> is_right_;
};

/// Keeps streams busy from a thread of its own until finish() or destruction.
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
    enqueue_round();
    worker_ = std::thread([this] {
      try {
        while (!stop_) {
          enqueue_round();
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  busy_streams(const busy_streams&) = delete;  // its thread holds its address
  busy_streams& operator=(const busy_streams&) = delete;
  ~busy_streams() { stop(); }

  /// Ends the work and returns whether its solutions are right. Throws the exception of the thread, if any.
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
  /// Returns the number of rounds of each stream. Call it after finish().
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }

 private:
  void enqueue_round() {
    for (const auto& stream : streams_) {
      stream->enqueue_round(rounds_);
    }
    ++rounds_;
  }
  void stop() {
    stop_ = true;
    if (worker_.joinable()) {
      worker_.join();
    }
  }

  std::vector<std::unique_ptr<busy_stream>> streams_;
  std::uint64_t rounds_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stop_{false};
  std::thread worker_;
};

}  // namespace sptrsv_acceptance
