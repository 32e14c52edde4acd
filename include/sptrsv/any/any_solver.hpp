// any_solver: a solver of any policy. sptrsv/any/any_policy.hpp has the analysis by a policy that is named at
// run time.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/solver.hpp"

namespace sptrsv {

namespace detail {

/// A solver behind virtual functions. `Stream` is the stream type of the caller.
template <class Value, class Stream>
struct held_solver {
  struct workspace {
    explicit workspace(std::uint64_t number) : solver_number(number) {}
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;
    virtual ~workspace() = default;
    const std::uint64_t solver_number;  ///< of the held_solver that made it
  };

  held_solver() = default;
  held_solver(const held_solver&) = delete;
  held_solver& operator=(const held_solver&) = delete;
  virtual ~held_solver() = default;
  virtual void update_values(span<const Value> values, Stream stream) = 0;
  virtual void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, Stream stream) = 0;
  virtual void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
                     Stream stream) const = 0;
  virtual std::unique_ptr<workspace> make_workspace(Stream stream, memory_resource* resource) const = 0;
  virtual solve_status status(Stream stream) = 0;
  virtual solve_status status(workspace& scratch, Stream stream) const = 0;
  virtual solver_info info() const = 0;
  virtual std::int64_t rows() const noexcept = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;

  const std::uint64_t number = next_solver_number();
};

/// The held_solver of a type of solvers. A solver of the host ignores the stream of the caller.
template <class Solver, class Stream>
class solver_holder final : public held_solver<typename Solver::value_type, Stream> {
  using value = typename Solver::value_type;
  using base = held_solver<value, Stream>;
  using typename base::workspace;

 public:
  explicit solver_holder(Solver&& solver) : solver_(std::move(solver)) {}

  void update_values(span<const value> values, Stream stream) override {
    solver_.update_values(values, own(stream));
  }
  void solve(dense_view<const value> b, dense_view<value> x, value alpha, Stream stream) override {
    solver_.solve(b, x, alpha, own(stream));
  }
  void solve(dense_view<const value> b, dense_view<value> x, value alpha, workspace& scratch,
             Stream stream) const override {
    solver_.solve(b, x, alpha, own(scratch), own(stream));
  }
  std::unique_ptr<workspace> make_workspace(Stream stream, memory_resource* resource) const override {
    return std::make_unique<held_workspace>(this->number, solver_.make_workspace(own(stream), resource));
  }
  solve_status status(Stream stream) override { return solver_.status(own(stream)); }
  solve_status status(workspace& scratch, Stream stream) const override {
    return solver_.status(own(scratch), own(stream));
  }
  solver_info info() const override { return solver_.info(); }
  std::int64_t rows() const noexcept override { return solver_.rows(); }
  std::int64_t max_rhs() const noexcept override { return solver_.max_rhs(); }

 private:
  struct held_workspace final : workspace {
    held_workspace(std::uint64_t number, typename Solver::workspace&& made)
        : workspace(number), held(std::move(made)) {}
    typename Solver::workspace held;
  };

  static typename Solver::stream_type own(Stream stream) {
    if constexpr (std::is_same_v<typename Solver::stream_type, host_stream>) {
      return {};
    } else {
      return stream;
    }
  }
  /// Returns the solver's workspace; any_solver has checked the number.
  static typename Solver::workspace& own(workspace& scratch) {
    return static_cast<held_workspace&>(scratch).held;
  }

  Solver solver_;
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
class any_solver {
  using held_solver = detail::held_solver<Value, Stream>;

 public:
  using value_type = Value;    ///< type of the values of the matrix, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Scratch memory of one solve in flight, as solver::workspace.
  class workspace {
    friend class any_solver;
    explicit workspace(std::unique_ptr<typename held_solver::workspace> made) : held_(std::move(made)) {}
    std::unique_ptr<typename held_solver::workspace> held_;
  };

  /// Takes a solver: of a policy with a tuning of your own, for example.
  template <class Policy, class SolverStream>
  any_solver(solver<Policy, Value, Index, Offset, SolverStream>&& from)
      : held_(std::make_unique<
              detail::solver_holder<solver<Policy, Value, Index, Offset, SolverStream>, Stream>>(
            std::move(from))) {
    static_assert(std::is_same_v<SolverStream, Stream> || std::is_same_v<SolverStream, host_stream>,
                  "the solver has another stream type");
  }

  /// Replaces the values of the matrix; as solver::update_values.
  void update_values(span<const Value> values, Stream stream = {}) { held().update_values(values, stream); }

  /// Solves op(T) x = b on the solver's own workspace; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().solve(b, x, Value(1), stream);
  }
  /// Solves op(T) x = alpha b on the solver's own workspace; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, Stream stream = {}) {
    held().solve(b, x, alpha, stream);
  }
  /// Solves op(T) x = alpha b; as solver::solve.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
             Stream stream = {}) const {
    std::as_const(held()).solve(b, x, alpha, checked(scratch), stream);
  }

  /// Returns scratch memory for one more solve in flight; as solver::make_workspace.
  [[nodiscard]] workspace make_workspace(Stream stream = {}, memory_resource* resource = nullptr) const {
    return workspace(held().make_workspace(stream, resource));
  }

  /// Returns what the last solve on the solver's own workspace met; as solver::status.
  [[nodiscard]] solve_status status(Stream stream = {}) { return held().status(stream); }
  /// Returns what the last solve on `scratch` met; as solver::status.
  [[nodiscard]] solve_status status(workspace& scratch, Stream stream = {}) const {
    return std::as_const(held()).status(checked(scratch), stream);
  }

  /// Returns what the analysis decided and how much memory the solver holds; as solver::info.
  [[nodiscard]] solver_info info() const { return held().info(); }
  /// Returns the number of rows of the system. Throws errc::invalid_argument if the solver was moved from.
  [[nodiscard]] std::int64_t rows() const { return held().rows(); }
  /// Returns the largest number of right-hand sides of one solve. Throws errc::invalid_argument if the solver
  /// was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }

 private:
  held_solver& held() const {
    SPTRSV_EXPECTS(held_ != nullptr, errc::invalid_argument, "the solver was moved from");
    return *held_;
  }
  typename held_solver::workspace& checked(workspace& scratch) const {
    SPTRSV_EXPECTS(scratch.held_ != nullptr, errc::invalid_argument, "the workspace was moved from");
    SPTRSV_EXPECTS(scratch.held_->solver_number == held().number, errc::invalid_argument,
                   "the workspace belongs to another solver");
    return *scratch.held_;
  }

  std::unique_ptr<held_solver> held_;
};

}  // namespace sptrsv
