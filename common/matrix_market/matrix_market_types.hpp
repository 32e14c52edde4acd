// SPDX-License-Identifier: Apache-2.0
// The types of the Matrix Market reader and writer (matrix_market.hpp).
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/base/name_table.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv_common {

/// The format of a Matrix Market file.
enum class mm_format {
  coordinate,  ///< one line per entry: row, column, value
  array        ///< all values, one per line, column by column; a vector has one column
};

/// The field of a Matrix Market file: the type of its values.
enum class mm_field {
  real,     ///< real numbers
  integer,  ///< integers, also "unsigned-integer"
  complex,  ///< complex numbers
  pattern   ///< no values
};

/// The symmetry of a Matrix Market file. All but `general` store the entries on and below the diagonal only.
enum class mm_symmetry {
  general,         ///< all entries are stored
  symmetric,       ///< the entry (j, i) is the entry (i, j)
  skew_symmetric,  ///< the entry (j, i) is the negative of the entry (i, j)
  hermitian        ///< the entry (j, i) is the conjugate of the entry (i, j)
};

/// The header of a Matrix Market file: banner and size line.
struct matrix_market_header {
  mm_format format = mm_format::coordinate;     ///< how the entries are stored
  mm_field field = mm_field::real;              ///< type of the values
  mm_symmetry symmetry = mm_symmetry::general;  ///< which entries are stored
  std::int64_t rows = 0;                        ///< number of rows
  std::int64_t cols = 0;                        ///< number of columns
  std::int64_t entries = 0;                     ///< number of entries in the file, without mirrored entries
};

/// A sparse matrix as a list of entries in host memory: entry k is `values[k]` at (`row_indices[k]`,
/// `column_indices[k]`). Entries may be in any order. The reader keeps the order of the file and inserts a
/// mirrored entry directly after its original; it neither sorts entries nor adds them up.
template <class Value, class Index = std::int32_t>
struct coordinate_matrix {
  static_assert(std::is_integral_v<Index> && std::is_signed_v<Index>, "Index is a signed integer type");

  std::int64_t rows = 0;              ///< number of rows
  std::int64_t cols = 0;              ///< number of columns
  std::vector<Index> row_indices;     ///< row of each entry, counted from 0
  std::vector<Index> column_indices;  ///< column of each entry, counted from 0
  std::vector<Value> values;          ///< value of each entry
};

/// Options of the Matrix Market reader.
struct matrix_market_options {
  /// Whether to add the entries above the diagonal of symmetric, skew-symmetric and hermitian files.
  bool expand_symmetry = true;

  /// Called from time to time while entries are read, and at the end with `done == total`, the entries of the
  /// file; may be empty. The reader passes exceptions of the function on.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

namespace detail {

/// The names of the symmetries in a file.
inline constexpr sptrsv::detail::name_table<mm_symmetry, 4> symmetry_names{
    {{{mm_symmetry::general, "general"},
      {mm_symmetry::symmetric, "symmetric"},
      {mm_symmetry::skew_symmetric, "skew-symmetric"},
      {mm_symmetry::hermitian, "hermitian"}}}};

/// Refuses types of values that the reader and the writer do not support.
template <class Value>
constexpr void expect_matrix_market_value() {
  static_assert(std::is_same_v<Value, float> || std::is_same_v<Value, double> ||
                    std::is_same_v<Value, std::complex<float>> || std::is_same_v<Value, std::complex<double>>,
                "Value is float, double or std::complex of one of them");
}

/// Returns the value at (j, i) of a matrix with this symmetry and `value` at (i, j).
template <class Value>
Value mirrored(const Value& value, mm_symmetry symmetry) {
  if (symmetry == mm_symmetry::skew_symmetric) {
    return -value;
  }
  if constexpr (sptrsv::detail::is_complex_v<Value>) {
    return symmetry == mm_symmetry::hermitian ? std::conj(value) : value;
  } else {
    return value;
  }
}

/// Returns what is wrong with the value of a diagonal entry in a matrix with this symmetry; null if nothing
/// is.
template <class Value>
const char* diagonal_fault(const Value& value, mm_symmetry symmetry) {
  if (symmetry == mm_symmetry::skew_symmetric && value != Value{}) {
    return " of a skew-symmetric matrix is not zero";
  }
  const bool is_wrong = symmetry == mm_symmetry::hermitian && std::imag(value) != 0;
  return is_wrong ? " of a hermitian matrix is not real" : nullptr;
}

}  // namespace detail
}  // namespace sptrsv_common
