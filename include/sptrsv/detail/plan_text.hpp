// What a plan says of the times that it was made by.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace sptrsv::detail {

/// `name` and the time in milliseconds.
inline std::string predicted_time(const std::string& name, double nanoseconds) {
  std::array<char, 32> milliseconds{};
  std::snprintf(milliseconds.data(), milliseconds.size(), " %.3g ms", nanoseconds * 1e-6);
  return name + milliseconds.data();
}

}  // namespace sptrsv::detail
