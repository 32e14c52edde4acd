// An analysis of cuSPARSE together with its buffer: SpSV for vectors, SpSM for matrices.
//
// cuSPARSE requires the same arguments from the query of the buffer size to the solve, and a buffer that
// nothing else writes. Only the arrays of b and x may change, and the values through updateMatrix. Each plan
// has its own description of the matrix, because cuSPARSE may store data there that belong to one buffer.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "common/cusparse/csr_system.hpp"
#include "common/cusparse/handles.cuh"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv_common::cusparse {

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

/// Solves for one vector with contiguous elements by SpSV, or for a matrix with a fixed number of columns and
/// a fixed order (row- or column-major) by SpSM.
template <class Scalar, bool Several>
class prepared_solve {
  /// Returns what belongs to SpSV, or what belongs to SpSM.
  template <class OfVector, class OfMatrix>
  static constexpr auto pick(OfVector of_vector, OfMatrix of_matrix) {
    if constexpr (Several) {
      return of_matrix;
    } else {
      return of_vector;
    }
  }

 public:
  /// Runs the analysis. `any` is any array of the right size, order and alignment.
  template <class Index, class Offset>
  prepared_solve(cusparseHandle_t handle, const csr_system<Index, Offset>& s, const buffer<Scalar>& values,
                 dense_view<Scalar> any, memory_resource& resource, stream_handle stream)
      : system_(s, values), order_(any.row_stride == 1 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW) {
    const Scalar one = pivot_divisor<Scalar>::one();
    point_at(b_, any);
    point_at(x_, any);
    check(pick(cusparseSpSV_createDescr, cusparseSpSM_createDescr)(plan_.address()),
          pick("cusparseSpSV_createDescr", "cusparseSpSM_createDescr"));
    std::size_t bytes = 0;
    check(call(pick(cusparseSpSV_bufferSize, cusparseSpSM_bufferSize), handle, one, &bytes),
          pick("cusparseSpSV_bufferSize", "cusparseSpSM_bufferSize"), system_.name);
    // cuSPARSE refuses a null pointer.
    buffer_ = buffer<unsigned char>(bytes == 0 ? 1 : bytes, resource, stream);
    check(call(pick(cusparseSpSV_analysis, cusparseSpSM_analysis), handle, one, buffer_.data()),
          pick("cusparseSpSV_analysis", "cusparseSpSM_analysis"), system_.name);
  }

  void update(cusparseHandle_t handle, const buffer<Scalar>& values) {
    check(pick(cusparseSpSV_updateMatrix, cusparseSpSM_updateMatrix)(
              handle, plan_.get(), values.data(),
              pick(CUSPARSE_SPSV_UPDATE_GENERAL, CUSPARSE_SPSM_UPDATE_GENERAL)),
          pick("cusparseSpSV_updateMatrix", "cusparseSpSM_updateMatrix"));
  }

  void solve(cusparseHandle_t handle, const Scalar& alpha, dense_view<const Scalar> b, dense_view<Scalar> x) {
    point_at(b_, {const_cast<Scalar*>(b.data), b.rows, b.columns, b.row_stride, b.column_stride});
    point_at(x_, x);
    check(call(pick(cusparseSpSV_solve, cusparseSpSM_solve), handle, alpha),
          pick("cusparseSpSV_solve", "cusparseSpSM_solve"));
  }

  [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

 private:
  struct operand {
    std::conditional_t<Several, dense_matrix, dense_vector> description;
    std::int64_t leading_dimension = 0;  ///< 0: there is no description
  };

  /// Lets the description of b or x be that of an array; recreates it when the leading dimension changes.
  void point_at(operand& of, dense_view<Scalar> array) {
    const std::int64_t leading_dimension =
        order_ == CUSPARSE_ORDER_COL ? array.column_stride : array.row_stride;
    if (of.leading_dimension != 0 && (!Several || leading_dimension == of.leading_dimension)) {
      check(pick(cusparseDnVecSetValues, cusparseDnMatSetValues)(of.description.get(), array.data),
            pick("cusparseDnVecSetValues", "cusparseDnMatSetValues"));
      return;
    }
    decltype(of.description) made;
    if constexpr (Several) {
      check(cusparseCreateDnMat(made.address(), system_.size, array.columns, leading_dimension, array.data,
                                value_type<Scalar>, order_),
            "cusparseCreateDnMat");
    } else {
      check(cusparseCreateDnVec(made.address(), system_.size, array.data, value_type<Scalar>),
            "cusparseCreateDnVec");
    }
    of.description = std::move(made);
    of.leading_dimension = leading_dimension;
  }

  /// Calls a function with the arguments that the query, the analysis and the solve share, and with `more`.
  template <class Function, class... More>
  cusparseStatus_t call(Function function, cusparseHandle_t handle, const Scalar& alpha, More... more) {
    const auto last = [&](auto... first) {
      return function(first..., &alpha, system_.matrix.get(), b_.description.get(), x_.description.get(),
                      value_type<Scalar>, pick(CUSPARSE_SPSV_ALG_DEFAULT, CUSPARSE_SPSM_ALG_DEFAULT),
                      plan_.get(), more...);
    };
    if constexpr (Several) {
      return last(handle, system_.operation, CUSPARSE_OPERATION_NON_TRANSPOSE);
    } else {
      return last(handle, system_.operation);
    }
  }

  system_description<Scalar> system_;
  cusparseOrder_t order_;
  operand b_;
  operand x_;
  std::conditional_t<Several, matrix_plan, vector_plan> plan_;
  buffer<unsigned char> buffer_;
};

}  // namespace sptrsv_common::cusparse
