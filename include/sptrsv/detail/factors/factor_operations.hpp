// SPDX-License-Identifier: Apache-2.0
// Transposes of factors, and what can be checked of factors without a kernel.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/factors_options.hpp"
#include "sptrsv/solver.hpp"

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

/// Checks the arrays of one side of a system. `side`: "row" or "column", for messages.
template <class Executor, class Index, class Value>
void check_side(span<const Index> order, span<const Value> scale, std::int64_t rows,
                const std::string& side) {
  const auto check_array = [&](const auto& array, const std::string& name) {
    const auto size = static_cast<std::int64_t>(array.size());
    SPTRSV_EXPECTS(size == rows || size == 0, errc::size_mismatch,
                   name + " has " + std::to_string(size) + " elements, the system has " +
                       std::to_string(rows) + " rows");
    check_space<Executor>(array.data(), size, name.c_str(), "the analysis");
  };
  check_array(order, side + "_order");
  check_array(scale, side + "_scale");
}

/// Checks the matrices of both factors and the options before anything is enqueued. Returns the options.
template <class Policy, class Executor, class First, class Second, class Value, class Index>
const factors_options<Value, Index>& checked(const First& first, const Second& second,
                                             const factors_options<Value, Index>& options) {
  const auto check = [&](const auto& a, const triangular_factor& f) {
    const auto pattern = pattern_of(a);
    check_shape<Value>(a.rows, a.columns, pattern, {f.part, f.diagonal, f.operation, options.max_rhs});
    check_space<Executor>(a.values, a.entries, "the array of values", Policy::name);
    check_spaces<Executor>(pattern, Policy::name);
  };
  check(first, options.first);
  check(second, options.second);
  SPTRSV_EXPECTS(first.rows == second.rows, errc::size_mismatch,
                 "the matrix of the first factor has " + std::to_string(first.rows) +
                     " rows, that of the second " + std::to_string(second.rows));
  SPTRSV_EXPECTS(!options.has_diagonal ||
                     (options.first.diagonal == diag::unit && options.second.diagonal == diag::unit),
                 errc::invalid_argument, "factors with a stored diagonal between them must be unit");
  if (options.transposed != op::none) {  // throws if a factor has no transpose
    static_cast<void>(transpose_of<scalar_t<Value>>(options.second, options.transposed));
    static_cast<void>(transpose_of<scalar_t<Value>>(options.first, options.transposed));
  }
  check_side<Executor>(options.row_order, options.row_scale, first.rows, "row");
  check_side<Executor>(options.column_order, options.column_scale, first.rows, "column");
  return options;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
