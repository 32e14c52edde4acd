// Work of the host for two systems at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/host_team.hpp"

namespace sptrsv::detail {

/// Entries of two systems together whose analyses take a few times as long as the start of a thread.
inline constexpr std::int64_t many_entries = 20'000;

/// Calls both functions: at the same time if a second thread is allowed and free, else one after the other.
/// If both throw, the exception of the first one is passed on. `is_long`: whether the calls take much longer
/// than the start of a thread. A helper has a current device of its own, so the functions call no CUDA.
template <class First, class Second>
void run_both(bool is_long, const First& first, const Second& second) {
  for_each_taken(2, is_long ? 2 : 1, [&](std::int64_t k, std::size_t) { k == 0 ? first() : second(); });
}

}  // namespace sptrsv::detail
