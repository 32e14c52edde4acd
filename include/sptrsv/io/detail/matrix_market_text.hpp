// SPDX-License-Identifier: Apache-2.0
// The lines and words of Matrix Market text, and errors that name the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_source.hpp"

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

/// Reads a Matrix Market text line by line, in blocks of a fixed size: the memory does not grow with the
/// text. Lines end with '\n', or with '\r' if the first block holds no '\n'.
class matrix_market_text {
 public:
  /// Size of a block; fits the L2 cache. Longer lines are errors (the format allows 1024 characters).
  static constexpr std::size_t block_bytes = std::size_t{1} << 18;

  /// `name` is added to messages if it is not empty.
  matrix_market_text(byte_source source, std::string name)
      : source_(std::move(source)),
        name_(std::move(name)),
        block_(new char[block_bytes + 1]),
        next_(block_.get()),
        end_(block_.get()) {}

  /// Returns the next line, valid until the next call; null at the end of the text. Every line ends with
  /// '\n', also the last one if the text does not end with it, so that a parser needs no other bound. Throws
  /// `parse_error` if the line is too long.
  const char* next_line() {
    char* line_end = find(line_end_);
    if (line_end == nullptr && refill()) {
      line_end = find(line_end_);
    }
    ++number_;  // also at the end of the text: errors about missing text name this line
    if (line_end == nullptr) {
      if (static_cast<std::size_t>(end_ - next_) == block_bytes) {
        throw parse_error("the line is longer than " + std::to_string(block_bytes) + " characters", number_);
      }
      if (next_ == end_) {
        return nullptr;
      }
      line_end = end_++;
    }
    *line_end = '\n';
    return std::exchange(next_, line_end + 1);
  }

  /// Returns the next line that is neither blank nor a comment, without leading blanks; null at the end of
  /// the text.
  const char* next_content() {
    const char* line = next_line();
    while (line != nullptr) {
      line = skip_blanks(line);
      if (!is_end(line)) {
        break;
      }
      line = next_line();
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
  [[nodiscard]] std::optional<std::uint64_t> size_hint() const { return source_.size; }

  /// Throws `parse_error` for the current line.
  [[noreturn]] void fail(const std::string& message) const { throw parse_error(message + file(), number_); }
  /// Throws `error` with errc::unsupported.
  [[noreturn]] void refuse(const std::string& message) const {
    throw error(errc::unsupported, message + file());
  }

 private:
  [[nodiscard]] std::string file() const { return name_.empty() ? "" : " (in '" + name_ + "')"; }

  [[nodiscard]] char* find(char c) const {
    return static_cast<char*>(std::memchr(next_, c, static_cast<std::size_t>(end_ - next_)));
  }
  /// Moves the beginning of a line to the front of the block and fills the rest of the block.
  bool refill() {
    const auto carried = static_cast<std::size_t>(end_ - next_);
    std::memmove(block_.get(), next_, carried);
    const std::size_t count = source_.read(block_.get() + carried, block_bytes - carried);
    next_ = block_.get();
    end_ = next_ + carried + count;
    if (number_ == 0 && find('\n') == nullptr) {
      line_end_ = '\r';
    }
    return count > 0;
  }

  byte_source source_;
  std::string name_;
  std::unique_ptr<char[]> block_;
  char* next_;  ///< the first byte after the latest line
  char* end_;
  std::int64_t number_ = 0;  ///< of the latest line, counted from 1
  char line_end_ = '\n';
};

}  // namespace sptrsv::detail
