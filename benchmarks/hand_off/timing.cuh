// Measures the time of one link of a chain.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "common/gpu/cuda_handles.cuh"
#include "common/measurement/statistics.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks::hand_off {

inline constexpr int repetitions = 9;

/// Returns the median time of a link in nanoseconds. `time_of_chain(links)` returns the time of a chain of
/// `links` links. The difference between a chain of `links` links and one of a quarter of them counts, so the
/// time of the launch does not.
template <class TimeOfChain>
double slope_of(int links, const TimeOfChain& time_of_chain) {
  const int few = links / 4;
  time_of_chain(links);  // loads the kernel
  std::vector<double> nanoseconds;
  for (int k = 0; k < repetitions; ++k) {
    const double short_chain = time_of_chain(few);
    const double long_chain = time_of_chain(links);
    nanoseconds.push_back((long_chain - short_chain) / (links - few));
  }
  return sptrsv_common::median(nanoseconds);
}

/// Returns the time of one link of a chain that `enqueue(links)` enqueues on the default stream.
template <class Enqueue>
double time_of_link(int links, const Enqueue& enqueue) {
  const double nanoseconds =
      slope_of(links, [&](int count) { return 1e6 * sptrsv_common::device_time([&] { enqueue(count); }); });
  SPTRSV_CUDA_CHECK(cudaGetLastError());
  return nanoseconds;
}

/// The result of a kernel: its last value, without which the compiler would remove the chain, and whether it
/// stopped waiting for a value.
struct outcome {
  double last;
  unsigned broken;
};

/// The outcome of the kernels of a line of the table, in device memory.
class outcome_memory {
 public:
  outcome_memory() : memory_(sptrsv::to_device(std::vector<outcome>(1, outcome{0, 0}), cudaStream_t{})) {}
  [[nodiscard]] outcome* data() const { return memory_.data(); }

  /// Synchronises. Throws if a kernel stopped waiting.
  void check() const {
    if (sptrsv::to_host(memory_, cudaStream_t{})[0].broken != 0) {
      throw std::runtime_error("a value that a kernel waited for did not arrive");
    }
  }

 private:
  sptrsv::buffer<outcome> memory_;
};

/// A line of the table: one method to hand a value on.
struct method {
  const char* name;
  std::function<double()> measure;  ///< returns nanoseconds per link
};

/// The reason why a method is not available on this machine.
class not_available : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sptrsv_benchmarks::hand_off
