// Command lines: `program [--option [value]]... [file]`.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>

namespace sptrsv_examples {

/// A command line that cannot be understood; `what()` is one sentence.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The arguments of a program, taken one after the other.
class argument_list {
 public:
  argument_list(int argc, char** argv) : left_(argv + 1, argv + argc) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }

  std::string take() {
    std::string first = left_.front();
    left_.pop_front();
    return first;
  }

  /// The value that follows `option`.
  std::string value_of(const std::string& option) {
    if (left_.empty()) {
      throw usage_error(option + " takes a value");
    }
    return take();
  }

  /// The same, a number in [low, high].
  std::int64_t number_of(const std::string& option, std::int64_t low, std::int64_t high) {
    const std::string text = value_of(option);
    char* end = nullptr;
    const std::int64_t number = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || number < low || number > high) {
      throw usage_error(option + " takes a number from " + std::to_string(low) + " to " +
                        std::to_string(high) + ", not '" + text + "'");
    }
    return number;
  }

 private:
  std::deque<std::string> left_;
};

}  // namespace sptrsv_examples
