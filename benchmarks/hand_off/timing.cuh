// The clock of the hand-off study: what one more link costs a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "benchmarks/bench/statistics.hpp"
#include "benchmarks/bench/stopwatch.cuh"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks::hand_off {

inline constexpr int repetitions = 9;

/// Median nanoseconds of a link; `time_of_chain(links)` gives those of a chain of so many. What a chain costs
/// whatever its length, its launch above all, does not count: the difference between a long and a short one
/// does, of a quarter of the links.
template <class TimeOfChain>
double slope_of(int links, const TimeOfChain& time_of_chain) {
  const int few = links / 4;
  time_of_chain(links);  // the first launch loads the kernel
  std::vector<double> nanoseconds;
  for (int k = 0; k < repetitions; ++k) {
    const double short_chain = time_of_chain(few);
    const double long_chain = time_of_chain(links);
    nanoseconds.push_back((long_chain - short_chain) / (links - few));
  }
  return median(nanoseconds);
}

/// Likewise, where `enqueue(links)` enqueues a chain on the default stream.
template <class Enqueue>
double time_of_link(int links, const Enqueue& enqueue) {
  stopwatch watch;
  const double nanoseconds = slope_of(links, [&](int count) { return watch.time([&] { enqueue(count); }); });
  SPTRSV_CUDA_CHECK(cudaGetLastError());
  return nanoseconds;
}

/// What a kernel leaves: its last value, so that its chain is not optimised away, and whether a wait of it
/// was given up.
struct outcome {
  double last;
  unsigned broken;
};

/// The outcome of the kernels of a rung, in device memory.
class outcome_memory {
 public:
  outcome_memory() : memory_(sptrsv::to_device(std::vector<outcome>(1, outcome{0, 0}), cudaStream_t{})) {}
  [[nodiscard]] outcome* data() const { return memory_.data(); }

  /// Synchronises; throws if a wait was given up.
  void check() const {
    if (sptrsv::to_host(memory_, cudaStream_t{})[0].broken != 0) {
      throw std::runtime_error("a value that was handed on did not arrive");
    }
  }

 private:
  sptrsv::buffer<outcome> memory_;
};

/// A line of the table.
struct rung {
  const char* name;
  std::function<double()> measure;  ///< nanoseconds one way
};

/// Says why a rung is left out.
class not_here : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sptrsv_benchmarks::hand_off
