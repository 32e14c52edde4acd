// How much the suites try: all, or in a quick run (SPTRSV_QUICK=1, as scripts/test.sh sets it) a part of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace sptrsv::testing {

/// Returns the number in an environment variable, or `otherwise` if the variable is not set.
inline std::uint64_t environment_number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

inline bool is_quick() { return environment_number("SPTRSV_QUICK", 0) != 0; }

/// Returns how many of `all` schedules or random systems a test tries; at least two, if there are as many.
inline std::uint64_t trials(std::uint64_t all) {
  return is_quick() ? std::min(all, std::max<std::uint64_t>(all / 8, 2)) : all;
}

/// Returns the forms of a matrix that a test tries in its turn `turn`: all, or every fifth of them.
template <class Form>
std::vector<Form> tried(const std::vector<Form>& all, std::size_t turn = 0) {
  if (!is_quick()) {
    return all;
  }
  std::vector<Form> some;
  for (std::size_t k = turn % 5; k < all.size(); k += 5) {
    some.push_back(all[k]);
  }
  return some;
}

}  // namespace sptrsv::testing
