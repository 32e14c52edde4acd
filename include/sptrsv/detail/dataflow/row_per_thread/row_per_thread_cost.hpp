// SPDX-License-Identifier: Apache-2.0
// The cost model of the row_per_thread path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

/// The nanoseconds of the parts of a solve: launch, level, bytes of a row and of an entry (not the diagonal).
struct solve_costs {
  double launch;
  double level;
  double row;
  double entry;

  /// Returns the costs of a solve with `max_rhs` right-hand sides. The scalars of further right-hand sides,
  /// which are stored by columns, mostly lie in memory sectors of their own.
  template <class Tuning>
  static solve_costs of(std::size_t scalar_bytes, std::size_t index_bytes, std::int64_t max_rhs) {
    const auto further = static_cast<double>(max_rhs - 1);
    const double row_scalars = 4 + Tuning::row_per_thread_further_rhs_scalars * further;
    return {Tuning::row_per_thread_launch_ns,
            Tuning::row_per_thread_level_ns * (1 + Tuning::row_per_thread_further_rhs_level * further),
            row_scalars * static_cast<double>(scalar_bytes) * Tuning::row_per_thread_byte_ns,
            static_cast<double>(scalar_bytes + index_bytes) * Tuning::row_per_thread_byte_ns};
  }

  /// Returns the predicted time of a solve.
  [[nodiscard]] SPTRSV_HOST_DEVICE double nanoseconds(double rows, double entries, double levels) const {
    return launch + levels * level + rows * row + entries * entry;
  }
  /// Returns the predicted time for a system that was rewritten by levels. Most components that its rows need
  /// are recent, so each batch of a row takes a trip to the L2 cache behind the last level.
  template <class Tuning>
  [[nodiscard]] double rewritten_nanoseconds(double rows, double entries, double levels) const {
    const double batches = std::max(1.0, entries / (rows * 2 * Tuning::entries_at_once));
    return nanoseconds(rows, entries, batches * levels);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
