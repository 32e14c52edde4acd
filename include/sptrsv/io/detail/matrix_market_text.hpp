// The lines and words of Matrix Market text, and errors that name the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_source.hpp"
#include "sptrsv/io/detail/line_reader.hpp"

namespace sptrsv::detail {

// A '\r' is allowed at the end of a line only.
inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
inline bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }
inline bool ends_word(char c) noexcept { return is_blank(c) || ends_line(c); }

/// Returns the first character that is not a blank.
inline const char* skip_blanks(const char* text) noexcept {
  while (is_blank(*text)) {
    ++text;
  }
  return text;
}

/// Returns whether the rest of the line is white space or a comment.
inline bool is_end(const char* text) noexcept {
  while (*text != '\n' && ends_word(*text)) {
    ++text;
  }
  return *text == '\n' || *text == '%';
}

/// Returns the word at `text` in quotes for a message, printable and shortened.
inline std::string quoted(const char* text) {
  constexpr std::size_t max_length = 40;
  std::string word = "'";
  for (; !ends_word(*text) && word.size() <= max_length; ++text) {
    word += *text > ' ' && *text <= '~' ? *text : '?';
  }
  return word + (ends_word(*text) ? "'" : "...'");
}

/// Reads a Matrix Market text line by line.
class matrix_market_text {
 public:
  /// `name` is added to messages if it is not empty.
  matrix_market_text(byte_source& source, std::string name)
      : reader_(source), size_hint_(source.size_hint()), name_(std::move(name)) {}

  /// Returns the next line, which always ends with '\n'; null at the end of the text.
  const char* next_line() { return reader_.next_line(); }

  /// Returns the next line that is neither blank nor a comment, without leading blanks; null at the end of
  /// the text.
  const char* next_content() {
    const char* line = reader_.next_line();
    while (line != nullptr) {
      line = skip_blanks(line);
      if (!is_end(line)) {
        break;
      }
      line = reader_.next_line();
    }
    return line;
  }

  /// Returns whether nothing follows but comments, white space, and what fills the last block of a file in
  /// old systems: Ctrl-Z and null characters.
  bool ends_here() {
    const char* text = next_content();
    while (text != nullptr) {
      while (*text == '\0' || *text == '\x1A') {
        ++text;
      }
      if (!is_end(text)) {
        return false;
      }
      text = next_content();
    }
    return true;
  }

  /// Throws `parse_error` if the rest of the line is neither white space nor a comment.
  void expect_end(const char* text) const {
    if (!is_end(text)) {
      fail("unexpected " + quoted(skip_blanks(text)) + " at the end of the line");
    }
  }

  /// Returns the approximate size of the text in bytes, if it is known.
  [[nodiscard]] std::optional<std::uint64_t> size_hint() const { return size_hint_; }

  /// Throws `parse_error` for the current line.
  [[noreturn]] void fail(const std::string& message) const {
    throw parse_error(message + file(), reader_.number());
  }
  /// Throws `error` with errc::unsupported.
  [[noreturn]] void refuse(const std::string& message) const {
    throw error(errc::unsupported, message + file());
  }

 private:
  [[nodiscard]] std::string file() const { return name_.empty() ? "" : " (in '" + name_ + "')"; }

  line_reader reader_;
  std::optional<std::uint64_t> size_hint_;
  std::string name_;
};

}  // namespace sptrsv::detail
