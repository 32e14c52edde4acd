// The preconditioners ILU(0) and IC(0) by cuSPARSE, for comparison: csrilu02 and csric02 factorise, SpSV
// solves.
#pragma once

#ifdef __CUDACC__
#define DISABLE_CUSPARSE_DEPRECATED  // no warnings: csrilu02 and csric02 have no successor
#include <cusparse.h>

#include <cstdint>
#include <string>
#include <vector>

#include "preconditioner.hpp"

namespace sptrsv_examples {

inline void check(cusparseStatus_t status) {
  SPTRSV_EXPECTS(status == CUSPARSE_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}
/// Returns device memory that is not initialised.
inline sptrsv::buffer<unsigned char> bytes(std::size_t count, cudaStream_t stream) {
  return {count, sptrsv::default_device_resource(), stream};
}

/// cuSPARSE's description of a vector.
class dense_vector {
 public:
  explicit dense_vector(sptrsv::span<const double> v) {
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

/// Applies M^-1 by cuSPARSE.
class cusparse_preconditioner {
 public:
  /// Throws sptrsv::error if the factorisation breaks down, or for another preconditioner.
  cusparse_preconditioner(const preconditioner_choice& choice, const on_gpu& on)
      : values_(on.a.values.size(), sptrsv::default_device_resource(), on.stream()),
        between_(static_cast<std::size_t>(on.a.rows), sptrsv::default_device_resource(), on.stream()) {
    check(cusparseCreate(&sparse_));
    check(cusparseSetStream(sparse_, on.stream()));
    SPTRSV_EXPECTS(choice.fill_level == 0, sptrsv::errc::unsupported,
                   "--compare cusparse needs --fill 0: cuSPARSE has no factorisation with fill-in");
    const preconditioning kind = choice.kind;
    SPTRSV_CUDA_CHECK(cudaMemcpyAsync(values_.data(), on.a.values.data(), values_.bytes(),
                                      cudaMemcpyDeviceToDevice, on.stream()));
    if (kind == preconditioning::ilu0) {
      factorize<ilu_calls>("ILU(0)", on);
      first_.analyze(sparse_, on, values_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
      second_.analyze(sparse_, on, values_, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
    } else {
      SPTRSV_EXPECTS(kind == preconditioning::ic0, sptrsv::errc::invalid_argument,
                     "--compare cusparse takes the preconditioners ilu0 and ic0");
      factorize<ic_calls>("IC(0)", on);
      first_.analyze(sparse_, on, values_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT);
      second_.analyze(sparse_, on, values_, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_NON_UNIT,
                      CUSPARSE_OPERATION_TRANSPOSE);
    }
    on.synchronize();
  }
  ~cusparse_preconditioner() {
    static_cast<void>(cusparseSetStream(sparse_, nullptr));  // the last one may be gone
    static_cast<void>(cusparseDestroy(sparse_));
  }
  cusparse_preconditioner(const cusparse_preconditioner&) = delete;  // owns a handle
  cusparse_preconditioner& operator=(const cusparse_preconditioner&) = delete;

  /// z = M^-1 r. Only enqueues.
  void apply(sptrsv::span<const double> r, sptrsv::span<double> z, cudaStream_t stream) {
    check(cusparseSetStream(sparse_, stream));
    first_.solve(sparse_, r, between_);
    second_.solve(sparse_, between_, z);
  }
  template <class Use>
  auto visit(const Use& use) {
    return use(*this);
  }

  [[nodiscard]] static std::vector<std::int64_t> levels() { return {}; }
  [[nodiscard]] static std::int64_t factor_entries() { return 0; }

 private:
  struct ilu_calls {
    using info = csrilu02Info_t;
    static constexpr auto create = cusparseCreateCsrilu02Info;
    static constexpr auto destroy = cusparseDestroyCsrilu02Info;
    static constexpr auto buffer_size = cusparseDcsrilu02_bufferSize;
    static constexpr auto analyze = cusparseDcsrilu02_analysis;
    static constexpr auto factorize = cusparseDcsrilu02;
    static constexpr auto zero_pivot = cusparseXcsrilu02_zeroPivot;
  };
  struct ic_calls {
    using info = csric02Info_t;
    static constexpr auto create = cusparseCreateCsric02Info;
    static constexpr auto destroy = cusparseDestroyCsric02Info;
    static constexpr auto buffer_size = cusparseDcsric02_bufferSize;
    static constexpr auto analyze = cusparseDcsric02_analysis;
    static constexpr auto factorize = cusparseDcsric02;
    static constexpr auto zero_pivot = cusparseXcsric02_zeroPivot;
  };

  /// Replaces the values of A by those of the factors. Without levels the analysis takes nearly no time, and
  /// the factorisation about as long as with them.
  template <class Calls>
  void factorize(const std::string& name, const on_gpu& on) {
    const auto& a = on.a;
    const auto rows = static_cast<int>(a.rows);
    const auto entries = static_cast<int>(values_.size());
    const auto policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
    cusparseMatDescr_t description = nullptr;
    typename Calls::info info = nullptr;
    int needed = 0;
    check(cusparseCreateMatDescr(&description));
    check(Calls::create(&info));
    check(Calls::buffer_size(sparse_, rows, entries, description, values_.data(), a.row_offsets.data(),
                             a.column_indices.data(), info, &needed));
    const auto scratch = bytes(static_cast<std::size_t>(needed), on.stream());
    check(Calls::analyze(sparse_, rows, entries, description, values_.data(), a.row_offsets.data(),
                         a.column_indices.data(), info, policy, scratch.data()));
    check(Calls::factorize(sparse_, rows, entries, description, values_.data(), a.row_offsets.data(),
                           a.column_indices.data(), info, policy, scratch.data()));
    on.synchronize();
    int row = -1;
    const cusparseStatus_t status = Calls::zero_pivot(sparse_, info, &row);
    check(Calls::destroy(info));
    check(cusparseDestroyMatDescr(description));
    SPTRSV_EXPECTS(status != CUSPARSE_STATUS_ZERO_PIVOT, sptrsv::errc::invalid_argument,
                   "cuSPARSE: " + name + " breaks down in row " + std::to_string(row));
    check(status);
  }

  /// One factor, analysed for SpSV.
  class triangle {
   public:
    triangle() = default;
    ~triangle() {
      static_cast<void>(cusparseSpSV_destroyDescr(plan_));
      static_cast<void>(cusparseDestroySpMat(matrix_));
    }
    triangle(const triangle&) = delete;  // owns handles
    triangle& operator=(const triangle&) = delete;

    void analyze(cusparseHandle_t sparse, const on_gpu& on, const on_gpu::vector& values,
                 cusparseFillMode_t fill, cusparseDiagType_t diagonal,
                 cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE) {
      const auto& a = on.a;
      operation_ = operation;
      check(cusparseCreateCsr(&matrix_, a.rows, a.columns, static_cast<std::int64_t>(values.size()),
                              a.row_offsets.data(), a.column_indices.data(), values.data(),
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
      check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
      check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)));
      check(cusparseSpSV_createDescr(&plan_));
      const auto any = bytes(static_cast<std::size_t>(a.rows) * sizeof(double), on.stream());
      const sptrsv::span<const double> described(reinterpret_cast<const double*>(any.data()),
                                                 static_cast<std::size_t>(a.rows));
      const dense_vector b(described);
      const dense_vector x(described);
      std::size_t needed = 0;
      check(cusparseSpSV_bufferSize(sparse, operation_, &one_, matrix_, b.get(), x.get(), CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, plan_, &needed));
      scratch_ = bytes(needed, on.stream());
      check(cusparseSpSV_analysis(sparse, operation_, &one_, matrix_, b.get(), x.get(), CUDA_R_64F,
                                  CUSPARSE_SPSV_ALG_DEFAULT, plan_, scratch_.data()));
    }
    void solve(cusparseHandle_t sparse, sptrsv::span<const double> b, sptrsv::span<double> x) {
      const dense_vector from(b);
      const dense_vector to(x);
      check(cusparseSpSV_solve(sparse, operation_, &one_, matrix_, from.get(), to.get(), CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, plan_));
    }

   private:
    cusparseOperation_t operation_ = CUSPARSE_OPERATION_NON_TRANSPOSE;
    double one_ = 1;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseSpSVDescr_t plan_ = nullptr;
    sptrsv::buffer<unsigned char> scratch_;
  };

  cusparseHandle_t sparse_ = nullptr;
  on_gpu::vector values_;
  on_gpu::vector between_;
  triangle first_;
  triangle second_;
};

}  // namespace sptrsv_examples
#endif
