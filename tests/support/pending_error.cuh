// Plants errors of a user's own launch.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::testing {

template <class Unused = void>
__global__ void do_nothing() {}

/// Plants an error that does not stay in the device, calls `call`, and expects the error.
template <class Call>
void keeps_pending_error(const std::string& name, const Call& call) {
  static_cast<void>(cudaGetLastError());
  do_nothing<><<<1, 100000>>>();
  const cudaError_t planted = cudaPeekAtLastError();
  ASSERT_NE(planted, cudaSuccess);
  try {
    call();
  } catch (const error& e) {
    ADD_FAILURE() << name << ": " << e.what();
  }
  EXPECT_EQ(cudaPeekAtLastError(), planted) << name;
  static_cast<void>(cudaGetLastError());
}

/// A matrix of three diagonals whose rows have descending entries, so that an analysis sorts them.
inline csr_matrix<double> matrix_with_descending_rows(std::int32_t size) {
  csr_matrix<double> made{size, size, {0}, {}, {}};
  for (std::int32_t row = 0; row < size; ++row) {
    for (const std::int32_t column : {row + 1, row, row - 20}) {
      if (column >= 0 && column < size) {
        made.column_indices.push_back(column);
        made.values.push_back(column == row ? 4 : -1);
      }
    }
    made.row_offsets.push_back(static_cast<std::int32_t>(made.column_indices.size()));
  }
  return made;
}

}  // namespace sptrsv::testing
