// The profile of a system and the cost model of a policy: what automatic bases its choice on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace sptrsv::detail {

/// The properties of a system that cost models use.
struct system_profile {
  std::int64_t rows = 0;
  std::int64_t entries = 0;         ///< entries of the triangle with the diagonal
  std::int64_t levels = 0;          ///< rows on the longest chain of dependent rows
  std::int64_t longest_row = 0;     ///< off-diagonal entries of the longest row of op(T)
  std::int64_t longest_column = 0;  ///< off-diagonal entries of its longest column
  std::int64_t rhs = 1;             ///< right-hand sides of one solve: max_rhs
  std::size_t value_bytes = 0;      ///< bytes of one value, real or complex
  std::size_t index_bytes = 0;
  std::size_t offset_bytes = 0;
};

/// Predicts the time of a solve with a policy. A policy that is one of several candidates of
/// policy::automatic needs a specialisation with
///
///   static double nanoseconds(const Policy&, const system_profile&);
///
/// Only the order of the candidates' times matters. Infinity means: use this policy only if no other
/// candidate can be used. cost_models.hpp has the specialisations for this library's policies.
template <class Policy>
struct cost_model {};

/// True if cost_model<Policy>::nanoseconds can be called.
template <class Policy, class = void>
inline constexpr bool has_cost_model = false;
template <class Policy>
inline constexpr bool
    has_cost_model<Policy, std::void_t<decltype(cost_model<Policy>::nanoseconds(
                               std::declval<const Policy&>(), std::declval<const system_profile&>()))>> =
        true;

/// Returns the predicted nanoseconds of a solve.
template <class Policy>
double predicted_nanoseconds(const Policy& policy, const system_profile& system) {
  static_assert(has_cost_model<Policy>,
                "policy::automatic: this candidate has no cost model; specialise "
                "sptrsv::detail::cost_model for it (sptrsv/detail/automatic/cost_model.hpp)");
  if constexpr (has_cost_model<Policy>) {
    return cost_model<Policy>::nanoseconds(policy, system);
  } else {
    return 0;
  }
}

/// A model that is linear in its constants, in nanoseconds. `benchmarks/python fit-costs` fits the constants.
struct linear_cost {
  double launch;       ///< per solve
  double level;        ///< per level
  double level_entry;  ///< per level and average off-diagonal entry of a row
  double byte;         ///< per byte of matrix, b and x
  double long_entry;   ///< per entry of the longest row

  /// Right-hand sides per sweep over the matrix.
  static constexpr std::int64_t rhs_per_sweep = 4;

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

/// Predicts the time of a policy that takes the fastest of several paths. `Paths` is an array with a
/// linear_cost per path.
template <const auto& Paths>
struct linear_cost_model {
  template <class Policy>
  static double nanoseconds(const Policy&, const system_profile& system) {
    double least = std::numeric_limits<double>::infinity();
    for (const linear_cost& path : Paths) {
      least = std::min(least, path(system));
    }
    return least;
  }
};

}  // namespace sptrsv::detail
