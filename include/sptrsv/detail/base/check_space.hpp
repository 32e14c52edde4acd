// SPDX-License-Identifier: Apache-2.0
// The check of a caller's arrays: they must be where the executor computes, with the right strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "sptrsv/error.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the absolute value, also of the smallest number.
constexpr std::uint64_t magnitude(std::int64_t v) {
  return v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
}

/// Returns whether the distance from the first to the last element of a view, which has at least one row and
/// one column, fits an address space.
template <class T>
constexpr bool fits_address_space(const dense_view<T>& v) {
  std::uint64_t left = static_cast<std::uint64_t>(PTRDIFF_MAX) / sizeof(T);
  const auto take = [&](std::int64_t steps, std::int64_t stride) {
    const auto count = static_cast<std::uint64_t>(steps);
    const std::uint64_t length = magnitude(stride);
    if (count != 0 && length > left / count) {
      return false;
    }
    left -= count * length;
    return true;
  };
  return take(v.rows - 1, v.row_stride) && take(v.columns - 1, v.column_stride);
}

/// Returns whether two elements of a view have one address. `repeats`: not counting equality by a stride 0.
template <class T>
constexpr bool elements_overlap(const dense_view<T>& v, bool repeats) {
  const std::uint64_t row = magnitude(v.row_stride);
  const std::uint64_t column = magnitude(v.column_stride);
  if ((v.rows > 1 && row == 0) || (v.columns > 1 && column == 0)) {
    return !repeats;
  }
  if (v.rows <= 1 || v.columns <= 1) {
    return false;
  }
  // The shortest way from an element to an equal one: column / divisor rows down, row / divisor columns back.
  const std::uint64_t divisor = std::gcd(row, column);
  return column / divisor < static_cast<std::uint64_t>(v.rows) &&
         row / divisor < static_cast<std::uint64_t>(v.columns);
}

/// The addresses of the elements of a view, which fit an address space: from `begin` to before `end`.
struct address_range {
  std::uintptr_t begin;
  std::uintptr_t end;

  template <class T>
  explicit address_range(const dense_view<T>& v) : address_range(v.data, 0) {
    const auto extend = [&](std::int64_t bytes) {
      (bytes < 0 ? begin : end) += static_cast<std::uintptr_t>(bytes);
    };
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    end += sizeof(T);
    extend(v.rows > 1 ? (v.rows - 1) * v.row_stride * size : 0);
    extend(v.columns > 1 ? (v.columns - 1) * v.column_stride * size : 0);
  }
  address_range(const void* p, std::size_t bytes)
      : begin(reinterpret_cast<std::uintptr_t>(p)), end(begin + bytes) {}
  [[nodiscard]] bool meets(const address_range& other) const {
    return begin < other.end && other.begin < end;
  }
};

/// Returns whether views of the same size, which have elements, may have an element in common. The answer is
/// exact if their strides are equal; otherwise views that lie within each other count as overlapping.
template <class T>
bool views_overlap(const dense_view<const T>& b, const dense_view<T>& x) {
  const address_range of_b(b);
  const address_range of_x(x);
  if (!of_b.meets(of_x)) {
    return false;
  }
  const auto distance = static_cast<std::int64_t>(of_x.begin - of_b.begin);
  if ((x.rows > 1 && b.row_stride != x.row_stride) || (x.columns > 1 && b.column_stride != x.column_stride) ||
      distance % static_cast<std::int64_t>(sizeof(T)) != 0) {
    return true;
  }
  const std::int64_t apart = distance / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t step = 1 - x.columns; step < x.columns; ++step) {
    const std::int64_t rest = apart - (step == 0 ? 0 : step * x.column_stride);
    if (rest == 0 || (x.rows > 1 && rest % x.row_stride == 0 &&
                      magnitude(rest / x.row_stride) < static_cast<std::uint64_t>(x.rows))) {
      return true;
    }
  }
  return false;
}

/// Throws if an array of `size` elements is null or lies where the executor does not compute. An array
/// without elements may be anything. `array`: what it is; `taker`: the policy or function that takes it.
template <class Executor>
void check_space(const void* p, std::int64_t size, const char* array, const char* taker) {
  if (size == 0) {
    return;
  }
  SPTRSV_EXPECTS(p != nullptr, errc::invalid_argument, array, " is a null pointer");
  const std::string why = Executor::why_unreachable(p);
  SPTRSV_EXPECTS(why.empty(), errc::wrong_memory_space, array, " lies where ", taker,
                 " cannot reach it: ", why);
}

/// Checks the columns and the places of the operands of a solve. Returns whether they have elements.
/// `has_rows`: whether each column has.
template <class Executor, class B, class X>
bool check_columns(const B& b, const X& x, bool has_rows, std::int64_t max_rhs, const char* taker) {
  const auto check = [&](const auto& v, const char* name) {
    SPTRSV_EXPECTS(v.columns >= 0, errc::size_mismatch, name, " has a negative number of columns");
    check_space<Executor>(v.data, has_rows && v.columns > 0 ? 1 : 0, name, taker);
  };
  check(b, "b");
  check(x, "x");
  SPTRSV_EXPECTS(b.columns == x.columns, errc::size_mismatch, "b has ", b.columns, " columns and x has ",
                 x.columns);
  SPTRSV_EXPECTS(x.columns <= max_rhs, errc::too_many_rhs, x.columns,
                 " right-hand sides exceed max_rhs = ", max_rhs);
  return has_rows && x.columns > 0;
}

/// Checks the strides of an operand that has elements. `repeats`: whether strides may be 0.
template <class T>
void check_elements(const dense_view<T>& v, const char* name, bool repeats) {
  const auto strides = [&] {
    return text_from(name, " of ", v.rows, " rows and ", v.columns, " columns, with row stride ",
                     v.row_stride, " and column stride ", v.column_stride);
  };
  SPTRSV_EXPECTS(fits_address_space(v), errc::invalid_argument, strides(), ", exceeds the address space");
  SPTRSV_EXPECTS(!elements_overlap(v, repeats), errc::invalid_argument, strides(),
                 ", has elements that overlap: the leading dimension is too small");
}

/// Checks the operands of a solve of a system of `rows` rows. Returns whether they have elements. `repeats`:
/// whether strides of x may be 0, too.
template <class Executor, class B, class X>
bool check_operands(const dense_view<B>& b, const dense_view<X>& x, std::int64_t rows, std::int64_t max_rhs,
                    const char* taker, bool repeats = false) {
  const auto check_rows = [&](std::int64_t given, const char* name) {
    SPTRSV_EXPECTS(given == rows, errc::size_mismatch, name, " has ", given, " rows, the system has ", rows);
  };
  check_rows(b.rows, "b");
  check_rows(x.rows, "x");
  if (!check_columns<Executor>(b, x, rows > 0, max_rhs, taker)) {
    return false;
  }
  check_elements(b, "b", true);
  check_elements(x, "x", repeats);
  return true;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
