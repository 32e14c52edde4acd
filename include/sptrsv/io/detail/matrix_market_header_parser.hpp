// The first lines of Matrix Market coordinate files: banner, comments and size line.
// Boisvert, Pozo, Remington: "The Matrix Market exchange formats: initial design", NISTIR 5935, 1996.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/io/detail/matrix_market_text.hpp"
#include "sptrsv/io/detail/number.hpp"
#include "sptrsv/io/matrix_market_types.hpp"

namespace sptrsv::detail {

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
  /// Returns the next word in lower case; empty at the end of the line.
  static std::string next_word(const char*& text) {
    text = skip_blanks(text);
    std::string word;
    for (; !ends_word(*text); ++text) {
      word += *text >= 'A' && *text <= 'Z' ? static_cast<char>(*text - 'A' + 'a') : *text;
    }
    return word;
  }

  /// Returns the choice that the next word of the banner names. Throws `parse_error` if it is none of
  /// `choices`.
  template <class Choice>
  Choice choose(const char*& text, const char* what,
                const std::vector<std::pair<const char*, Choice>>& choices) {
    const char* const first = skip_blanks(text);
    const std::string word = next_word(text);
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (word == name) {
        return choice;
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    text_.fail(word.empty() ? std::string("the banner ends before the ") + what
                            : std::string("the ") + what + " " + quoted(first) +
                                  " is not supported; supported: " + names);
  }

  void parse_banner() {
    const char* text = text_.next_line();
    if (text == nullptr || next_word(text) != "%%matrixmarket") {
      text_.fail("a Matrix Market file starts with '%%MatrixMarket'");
    }
    choose<int>(text, "object", {{"matrix", 0}});
    choose<int>(text, "format", {{"coordinate", 0}});
    header_.field = choose<mm_field>(text, "field",
                                     {{"real", mm_field::real},
                                      {"double", mm_field::real},
                                      {"integer", mm_field::integer},
                                      {"complex", mm_field::complex},
                                      {"pattern", mm_field::pattern}});
    header_.symmetry = choose<mm_symmetry>(text, "symmetry",
                                           {{"general", mm_symmetry::general},
                                            {"symmetric", mm_symmetry::symmetric},
                                            {"skew-symmetric", mm_symmetry::skew_symmetric},
                                            {"hermitian", mm_symmetry::hermitian}});
    text_.expect_end(text);
    if (header_.field == mm_field::pattern && header_.symmetry == mm_symmetry::skew_symmetric) {
      text_.fail("a pattern has no values, so it cannot be skew-symmetric");
    }
  }

  void parse_size_line() {
    const char* text = text_.next_content();
    if (text == nullptr) {
      text_.fail("the file ends before the size line");
    }
    header_.rows = parse_count(text, "number of rows");
    header_.cols = parse_count(text, "number of columns");
    header_.entries = parse_count(text, "number of entries");
    text_.expect_end(text);
    if (header_.symmetry != mm_symmetry::general && header_.rows != header_.cols) {
      text_.fail("a matrix of " + std::to_string(header_.rows) + " x " + std::to_string(header_.cols) +
                 " is not square and cannot be symmetric, skew-symmetric or hermitian");
    }
  }

  std::int64_t parse_count(const char*& text, const char* what) {
    const char* const word = skip_blanks(text);
    const auto count = parse_integer(word);
    if (ends_line(*word)) {
      text_.fail(std::string("the size line ends before the ") + what);
    }
    if (count.status == number_status::malformed || !ends_word(*count.end)) {
      text_.fail(std::string("the ") + what + " " + quoted(word) + " is not an integer");
    }
    if (count.value < 0 || *word == '-') {
      text_.fail(std::string("the ") + what + " " + quoted(word) + " is negative");
    }
    if (count.status == number_status::overflow) {
      text_.fail(std::string("the ") + what + " " + quoted(word) + " does not fit 64 bits");
    }
    text = count.end;
    return count.value;
  }

  matrix_market_text& text_;
  matrix_market_header header_;
};

}  // namespace sptrsv::detail
