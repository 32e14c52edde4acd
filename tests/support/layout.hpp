// Dense matrices in storage with gaps, and the content of the gaps.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sptrsv/types.hpp"

namespace sptrsv::testing {

/// The layout of the array of b or x: element (i, j) is at i * row_stride + j * column_stride.
struct layout {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 1;
  std::int64_t column_stride = 0;
  std::size_t extent = 0;  ///< elements of the array, the gaps included

  template <class T>
  [[nodiscard]] dense_view<T> view(T* data) const {
    return {data, rows, columns, row_stride, column_stride};
  }
  [[nodiscard]] std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * row_stride + column * column_stride);
  }
};

inline layout column_major(std::int64_t rows, std::int64_t columns, std::int64_t gap = 0) {
  return {"column-major", rows, columns, 1, rows + gap, static_cast<std::size_t>((rows + gap) * columns)};
}
inline layout row_major(std::int64_t rows, std::int64_t columns, std::int64_t gap = 0) {
  return {"row-major", rows, columns, columns + gap, 1, static_cast<std::size_t>(rows * (columns + gap))};
}
/// Returns a layout in which neither dimension is contiguous.
inline layout scattered(std::int64_t rows, std::int64_t columns) {
  return {"scattered", rows, columns, 3, 3 * rows + 2, static_cast<std::size_t>((3 * rows + 2) * columns)};
}
/// Returns the layout of one contiguous vector.
inline layout single(std::int64_t rows) { return column_major(rows, 1); }

template <class T>
T from_bytes(unsigned char byte) {
  T value;
  std::memset(static_cast<void*>(&value), byte, sizeof(value));
  return value;
}

/// Returns the content of x before a solve: NaN with all bits set, which solvers may use as a mark.
template <class Value>
std::vector<Value> poisoned(std::size_t count) {
  return std::vector<Value>(count, from_bytes<Value>(0xff));
}

template <class Value>
bool same_bits(const Value& a, const Value& b) {
  return std::memcmp(&a, &b, sizeof(Value)) == 0;
}
template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0);
}

/// Returns whether everything outside the elements of `where` is unchanged.
template <class Value>
bool gaps_untouched(const layout& where, const std::vector<Value>& before, std::vector<Value> after) {
  for (std::int64_t j = 0; j < where.columns; ++j) {
    for (std::int64_t i = 0; i < where.rows; ++i) {
      after[where.at(i, j)] = before[where.at(i, j)];
    }
  }
  return same_bits(before, after);
}

}  // namespace sptrsv::testing
