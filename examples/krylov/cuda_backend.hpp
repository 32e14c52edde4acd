// Vectors, scalars and products of the Krylov methods on the GPU: cuSPARSE multiplies with A, cuBLAS does the
// rest, and an iteration is one graph.
#pragma once

#ifdef __CUDACC__
#include <cublas_v2.h>
#include <cusparse.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/cuda_handles.cuh"
#include "host_backend.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv_examples {

inline void check(cusparseStatus_t status) {
  SPTRSV_EXPECTS(status == CUSPARSE_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}
inline void check(cublasStatus_t status) {
  SPTRSV_EXPECTS(status == CUBLAS_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/// Computes one scalar from others, on the device.
struct scalar_step {
  enum class kind { divide, multiply, assign, square_root };
  kind what;
  double* slots;
  slot a;
  slot b;
  slot to;
  slot other;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t) const {
    const double x = ctx.load(slots + a);
    const double y = ctx.load(slots + b);
    const double made = what == kind::divide     ? x / y
                        : what == kind::multiply ? x * y
                        : what == kind::assign   ? x
                                                 : sqrt(x);
    ctx.store(slots + to, made);
    if (other != to) {
      ctx.store(slots + other, what == kind::square_root ? 1 / made : -made);
    }
  }
};
struct multiply_components {
  const double* d;
  const double* x;
  double* z;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(z + i, ctx.load(d + i) * ctx.load(x + i));
  }
};

/// Runs a method on the GPU. The functions are those of host_backend; all but value() and synchronize() only
/// enqueue.
class cuda_backend {
 public:
  using policy = sptrsv::policy::dataflow;
  using vector = sptrsv::buffer<double>;
  using matrix = sptrsv::device_csr_matrix<double>;

  cuda_backend(const sptrsv::csr_matrix<double>& a, std::size_t slots)
      : a_(sptrsv::to_device(a, stream_.get())),
        slots_(sptrsv::to_device(std::vector<double>(slots + 1, 1.0), stream_.get())),
        one_(slots) {
    check(cublasCreate(&blas_));
    check(cublasSetStream(blas_, stream_.get()));
    check(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_DEVICE));
    blas_memory_ = bytes(std::size_t{32} << 20);  // cuBLAS must not allocate in a capture
    check(cublasSetWorkspace(blas_, blas_memory_.data(), blas_memory_.size()));
    check(cusparseCreate(&sparse_));
    check(cusparseSetStream(sparse_, stream_.get()));
    check(cusparseCreateCsr(&stored_, a.rows, a.columns, static_cast<std::int64_t>(a.values.size()),
                            a_.row_offsets.data(), a_.column_indices.data(), a_.values.data(),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    // Descriptors of any vectors serve to ask for the size of the buffer.
    vector any = put(std::vector<double>(static_cast<std::size_t>(a.rows)));
    const dense_vector x(any);
    std::size_t needed = 0;
    check(cusparseSpMV_bufferSize(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &product_, stored_, x.get(),
                                  &zero_, x.get(), CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, &needed));
    product_memory_ = bytes(needed);
  }
  ~cuda_backend() {
    static_cast<void>(cusparseDestroySpMat(stored_));
    static_cast<void>(cusparseDestroy(sparse_));
    static_cast<void>(cublasDestroy(blas_));
  }
  cuda_backend(const cuda_backend&) = delete;  // owns handles
  cuda_backend& operator=(const cuda_backend&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] const matrix& a() const { return a_; }
  [[nodiscard]] std::int64_t rows() const { return a_.rows; }
  vector put(const std::vector<double>& v) { return sptrsv::to_device(v, stream()); }
  std::vector<double> get(const vector& v) { return sptrsv::to_host(v, stream()); }

  void multiply(const vector& x, vector& y) {
    const dense_vector from(x);
    const dense_vector to(y);
    check(cusparseSpMV(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &product_, stored_, from.get(), &zero_,
                       to.get(), CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, product_memory_.data()));
  }
  void copy(const vector& x, vector& y) {
    SPTRSV_CUDA_CHECK(cudaMemcpyAsync(y.data(), x.data(), x.bytes(), cudaMemcpyDeviceToDevice, stream()));
  }
  void dot(const vector& x, const vector& y, slot s) {
    check(cublasDdot(blas_, size(), x.data(), 1, y.data(), 1, at(s)));
  }
  void add_scaled(slot s, const vector& x, vector& y) {
    check(cublasDaxpy(blas_, size(), at(s), x.data(), 1, y.data(), 1));
  }
  void scale(slot s, vector& y) { check(cublasDscal(blas_, size(), at(s), y.data(), 1)); }
  void multiply_by(const vector& d, const vector& x, vector& z) {
    for_each(rows(), multiply_components{d.data(), x.data(), z.data()});
  }

  void divide(slot a, slot b, slot to, slot negative) { step(scalar_step::kind::divide, a, b, to, negative); }
  void multiply(slot a, slot b, slot to) { step(scalar_step::kind::multiply, a, b, to, to); }
  void assign(slot from, slot to, slot negative) {
    step(scalar_step::kind::assign, from, one_, to, negative);
  }
  void square_root(slot from, slot to, slot inverse) {
    step(scalar_step::kind::square_root, from, one_, to, inverse);
  }
  void set(slot s, double value) {
    sptrsv::detail::executor_t<cudaStream_t>(stream()).upload(at(s), &value, sizeof(value));
  }
  [[nodiscard]] double value(slot s) const {
    double v = 0;
    sptrsv::detail::executor_t<cudaStream_t>(stream()).download(&v, slots_.data() + s, sizeof(v));
    return v;
  }

  template <class Work>
  auto recorded(const Work& work) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    SPTRSV_CUDA_CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
    work();
    SPTRSV_CUDA_CHECK(cudaStreamEndCapture(stream(), &graph));
    const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    SPTRSV_CUDA_CHECK(status);
    graphs_.emplace_back(executable);
    return [executable, to = stream()] { SPTRSV_CUDA_CHECK(cudaGraphLaunch(executable, to)); };
  }
  void synchronize() const { SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream())); }

 private:
  /// cuSPARSE's description of a vector.
  class dense_vector {
   public:
    explicit dense_vector(const vector& v) {
      check(cusparseCreateDnVec(&made_, static_cast<std::int64_t>(v.size()), v.data(), CUDA_R_64F));
    }
    ~dense_vector() { static_cast<void>(cusparseDestroyDnVec(made_)); }
    dense_vector(const dense_vector&) = delete;
    dense_vector& operator=(const dense_vector&) = delete;
    [[nodiscard]] cusparseDnVecDescr_t get() const { return made_; }

   private:
    cusparseDnVecDescr_t made_ = nullptr;
  };

  [[nodiscard]] int size() const { return static_cast<int>(rows()); }
  [[nodiscard]] double* at(slot s) const { return slots_.data() + s; }
  [[nodiscard]] sptrsv::buffer<unsigned char> bytes(std::size_t count) const {
    return {count, sptrsv::detail::executor_t<cudaStream_t>(stream()).default_resource(), stream()};
  }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    sptrsv::detail::simt::for_each(sptrsv::detail::executor_t<cudaStream_t>(stream()), count, body);
  }
  void step(scalar_step::kind what, slot a, slot b, slot to, slot other) {
    for_each(1, scalar_step{what, slots_.data(), a, b, to, other});
  }

  sptrsv_common::cuda_stream stream_;
  matrix a_;
  vector slots_;
  slot one_;
  double product_ = 1;
  double zero_ = 0;
  cublasHandle_t blas_ = nullptr;
  cusparseHandle_t sparse_ = nullptr;
  cusparseSpMatDescr_t stored_ = nullptr;
  sptrsv::buffer<unsigned char> blas_memory_;
  sptrsv::buffer<unsigned char> product_memory_;
  std::vector<sptrsv::detail::simt::cuda_graph> graphs_;
};

}  // namespace sptrsv_examples
#endif
