// SPDX-License-Identifier: Apache-2.0
// any_solver: a solver of any policy. sptrsv/any/any_policy.hpp has the analysis by a policy that is named at
// run time.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/batch.hpp"
#include "sptrsv/detail/any_solver/any_object.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// A solver behind virtual functions, of one system (`View`: dense_view) or of a batch (batch_view).
template <class Value, class Stream, template <class> class View>
struct held_solver : held_object<solver_info, Stream> {
  static constexpr bool is_batch = std::is_same_v<View<Value>, batch_view<Value>>;
  static constexpr bool has_workspaces = !is_batch;
  static constexpr const char* moved_from =
      is_batch ? "the batch was moved from" : "the solver was moved from";
  static constexpr const char* name = "solver";

  virtual void update_values(span<const Value> values, Stream stream) = 0;
  virtual void solve(View<const Value> b, View<Value> x, Value alpha, void* scratch, Stream stream) = 0;
  virtual std::int64_t systems() const noexcept = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;
};

/// The held_solver of a type of solvers.
template <class Solver, class Stream, template <class> class View>
class solver_holder final
    : public object_holder<Solver, held_solver<typename Solver::value_type, Stream, View>> {
  using value = typename Solver::value_type;
  using base = object_holder<Solver, held_solver<value, Stream, View>>;
  using base::object_;
  using base::own;

 public:
  using base::base;

  void update_values(span<const value> values, Stream stream) override {
    object_.update_values(values, own(stream));
  }
  void solve(View<const value> b, View<value> x, value alpha, void* scratch, Stream stream) override {
    base::on_workspace(scratch, [&](auto&... given) { object_.solve(b, x, alpha, given..., own(stream)); });
  }
  std::int64_t systems() const noexcept override {
    if constexpr (base::is_batch) {
      return object_.systems();
    } else {
      return 1;
    }
  }
  std::int64_t max_rhs() const noexcept override { return object_.max_rhs(); }
};

/// This base class holds the members of both any_solver and any_batch.
template <class Value, class Index, class Offset, class Stream, template <class> class View>
class any_solving : public any_object<held_solver<Value, Stream, View>, Value, Index, Offset> {
  using base = any_object<held_solver<Value, Stream, View>, Value, Index, Offset>;

 public:
  /// Replaces the values of the matrix, or of all matrices; as solver::update_values.
  void update_values(span<const Value> values, Stream stream = {}) { held().update_values(values, stream); }

  /// Solves op(T) x = b on the object's own workspace; as solver::solve.
  void solve(View<const Value> b, View<Value> x, Stream stream = {}) {
    held().solve(b, x, Value(1), nullptr, stream);
  }
  /// Solves op(T) x = alpha b on the object's own workspace; as solver::solve.
  void solve(View<const Value> b, View<Value> x, Value alpha, Stream stream = {}) {
    held().solve(b, x, alpha, nullptr, stream);
  }

  /// Returns the largest number of right-hand sides of one solve, for each system. Throws
  /// errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }

 protected:
  using base::held;
  /// Takes a solver.
  template <class Solver>
  explicit any_solving(Solver&& from)
      : base(
            std::make_unique<solver_holder<std::decay_t<Solver>, Stream, View>>(std::forward<Solver>(from))) {
  }
};

}  // namespace detail

/// A solver of any policy, with the interface of `solver`, whose comments hold here: each function calls that
/// of the solver that it holds, by one virtual call. `solve` does not allocate. `any_solver` is move-only and
/// has no default state.
///
/// The type parameters are those of `solver`. Solvers of host policies ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_solver : public detail::any_solving<Value, Index, Offset, Stream, dense_view> {
  using base = detail::any_solving<Value, Index, Offset, Stream, dense_view>;
  using base::checked;
  using base::held;

 public:
  /// Scratch memory of one solve in flight, as solver::workspace.
  using workspace = detail::any_workspace;

  /// Takes a solver: of a policy with a tuning of your own, for example.
  template <class Policy, class SolverStream>
  any_solver(solver<Policy, Value, Index, Offset, SolverStream>&& from) : base(std::move(from)) {
    static_assert(detail::fits_stream<SolverStream, Stream>, "the solver has another stream type");
  }

  using base::solve;
  /// Solves op(T) x = alpha b; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
             Stream stream = {}) const {
    held().solve(b, x, alpha, checked(scratch), stream);
  }

  using base::make_workspace;
  using base::status;
};

}  // namespace sptrsv::SPTRSV_ABI
