// SPDX-License-Identifier: Apache-2.0
// The first lines of Matrix Market files: banner, comments and size line.
// Boisvert, Pozo, Remington: "The Matrix Market exchange formats: initial design", NISTIR 5935, 1996.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "common/matrix_market/matrix_market_text.hpp"
#include "common/matrix_market/matrix_market_types.hpp"
#include "common/matrix_market/number.hpp"
#include "sptrsv/detail/base/name_table.hpp"

namespace sptrsv_common::detail {

/// Parses the header.
class matrix_market_header_parser {
 public:
  explicit matrix_market_header_parser(matrix_market_text& text) : text_(text) {}

  /// Parses the text from the first line to the size line. Throws `parse_error`.
  matrix_market_header parse() {
    parse_banner();
    parse_size_line();
    return header_;
  }

 private:
  /// Returns a word in lower case.
  static std::string lower(std::string_view word) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
  }

  /// Returns the choice that the next word of the banner names. Throws `parse_error` if it is none of
  /// `choices`.
  template <class Choice, std::size_t Count>
  Choice choose(std::string_view& rest, const std::string& what,
                const sptrsv::detail::name_table<Choice, Count>& choices) {
    const std::string_view word = take_word(rest);
    Choice chosen{};
    if (choices.find(lower(word), chosen)) {
      return chosen;
    }
    std::string names;
    for (const auto& [choice, name] : choices.names) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    text_.fail(word.empty() ? "the banner ends before the " + what
                            : "the " + what + " " + quoted(word) + " is not supported; supported: " + names);
  }

  /// Throws `parse_error`, which names what the text seems to be.
  [[noreturn]] void fail_banner(std::string_view line) const {
    const std::string_view mark = line.substr(0, 2);
    if (mark == "\xFF\xFE" || mark == "\xFE\xFF") {
      text_.fail("the text is UTF-16; a Matrix Market file is ASCII or UTF-8");
    }
    if (line.size() > 262 && line.substr(257, 5) == "ustar") {
      text_.fail("this is a tar archive; extract the Matrix Market file first");
    }
    text_.fail("a Matrix Market file starts with '%%MatrixMarket'");
  }

  /// Parses the first line, which may start with the byte order mark of UTF-8.
  void parse_banner() {
    std::string_view text;
    text_.next_line(text);
    const std::string_view line = text;
    text.remove_prefix(line.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0);
    if (lower(take_word(text)) != "%%matrixmarket") {
      fail_banner(line);
    }
    constexpr sptrsv::detail::name_table<bool, 2> objects{{{{false, "matrix"}, {true, "vector"}}}};
    constexpr sptrsv::detail::name_table<mm_format, 1> of_vectors{{{{mm_format::array, "array"}}}};
    constexpr sptrsv::detail::name_table<mm_format, 2> formats{
        {{{mm_format::coordinate, "coordinate"}, {mm_format::array, "array"}}}};
    constexpr sptrsv::detail::name_table<mm_field, 6> fields{{{{mm_field::real, "real"},
                                                               {mm_field::real, "double"},
                                                               {mm_field::integer, "integer"},
                                                               {mm_field::integer, "unsigned-integer"},
                                                               {mm_field::complex, "complex"},
                                                               {mm_field::pattern, "pattern"}}}};
    is_vector_ = choose(text, "object", objects);
    header_.format = is_vector_ ? choose(text, "format", of_vectors) : choose(text, "format", formats);
    header_.field = choose(text, "field", fields);
    header_.symmetry = choose(text, "symmetry", symmetry_names);
    text_.expect_end(text);
    if (header_.field == mm_field::pattern && header_.symmetry == mm_symmetry::skew_symmetric) {
      text_.fail("a pattern has no values, so it cannot be skew-symmetric");
    }
    if (header_.field == mm_field::pattern && header_.format == mm_format::array) {
      text_.fail("a pattern has no values, so it cannot be an array");
    }
  }

  void parse_size_line() {
    std::string_view text;
    if (!text_.next_content(text)) {
      text_.fail("the file ends before the size line");
    }
    header_.rows = parse_count(text, "number of rows");
    header_.cols = is_vector_ ? 1 : parse_count(text, "number of columns");
    header_.entries =
        header_.format == mm_format::array ? count_of_array() : parse_count(text, "number of entries");
    text_.expect_end(text);
    if (header_.symmetry != mm_symmetry::general && is_vector_) {
      text_.fail("a vector cannot be symmetric, skew-symmetric or hermitian");
    }
    if (header_.symmetry != mm_symmetry::general && header_.rows != header_.cols) {
      text_.fail("a matrix of " + std::to_string(header_.rows) + " x " + std::to_string(header_.cols) +
                 " is not square and cannot be symmetric, skew-symmetric or hermitian");
    }
  }

  /// Returns the number of values of an array file, which leaves out those above the diagonal of a symmetric
  /// matrix, and the diagonal of a skew-symmetric one.
  [[nodiscard]] std::int64_t count_of_array() const {
    const std::int64_t rows = header_.rows;
    if (header_.cols > 0 && rows > std::numeric_limits<std::int64_t>::max() / header_.cols) {
      text_.fail("the number of values of an array of " + std::to_string(rows) + " x " +
                 std::to_string(header_.cols) + " does not fit 64 bits");
    }
    switch (header_.symmetry) {
      case mm_symmetry::general:
        return rows * header_.cols;
      case mm_symmetry::skew_symmetric:
        return rows * header_.cols / 2 - rows / 2;
      default:
        return rows * header_.cols / 2 + (rows + 1) / 2;
    }
  }

  std::int64_t parse_count(std::string_view& rest, const std::string& what) {
    const std::string_view word = take_word(rest);
    const auto count = parse_integer(word);
    if (word.empty()) {
      text_.fail("the size line ends before the " + what);
    }
    const char* const fault = count.status == number_status::malformed  ? " is not an integer"
                              : word.front() == '-'                     ? " is negative"
                              : count.status == number_status::overflow ? " does not fit 64 bits"
                                                                        : nullptr;
    if (fault != nullptr) {
      text_.fail("the " + what + " " + quoted(word) + fault);
    }
    return count.value;
  }

  matrix_market_text& text_;
  matrix_market_header header_;
  bool is_vector_ = false;
};

}  // namespace sptrsv_common::detail
