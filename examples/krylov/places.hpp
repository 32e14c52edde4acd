// Where the Krylov programs solve: the host or the GPU, with the matrix there.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/policy/host_parallel.hpp"

#ifdef __CUDACC__
#include "common/gpu/cuda_handles.cuh"
#include "sptrsv/policy/dataflow.hpp"
#endif

namespace sptrsv_examples {

struct on_host {
  using policy = sptrsv::policy::host_parallel;
  using single_policy = policy;  ///< with factors in single precision, which the host does not have
  static constexpr bool has_single = false;
  using stream_type = sptrsv::host_stream;
  using matrix = sptrsv::csr_matrix<double>;
  using vector = std::vector<double>;

  explicit on_host(const matrix& stored) : a(stored) {}

  [[nodiscard]] static stream_type stream() { return {}; }
  template <class T>
  [[nodiscard]] static const T& put(const T& v) {
    return v;
  }
  [[nodiscard]] static vector get(const vector& v) { return v; }
  [[nodiscard]] static vector copy(sptrsv::span<const double> v) { return {v.begin(), v.end()}; }
  /// Calls body(row) for all rows.
  template <class Body>
  static void for_each_row(std::int32_t rows, const Body& body, stream_type) {
    for (std::int32_t row = 0; row < rows; ++row) {
      body(row);
    }
  }
  void synchronize() const {}

  const matrix& a;
};

#ifdef __CUDACC__
template <class Body>
__global__ void run_for_each_row(std::int32_t rows, Body body) {
  const auto row = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < rows) {
    body(row);
  }
}

struct on_gpu {
  using policy = sptrsv::policy::dataflow;
  using single_policy = sptrsv::policy::dataflow_single;
  static constexpr bool has_single = true;
  using stream_type = cudaStream_t;
  using matrix = sptrsv::device_csr_matrix<double>;
  using vector = sptrsv::buffer<double>;

  explicit on_gpu(const sptrsv::csr_matrix<double>& stored) : a(sptrsv::to_device(stored, stream_.get())) {}

  [[nodiscard]] stream_type stream() const { return stream_.get(); }
  template <class T>
  [[nodiscard]] auto put(const T& v) const {
    return sptrsv::to_device(v, stream());
  }
  [[nodiscard]] std::vector<double> get(const vector& v) const { return sptrsv::to_host(v, stream()); }
  [[nodiscard]] vector copy(sptrsv::span<const double> v) const {
    vector made(v.size(), sptrsv::default_device_resource(), stream());
    SPTRSV_CUDA_CHECK(
        cudaMemcpyAsync(made.data(), v.data(), made.bytes(), cudaMemcpyDeviceToDevice, stream()));
    return made;
  }
  /// Enqueues body(row) for all rows, a thread for each.
  template <class Body>
  static void for_each_row(std::int32_t rows, const Body& body, stream_type stream) {
    constexpr int threads = 128;
    if (rows > 0) {
      run_for_each_row<<<static_cast<unsigned>((rows + threads - 1) / threads), threads, 0, stream>>>(rows,
                                                                                                      body);
      SPTRSV_CUDA_CHECK(cudaGetLastError());
    }
  }
  void synchronize() const { SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream())); }

 private:
  sptrsv_common::cuda_stream stream_;

 public:
  matrix a;
};
#endif

}  // namespace sptrsv_examples
