// Included before everything else in programs with planted errors (planted_errors.py).
#pragma once

#include <cstdlib>

namespace sptrsv::planted {

/// Returns whether the error with this number is switched on.
inline bool is_on(int number) {
  static const int chosen = [] {
    const char* const text = std::getenv("SPTRSV_PLANTED_ERROR");
    return text != nullptr ? std::atoi(text) : 0;
  }();
  return chosen == number;
}

}  // namespace sptrsv::planted
