// Where the Krylov programs solve: the host or the GPU, with the matrix there.
#pragma once

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
  void synchronize() const {}

  const matrix& a;
};

#ifdef __CUDACC__
struct on_gpu {
  using policy = sptrsv::policy::dataflow;
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
  void synchronize() const { SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream())); }

 private:
  sptrsv_common::cuda_stream stream_;

 public:
  matrix a;
};
#endif

}  // namespace sptrsv_examples
