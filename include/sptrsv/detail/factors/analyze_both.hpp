// SPDX-License-Identifier: Apache-2.0
// The analyses of both factors of a matrix.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "sptrsv/detail/base/peak_resource.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {

/// True if an engine can begin the analyses of both triangles of a matrix together.
template <class Engine, class = void>
inline constexpr bool begins_both = false;
template <class Engine>
inline constexpr bool begins_both<Engine, std::void_t<typename Engine::both_triangles>> = true;

/// Memory that two analyses share; zero if they share nothing.
struct joint_memory {
  std::size_t peak = 0;            ///< bytes at one time, at most
  std::size_t beside[2] = {0, 0};  ///< bytes in addition to the analysis of each solver, at most
};

/// A system: the matrix and the options of its solver.
template <class Matrix>
struct system {
  const Matrix& matrix;
  system_options options;
};

/// Analyses two systems with the same number of right-hand sides. `Solver`: the type of both solvers.
template <class Solver>
class pair_analysis {
  using policy_type = typename Solver::policy_type;
  using stream_type = typename Solver::stream_type;
  using executor = executor_t<stream_type>;

 public:
  pair_analysis(const policy_type& policy, stream_type stream, memory_resource& resource)
      : policy_(policy), stream_(stream), resource_(resource) {}

  /// Makes both solvers. `in_one_matrix`: whether both matrices are the same. Synchronises.
  template <class First, class Second>
  joint_memory run(const system<First>& first, const system<Second>& second, bool in_one_matrix,
                   std::optional<Solver>& of_first, std::optional<Solver>& of_second) const {
    if constexpr (begins_both<typename Solver::engine>) {
      if (in_one_matrix) {
        return run_together(first.matrix, {first.options, second.options}, {&of_first, &of_second});
      }
    }
    // One after the other: an analysis on the host measures times.
    of_first.emplace(analyze(policy_, first.matrix, first.options, stream_, &resource_));
    of_second.emplace(analyze(policy_, second.matrix, second.options, stream_, &resource_));
    return {};
  }

 private:
  /// Analyses two triangles of a matrix with what the engine finds for both at the same time.
  template <class Matrix>
  joint_memory run_together(const Matrix& a, const std::array<system_options, 2>& options,
                            const std::array<std::optional<Solver>*, 2>& to) const {
    const executor on(stream_);
    const auto pattern = pattern_of(a);
    check_shape<typename Solver::value_type>(a.rows, a.columns, pattern, options[0]);
    Solver::check_space(a.values, a.entries, "the array of values");
    check_spaces<executor>(pattern, policy_type::name);
    peak_resource counted(resource_);
    auto both =
        Solver::engine::begin_both(policy_, pattern,
                                   std::array{triangle_form(options[0], pattern.by_columns),
                                              triangle_form(options[1], pattern.by_columns)},
                                   options[0].max_rhs, on, resource_, static_cast<memory_resource&>(counted));
    const std::size_t kept[2] = {both.kept_bytes(0), both.kept_bytes(1)};
    joint_memory shared;
    shared.peak = counted.take_peak() + kept[0] + kept[1];
    for (std::size_t k = 0; k < 2; ++k) {
      to[k]->emplace(Solver(policy_, pattern, a.values, options[k], on, resource_, both, k));
      shared.beside[k] = counted.take_peak() + kept[1] + (k == 0 ? kept[0] : 0);
    }
    return shared;
  }

  const policy_type& policy_;
  stream_type stream_;
  memory_resource& resource_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
