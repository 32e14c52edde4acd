// Shows the progress of long work on one line of stderr, which each update overwrites.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace sptrsv_common {

/// Returns whether stderr is a terminal.
inline bool stderr_is_terminal() {
#if __has_include(<unistd.h>)
  return isatty(STDERR_FILENO) != 0;
#else
  return false;
#endif
}

/// The line of stderr that shows the progress.
class progress_line {
 public:
  /// `shown`: false to print nothing.
  explicit progress_line(bool shown) : shown_(shown) {}
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;  // a terminal has one such line
  progress_line& operator=(const progress_line&) = delete;

  /// Shows what the program does now.
  void begin(const std::string& what) {
    what_ = what;
    show(what_ + " ...");
  }

  /// Shows the finished part in percent, at most ten times a second.
  void update(std::int64_t done, std::int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (total > 0 && (done == total || now - last_update_ > std::chrono::milliseconds(100))) {
      last_update_ = now;
      show(what_ + " ... " + std::to_string(100 * done / total) + " %");
    }
  }

  /// Clears the line so that other output can follow.
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

}  // namespace sptrsv_common
