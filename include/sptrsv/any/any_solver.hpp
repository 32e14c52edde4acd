// SPDX-License-Identifier: Apache-2.0
// any_solver: a solver of any policy. sptrsv/any/any_policy.hpp has the analysis by a policy that is named at
// run time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sptrsv/detail/any_solver/any_object.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// A solver behind virtual functions.
template <class Value, class Stream>
struct held_solver : held_object<solver_info, Stream> {
  static constexpr const char* moved_from = "the solver was moved from";
  static constexpr const char* name = "solver";

  virtual void update_values(span<const Value> values, Stream stream) = 0;
  virtual void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, held_workspace* scratch,
                     Stream stream) = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;
};

/// The held_solver of a type of solvers.
template <class Solver, class Stream>
class solver_holder final : public object_holder<Solver, held_solver<typename Solver::value_type, Stream>> {
  using value = typename Solver::value_type;
  using base = object_holder<Solver, held_solver<value, Stream>>;
  using base::object_;
  using base::own;

 public:
  using base::base;

  void update_values(span<const value> values, Stream stream) override {
    object_.update_values(values, own(stream));
  }
  void solve(dense_view<const value> b, dense_view<value> x, value alpha, held_workspace* scratch,
             Stream stream) override {
    scratch == nullptr ? object_.solve(b, x, alpha, own(stream))
                       : object_.solve(b, x, alpha, own(*scratch), own(stream));
  }
  std::int64_t max_rhs() const noexcept override { return object_.max_rhs(); }
};

}  // namespace detail

/// A solver of any policy, with the interface of `solver`, whose comments hold here: each function calls that
/// of the solver that it holds, by one virtual call. `solve` does not allocate. `any_solver` is move-only and
/// has no default state.
///
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the row and column indices of the matrix.
/// @tparam Offset signed integer type of the row (column) offsets of the matrix.
/// @tparam Stream stream type of the functions: cudaStream_t. Solvers of host policies ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_solver : public detail::any_object<detail::held_solver<Value, Stream>, Value, Index, Offset> {
  using base = detail::any_object<detail::held_solver<Value, Stream>, Value, Index, Offset>;
  using base::checked;
  using base::held;

 public:
  /// Scratch memory of one solve in flight, as solver::workspace.
  using workspace = detail::any_workspace;

  /// Takes a solver: of a policy with a tuning of your own, for example.
  template <class Policy, class SolverStream>
  any_solver(solver<Policy, Value, Index, Offset, SolverStream>&& from)
      : base(std::make_unique<
             detail::solver_holder<solver<Policy, Value, Index, Offset, SolverStream>, Stream>>(
            std::move(from))) {
    static_assert(detail::fits_stream<SolverStream, Stream>, "the solver has another stream type");
  }

  /// Replaces the values of the matrix; as solver::update_values.
  void update_values(span<const Value> values, Stream stream = {}) { held().update_values(values, stream); }

  /// Solves op(T) x = b on the solver's own workspace; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().solve(b, x, Value(1), nullptr, stream);
  }
  /// Solves op(T) x = alpha b on the solver's own workspace; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, Stream stream = {}) {
    held().solve(b, x, alpha, nullptr, stream);
  }
  /// Solves op(T) x = alpha b; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
             Stream stream = {}) const {
    held().solve(b, x, alpha, checked(scratch), stream);
  }

  /// Returns scratch memory for one more solve in flight; as solver::make_workspace.
  [[nodiscard]] workspace make_workspace(Stream stream = {}, memory_resource* resource = nullptr) const {
    return base::workspace_of(stream, resource);
  }

  using base::status;
  /// Returns what the last solve on `scratch` met; as solver::status.
  [[nodiscard]] solve_status status(workspace& scratch, Stream stream = {}) const {
    return held().status(checked(scratch), stream);
  }

  /// Returns the largest number of right-hand sides of one solve. Throws errc::invalid_argument if the solver
  /// was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }
};

}  // namespace sptrsv::SPTRSV_ABI
