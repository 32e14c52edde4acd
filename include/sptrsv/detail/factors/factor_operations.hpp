// SPDX-License-Identifier: Apache-2.0
// Transposes of factors.
#pragma once

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/factors_options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {

/// Returns whether both are the same triangle of one matrix. A real matrix is its own conjugate.
template <class Scalar>
bool is_same(const triangular_factor& f, const triangular_factor& g) {
  const bool same_operation = f.operation == g.operation ||
                              (!is_complex_v<Scalar> && f.operation != op::none && g.operation != op::none);
  return f.part == g.part && f.diagonal == g.diagonal && same_operation;
}

/// Returns whether operation(op(T)) is a factor: not if T would be conjugated and not transposed.
template <class Scalar>
bool has_transpose(const triangular_factor& f, op operation) {
  return f.operation == op::none || f.operation == operation || !is_complex_v<Scalar>;
}

/// Returns operation(op(T)) as a factor. Throws `error` if it is none.
template <class Scalar>
triangular_factor transpose_of(triangular_factor f, op operation) {
  SPTRSV_EXPECTS(has_transpose<Scalar>(f, operation), errc::unsupported,
                 "apply_transpose: a factor would be conjugated and not transposed");
  f.operation = f.operation == op::none ? operation : op::none;
  return f;
}

/// Returns the operation that makes g of f; op::none if there is none.
template <class Scalar>
op operation_between(const triangular_factor& f, const triangular_factor& g) {
  for (const op operation : {op::transpose, op::conj_transpose}) {
    if (has_transpose<Scalar>(f, operation) && is_same<Scalar>(transpose_of<Scalar>(f, operation), g)) {
      return operation;
    }
  }
  return op::none;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
