// SPDX-License-Identifier: Apache-2.0
// The lines and words of Matrix Market text, and errors that name the line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/matrix_market/byte_streams.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv_common::detail {

/// Takes the first word off the rest of a line; it is empty if there is none. A '\r' ends a word and is no
/// blank: it is allowed at the end of a line only.
inline std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::size_t length = 0;  // a loop: find_first_of() takes longer for words of a few characters
  while (length < rest.size() && rest[length] != ' ' && rest[length] != '\t' && rest[length] != '\r') {
    ++length;
  }
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

/// Returns whether the rest of the line is white space or a comment.
inline bool is_end(std::string_view rest) {
  const std::size_t next = rest.find_first_not_of(" \t\r");
  return next == std::string_view::npos || rest[next] == '%';
}

/// Returns a word in quotes for a message, printable and shortened.
inline std::string quoted(std::string_view word) {
  constexpr std::size_t max_length = 40;
  std::string text = "'";
  for (const char c : word.substr(0, max_length)) {
    text += c > ' ' && c <= '~' ? c : '?';
  }
  return text + (word.size() <= max_length ? "'" : "...'");
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
        block_(new char[block_bytes]),
        next_(block_.get()),
        end_(block_.get()) {}

  /// Sets `line` to the next line, which is valid until the next call. Returns false at the end of the text.
  /// Throws `parse_error` if the line is too long.
  bool next_line(std::string_view& line) {
    const char* line_end = find(line_end_);
    if (line_end == nullptr && refill()) {
      line_end = find(line_end_);
    }
    ++number_;  // also at the end of the text: errors about missing text name this line
    if (line_end == nullptr) {
      if (static_cast<std::size_t>(end_ - next_) == block_bytes) {
        throw sptrsv::parse_error("the line is longer than " + std::to_string(block_bytes) + " characters",
                                  number_);
      }
      line_end = end_;
    }
    line = {next_, static_cast<std::size_t>(line_end - next_)};
    const bool is_line = next_ != end_;
    next_ = line_end == end_ ? end_ : line_end + 1;
    return is_line;
  }

  /// Does the same with the next line that is neither blank nor a comment.
  bool next_content(std::string_view& line) {
    while (next_line(line)) {
      if (!is_end(line)) {
        return true;
      }
    }
    return false;
  }

  /// Returns whether nothing follows but comments, white space, and what fills the last block of a file in
  /// old systems: Ctrl-Z and null characters.
  bool ends_here() {
    std::string_view line;
    while (next_content(line)) {
      line.remove_prefix(line.find_first_not_of(" \t"));
      line.remove_prefix(std::min(line.find_first_not_of(std::string_view("\0\x1A", 2)), line.size()));
      if (!is_end(line)) {
        return false;
      }
    }
    return true;
  }

  /// Throws `parse_error` if the rest of the line is neither white space nor a comment.
  void expect_end(std::string_view rest) const {
    if (!is_end(rest)) {
      fail("unexpected " + quoted(take_word(rest)) + " at the end of the line");
    }
  }

  /// Returns the approximate size of the text in bytes, if it is known.
  [[nodiscard]] std::optional<std::uint64_t> size_hint() const { return source_.size; }

  /// Throws `parse_error` for the current line.
  [[noreturn]] void fail(const std::string& message) const {
    throw sptrsv::parse_error(message + file(), number_);
  }
  /// Throws `error` with errc::unsupported.
  [[noreturn]] void refuse(const std::string& message) const {
    throw sptrsv::error(sptrsv::errc::unsupported, message + file());
  }

 private:
  [[nodiscard]] std::string file() const { return name_.empty() ? "" : " (in '" + name_ + "')"; }

  [[nodiscard]] const char* find(char c) const {
    return static_cast<const char*>(std::memchr(next_, c, static_cast<std::size_t>(end_ - next_)));
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
  const char* next_;  ///< the first byte after the latest line
  const char* end_;
  std::int64_t number_ = 0;  ///< of the latest line, counted from 1
  char line_end_ = '\n';
};

}  // namespace sptrsv_common::detail
