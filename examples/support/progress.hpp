// Progress of long work, on one line of stderr that is overwritten.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace sptrsv_examples {

/// Whether somebody is watching stderr.
inline bool stderr_is_terminal() {
#if __has_include(<unistd.h>)
  return isatty(STDERR_FILENO) != 0;
#else
  return false;
#endif
}

class progress_line {
 public:
  explicit progress_line(bool shown) : shown_(shown) {}
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;  // there is one such line on a terminal
  progress_line& operator=(const progress_line&) = delete;

  /// Shows what is being done now.
  void begin(const std::string& what) {
    what_ = what;
    show(what_ + " ...");
  }

  /// Shows how far it is, not more often than an eye can follow.
  void update(std::int64_t done, std::int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (total > 0 && (done == total || now - last_update_ > std::chrono::milliseconds(100))) {
      last_update_ = now;
      show(what_ + " ... " + std::to_string(100 * done / total) + " %");
    }
  }

  /// Leaves the line empty, for other output.
  void clear() const {
    if (shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }

 private:
  void show(const std::string& line) const {
    if (shown_) {
      std::fprintf(stderr, "\r\033[K%s", line.c_str());
      std::fflush(stderr);
    }
  }

  bool shown_;
  std::string what_;
  std::chrono::steady_clock::time_point last_update_{};
};

}  // namespace sptrsv_examples
