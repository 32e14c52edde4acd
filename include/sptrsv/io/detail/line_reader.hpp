// Reads a text line by line, in blocks of a fixed size: the memory does not grow with the text. Lines end
// with
// '\n', or with '\r' if the first block holds no '\n'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_source.hpp"

namespace sptrsv::detail {

/// Reads a text line by line.
class line_reader {
 public:
  /// Size of a block; fits the L2 cache. Longer lines are errors (the Matrix Market format allows 1024
  /// characters).
  static constexpr std::size_t block_bytes = std::size_t{1} << 18;

  explicit line_reader(byte_source& source)
      : source_(source), block_(new char[block_bytes + 1]), next_(block_.get()), end_(block_.get()) {}

  /// Returns the next line, valid until the next call; null at the end of the text. Every line ends with
  /// '\n', also the last one if the text does not end with it, so that a parser needs no other bound. Throws
  /// `parse_error` if the line is too long.
  const char* next_line() {
    char* line_end = find_line_end();
    if (line_end == nullptr && refill()) {
      line_end = find_line_end();
    }
    ++number_;  // also at the end of the text: errors about missing text name this line
    if (line_end == nullptr) {
      return last_line();
    }
    *line_end = '\n';
    const char* const line = next_;
    next_ = line_end + 1;
    return line;
  }

  /// Returns the number of the latest line, counted from 1.
  [[nodiscard]] std::int64_t number() const noexcept { return number_; }

 private:
  [[nodiscard]] char* find_line_end() const { return find(line_end_); }
  [[nodiscard]] char* find(char c) const {
    return static_cast<char*>(std::memchr(next_, c, static_cast<std::size_t>(end_ - next_)));
  }

  // Moves the beginning of a line to the front of the block and fills the rest of the block.
  bool refill() {
    const auto carried = static_cast<std::size_t>(end_ - next_);
    std::memmove(block_.get(), next_, carried);
    const std::size_t count = source_.read(block_.get() + carried, block_bytes - carried);
    next_ = block_.get();
    end_ = block_.get() + carried + count;
    if (number_ == 0 && find('\n') == nullptr) {
      line_end_ = '\r';
    }
    return count > 0;
  }

  const char* last_line() {
    if (static_cast<std::size_t>(end_ - next_) == block_bytes) {
      throw parse_error("the line is longer than " + std::to_string(block_bytes) + " characters", number_);
    }
    if (next_ == end_) {
      return nullptr;
    }
    *end_++ = '\n';
    const char* const line = next_;
    next_ = end_;
    return line;
  }

  byte_source& source_;
  std::unique_ptr<char[]> block_;
  char* next_;  // the first byte after the latest line
  char* end_;
  std::int64_t number_ = 0;
  char line_end_ = '\n';
};

}  // namespace sptrsv::detail
