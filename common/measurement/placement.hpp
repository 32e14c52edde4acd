// Where a policy solves: on the host or on the GPU. Copies data there and back, and takes the time by the
// clock of that side. For programs that run policies of both sides.
#pragma once

#include <chrono>
#include <type_traits>
#include <vector>

#include "common/measurement/statistics.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/executor.hpp"

#ifdef __CUDACC__
#include "common/gpu/cuda_handles.cuh"
#endif

namespace sptrsv_common {

/// Memory and clock of the host.
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

  /// Returns the milliseconds that `work` takes.
  template <class Work>
  static double time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
};

#ifdef __CUDACC__

/// Returns whether there is a GPU. A program that nvcc has compiled may run on a machine without one.
inline bool has_gpu() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  static_cast<void>(cudaGetLastError());
  return found;
}

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

  /// Returns the milliseconds between the start and the end of what `work` enqueues.
  template <class Work>
  static double time(const Work& work) {
    return device_time(work);
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

/// Returns the median time of `repeats` runs of `work` in milliseconds, after one run that is not timed.
template <class Placement, class Work>
double median_time(int repeats, Work work) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repeats));
  Placement::time(work);
  for (int r = 0; r < repeats; ++r) {
    times.push_back(Placement::time(work));
  }
  return median(times);
}

}  // namespace sptrsv_common
