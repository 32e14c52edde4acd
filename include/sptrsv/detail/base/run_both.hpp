// Work of the host for two systems at the same time.
#pragma once

#include <cstdint>
#include <exception>

namespace sptrsv::detail {

/// Entries of two systems together whose analyses take a few times as long as the start of a thread.
inline constexpr std::int64_t many_entries = 20'000;

/// Calls both functions: at the same time if OpenMP has two threads for it, else one after the other. If both
/// throw, the exception of the first one is passed on. `is_long`: whether the calls take much longer than the
/// start of a thread. Threads of OpenMP have a current device of their own, so the functions call no CUDA.
template <class First, class Second>
void run_both([[maybe_unused]] bool is_long, const First& first, const Second& second) {
#ifdef _OPENMP
  if (is_long) {
    std::exception_ptr failures[2];
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 2; ++i) {
      try {
        i == 0 ? first() : second();
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
    for (const std::exception_ptr& failure : failures) {
      if (failure) {
        std::rethrow_exception(failure);
      }
    }
    return;
  }
#endif
  first();
  second();
}

}  // namespace sptrsv::detail
