// analyze() and the solver that it returns: the interface that all policies share.
//
// A policy is included by its own header (sptrsv/policy/<name>.hpp), which brings its engine; this header
// brings none, so that a program compiles what it uses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv {
namespace detail {

/// The host side of a policy; specialised in detail/<policy>/engine.hpp. Scalar is scalar_t<Value>.
///
///   engine(const Policy&, const valued_pattern<Scalar, Index, Offset>&, const triangle_form&, max_rhs,
///          executor, resource);    // most take its pattern_view: their plans do not depend on the numbers
///   void update_values(const Scalar* values, executor);
///   workspace make_workspace(executor, resource) const;      // move-only; for one solve in flight
///   void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace&, executor) const;
///   std::int64_t first_nonfinite_index(workspace&, executor) const;   // -1 if none; synchronises
///   bool is_zero_pivot(std::int64_t position, executor) const;     // synchronises
///   std::int64_t first_grown_index(executor) const;  // optional: of solve_status::kind::growth;
///                                                       // -1 if none; synchronises
///   void describe(solver_info&, const executor&) const;
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class engine;

template <class Engine, class Executor, class = void>
inline constexpr bool knows_growth = false;
template <class Engine, class Executor>
inline constexpr bool knows_growth<
    Engine, Executor,
    std::void_t<decltype(std::declval<const Engine&>().first_grown_index(std::declval<Executor>()))>> = true;

/// -1 where the engine does not know of any.
template <class Engine, class Executor>
std::int64_t first_grown_index(const Engine& of, const Executor& on) {
  if constexpr (knows_growth<Engine, Executor>) {
    return of.first_grown_index(on);
  } else {
    return -1;
  }
}

template <class Stream>
using executor_t = typename executor_for<Stream>::type;

}  // namespace detail

/// A triangular system, analysed and ready to be solved; made by `analyze`. Move-only.
///
/// It owns all that it needs: the matrix may be changed or freed after `analyze`. Solves on the solver's own
/// workspace must be ordered on one stream (or by events); further solves in flight take a workspace each.
/// The solver and its workspaces give their memory back on the stream of `analyze` (of `make_workspace`),
/// which must still exist then, and on which work of other streams that uses them must have been joined
/// before.
template <class Policy, class Value, class Index, class Offset, class Executor>
class solver {
  using scalar = detail::scalar_t<Value>;
  using engine = detail::engine<Policy, scalar, Index, Offset, Executor>;

 public:
  using policy_type = Policy;
  using value_type = Value;
  using index_type = Index;
  using offset_type = Offset;
  using stream_type = typename Executor::stream_type;

  /// Scratch memory of one solve in flight.
  class workspace {
    friend class solver;
    explicit workspace(typename engine::workspace&& state) : state_(std::move(state)) {}
    typename engine::workspace state_;
  };

  /// Takes new numbers for the same pattern: the array of values of the stored matrix, in its order, in the
  /// memory space of `analyze`. Only enqueues. Throws where the size is not the number of entries.
  void update_values(span<const Value> values, stream_type stream = {}) {
    SPTRSV_EXPECTS(static_cast<std::int64_t>(values.size()) == entries_, errc::size_mismatch,
                   "update_values got " + std::to_string(values.size()) + " values for a matrix of " +
                       std::to_string(entries_) + " entries");
    check_space(values.data(), values.size(), "the array of values");
    engine_->update_values(detail::as_scalar(values.data()), Executor(stream));
  }

  /// Solves op(T) x = alpha b for one right-hand side or the columns of several (at most `max_rhs`). Only
  /// enqueues: no allocation, no synchronisation; it may be captured into a CUDA graph. x may be b, element
  /// for element; any other overlap gives undefined values. Throws where b or x do not fit the system.
  void solve(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    solve(b, x, Value(1), own_, stream);
  }
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, stream_type stream = {}) {
    solve(b, x, alpha, own_, stream);
  }
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
             stream_type stream = {}) const {
    check_operand(b.data, b.rows, b.columns, "b");
    check_operand(x.data, x.rows, x.columns, "x");
    SPTRSV_EXPECTS(b.columns == x.columns, errc::size_mismatch,
                   "b has " + std::to_string(b.columns) + " columns and x has " + std::to_string(x.columns));
    SPTRSV_EXPECTS(
        x.columns <= max_rhs_, errc::too_many_rhs,
        std::to_string(x.columns) + " right-hand sides exceed max_rhs = " + std::to_string(max_rhs_));
    if (size_ == 0 || x.columns == 0) {
      return;
    }
    const dense_view<const scalar> from(detail::as_scalar(b.data), b.rows, b.columns, b.row_stride,
                                        b.column_stride);
    const dense_view<scalar> to(detail::as_scalar(x.data), x.rows, x.columns, x.row_stride, x.column_stride);
    engine_->solve(*detail::as_scalar(&alpha), from, to, scratch.state_, Executor(stream));
  }

  /// Scratch memory for one more solve in flight; allocates, from the resource of `analyze` if none is given.
  [[nodiscard]] workspace make_workspace(stream_type stream = {}, memory_resource* resource = nullptr) const {
    return workspace(engine_->make_workspace(Executor(stream), resource != nullptr ? *resource : *resource_));
  }

  /// Whether the last solve (on the solver's own workspace, or on `scratch`) met a zero pivot, a NaN or an
  /// infinite value, and where first; and whether the values given last suit the plan. Synchronises `stream`,
  /// which must be ordered after that solve.
  [[nodiscard]] solve_status status(stream_type stream = {}) { return status(own_, stream); }
  [[nodiscard]] solve_status status(workspace& scratch, stream_type stream = {}) const {
    solve_status result;
    const Executor executor(stream);
    std::int64_t substitution_index =
        size_ == 0 ? -1 : engine_->first_nonfinite_index(scratch.state_, executor);
    if (substitution_index >= 0) {
      result.code = engine_->is_zero_pivot(substitution_index, executor) ? solve_status::kind::zero_pivot
                                                                         : solve_status::kind::non_finite;
    } else if (size_ > 0) {
      substitution_index = detail::first_grown_index(*engine_, executor);
      result.code = substitution_index >= 0 ? solve_status::kind::growth : solve_status::kind::ok;
    }
    if (substitution_index >= 0) {
      result.row = reversed_ ? size_ - 1 - substitution_index : substitution_index;
    }
    return result;
  }

  /// What was decided and what is held; may synchronise.
  [[nodiscard]] solver_info info() const {
    solver_info result;
    result.policy = Policy::name;
    result.rows = size_;
    engine_->describe(result, Executor{});
    return result;
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return size_; }
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return max_rhs_; }

 private:
  template <class P, class Matrix, class Stream, class>
  friend auto analyze(const P&, const Matrix&, const system_options&, Stream, memory_resource*);

  solver(const Policy& policy, const detail::pattern_view<Index, Offset>& pattern, const Value* values,
         const system_options& options, const Executor& executor, memory_resource& resource)
      : size_(pattern.size),
        entries_(pattern.entries),
        max_rhs_(options.max_rhs),
        reversed_(detail::triangle_form(options, pattern.by_columns).reversed),
        resource_(&resource),
        engine_(checked_engine(policy, pattern, values, options, executor, resource)),
        own_(engine_->make_workspace(executor, resource)) {
    engine_->update_values(detail::as_scalar(values), executor);
  }

  static std::unique_ptr<engine> checked_engine(const Policy& policy,
                                                const detail::pattern_view<Index, Offset>& pattern,
                                                const Value* values, const system_options& options,
                                                const Executor& executor, memory_resource& resource) {
    check_space(pattern.offsets, static_cast<std::size_t>(pattern.size), "the array of offsets");
    check_space(pattern.indices, static_cast<std::size_t>(pattern.entries), "the array of indices");
    check_space(values, static_cast<std::size_t>(pattern.entries), "the array of values");
    const detail::valued_pattern<scalar, Index, Offset> numbered{pattern, detail::as_scalar(values)};
    return std::make_unique<engine>(policy, numbered, detail::triangle_form(options, pattern.by_columns),
                                    options.max_rhs, executor, resource);
  }

  static void check_space(const void* p, std::size_t size, const char* what) {
    SPTRSV_EXPECTS(size == 0 || p != nullptr, errc::invalid_argument,
                   std::string(what) + " is a null pointer");
    SPTRSV_EXPECTS(size == 0 || Executor::can_access(p), errc::wrong_memory_space,
                   std::string(what) + " lies where " + Policy::name +
                       " cannot reach it: the GPU policies take " +
                       "device memory, the host policies host memory");
  }

  void check_operand(const void* data, std::int64_t rows, std::int64_t columns, const char* name) const {
    SPTRSV_EXPECTS(rows == size_, errc::size_mismatch,
                   std::string(name) + " has " + std::to_string(rows) + " rows, the system has " +
                       std::to_string(size_));
    SPTRSV_EXPECTS(columns >= 0, errc::size_mismatch,
                   std::string(name) + " has a negative number of columns");
    check_space(data, static_cast<std::size_t>(rows * columns), name);
  }

  std::int64_t size_;
  std::int64_t entries_;
  std::int64_t max_rhs_;
  bool reversed_;
  memory_resource* resource_;
  std::unique_ptr<engine> engine_;
  workspace own_;
};

/// Analyses the pattern of the `options.part` triangle of `a` for `policy`, takes its values, and returns the
/// ready solver. `a` is a csr_view, csc_view, or an owning matrix, in the memory space that the policy works
/// in; it is not needed after the call returns. `stream`: a cudaStream_t for the GPU policies; allocates from
/// `resource` (null: the default of the stream's device) and synchronises the stream.
///
/// Throws `error`: bad shapes, offsets or indices, an entry of the triangle given twice, a missing diagonal
/// entry (with the first offending row), memory in the wrong space, or what the policy does not support.
///
/// Without `policy` (sptrsv/policy/automatic.hpp): with the default policy, automatic<>.
template <class Policy, class Matrix, class Stream = typename Policy::default_stream,
          class = decltype(Policy::name)>
auto analyze(const Policy& policy, const Matrix& a, const system_options& options = {}, Stream stream = {},
             memory_resource* resource = nullptr);

namespace detail {

template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csr_view<Value, Index, Offset>& a) {
  return {a.rows, a.entries, a.row_offsets, a.column_indices, false};
}
template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csc_view<Value, Index, Offset>& a) {
  return {a.columns, a.entries, a.column_offsets, a.row_indices, true};
}

template <class Value, class Index, class Offset>
csr_view<Value, Index, Offset> view_of(const csr_view<Value, Index, Offset>& a) {
  return a;
}
template <class Value, class Index, class Offset>
csc_view<Value, Index, Offset> view_of(const csc_view<Value, Index, Offset>& a) {
  return a;
}
template <class Matrix>
typename Matrix::view_type view_of(const Matrix& a) {
  return a.view();
}

}  // namespace detail

template <class Policy, class Matrix, class Stream, class>
auto analyze(const Policy& policy, const Matrix& a, const system_options& options, Stream stream,
             memory_resource* resource) {
  using executor = detail::executor_t<Stream>;
  const auto view = detail::view_of(a);
  using view_type = std::remove_const_t<decltype(view)>;
  const auto pattern = detail::pattern_of(view);
  detail::check_shape(view.rows, view.columns, pattern, view.values, options);
  const executor on(stream);
  return solver<Policy, typename view_type::value_type, typename view_type::index_type,
                typename view_type::offset_type, executor>(
      policy, pattern, view.values, options, on, resource != nullptr ? *resource : on.default_resource());
}

}  // namespace sptrsv
