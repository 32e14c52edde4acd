// Owners of cuSPARSE's descriptors and handles, its errors as exceptions, and its constants for our types.
#pragma once

#include <cuda_runtime.h>
#include <cusparse.h>

#include <string>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/error.hpp"

#if CUSPARSE_VERSION < 12300
#error "common/cusparse needs cusparseSpSM_updateMatrix: CUDA 12.4 or newer"
#endif

namespace sptrsv_common::cusparse {

using namespace sptrsv;  // the baseline is made of the library's parts
using namespace sptrsv::detail;

/// Returns the version of the linked library.
inline std::string version() {
  int part[3] = {0, 0, 0};
  static_cast<void>(cusparseGetProperty(MAJOR_VERSION, &part[0]));
  static_cast<void>(cusparseGetProperty(MINOR_VERSION, &part[1]));
  static_cast<void>(cusparseGetProperty(PATCH_LEVEL, &part[2]));
  return std::to_string(part[0]) + "." + std::to_string(part[1]) + "." + std::to_string(part[2]);
}

/// Throws if the call failed. `subject` says what the call was for.
inline void check(cusparseStatus_t status, const char* call, const std::string& subject = {}) {
  if (status == CUSPARSE_STATUS_SUCCESS) {
    return;
  }
  if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_EXECUTION_FAILED ||
      status == CUSPARSE_STATUS_INTERNAL_ERROR || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES) {
    forget_failure(cudaErrorUnknown);  // what a call of CUDA has left that cuSPARSE made
  }
  errc code = errc::cuda_error;
  if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES) {
    code = errc::out_of_memory;
  } else if (status == CUSPARSE_STATUS_NOT_SUPPORTED || status == CUSPARSE_STATUS_ARCH_MISMATCH ||
             status == CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED) {
    code = errc::unsupported;
  }
  throw error(code, std::string(call) + " of cuSPARSE " + version() + " failed" +
                        (subject.empty() ? "" : " for " + subject) + ": " + cusparseGetErrorName(status) +
                        ", " + cusparseGetErrorString(status));
}

using library_handle = owned<cusparseHandle_t, &cusparseDestroy>;
using sparse_matrix = owned<cusparseSpMatDescr_t, &cusparseDestroySpMat>;
using dense_vector = owned<cusparseDnVecDescr_t, &cusparseDestroyDnVec>;
using dense_matrix = owned<cusparseDnMatDescr_t, &cusparseDestroyDnMat>;
using vector_plan = owned<cusparseSpSVDescr_t, &cusparseSpSV_destroyDescr>;
using matrix_plan = owned<cusparseSpSMDescr_t, &cusparseSpSM_destroyDescr>;

template <class Integer>
inline constexpr cusparseIndexType_t index_type = sizeof(Integer) == 4 ? CUSPARSE_INDEX_32I
                                                                       : CUSPARSE_INDEX_64I;

template <class Scalar>
inline constexpr cudaDataType value_type = is_complex_v<Scalar>
                                               ? (sizeof(real_t<Scalar>) == 4 ? CUDA_C_32F : CUDA_C_64F)
                                               : (sizeof(real_t<Scalar>) == 4 ? CUDA_R_32F : CUDA_R_64F);

}  // namespace sptrsv_common::cusparse
