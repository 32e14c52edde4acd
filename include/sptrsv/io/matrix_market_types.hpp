// What the Matrix Market reader and writer speak of; part of the interface of io/matrix_market.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace sptrsv {

/// What a file says its values are; a pattern file has none.
enum class mm_field { real, integer, complex, pattern };

/// Which entries a file leaves out: all but `general` store the lower triangle only.
enum class mm_symmetry { general, symmetric, skew_symmetric, hermitian };

/// The first lines of a Matrix Market file; `entries` counts what is stored, without mirrored entries.
struct matrix_market_header {
  mm_field field = mm_field::real;
  mm_symmetry symmetry = mm_symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;
};

/// A sparse matrix as a list of entries, on the host: entry k is `values[k]` at (`row_indices[k]`,
/// `column_indices[k]`), counted from 0, in any order. The reader keeps the order of the file and puts a
/// mirrored entry directly after its origin; it neither sorts nor sums entries.
template <class Value, class Index = std::int32_t>
struct coordinate_matrix {
  static_assert(std::is_integral_v<Index> && std::is_signed_v<Index>, "Index is a signed integer type");

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<Index> row_indices;
  std::vector<Index> column_indices;
  std::vector<Value> values;
};

struct matrix_market_options {
  /// Symmetric, skew-symmetric and hermitian files: whether to add the entries above the diagonal.
  bool expand_symmetry = true;

  /// Called now and then while entries are read, and at the end with `done == total` (entries of the file).
  /// What it throws passes through the reader.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

namespace detail {

template <class Value>
struct is_complex : std::false_type {};
template <class Real>
struct is_complex<std::complex<Real>> : std::true_type {};

/// The value at (j, i) of a matrix with that symmetry and `value` at (i, j).
template <class Value>
Value mirrored(const Value& value, mm_symmetry symmetry) {
  if (symmetry == mm_symmetry::skew_symmetric) {
    return -value;
  }
  if constexpr (is_complex<Value>::value) {
    return symmetry == mm_symmetry::hermitian ? std::conj(value) : value;
  } else {
    return value;
  }
}

}  // namespace detail
}  // namespace sptrsv
