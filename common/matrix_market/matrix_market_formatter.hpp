// SPDX-License-Identifier: Apache-2.0
// The writer of Matrix Market text.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/matrix_market/byte_streams.hpp"
#include "common/matrix_market/matrix_market_types.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv_common::detail {

/// Returns whether two values are equal or both are NaN.
template <class Value>
bool same_value(const Value& a, const Value& b) {
  if constexpr (sptrsv::detail::is_complex_v<Value>) {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
  } else {
    return a == b || (std::isnan(a) && std::isnan(b));
  }
}

/// Collects Matrix Market text in blocks and passes them to a sink.
class matrix_market_output {
 public:
  explicit matrix_market_output(byte_sink sink) : sink_(std::move(sink)) {}

  void append(std::string_view text) { text_ += text; }

  /// Appends the shortest decimal text of a number, or of the two parts of a complex number, and a separator.
  template <class Number>
  void append(const Number& number, char separator) {
    if constexpr (std::is_arithmetic_v<Number>) {
      char digits[32];  // at most 24 for a double, 20 for an integer
      const auto result = std::to_chars(digits, digits + sizeof digits, number);
      text_.append(digits, result.ptr);
      text_ += separator;
    } else {
      append(number.real(), ' ');
      append(number.imag(), separator);
    }
  }

  /// Passes the text on if a block is full; called between lines.
  void end_line() {
    if (text_.size() >= block_bytes) {
      sink_.write(text_);
      text_.clear();
    }
  }

  /// Passes the rest on; called once.
  void finish() {
    sink_.write(text_);
    sink_.finish();
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 16;

  byte_sink sink_;
  std::string text_;
};

/// Writes a dense matrix as an array file.
template <class Value>
void write_matrix_market_array(byte_sink sink, sptrsv::dense_view<const Value> matrix) {
  expect_matrix_market_value<Value>();
  matrix_market_output to(std::move(sink));
  to.append("%%MatrixMarket matrix array ");
  to.append(sptrsv::detail::is_complex_v<Value> ? "complex general\n" : "real general\n");
  to.append(matrix.rows, ' ');
  to.append(matrix.columns, '\n');
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      to.append(matrix.data[row * matrix.row_stride + column * matrix.column_stride], '\n');
      to.end_line();
    }
  }
  to.finish();
}

/// Writes a coordinate matrix as Matrix Market text.
template <class Value, class Index>
class matrix_market_formatter {
 public:
  matrix_market_formatter(const coordinate_matrix<Value, Index>& matrix, mm_symmetry symmetry)
      : matrix_(matrix), symmetry_(symmetry) {
    expect_matrix_market_value<Value>();
    check_entries();
    if (symmetry_ != mm_symmetry::general) {
      check_symmetry();
    }
  }

  /// Writes the text.
  void write(byte_sink sink) const {
    matrix_market_output to(std::move(sink));
    write_header(to);
    for (std::size_t k = 0; k < matrix_.values.size(); ++k) {
      if (is_stored(k)) {
        to.append(std::int64_t{matrix_.row_indices[k]} + 1, ' ');
        to.append(std::int64_t{matrix_.column_indices[k]} + 1, ' ');
        to.append(matrix_.values[k], '\n');
        to.end_line();
      }
    }
    to.finish();
  }

 private:
  [[nodiscard]] bool is_stored(std::size_t k) const {
    return symmetry_ == mm_symmetry::general || matrix_.row_indices[k] >= matrix_.column_indices[k];
  }

  [[noreturn]] void fail(sptrsv::errc code, std::size_t k, const std::string& what) const {
    const std::int64_t row = matrix_.row_indices[k];
    const std::int64_t column = matrix_.column_indices[k];
    throw sptrsv::error(code, "entry (" + std::to_string(row) + ", " + std::to_string(column) + ") " + what,
                        row);
  }

  void check_entries() const {
    const std::size_t count = matrix_.values.size();
    SPTRSV_EXPECTS(matrix_.row_indices.size() == count && matrix_.column_indices.size() == count,
                   sptrsv::errc::size_mismatch, "the arrays of indices and values have different sizes");
    SPTRSV_EXPECTS(matrix_.rows >= 0 && matrix_.cols >= 0, sptrsv::errc::invalid_argument,
                   "the number of rows or columns is negative");
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t row = matrix_.row_indices[k];
      const std::int64_t column = matrix_.column_indices[k];
      if (row < 0 || row >= matrix_.rows || column < 0 || column >= matrix_.cols) {
        fail(sptrsv::errc::index_out_of_range, k, "is outside the matrix");
      }
    }
  }

  // Entries above the diagonal are not written: each must be the mirror of an entry below, which the reader
  // adds.
  void check_symmetry() const {
    SPTRSV_EXPECTS(matrix_.rows == matrix_.cols, sptrsv::errc::not_square,
                   "a matrix that is not square cannot be written as symmetric");
    std::vector<std::size_t> below;
    std::vector<std::size_t> above;
    for (std::size_t k = 0; k < matrix_.values.size(); ++k) {
      if (matrix_.row_indices[k] != matrix_.column_indices[k]) {
        (matrix_.row_indices[k] > matrix_.column_indices[k] ? below : above).push_back(k);
      } else if (const char* const fault = diagonal_fault(matrix_.values[k], symmetry_)) {
        fail(sptrsv::errc::invalid_argument, k, std::string("on the diagonal") + fault);
      }
    }
    if (above.empty()) {
      return;
    }
    const auto position = [this](std::size_t k) {
      return std::minmax(matrix_.row_indices[k], matrix_.column_indices[k]);
    };
    const auto by_position = [&](std::size_t k, std::size_t l) { return position(k) < position(l); };
    std::stable_sort(below.begin(), below.end(), by_position);
    std::stable_sort(above.begin(), above.end(), by_position);
    const std::size_t pairs = std::min(below.size(), above.size());
    for (std::size_t p = 0; p < pairs; ++p) {
      const Value& origin = matrix_.values[below[p]];
      if (position(below[p]) != position(above[p]) ||
          !same_value(matrix_.values[above[p]], mirrored(origin, symmetry_))) {
        fail(sptrsv::errc::invalid_argument, above[p], "is not the mirror of one below the diagonal");
      }
    }
    if (below.size() != above.size()) {
      fail(sptrsv::errc::invalid_argument, pairs < above.size() ? above[pairs] : below[pairs],
           "has no counterpart across the diagonal");
    }
  }

  void write_header(matrix_market_output& to) const {
    // The format has no real hermitian matrices.
    const bool is_symmetric = symmetry_ == mm_symmetry::hermitian && !sptrsv::detail::is_complex_v<Value>;
    std::int64_t entries = 0;
    for (std::size_t k = 0; k < matrix_.values.size(); ++k) {
      entries += is_stored(k) ? 1 : 0;
    }
    to.append("%%MatrixMarket matrix coordinate ");
    to.append(sptrsv::detail::is_complex_v<Value> ? "complex " : "real ");
    to.append(symmetry_names.of(is_symmetric ? mm_symmetry::symmetric : symmetry_));
    to.append("\n");
    to.append(matrix_.rows, ' ');
    to.append(matrix_.cols, ' ');
    to.append(entries, '\n');
  }

  const coordinate_matrix<Value, Index>& matrix_;
  mm_symmetry symmetry_;
};

}  // namespace sptrsv_common::detail
