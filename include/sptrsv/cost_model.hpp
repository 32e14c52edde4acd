// SPDX-License-Identifier: Apache-2.0
// Cost models: the time that a policy is predicted to take for a solve, by which policy::automatic chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The properties of a system that cost models use. T is the triangle that is solved, op(T) its transpose if
/// the system is transposed.
struct system_profile {
  std::int64_t rows = 0;            ///< rows of T
  std::int64_t entries = 0;         ///< entries of T, with the diagonal
  std::int64_t levels = 0;          ///< rows on the longest chain of dependent rows
  std::int64_t longest_row = 0;     ///< entries of the longest row of op(T), without the diagonal
  std::int64_t longest_column = 0;  ///< entries of the longest column of op(T), without the diagonal
  std::int64_t rhs = 1;             ///< right-hand sides of one solve: system_options::max_rhs
  std::size_t value_bytes = 0;      ///< size of a real or complex value
  std::size_t index_bytes = 0;      ///< size of an index
  std::size_t offset_bytes = 0;     ///< size of an offset
  /// Width of the supernodes of a complete factor, from a sample: how many columns of the same supernode
  /// follow the column of an entry, on average over the entries, each count rounded down to a power of two,
  /// at most 256. 0 if the mean is below 16, if the sample shows that T is no complete factor, if the rows
  /// (columns) of the stored matrix do not ascend, and on the host. If it is not 0, the levels are estimated,
  /// and the longest row and column are not counted.
  double supernode_columns = 0;
};

/// The cost model of a policy. Specialise it with a static member function
///
///     static double nanoseconds(const Policy&, const system_profile&);
///
/// for a policy that is to be one of several candidates of policy::automatic. The function returns the
/// predicted time of one solve in nanoseconds; only the order of the times of the candidates counts. Infinity
/// means that the policy is not chosen if another candidate has a finite time. The function is first called
/// with a profile whose levels and longest row and column are not counted: a time that is infinite then is
/// infinite for the system. The library has models for its own policies, except sync_free_column, scheme,
/// column_block, row_block, host_serial and host_parallel.
template <class Policy>
struct cost_model {};

/// Tells whether `Policy` has a cost model; false unless cost_model<Policy> has the function `nanoseconds`.
template <class Policy, class = void>
inline constexpr bool has_cost_model = false;
/// Tells whether `Policy` has a cost model; true, because cost_model<Policy> has the function `nanoseconds`.
template <class Policy>
inline constexpr bool
    has_cost_model<Policy, std::void_t<decltype(cost_model<Policy>::nanoseconds(
                               std::declval<const Policy&>(), std::declval<const system_profile&>()))>> =
        true;

/// Returns the predicted time of one solve in nanoseconds. Does not compile for a policy without a
/// cost_model.
template <class Policy>
double predicted_nanoseconds(const Policy& policy, const system_profile& system) {
  static_assert(has_cost_model<Policy>,
                "this policy has no cost model and cannot be one of several candidates of "
                "policy::automatic; specialise sptrsv::cost_model for it (sptrsv/cost_model.hpp)");
  if constexpr (has_cost_model<Policy>) {
    return cost_model<Policy>::nanoseconds(policy, system);
  } else {
    return 0;
  }
}

/// A time that is linear in its constants; `benchmarks/python fit-costs` fits them to measured times. All
/// constants are in nanoseconds.
struct linear_cost {
  double launch;       ///< for each solve
  double level;        ///< for each level
  double level_entry;  ///< for each level and average number of entries of a row, without the diagonal
  double byte;         ///< for each byte of the matrix, b and x
  double long_entry;   ///< for each entry of the longest row

  /// Right-hand sides that share one sweep over the matrix; further right-hand sides need further sweeps.
  static constexpr std::int64_t rhs_per_sweep = 4;

  /// Returns the predicted time of one solve in nanoseconds.
  [[nodiscard]] constexpr double operator()(const system_profile& s) const {
    const auto sweeps = static_cast<double>((s.rhs + rhs_per_sweep - 1) / rhs_per_sweep);
    const auto rows = static_cast<double>(s.rows);
    const auto entries = static_cast<double>(s.entries);
    const auto levels = static_cast<double>(s.levels);
    const double row_entries = s.rows == 0 ? 0 : (entries - rows) / rows;
    const double matrix_bytes = entries * static_cast<double>(s.value_bytes + s.index_bytes) +
                                rows * static_cast<double>(s.offset_bytes);
    const double vector_bytes = 3 * rows * static_cast<double>(s.rhs) * static_cast<double>(s.value_bytes);
    return launch +
           sweeps * (levels * (level + level_entry * row_entries) +
                     long_entry * static_cast<double>(s.longest_row)) +
           byte * (sweeps * matrix_bytes + vector_bytes);
  }
};

/// Base of a cost_model for a policy that chooses the fastest of several paths.
///
/// @tparam Paths an array of linear_cost with static storage duration, one element for each path.
template <const auto& Paths>
struct linear_cost_model {
  /// Returns the time of the fastest path in nanoseconds.
  template <class Policy>
  static double nanoseconds(const Policy&, const system_profile& system) {
    double least = std::numeric_limits<double>::infinity();
    for (const linear_cost& path : Paths) {
      least = std::min(least, path(system));
    }
    return least;
  }
};

}  // namespace sptrsv::SPTRSV_ABI
