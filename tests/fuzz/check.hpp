// What the fuzzers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace sptrsv::fuzz {

/// Ends the process with a message if `condition` is false; libFuzzer then stores the input.
inline void check(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "fuzz: not true: %s\n", what);
    std::abort();
  }
}

/// Reads an input from its front. An input that is too short goes on with zeros.
class input_reader {
 public:
  input_reader(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) {
      return 0;
    }
    --size_;
    return *data_++;
  }
  /// Returns a number in [0, bound); bound <= 256.
  int below(int bound) { return byte() % bound; }
  bool coin() { return byte() % 2 != 0; }
  /// Returns a small number in most cases, else an extreme one.
  std::int64_t number() {
    const auto small = static_cast<std::int8_t>(byte());
    switch (small) {
      case 127:
        return std::numeric_limits<std::int64_t>::max();
      case 126:
        return std::numeric_limits<std::int32_t>::max();
      case 125:
        return std::int64_t{1} << 32;
      case -127:
        return std::numeric_limits<std::int32_t>::min();
      case -128:
        return std::numeric_limits<std::int64_t>::min();
      default:
        return small;
    }
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace sptrsv::fuzz
