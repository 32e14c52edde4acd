// The machines on which policies solve: clock, caches and memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/measurement/floors.hpp"
#include "environment.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_benchmarks {

namespace common = sptrsv_common;

/// A machine that measures work. `work` is a function that enqueues one solve. All times are milliseconds by
/// the clock of the machine.
class machine {
 public:
  using work = std::function<void()>;
  machine() = default;
  machine(const machine&) = delete;  // owns clocks and buffers
  machine& operator=(const machine&) = delete;
  virtual ~machine() = default;

  /// Gives back the memory that pools keep, so that the next allocation is that of a new program.
  virtual void release_memory() = 0;
  /// Returns the time from the call of `todo` until its enqueued work is complete, including the time of the
  /// host.
  virtual double elapsed(const work& todo) = 0;
  /// Returns the average time of `count` calls back to back.
  virtual double batch(const work& todo, int count) = 0;
  /// Appends the time of each of `count` calls, after some calls that are not timed. The timed calls, and the
  /// work after them, find the caches as `todo` alone leaves them, whatever ran before.
  virtual void each_warm(const work& todo, int count, std::vector<double>& to) = 0;
  /// Appends the time of each of `count` calls. The machine is idle before each call, so the launch latency
  /// counts. The caches stay as they are.
  virtual void each_alone(const work& todo, int count, std::vector<double>& to) = 0;
  /// Appends the time of each of `count` calls. Other data fills the caches before each call.
  virtual void each_cold(const work& todo, int count, std::vector<double>& to) = 0;
  /// Measures the limits of the machine and describes it.
  virtual void describe(environment& to) = 0;
};

/// The host.
class host_machine final : public machine {
 public:
  using stream_type = sptrsv::host_stream;
  template <class T>
  using array = std::vector<T>;
  template <class Value, class Index>
  using matrix = sptrsv::csr_view<Value, Index>;

  [[nodiscard]] static stream_type stream() { return {}; }
  template <class Value, class Index>
  static matrix<Value, Index> place(const sptrsv::csr_matrix<Value, Index>& a) {
    return a.view();
  }
  template <class T>
  static array<T> place(const std::vector<T>& v) {
    return v;
  }
  template <class T>
  static std::vector<T> fetch(const array<T>& v) {
    return v;
  }
  /// Fills with NaNs.
  template <class T>
  static void poison(array<T>& v) {
    std::memset(static_cast<void*>(v.data()), 0xff, v.size() * sizeof(T));
  }

  void release_memory() override {}
  double elapsed(const work& todo) override {
    const auto start = std::chrono::steady_clock::now();
    todo();
    benchmark::ClobberMemory();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  double batch(const work& todo, int count) override {
    return elapsed([&] {
             for (int k = 0; k < count; ++k) {
               todo();
             }
           }) /
           count;
  }
  void each_warm(const work& todo, int count, std::vector<double>& to) override {
    todo();
    each_alone(todo, count, to);
  }
  void each_alone(const work& todo, int count, std::vector<double>& to) override {
    for (int k = 0; k < count; ++k) {
      to.push_back(elapsed(todo));
    }
  }
  void each_cold(const work& todo, int count, std::vector<double>& to) override {
    // Some servers have caches of a gigabyte. After 256 MiB of other data they keep little of a solve.
    constexpr std::size_t max_bytes = std::size_t{1} << 28;
    flushed_.resize(std::min(2 * host_cache_bytes(), max_bytes));
    for (int k = 0; k < count; ++k) {
      std::fill(flushed_.begin(), flushed_.end(), static_cast<unsigned char>(++flushes_));
      benchmark::ClobberMemory();
      to.push_back(elapsed(todo));
    }
  }
  /// Measures no hop: the inter-block latency model does not apply to the host.
  void describe(environment& to) override {
    to.copy_bandwidth_gb_s = common::copy_bandwidth(common::host_placement{}) * 1e-6;
  }

 private:
  std::vector<unsigned char> flushed_;
  unsigned flushes_ = 0;
};

}  // namespace sptrsv_benchmarks
