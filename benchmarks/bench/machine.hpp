// Where policies compute: its clock, its caches, its memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include <benchmark/benchmark.h>

#include "environment.hpp"
#include "examples/support/floors.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_benchmarks {

namespace support = sptrsv_examples;

/// Work is what enqueues one solve. All times are milliseconds of the clock that counts there.
class machine {
 public:
  using work = std::function<void()>;
  machine() = default;
  machine(const machine&) = delete;  // has clocks and caches
  machine& operator=(const machine&) = delete;
  virtual ~machine() = default;

  /// From the call of `todo` until all that it enqueued is complete, the host's time included.
  virtual double elapsed(const work& todo) = 0;
  /// Average of `count` calls back to back.
  virtual double batch(const work& todo, int count) = 0;
  /// Appends the time of each of `count` calls, after some that are not timed. They, and what is called next,
  /// find the caches as `todo` alone leaves them, whatever was there before.
  virtual void each_warm(const work& todo, int count, std::vector<double>& to) = 0;
  /// Appends the time of each of `count` calls, before each of which the machine was idle: the host's way to
  /// it counts. The caches are as they are.
  virtual void each_alone(const work& todo, int count, std::vector<double>& to) = 0;
  /// Appends the time of each of `count` calls, before each of which the caches were filled with other data.
  virtual void each_cold(const work& todo, int count, std::vector<double>& to) = 0;
  /// Describes itself; measures its limits.
  virtual void describe(environment& to) = 0;
};

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
    // Some servers have caches of a GB: what they keep of a solve after this much is little.
    constexpr std::size_t most = std::size_t{1} << 28;
    flushed_.resize(std::min(2 * host_cache_bytes(), most));
    for (int k = 0; k < count; ++k) {
      std::fill(flushed_.begin(), flushed_.end(), static_cast<unsigned char>(++flushes_));
      benchmark::ClobberMemory();
      to.push_back(elapsed(todo));
    }
  }
  /// A core hands values on to itself: there is no hop.
  void describe(environment& to) override {
    to.copy_bandwidth_gb_s = support::copy_bandwidth(support::host_placement{}) * 1e-6;
  }

 private:
  std::vector<unsigned char> flushed_;
  unsigned flushes_ = 0;
};

}  // namespace sptrsv_benchmarks
