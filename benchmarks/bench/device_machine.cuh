// The GPU as a machine: one stream, the clock of CUDA events, the L2 cache.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "benchmarks/shared/driver.cuh"
#include "benchmarks/shared/hop.cuh"
#include "common/gpu/cuda_handles.cuh"
#include "common/gpu/pool.cuh"
#include "machine.hpp"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks {

/// Overwrites `data` with cache lines that L2 evicts first.
static __global__ void rewrite_evict_first(uint4* data, std::size_t size) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    __stcs(data + i, uint4{});
  }
}

/// Events that are created once and recorded many times.
class event_list {
 public:
  void record(std::size_t k, cudaStream_t stream) {
    while (events_.size() <= k) {
      events_.emplace_back();
    }
    events_[k].record(stream);
  }
  /// Waits for event `last`. Returns milliseconds.
  [[nodiscard]] double between(std::size_t first, std::size_t last) const {
    return events_[last].milliseconds_since(events_[first]);
  }

 private:
  std::deque<common::cuda_event> events_;
};

/// The GPU.
class device_machine final : public machine {
 public:
  using stream_type = cudaStream_t;
  template <class T>
  using array = sptrsv::buffer<T>;
  template <class Value, class Index>
  using matrix = sptrsv::device_csr_matrix<Value, Index>;

  device_machine() {
    sptrsv_common::keep_pool_memory();
    SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties_, 0));
    const std::size_t twice = 2 * static_cast<std::size_t>(properties_.l2CacheSize);
    flushed_ = array<uint4>(twice / sizeof(uint4), resource(), stream());
  }

  [[nodiscard]] stream_type stream() const { return stream_.get(); }
  template <class Value, class Index>
  matrix<Value, Index> place(const sptrsv::csr_matrix<Value, Index>& a) const {
    return sptrsv::to_device(a, stream());
  }
  template <class T>
  array<T> place(const std::vector<T>& v) const {
    return sptrsv::to_device(v, stream());
  }
  template <class T>
  std::vector<T> fetch(const array<T>& v) const {
    return sptrsv::to_host(v, stream());
  }
  /// Fills with NaNs.
  template <class T>
  void poison(array<T>& v) const {
    on().fill_bytes(v.data(), 0xff, v.bytes());
  }
  [[nodiscard]] sptrsv::detail::cuda_executor on() const { return sptrsv::detail::cuda_executor(stream()); }

  void release_memory() override {
    on().synchronize();
    sptrsv_common::release_pool_memory();
  }
  double elapsed(const work& todo) override {
    on().synchronize();
    const auto start = std::chrono::steady_clock::now();
    todo();
    on().synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  double batch(const work& todo, int count) override {
    events_.record(0, stream());
    for (int k = 0; k < count; ++k) {
      todo();
    }
    events_.record(1, stream());
    return events_.between(0, 1) / count;
  }
  /// Records one event between two calls. The host enqueues the next call while the GPU works on the current
  /// one, so the times do not include the launch latency.
  void each_warm(const work& todo, int count, std::vector<double>& to) override {
    empty_l2();
    todo();
    todo();  // the first solve loads the data; the times are steady from the second one
    events_.record(0, stream());
    for (int k = 1; k <= count; ++k) {
      todo();
      events_.record(static_cast<std::size_t>(k), stream());
    }
    for (int k = count; k > 0; --k) {
      to.push_back(events_.between(static_cast<std::size_t>(k) - 1, static_cast<std::size_t>(k)));
    }
  }
  void each_alone(const work& todo, int count, std::vector<double>& to) override {
    for (int k = 0; k < count; ++k) {
      on().synchronize();
      events_.record(0, stream());
      todo();
      events_.record(1, stream());
      to.push_back(events_.between(0, 1));
    }
  }
  /// The events enclose the solve only. The GPU empties the cache while the host enqueues the solve, so the
  /// times do not include the launch latency.
  void each_cold(const work& todo, int count, std::vector<double>& to) override {
    for (int k = 0; k < count; ++k) {
      empty_l2();
      events_.record(static_cast<std::size_t>(2 * k), stream());
      todo();
      events_.record(static_cast<std::size_t>(2 * k) + 1, stream());
    }
    for (int k = count - 1; k >= 0; --k) {
      to.push_back(events_.between(static_cast<std::size_t>(2 * k), static_cast<std::size_t>(2 * k) + 1));
    }
  }

  void describe(environment& to) override {
    to.device = properties_.name;
    to.sm_count = properties_.multiProcessorCount;
    to.l2_bytes = properties_.l2CacheSize;
    to.driver = driver_version();
    to.cuda_runtime = runtime_version();
    to.copy_bandwidth_gb_s = common::copy_bandwidth(common::device_placement{}) * 1e-6;
    to.hop_ns = measure_hop_ns(properties_.multiProcessorCount, stream());
  }

 private:
  sptrsv::memory_resource& resource() const { return on().default_resource(); }

  /// Fills L2 with lines that any later access evicts. The fill evicts all earlier data, but its own lines
  /// have normal priority, and evict-first loads do not evict such lines: SpSV of cuSPARSE, which reads its
  /// matrix with evict-first loads, would then read the matrix from memory in every solve. The rewriting
  /// alone does not evict all earlier data.
  void empty_l2() {
    on().fill_bytes(flushed_.data(), 0, flushed_.bytes());
    const auto blocks = static_cast<unsigned>(4 * properties_.multiProcessorCount);
    rewrite_evict_first<<<blocks, 256, 0, stream()>>>(flushed_.data(), flushed_.size());
    SPTRSV_CUDA_CHECK(cudaGetLastError());
  }

  common::cuda_stream stream_;
  event_list events_;
  cudaDeviceProp properties_{};
  array<uint4> flushed_;  // twice the L2 cache
};

}  // namespace sptrsv_benchmarks
