// SPDX-License-Identifier: Apache-2.0
// An analysis of cuSPARSE together with its buffer: SpSV for vectors, SpSM for matrices.
//
// cuSPARSE requires the same arguments from the query of the buffer size to the solve, and a buffer that
// nothing else writes. Only the arrays of b and x may change, and the values through updateMatrix. Each plan
// has its own description of the matrix, because cuSPARSE may store data there that belong to one buffer.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/cusparse/csr_system.hpp"
#include "sptrsv/detail/cusparse/handles.cuh"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::cusparse {

/// The arguments that all calls for one system share.
template <class Scalar>
struct system_description {
  std::int64_t size = 0;
  cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
  sparse_matrix matrix;
  std::string name;  ///< for error messages

  template <class Index, class Offset>
  system_description(const csr_system<Index, Offset>& s, const buffer<Scalar>& values) : size(s.size) {
    if (s.transposed) {
      operation = s.conjugated && is_complex_v<Scalar> ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
                                                       : CUSPARSE_OPERATION_TRANSPOSE;
    }
    name = std::string(sizeof(real_t<Scalar>) == 4 ? "single" : "double") + " precision " +
           (is_complex_v<Scalar> ? "complex" : "real") + " values, " + std::to_string(8 * sizeof(Offset)) +
           "-bit offsets and " + std::to_string(8 * sizeof(Index)) + "-bit indices";
    check(cusparseCreateCsr(matrix.address(), s.size, s.size, s.entries, s.offsets.data(), s.indices.data(),
                            values.data(), index_type<Offset>, index_type<Index>, CUSPARSE_INDEX_BASE_ZERO,
                            value_type<Scalar>),
          "cusparseCreateCsr", name);
    cusparseFillMode_t fill = s.upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = s.unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparseSpMatSetAttribute(matrix.get(), CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
          "cusparseSpMatSetAttribute", name);
    check(cusparseSpMatSetAttribute(matrix.get(), CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
          "cusparseSpMatSetAttribute", name);
  }
};

/// Solves for one vector with contiguous elements.
template <class Scalar>
class prepared_spsv {
 public:
  /// Runs the analysis. `vector` is any array of the right size and alignment.
  template <class Index, class Offset>
  prepared_spsv(cusparseHandle_t handle, const csr_system<Index, Offset>& s, const buffer<Scalar>& values,
                Scalar* vector, memory_resource& resource, stream_handle stream)
      : system_(s, values) {
    const Scalar one = pivot_divisor<Scalar>::one();
    std::size_t bytes = 0;
    check(cusparseCreateDnVec(b_.address(), s.size, vector, value_type<Scalar>), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(x_.address(), s.size, vector, value_type<Scalar>), "cusparseCreateDnVec");
    check(cusparseSpSV_createDescr(plan_.address()), "cusparseSpSV_createDescr");
    check(cusparseSpSV_bufferSize(handle, system_.operation, &one, system_.matrix.get(), b_.get(), x_.get(),
                                  value_type<Scalar>, CUSPARSE_SPSV_ALG_DEFAULT, plan_.get(), &bytes),
          "cusparseSpSV_bufferSize", system_.name);
    // cuSPARSE refuses a null pointer.
    buffer_ = buffer<unsigned char>(bytes == 0 ? 1 : bytes, resource, stream);
    check(cusparseSpSV_analysis(handle, system_.operation, &one, system_.matrix.get(), b_.get(), x_.get(),
                                value_type<Scalar>, CUSPARSE_SPSV_ALG_DEFAULT, plan_.get(), buffer_.data()),
          "cusparseSpSV_analysis", system_.name);
  }

  void update(cusparseHandle_t handle, const buffer<Scalar>& values) {
    check(cusparseSpSV_updateMatrix(handle, plan_.get(), values.data(), CUSPARSE_SPSV_UPDATE_GENERAL),
          "cusparseSpSV_updateMatrix");
  }

  void solve(cusparseHandle_t handle, const Scalar& alpha, const Scalar* b, Scalar* x) {
    check(cusparseDnVecSetValues(b_.get(), const_cast<Scalar*>(b)), "cusparseDnVecSetValues");
    check(cusparseDnVecSetValues(x_.get(), x), "cusparseDnVecSetValues");
    check(cusparseSpSV_solve(handle, system_.operation, &alpha, system_.matrix.get(), b_.get(), x_.get(),
                             value_type<Scalar>, CUSPARSE_SPSV_ALG_DEFAULT, plan_.get()),
          "cusparseSpSV_solve");
  }

  [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

 private:
  system_description<Scalar> system_;
  dense_vector b_;
  dense_vector x_;
  vector_plan plan_;
  buffer<unsigned char> buffer_;
};

/// Solves for a matrix with a fixed number of columns and a fixed order (row- or column-major).
template <class Scalar>
class prepared_spsm {
 public:
  /// Runs the analysis. `matrix` is any matrix of the right size, order and alignment.
  template <class Index, class Offset>
  prepared_spsm(cusparseHandle_t handle, const csr_system<Index, Offset>& s, const buffer<Scalar>& values,
                dense_view<Scalar> matrix, memory_resource& resource, stream_handle stream)
      : system_(s, values),
        order_(matrix.row_stride == 1 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
        columns_(matrix.columns) {
    const Scalar one = pivot_divisor<Scalar>::one();
    std::size_t bytes = 0;
    b_.point_at(*this, matrix);
    x_.point_at(*this, matrix);
    check(cusparseSpSM_createDescr(plan_.address()), "cusparseSpSM_createDescr");
    check(cusparseSpSM_bufferSize(handle, system_.operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                  system_.matrix.get(), b_.get(), x_.get(), value_type<Scalar>,
                                  CUSPARSE_SPSM_ALG_DEFAULT, plan_.get(), &bytes),
          "cusparseSpSM_bufferSize", system_.name);
    buffer_ = buffer<unsigned char>(bytes == 0 ? 1 : bytes, resource, stream);
    check(cusparseSpSM_analysis(handle, system_.operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                system_.matrix.get(), b_.get(), x_.get(), value_type<Scalar>,
                                CUSPARSE_SPSM_ALG_DEFAULT, plan_.get(), buffer_.data()),
          "cusparseSpSM_analysis", system_.name);
  }

  void update(cusparseHandle_t handle, const buffer<Scalar>& values) {
    check(cusparseSpSM_updateMatrix(handle, plan_.get(), values.data(), CUSPARSE_SPSM_UPDATE_GENERAL),
          "cusparseSpSM_updateMatrix");
  }

  void solve(cusparseHandle_t handle, const Scalar& alpha, dense_view<const Scalar> b, dense_view<Scalar> x) {
    b_.point_at(*this, {const_cast<Scalar*>(b.data), b.rows, b.columns, b.row_stride, b.column_stride});
    x_.point_at(*this, x);
    check(cusparseSpSM_solve(handle, system_.operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                             system_.matrix.get(), b_.get(), x_.get(), value_type<Scalar>,
                             CUSPARSE_SPSM_ALG_DEFAULT, plan_.get()),
          "cusparseSpSM_solve");
  }

  [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

 private:
  /// The description of a dense matrix, recreated when the leading dimension changes.
  class operand {
   public:
    void point_at(const prepared_spsm& plan, dense_view<Scalar> at) {
      const std::int64_t leading_dimension =
          plan.order_ == CUSPARSE_ORDER_COL ? at.column_stride : at.row_stride;
      if (leading_dimension == leading_dimension_) {
        check(cusparseDnMatSetValues(matrix_.get(), at.data), "cusparseDnMatSetValues");
        return;
      }
      dense_matrix made;
      check(cusparseCreateDnMat(made.address(), plan.system_.size, plan.columns_, leading_dimension, at.data,
                                value_type<Scalar>, plan.order_),
            "cusparseCreateDnMat");
      matrix_ = std::move(made);
      leading_dimension_ = leading_dimension;
    }
    [[nodiscard]] cusparseDnMatDescr_t get() const { return matrix_.get(); }

   private:
    dense_matrix matrix_;
    std::int64_t leading_dimension_ = 0;
  };

  system_description<Scalar> system_;
  cusparseOrder_t order_;
  std::int64_t columns_;
  operand b_;
  operand x_;
  matrix_plan plan_;
  buffer<unsigned char> buffer_;
};

}  // namespace sptrsv::detail::cusparse
