// SPDX-License-Identifier: Apache-2.0
// The entries of Matrix Market files.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "common/matrix_market/matrix_market_text.hpp"
#include "common/matrix_market/matrix_market_types.hpp"
#include "common/matrix_market/number.hpp"

namespace sptrsv_common::detail {

/// Parses the entries.
template <class Value, class Index>
class matrix_market_entry_parser {
 public:
  /// `text`: at the first line after the size line.
  matrix_market_entry_parser(matrix_market_text& text, const matrix_market_header& header,
                             const matrix_market_options& options)
      : text_(text),
        header_(header),
        options_(options),
        mirror_(options.expand_symmetry && header.symmetry != mm_symmetry::general) {
    matrix_.rows = header.rows;
    matrix_.cols = header.cols;
    array_row_ = first_row_of(0);
  }

  /// Returns the matrix; called once. Parses the text up to its end. Throws `parse_error`, and `error` with
  /// errc::unsupported.
  coordinate_matrix<Value, Index> parse() {
    check_types();
    reserve();
    constexpr std::int64_t entries_per_report = std::int64_t{1} << 18;
    std::int64_t done = 0;
    do {
      const std::int64_t until = done + std::min(header_.entries - done, entries_per_report);
      for (; done < until; ++done) {
        parse_entry(done);
      }
      if (options_.progress) {
        options_.progress(done, header_.entries);
      }
    } while (done < header_.entries);
    if (!text_.ends_here()) {
      text_.fail("the file goes on after its " + std::to_string(header_.entries) + " entries");
    }
    return std::move(matrix_);
  }

 private:
  void check_types() const {
    using limits = std::numeric_limits<Index>;
    if (std::max(header_.rows, header_.cols) > limits::max()) {
      text_.refuse("the matrix is " + std::to_string(header_.rows) + " x " + std::to_string(header_.cols) +
                   ", which does not fit the index type of " + std::to_string(limits::digits + 1) + " bits");
    }
    if (header_.field == mm_field::complex && !sptrsv::detail::is_complex_v<Value>) {
      text_.refuse("the values of the file are complex and cannot be read into a real type");
    }
  }

  // Reserves memory for the entries of the size line, but not for more than the size of the text allows.
  void reserve() {
    const std::uint64_t shortest_entry = header_.format == mm_format::array ? 2 : 4;  // "1\n", "1 1\n"
    constexpr std::uint64_t without_hint = std::uint64_t{1} << 16;
    const std::uint64_t possible = text_.size_hint() ? *text_.size_hint() / shortest_entry + 1 : without_hint;
    const std::uint64_t stored = std::min(static_cast<std::uint64_t>(header_.entries), possible);
    const auto count = static_cast<std::size_t>(mirror_ ? 2 * stored : stored);
    matrix_.row_indices.reserve(count);
    matrix_.column_indices.reserve(count);
    matrix_.values.reserve(count);
  }

  void parse_entry(std::int64_t done) {
    std::string_view text;
    if (!text_.next_content(text)) {
      text_.fail("the file ends after " + std::to_string(done) + " of " + std::to_string(header_.entries) +
                 " entries");
    }
    std::int64_t row = array_row_;
    std::int64_t column = array_column_;
    if (header_.format == mm_format::coordinate) {
      row = parse_index(text, header_.rows, "row");
      column = parse_index(text, header_.cols, "column");
    } else if (++array_row_ == header_.rows) {
      array_row_ = first_row_of(++array_column_);
    }
    const Value value = parse_value(text);
    text_.expect_end(text);
    append(row, column, value);
    if (header_.symmetry != mm_symmetry::general) {
      check_symmetry(row, column, value);
      if (mirror_ && row != column) {
        append(column, row, mirrored(value, header_.symmetry));
      }
    }
  }

  /// Returns the first row of a column of an array file.
  [[nodiscard]] std::int64_t first_row_of(std::int64_t column) const {
    return header_.symmetry == mm_symmetry::general          ? 0
           : header_.symmetry == mm_symmetry::skew_symmetric ? column + 1
                                                             : column;
  }

  void append(std::int64_t row, std::int64_t column, const Value& value) {
    matrix_.row_indices.push_back(static_cast<Index>(row));
    matrix_.column_indices.push_back(static_cast<Index>(column));
    matrix_.values.push_back(value);
  }

  void check_symmetry(std::int64_t row, std::int64_t column, const Value& value) const {
    if (row < column) {
      text_.fail("entry (" + std::to_string(row + 1) + ", " + std::to_string(column + 1) +
                 ") is above the diagonal; only general files store the upper triangle");
    }
    const char* const fault = row == column ? diagonal_fault(value, header_.symmetry) : nullptr;
    if (fault != nullptr) {
      text_.fail("diagonal entry " + std::to_string(row + 1) + fault);
    }
  }

  /// Parses an index from 1 to `bound`. Returns it counted from 0.
  std::int64_t parse_index(std::string_view& rest, std::int64_t bound, const char* what) const {
    const std::string_view word = take_word(rest);
    const auto index = parse_integer(word);
    if (index.status != number_status::ok || index.value < 1 || index.value > bound) {
      fail_index(word, index, bound, what);
    }
    return index.value - 1;
  }

  [[noreturn]] void fail_index(std::string_view word, const parsed_number<std::int64_t>& index,
                               std::int64_t bound, const std::string& what) const {
    if (word.empty()) {
      text_.fail("the " + what + " index is missing");
    }
    if (index.status == number_status::malformed) {
      text_.fail(what + " index " + quoted(word) + " is not an integer");
    }
    const std::string number =
        index.status == number_status::overflow ? quoted(word) : std::to_string(index.value);
    text_.fail(what + " index " + number + " is out of range 1.." + std::to_string(bound));
  }

  Value parse_value(std::string_view& rest) const {
    if (header_.field == mm_field::pattern) {
      return Value{1};
    }
    const auto real = parse_part(rest);
    if constexpr (sptrsv::detail::is_complex_v<Value>) {
      if (header_.field == mm_field::complex) {
        return {real, parse_part(rest)};
      }
    }
    return {real};
  }

  auto parse_part(std::string_view& rest) const {
    const std::string_view word = take_word(rest);
    if (header_.field == mm_field::integer && parse_integer(word).status == number_status::malformed) {
      fail_value(word, "is not an integer");
    }
    const auto number = parse_real<decltype(std::real(Value{}))>(word);
    if (number.status != number_status::ok) {
      fail_value(word, number.status == number_status::malformed ? "is not a number"
                                                                 : "is too large for the type of the values");
    }
    return number.value;
  }

  [[noreturn]] void fail_value(std::string_view word, const char* what) const {
    text_.fail(word.empty() ? "the value is missing or incomplete" : "value " + quoted(word) + " " + what);
  }

  matrix_market_text& text_;
  const matrix_market_header& header_;
  const matrix_market_options& options_;
  bool mirror_;
  std::int64_t array_row_ = 0;  // of the next value of an array file
  std::int64_t array_column_ = 0;
  coordinate_matrix<Value, Index> matrix_;
};

}  // namespace sptrsv_common::detail
