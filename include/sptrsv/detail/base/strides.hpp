// Checks of the strides of a dense view.
#pragma once

#include <cstdint>
#include <numeric>

#include "sptrsv/types.hpp"

namespace sptrsv::detail {

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

/// Returns whether two elements of a view have the same address. `repeats`: elements that are equal because a
/// stride is 0 do not count.
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

}  // namespace sptrsv::detail
