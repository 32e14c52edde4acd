// The analyses of both factors of a matrix.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

#include "sptrsv/detail/base/peak_resource.hpp"
#include "sptrsv/detail/factors/factors_for_each.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::factors {

/// Whether an engine has a joint_analysis: what the analyses of both triangles of a matrix begin with.
template <class Engine, class = void>
inline constexpr bool analyses_jointly = false;
template <class Engine>
inline constexpr bool analyses_jointly<Engine, std::void_t<typename Engine::joint_analysis>> = true;

/// True if the policy chooses among candidates, as policy::automatic does.
template <class Policy, class = void>
inline constexpr bool has_candidates = false;
template <class Policy>
inline constexpr bool has_candidates<Policy, std::void_t<typename Policy::candidate_list>> = true;

/// Returns the policy whose settings a joint_analysis takes: the policy itself, or the only candidate of one
/// that chooses among candidates. (With several candidates, an engine has no joint_analysis.)
template <class Policy>
const auto& settings_of(const Policy& policy) {
  if constexpr (has_candidates<Policy>) {
    return std::get<0>(policy.candidates);
  } else {
    return policy;
  }
}

/// Memory that two analyses share; zero if they share nothing.
struct joint_memory {
  std::size_t peak = 0;            ///< bytes at one time, at most
  std::size_t beside[2] = {0, 0};  ///< bytes beside the analysis of each solver, at most
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
    joint_memory shared;
    if constexpr (analyses_jointly<typename Solver::engine>) {
      if (in_one_matrix &&
          run_jointly(first.matrix, {first.options, second.options}, {of_first, of_second}, shared)) {
        return shared;
      }
    }
    // One after the other: an analysis on the host measures times.
    of_first.emplace(analyze(policy_, first.matrix, first.options, stream_, &resource_));
    of_second.emplace(analyze(policy_, second.matrix, second.options, stream_, &resource_));
    return shared;
  }

 private:
  struct solver_pair {
    std::optional<Solver>& first;
    std::optional<Solver>& second;
  };

  /// Analyses two triangles of a matrix with what the engine finds for both at the same time. Returns false
  /// if it cannot do so; then each of them is to be analysed alone.
  template <class Matrix>
  bool run_jointly(const Matrix& a, const system_options (&options)[2], const solver_pair& to,
                   joint_memory& shared) const {
    const executor on(stream_);
    auto pattern = pattern_of(a);
    check_shape<typename Solver::value_type>(a.rows, a.columns, pattern, options[0]);
    Solver::check_space(a.values, a.entries, "the array of values");
    check_spaces<executor>(pattern, policy_type::name);
    const triangle_form forms[2] = {{options[0], pattern.by_columns}, {options[1], pattern.by_columns}};
    peak_resource counted(resource_);
    typename Solver::engine::joint_analysis joint(settings_of(policy_), pattern, forms, options[0].max_rhs,
                                                  on, resource_, counted);
    if (!joint.is_prepared()) {
      return false;
    }
    const std::size_t kept[2] = {joint.triangle(0).kept_bytes(), joint.triangle(1).kept_bytes()};
    shared.peak = counted.peak_bytes() + kept[0] + kept[1];
    for (int k = 0; k < 2; ++k) {
      shared.beside[k] = counted.live_bytes() + kept[1] + (k == 0 ? kept[0] : 0);
      pattern.prepared = &joint.triangle(k);
      (k == 0 ? to.first : to.second).emplace(Solver(policy_, pattern, a.values, options[k], on, resource_));
    }
    return true;
  }

  const policy_type& policy_;
  stream_type stream_;
  memory_resource& resource_;
};

}  // namespace sptrsv::detail::factors
