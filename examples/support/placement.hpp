// Where a policy computes, for programs that run any of them: how data gets there and back, and which clock
// counts there.
#pragma once

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/executor.hpp"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

namespace sptrsv_examples {

/// Host memory, host clock.
struct host_placement {
  template <class Matrix>
  static const Matrix& put_matrix(const Matrix& a) {
    return a;
  }
  template <class T>
  static std::vector<T> put(const std::vector<T>& v) {
    return v;
  }
  template <class T>
  static std::vector<T> get(const std::vector<T>& v) {
    return v;
  }

  /// Milliseconds that `work` takes.
  template <class Work>
  static double time(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
};

#ifdef __CUDACC__

/// Whether a GPU answers. A program built by nvcc may run where there is none.
inline bool has_gpu() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  static_cast<void>(cudaGetLastError());
  return found;
}

class cuda_event {
 public:
  cuda_event() { SPTRSV_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~cuda_event() { static_cast<void>(cudaEventDestroy(event_)); }
  cuda_event(const cuda_event&) = delete;  // owns the event
  cuda_event& operator=(const cuda_event&) = delete;

  void record() { SPTRSV_CUDA_CHECK(cudaEventRecord(event_)); }
  [[nodiscard]] double milliseconds_since(const cuda_event& start) const {
    float elapsed = 0;
    SPTRSV_CUDA_CHECK(cudaEventSynchronize(event_));
    SPTRSV_CUDA_CHECK(cudaEventElapsedTime(&elapsed, start.event_, event_));
    return elapsed;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Memory and clock of the current GPU, on its default stream.
struct device_placement {
  template <class Matrix>
  static auto put_matrix(const Matrix& a) {
    return sptrsv::to_device(a);
  }
  template <class T>
  static sptrsv::buffer<T> put(const std::vector<T>& v) {
    return sptrsv::to_device(v);
  }
  template <class T>
  static std::vector<T> get(const sptrsv::buffer<T>& v) {
    return sptrsv::to_host(v);
  }

  /// Milliseconds between the start and the end of what `work` enqueues, by the GPU's clock.
  template <class Work>
  static double time(Work work) {
    cuda_event start;
    cuda_event stop;
    start.record();
    work();
    stop.record();
    return stop.milliseconds_since(start);
  }
};

#else

inline bool has_gpu() { return false; }
struct device_placement;

#endif

template <class Policy>
inline constexpr bool runs_on_host = std::is_same_v<typename Policy::default_stream, sptrsv::host_stream>;

template <class Policy>
using placement_of = std::conditional_t<runs_on_host<Policy>, host_placement, device_placement>;

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.empty() ? 0 : *middle;
}

/// Median milliseconds of `repeats` runs of `work`, after one that is not counted.
template <class Placement, class Work>
double median_time(int repeats, Work work) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repeats));
  Placement::time(work);
  for (int r = 0; r < repeats; ++r) {
    times.push_back(Placement::time(work));
  }
  return median(std::move(times));
}

}  // namespace sptrsv_examples
