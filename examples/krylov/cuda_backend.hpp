// Vectors, scalars and products of the Krylov methods on the GPU: cuSPARSE multiplies with A, cuBLAS does the
// rest, and an iteration is one graph.
#pragma once

#ifdef __CUDACC__
#define DISABLE_CUSPARSE_DEPRECATED  // no warnings: csrilu02 and csric02 have no successor
#include <cublas_v2.h>
#include <cusparse.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

/// to = a / b, a b, a or the square root of a, on the device. `other` becomes -to, for a root 1 / to.
/// divide_above: 0 if `square` is at most `limit`.
struct scalar_step {
  enum class kind { divide, divide_above, multiply, assign, square_root };
  kind what;
  double* slots;
  slot a;
  slot b;
  slot to;
  slot other;
  slot square = 0;
  slot limit = 0;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t) const {
    const double x = ctx.load(slots + a);
    const double y = ctx.load(slots + b);
    const bool is_zero =
        x == 0 || (what == kind::divide_above && ctx.load(slots + square) <= ctx.load(slots + limit));
    const double made = what == kind::divide || what == kind::divide_above ? (is_zero ? 0 : x / y)
                        : what == kind::multiply                           ? x * y
                        : what == kind::assign                             ? x
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
/// y = x + s y.
struct scale_and_add_components {
  const double* s;
  const double* x;
  double* y;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(y + i, ctx.load(x + i) + ctx.load(s) * ctx.load(y + i));
  }
};

/// Runs a method on the GPU. The functions are those of host_backend. They only enqueue, except value(),
/// run_steps() and synchronize().
class cuda_backend {
 public:
  using policy = sptrsv::policy::dataflow;
  using vector = sptrsv::buffer<double>;
  using matrix = sptrsv::device_csr_matrix<double>;

  cuda_backend(const sptrsv::csr_matrix<double>& a, std::size_t slots)
      : a_(sptrsv::to_device(a, stream_.get())),
        constants_(slots),
        slots_(zeros(slots + 3)),
        results_(2 * slots) {
    set(one(), {1, -1, 0});
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
    const vector any = zeros(static_cast<std::size_t>(a.rows));
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
  [[nodiscard]] cusparseHandle_t sparse() const { return sparse_; }
  [[nodiscard]] const matrix& a() const { return a_; }
  [[nodiscard]] std::int64_t rows() const { return a_.rows; }
  vector put(const std::vector<double>& v) { return sptrsv::to_device(v, stream()); }
  vector zeros(std::size_t size) {
    vector made(size, executor().default_resource(), stream());
    executor().fill_bytes(made.data(), 0, made.bytes());
    return made;
  }
  std::vector<double> get(const vector& v) { return sptrsv::to_host(v, stream()); }
  /// Returns memory that is not initialised.
  [[nodiscard]] sptrsv::buffer<unsigned char> bytes(std::size_t count) const {
    return {count, executor().default_resource(), stream()};
  }

  void multiply(const_view x, view y) {
    const dense_vector from(x);
    const dense_vector to(y);
    check(cusparseSpMV(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &product_, stored_, from.get(), &zero_,
                       to.get(), CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, product_memory_.data()));
  }
  void copy(const_view x, view y) { executor().copy(y.data(), x.data(), x.size() * sizeof(double)); }
  void dot(const_view x, const_view y, slot s) {
    check(cublasDdot(blas_, size(), x.data(), 1, y.data(), 1, at(s)));
  }
  void add_scaled(slot s, const_view x, view y) {
    check(cublasDaxpy(blas_, size(), at(s), x.data(), 1, y.data(), 1));
  }
  void scale_and_add(slot s, const_view x, view y) {
    for_each(rows(), scale_and_add_components{at(s), x.data(), y.data()});
  }
  void scale(slot s, view y) { check(cublasDscal(blas_, size(), at(s), y.data(), 1)); }
  void multiply_by(const_view d, const_view x, view z) {
    for_each(rows(), multiply_components{d.data(), x.data(), z.data()});
  }

  void project(const basis_view& v, const_view y, slot_range s) {
    multiply_basis(CUBLAS_OP_T, v, s.count, one(), y.data(), zero(), at(s.first));
  }
  void subtract_combination(const basis_view& v, slot_range s, view y) {
    multiply_basis(CUBLAS_OP_N, v, s.count, minus_one(), at(s.first), one(), y.data());
  }
  void combine(const basis_view& v, slot_range s, view y) {
    multiply_basis(CUBLAS_OP_N, v, s.count, one(), at(s.first), zero(), y.data());
  }

  void divide(slot a, slot b, slot to, slot negative) { step(scalar_step::kind::divide, a, b, to, negative); }
  void divide_above(slot square, slot limit, slot a, slot b, slot to, slot negative) {
    step(scalar_step::kind::divide_above, a, b, to, negative, square, limit);
  }
  void multiply(slot a, slot b, slot to) { step(scalar_step::kind::multiply, a, b, to, to); }
  void assign(slot from, slot to) { step(scalar_step::kind::assign, from, from, to, to); }
  void add(slot_range from, slot to) {
    check(cublasDaxpy(blas_, static_cast<int>(from.count), at(one()), at(from.first), 1, at(to), 1));
  }
  void square_root(slot from, slot to, slot inverse) {
    step(scalar_step::kind::square_root, from, from, to, inverse);
  }
  void set(slot first, const std::vector<double>& values) {
    executor().upload(at(first), values.data(), values.size() * sizeof(double));
  }
  [[nodiscard]] double value(slot s) const {
    double v = 0;
    executor().download(&v, at(s), sizeof(v));
    return v;
  }

  /// The first call enqueues the work as it is, which also loads its kernels; the second one records it, and
  /// from then on its graph is launched.
  template <class Work>
  std::function<void()> repeated(const Work& work) {
    return [this, work, calls = 0, graph = std::shared_ptr<cuda_graph>()]() mutable {
      if (++calls == 1) {
        work();
        return;
      }
      if (graph == nullptr) {
        graph = std::make_shared<cuda_graph>(recorded(work));
      }
      SPTRSV_CUDA_CHECK(cudaGraphLaunch(graph->get(), stream()));
    };
  }
  /// While the host waits for the results of a step, the next step is enqueued already.
  template <class Step, class Results, class GoesOn>
  void run_steps(std::size_t limit, const Step& step, const Results& results, const GoesOn& goes_on) {
    bool more = true;
    for (std::size_t k = 0; more && k <= limit; ++k) {
      if (k < limit) {
        step(k);
        request(results(k), k % 2);
      }
      if (k > 0) {
        arrived_[(k - 1) % 2].synchronize();
        more = goes_on(const_view(place_of((k - 1) % 2), results(k - 1).count));
      }
    }
  }
  void synchronize() const { SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream())); }

  /// cuSPARSE's description of a vector.
  class dense_vector {
   public:
    explicit dense_vector(const_view v) {
      check(cusparseCreateDnVec(&made_, static_cast<std::int64_t>(v.size()), const_cast<double*>(v.data()),
                                CUDA_R_64F));
    }
    ~dense_vector() { static_cast<void>(cusparseDestroyDnVec(made_)); }
    dense_vector(const dense_vector&) = delete;
    dense_vector& operator=(const dense_vector&) = delete;
    [[nodiscard]] cusparseDnVecDescr_t get() const { return made_; }

   private:
    cusparseDnVecDescr_t made_ = nullptr;
  };

 private:
  using cuda_graph = sptrsv::detail::simt::cuda_graph;

  /// Page-locked host memory, which the device writes without waiting for the host.
  class locked_memory {
   public:
    explicit locked_memory(std::size_t count) {
      SPTRSV_CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(double)));
    }
    ~locked_memory() { static_cast<void>(cudaFreeHost(data_)); }
    locked_memory(const locked_memory&) = delete;
    locked_memory& operator=(const locked_memory&) = delete;
    [[nodiscard]] double* data() const { return data_; }

   private:
    double* data_ = nullptr;
  };

  [[nodiscard]] int size() const { return static_cast<int>(rows()); }
  [[nodiscard]] double* at(slot s) const { return slots_.data() + s; }
  [[nodiscard]] slot one() const { return constants_; }
  [[nodiscard]] slot minus_one() const { return constants_ + 1; }
  [[nodiscard]] slot zero() const { return constants_ + 2; }
  [[nodiscard]] sptrsv::detail::cuda_executor executor() const {
    return sptrsv::detail::cuda_executor(stream());
  }

  /// y = factor op(V) x + old y, with `columns` columns of V.
  void multiply_basis(cublasOperation_t operation, const basis_view& v, std::size_t columns, slot factor,
                      const double* x, slot old, double* y) {
    check(cublasDgemv(blas_, operation, size(), static_cast<int>(columns), at(factor), v.data,
                      static_cast<int>(v.stride), x, 1, at(old), y, 1));
  }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    sptrsv::detail::simt::for_each(executor(), count, body);
  }
  void step(scalar_step::kind what, slot a, slot b, slot to, slot other, slot square = 0, slot limit = 0) {
    for_each(1, scalar_step{what, slots_.data(), a, b, to, other, square, limit});
  }

  template <class Work>
  cuda_graph recorded(const Work& work) const {
    sptrsv::detail::simt::recorded_graph graph;
    cuda_graph executable;
    SPTRSV_CUDA_CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
    work();
    SPTRSV_CUDA_CHECK(cudaStreamEndCapture(stream(), graph.address()));
    SPTRSV_CUDA_CHECK(cudaGraphInstantiate(executable.address(), graph.get(), 0));
    return executable;
  }

  /// Enqueues the copy of slots to a place in host memory.
  void request(slot_range from, std::size_t place) {
    SPTRSV_CUDA_CHECK(cudaMemcpyAsync(place_of(place), at(from.first), from.count * sizeof(double),
                                      cudaMemcpyDeviceToHost, stream()));
    arrived_[place].record(stream());
  }
  [[nodiscard]] double* place_of(std::size_t place) const { return results_.data() + place * constants_; }

  sptrsv_common::cuda_stream stream_;
  matrix a_;
  slot constants_;  ///< 1, -1 and 0 follow the slots of the method
  vector slots_;
  locked_memory results_;  ///< two places, for the last two steps
  sptrsv_common::cuda_event arrived_[2]{sptrsv_common::cuda_event(cudaEventDisableTiming),
                                        sptrsv_common::cuda_event(cudaEventDisableTiming)};  ///< by place
  double product_ = 1;
  double zero_ = 0;
  cublasHandle_t blas_ = nullptr;
  cusparseHandle_t sparse_ = nullptr;
  cusparseSpMatDescr_t stored_ = nullptr;
  sptrsv::buffer<unsigned char> blas_memory_;
  sptrsv::buffer<unsigned char> product_memory_;
};

}  // namespace sptrsv_examples
#endif
