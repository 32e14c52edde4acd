// The cost model of the row_per_thread path.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sptrsv::detail::dataflow::row_per_thread {

/// Returns the predicted time of a solve in nanoseconds: the launch, the levels, and the bytes of the
/// `entries` (without the diagonal) and of the rows. The scalars of further right-hand sides, which are
/// stored by columns, mostly lie in memory sectors of their own.
template <class Tuning>
double solve_nanoseconds(std::int64_t rows, std::int64_t entries, std::int64_t levels,
                         std::size_t scalar_bytes, std::size_t index_bytes, std::int64_t max_rhs) {
  const auto further = static_cast<double>(max_rhs - 1);
  const double level =
      Tuning::row_per_thread_level_ns * (1 + Tuning::row_per_thread_further_rhs_level * further);
  const double row_scalars = 4 + Tuning::row_per_thread_further_rhs_scalars * further;
  const double bytes = static_cast<double>(entries) * static_cast<double>(scalar_bytes + index_bytes) +
                       static_cast<double>(rows) * row_scalars * static_cast<double>(scalar_bytes);
  return Tuning::row_per_thread_launch_ns + static_cast<double>(levels) * level +
         bytes * Tuning::row_per_thread_byte_ns;
}

}  // namespace sptrsv::detail::dataflow::row_per_thread
