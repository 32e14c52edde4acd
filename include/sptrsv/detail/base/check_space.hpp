// SPDX-License-Identifier: Apache-2.0
// The check of the arrays that a caller passes: that they are there, and where the executor computes.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/base/strides.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail {

/// Throws if an array of `size` elements is null or lies where the executor does not compute. An array
/// without elements may be anything. `array`: what it is; `taker`: the policy or function that takes it.
template <class Executor>
void check_space(const void* p, std::int64_t size, const char* array, const char* taker) {
  if (size == 0) {
    return;
  }
  SPTRSV_EXPECTS(p != nullptr, errc::invalid_argument, std::string(array) + " is a null pointer");
  const std::string why = Executor::why_unreachable(p);
  SPTRSV_EXPECTS(why.empty(), errc::wrong_memory_space,
                 std::string(array) + " lies where " + taker + " cannot reach it: " + why);
}

/// Checks an operand of a system of `rows` rows, but for its strides.
template <class Executor, class T>
void check_operand(const dense_view<T>& v, std::int64_t rows, const char* name, const char* taker) {
  SPTRSV_EXPECTS(
      v.rows == rows, errc::size_mismatch,
      std::string(name) + " has " + std::to_string(v.rows) + " rows, the system has " + std::to_string(rows));
  SPTRSV_EXPECTS(v.columns >= 0, errc::size_mismatch,
                 std::string(name) + " has a negative number of columns");
  check_space<Executor>(v.data, v.rows > 0 && v.columns > 0 ? 1 : 0, name, taker);
}

/// Checks the strides of an operand that has elements. `repeats`: whether strides may be 0.
template <class T>
void check_elements(const dense_view<T>& v, const char* name, bool repeats) {
  const auto strides = [&] {
    return std::string(name) + " of " + std::to_string(v.rows) + " rows and " + std::to_string(v.columns) +
           " columns, with row stride " + std::to_string(v.row_stride) + " and column stride " +
           std::to_string(v.column_stride);
  };
  SPTRSV_EXPECTS(fits_address_space(v), errc::invalid_argument, strides() + ", exceeds the address space");
  SPTRSV_EXPECTS(!elements_overlap(v, repeats), errc::invalid_argument,
                 strides() + ", has elements that overlap: the leading dimension is too small");
}

/// Checks the operands of a solve of a system of `rows` rows. Returns whether they have elements.
template <class Executor, class T>
[[nodiscard]] bool check_operands(const dense_view<const T>& b, const dense_view<T>& x, std::int64_t rows,
                                  std::int64_t max_rhs, const char* taker) {
  check_operand<Executor>(b, rows, "b", taker);
  check_operand<Executor>(x, rows, "x", taker);
  SPTRSV_EXPECTS(b.columns == x.columns, errc::size_mismatch,
                 "b has " + std::to_string(b.columns) + " columns and x has " + std::to_string(x.columns));
  SPTRSV_EXPECTS(x.columns <= max_rhs, errc::too_many_rhs,
                 std::to_string(x.columns) + " right-hand sides exceed max_rhs = " + std::to_string(max_rhs));
  if (rows == 0 || x.columns == 0) {
    return false;
  }
  check_elements(b, "b", true);
  check_elements(x, "x", false);
  return true;
}

}  // namespace sptrsv::detail
