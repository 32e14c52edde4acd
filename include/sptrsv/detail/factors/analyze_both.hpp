// SPDX-License-Identifier: Apache-2.0
// Both factors of a matrix: their transposes, checks without a kernel, and their analyses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/factors_options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {

/// Returns whether both are the same triangle of one matrix. A real matrix is its own conjugate.
template <class Scalar>
bool is_same(const triangular_factor& f, const triangular_factor& g) {
  const bool same_operation = f.operation == g.operation ||
                              (!is_complex_v<Scalar> && f.operation != op::none && g.operation != op::none);
  return f.part == g.part && f.diagonal == g.diagonal && same_operation;
}

/// Returns whether operation(op(T)) is a factor: not if T would be conjugated and not transposed.
template <class Scalar>
bool has_transpose(const triangular_factor& f, op operation) {
  return f.operation == op::none || f.operation == operation || !is_complex_v<Scalar>;
}

/// Returns operation(op(T)) as a factor. Throws `error` if it is none.
template <class Scalar>
triangular_factor transpose_of(triangular_factor f, op operation) {
  SPTRSV_EXPECTS(has_transpose<Scalar>(f, operation), errc::unsupported,
                 "apply_transpose: a factor would be conjugated and not transposed");
  f.operation = f.operation == op::none ? operation : op::none;
  return f;
}

/// Returns the operation that makes g of f; op::none if there is none.
template <class Scalar>
op operation_between(const triangular_factor& f, const triangular_factor& g) {
  for (const op operation : {op::transpose, op::conj_transpose}) {
    if (has_transpose<Scalar>(f, operation) && is_same<Scalar>(transpose_of<Scalar>(f, operation), g)) {
      return operation;
    }
  }
  return op::none;
}

/// Checks the arrays of one side of a system. `side`: "row" or "column", for messages.
template <class Executor, class Index, class Value>
void check_side(span<const Index> order, span<const Value> scale, std::int64_t rows,
                const std::string& side) {
  const auto check_array = [&](const auto& array, const std::string& name) {
    const auto size = static_cast<std::int64_t>(array.size());
    SPTRSV_EXPECTS(size == rows || size == 0, errc::size_mismatch, name, " has ", size,
                   " elements, the system has ", rows, " rows");
    check_space<Executor>(array.data(), size, name.c_str(), "the analysis");
  };
  check_array(order, side + "_order");
  check_array(scale, side + "_scale");
}

/// Checks the matrices of both factors and the options before anything is enqueued. Returns the options.
template <class Policy, class Executor, class First, class Second, class Value, class Index>
const factors_options<Value, Index>& checked(const First& first, const Second& second,
                                             const factors_options<Value, Index>& options) {
  const auto check = [&](const auto& a, const triangular_factor& f) {
    const auto pattern = pattern_of(a);
    check_shape<Value>(a.rows, a.columns, pattern, {f.part, f.diagonal, f.operation, options.max_rhs});
    check_space<Executor>(a.values, a.entries, "the array of values", Policy::name);
    check_spaces<Executor>(pattern, Policy::name);
  };
  check(first, options.first);
  check(second, options.second);
  SPTRSV_EXPECTS(first.rows == second.rows, errc::size_mismatch, "the matrix of the first factor has ",
                 first.rows, " rows, that of the second ", second.rows);
  SPTRSV_EXPECTS(!options.has_diagonal ||
                     (options.first.diagonal == diag::unit && options.second.diagonal == diag::unit),
                 errc::invalid_argument, "factors with a stored diagonal between them must be unit");
  if (options.transposed != op::none) {  // throws if a factor has no transpose
    static_cast<void>(transpose_of<scalar_t<Value>>(options.second, options.transposed));
    static_cast<void>(transpose_of<scalar_t<Value>>(options.first, options.transposed));
  }
  check_side<Executor>(options.row_order, options.row_scale, first.rows, "row");
  check_side<Executor>(options.column_order, options.column_scale, first.rows, "column");
  return options;
}

/// True if an engine can begin the analyses of both triangles of a matrix together.
template <class Engine, class = void>
inline constexpr bool begins_both = false;
template <class Engine>
inline constexpr bool begins_both<Engine, std::void_t<typename Engine::both_triangles>> = true;

/// A solver, and the memory that its analysis has shared with another one.
template <class Solver>
struct analysed {
  Solver solver;
  bool has_own_values = true;   ///< false: update_values of the solver that it was made of serves it, too
  std::size_t peak_before = 0;  ///< bytes at one time, at most, of what both analyses do before this one
  std::size_t peak_beside = 0;  ///< bytes in addition to this analysis, at most

  /// Adds the solver to a description. Peaks come on top of what was allocated before.
  void describe(factors_info& to) const {
    const auto add_peak = [&](std::size_t bytes) {
      if (bytes > 0) {
        to.analysis_peak_bytes = std::max(to.analysis_peak_bytes, to.bytes + to.workspace_bytes + bytes);
      }
    };
    add_peak(peak_before);
    to.solvers.push_back(solver.info());
    const solver_info& added = to.solvers.back();
    add_peak(added.analysis_peak_bytes > 0 ? peak_beside + added.analysis_peak_bytes : 0);
    to.bytes += added.solver_bytes;
    to.workspace_bytes += added.workspace_bytes;
  }
};

/// Analyses two factors of one system. `Solver`: the type of both solvers.
template <class Solver>
struct pair_analysis {
  using policy_type = typename Solver::policy_type;
  using value = typename Solver::value_type;
  using scalar = scalar_t<value>;
  using stream_type = typename Solver::stream_type;
  using executor = executor_t<stream_type>;

  /// The workspaces of both solvers.
  using pair_scratch = std::array<typename Solver::workspace, 2>;

  /// The solvers of one operation, in the order of its solves.
  struct pair {
    analysed<Solver> first;
    analysed<Solver> second;

    void check_values(span<const value> first_values, span<const value> second_values) const {
      first.solver.check_values(first_values);
      second.solver.check_values(second_values);
      SPTRSV_EXPECTS(second.has_own_values || first_values.data() == second_values.data(),
                     errc::invalid_argument,
                     "update_values got two arrays: both factors have the same values with this policy");
    }
    void update_values(span<const value> first_values, span<const value> second_values, stream_type on) {
      if (first.has_own_values) {
        first.solver.update_values(first_values, on);
      }
      if (second.has_own_values) {
        second.solver.update_values(second_values, on);
      }
    }
    [[nodiscard]] pair_scratch make_workspaces(stream_type on, memory_resource* from) const {
      return {first.solver.make_workspace(on, from), second.solver.make_workspace(on, from)};
    }
    /// Returns the solvers' own workspaces, which they have no longer.
    [[nodiscard]] pair_scratch take_workspaces() {
      return {std::move(first.solver.own_), std::move(second.solver.own_)};
    }
    [[nodiscard]] std::array<solve_status, 2> status(pair_scratch& scratch, stream_type on) const {
      return {first.solver.status(scratch[0], on), second.solver.status(scratch[1], on)};
    }
    void describe(factors_info& to) const {
      first.describe(to);
      second.describe(to);
    }
  };

  const policy_type& policy;
  std::int64_t max_rhs;
  stream_type stream;
  memory_resource& resource;

  /// Returns both solvers. `in_one_matrix`: whether both matrices are the same. Synchronises.
  template <class First, class Second>
  pair run(const First& first, const triangular_factor& of_first, const Second& second,
           const triangular_factor& of_second, bool in_one_matrix) const {
    if constexpr (Solver::has_transposed) {  // one set of values serves both
      const op between = in_one_matrix ? operation_between<scalar>(of_first, of_second) : op::none;
      if (between != op::none) {
        Solver made = analyze_one(first, of_first);
        Solver other = made.transposed(between, stream, &resource);
        return {{std::move(made)}, {std::move(other), false}};
      }
    }
    if constexpr (begins_both<typename Solver::engine>) {
      if (in_one_matrix) {
        return run_together(first, {options_of(of_first), options_of(of_second)});
      }
    }
    // One after the other: an analysis on the host measures times.
    return {{analyze_one(first, of_first)}, {analyze_one(second, of_second)}};
  }

  /// Returns the solvers of op(F_2) and op(F_1), where op is options.transposed; nothing if they are F_1 and
  /// F_2, whose solvers are `forward`.
  template <class First, class Second, class Options>
  std::optional<pair> run_transposed(pair& forward, const First& first, const Second& second,
                                     const Options& options, bool in_one_matrix) const {
    const auto of_second = transpose_of<scalar>(options.second, options.transposed);
    const auto of_first = transpose_of<scalar>(options.first, options.transposed);
    if (in_one_matrix && is_same<scalar>(of_second, options.first) &&
        is_same<scalar>(of_first, options.second)) {
      return std::nullopt;
    }
    if constexpr (Solver::has_transposed) {
      return pair{{forward.second.solver.transposed(options.transposed, stream, &resource), false},
                  {forward.first.solver.transposed(options.transposed, stream, &resource), false}};
    } else {
      return run(second, of_second, first, of_first, in_one_matrix);
    }
  }

 private:
  [[nodiscard]] system_options options_of(const triangular_factor& f) const {
    return {f.part, f.diagonal, f.operation, max_rhs};
  }
  template <class Matrix>
  Solver analyze_one(const Matrix& a, const triangular_factor& f) const {
    return analyze(policy, a, options_of(f), stream, &resource);
  }

  /// Analyses two triangles of a matrix with what the engine finds for both at the same time.
  template <class Matrix>
  pair run_together(const Matrix& a, const std::array<system_options, 2>& options) const {
    const executor on(stream);
    const auto pattern = pattern_of(a);
    check_shape<value>(a.rows, a.columns, pattern, options[0]);
    check_space<executor>(a.values, a.entries, "the array of values", policy_type::name);
    check_spaces<executor>(pattern, policy_type::name);
    peak_resource counted(resource);
    auto both = Solver::engine::begin_both(policy, pattern,
                                           std::array{triangle_form(options[0], pattern.by_columns),
                                                      triangle_form(options[1], pattern.by_columns)},
                                           max_rhs, on, resource, static_cast<memory_resource&>(counted));
    const std::size_t kept[2] = {both.kept_bytes(0), both.kept_bytes(1)};
    const std::size_t shared_peak = counted.take_peak() + kept[0] + kept[1];
    const auto analyze_triangle = [&](std::size_t k) {
      analysed<Solver> made{Solver(policy, pattern, a.values, options[k], on, resource, both, k)};
      made.peak_before = k == 0 ? shared_peak : 0;
      made.peak_beside = counted.take_peak() + kept[1] + (k == 0 ? kept[0] : 0);
      return made;
    };
    return {analyze_triangle(0), analyze_triangle(1)};
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::factors
