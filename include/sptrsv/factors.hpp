// SPDX-License-Identifier: Apache-2.0
// Solves with both factors of a matrix: the application of a preconditioner, or the solves of a direct
// method. Most of the header is the documented interface of one class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sptrsv/detail/factors/analyze_both.hpp"
#include "sptrsv/detail/factors/around_solves.hpp"
#include "sptrsv/factors_options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Both factors of a matrix A, analysed and ready to solve A x = b; the result of `analyze_factors`. See
/// factors_options for how the factors, permutations and scalings make up A.
///
/// An application is one solve with each factor. The first one writes to x, or to a vector in the workspace
/// if x is permuted or scaled afterwards.
///
/// The object is move-only and owns all that it needs. For streams, memory, threads and moves the rules of
/// `solver` apply, with apply() and apply_transpose() in the place of solve().
///
/// The type parameters are those of `solver`; both factors are solved with the policy.
template <class Policy, class Value, class Index = std::int32_t, class Offset = Index,
          class Stream = typename Policy::default_stream>
class factors {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using one_solver = solver<Policy, Value, Index, Offset, Stream>;
  using analysis = detail::factors::pair_analysis<one_solver>;
  using pair = typename analysis::pair;
  using pair_scratch = typename analysis::pair_scratch;

 public:
  using policy_type = Policy;                          ///< the policy
  using value_type = Value;                            ///< type of the values of the factors, b and x
  using index_type = Index;                            ///< type of indices
  using offset_type = Offset;                          ///< type of offsets
  using stream_type = Stream;                          ///< type of streams
  using options_type = factors_options<Value, Index>;  ///< type of the options

  /// Scratch memory of one application in flight; made by make_workspace. Move-only. Only the object that
  /// made it accepts it, also after that object was moved.
  class workspace {
   private:
    friend class factors;
    std::optional<pair_scratch> forward_;
    std::optional<pair_scratch> transposed_;  ///< empty if no solvers are for transposed applications alone
    buffer<Value> vector_;                    ///< size x max_rhs; empty if nothing is permuted or scaled
    bool was_transposed_ = false;             ///< whether the last application was a transposed one
  };

  /// Analyses factors that are stored in one matrix; see analyze_factors.
  template <class Matrix>
  factors(const Policy& policy, const Matrix& a, const options_type& options, Stream stream,
          memory_resource* resource)
      : factors(policy, detail::view_of(a), detail::view_of(a), true, options, stream, executor(stream),
                resource) {}
  /// Analyses factors that are stored in two matrices; see analyze_factors.
  template <class First, class Second>
  factors(const Policy& policy, const First& first, const Second& second, const options_type& options,
          Stream stream, memory_resource* resource)
      : factors(policy, detail::view_of(first), detail::view_of(second), false, options, stream,
                executor(stream), resource) {}

  /// Replaces the values of both factors, which are stored in one matrix. Only enqueues; it may be captured
  /// into a CUDA graph. The array must not be freed or changed before the enqueued work is complete.
  ///
  /// @param values the values of all entries of the stored matrix, in the order of its arrays.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error as solver::update_values; errc::invalid_argument if the factors are stored in two
  /// matrices.
  void update_values(span<const Value> values, stream_type stream = {}) {
    SPTRSV_EXPECTS(in_one_matrix_, errc::invalid_argument,
                   "update_values needs two arrays: the factors are stored in two matrices");
    update_values(values, values, stream);
  }
  /// Replaces the values of both factors; see the other overload.
  ///
  /// @param first_values the values of the matrix of F_1.
  /// @param second_values the values of the matrix of F_2.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error as solver::update_values, for either array before anything is enqueued;
  ///   errc::invalid_argument for different arrays if one set of values serves both factors
  ///   (policy::supernodal, factors in one matrix).
  void update_values(span<const Value> first_values, span<const Value> second_values,
                     stream_type stream = {}) {
    forward_.check_values(first_values, second_values);
    last_update_.run([&] {
      forward_.update_values(first_values, second_values, stream);
      if (transposed_) {
        transposed_->update_values(second_values, first_values, stream);
      }
      diagonal_.update_values(detail::as_scalar(first_values.data()), executor(stream));
    });
  }

  /// Solves A x = b on the object's own workspace; otherwise as the other overload.
  void apply(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    apply(b, x, own_, stream);
  }
  /// Solves A x = b for one or several right-hand sides. Only enqueues: the function does not allocate and
  /// does not synchronise, and it may be captured into a CUDA graph.
  ///
  /// @param b the right-hand sides; see solver::solve.
  /// @param x the solutions. x may be b, element for element.
  /// @param scratch scratch memory that no other application in flight uses.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error as solver::solve.
  void apply(dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
             stream_type stream = {}) const {
    run(false, scratch, b, x, stream);
  }

  /// Solves op(A) x = b on the object's own workspace, where op is factors_options::transposed; otherwise as
  /// apply.
  ///
  /// @throws error errc::invalid_argument if the option is op::none.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    apply_transpose(b, x, own_, stream);
  }
  /// Solves op(A) x = b; see the other overloads.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
                       stream_type stream = {}) const {
    SPTRSV_EXPECTS(transposed_operation_ != op::none, errc::invalid_argument,
                   "apply_transpose needs factors_options::transposed");
    run(true, scratch, b, x, stream);
  }

  /// Returns scratch memory for one more application in flight; see solver::make_workspace.
  [[nodiscard]] workspace make_workspace(stream_type stream = {}, memory_resource* resource = nullptr) const {
    workspace made;
    made.forward_ = forward_.make_workspaces(stream, resource);
    if (transposed_) {
      made.transposed_ = transposed_->make_workspaces(stream, resource);
    }
    made.vector_ = sides_.make_vector(rows() * max_rhs(), executor(stream),
                                      resource != nullptr ? *resource : *resource_);
    return made;
  }

  /// Returns what the last application on the object's own workspace met; otherwise as the other overload.
  [[nodiscard]] factors_status status(stream_type stream = {}) { return status(own_, stream); }
  /// Returns whether the last application that was called with `scratch` met a zero pivot, a NaN or an
  /// infinite value, in which factor and row first; otherwise, whether a factor's latest values suit the plan
  /// of the analysis. Synchronises `stream`, which must be ordered after that application.
  [[nodiscard]] factors_status status(workspace& scratch, stream_type stream = {}) const {
    return detail::factors::status_of(
        solvers(scratch.was_transposed_).status(scratch_of(scratch.was_transposed_, scratch), stream),
        scratch.was_transposed_, diagonal_, executor(stream));
  }

  /// Returns what the analysis decided for each factor, and how much memory the object holds.
  [[nodiscard]] factors_info info() const {
    factors_info result;
    result.rows = rows();
    result.bytes = sides_.bytes();
    forward_.describe(result);
    result.bytes += diagonal_.bytes();
    if (transposed_) {
      transposed_->describe(result);
    }
    result.workspace_bytes += own_.vector_.bytes();
    if (result.analysis_peak_bytes > 0) {
      result.analysis_peak_bytes =
          std::max(result.analysis_peak_bytes, result.bytes + result.workspace_bytes);
    }
    return result;
  }

  /// Returns the number of rows of the system.
  [[nodiscard]] std::int64_t rows() const noexcept { return forward_.first.solver.rows(); }
  /// Returns the largest number of right-hand sides of one application.
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return forward_.first.solver.max_rhs(); }

 private:
  template <class First, class Second>
  factors(const Policy& policy, const First& first, const Second& second, bool in_one_matrix,
          const options_type& options, Stream stream, const executor& on, memory_resource* resource)
      : transposed_operation_(detail::factors::checked<Policy, executor>(first, second, options).transposed),
        in_one_matrix_(in_one_matrix),
        resource_(&detail::resource_or_default(resource, on)),
        sides_(options, first.rows, on, *resource_),
        forward_(analysis{policy, options.max_rhs, stream, *resource_}.run(first, options.first, second,
                                                                           options.second, in_one_matrix)) {
    if (options.has_diagonal) {
      diagonal_ = {detail::pattern_of(first), on, *resource_};
      diagonal_.update_values(detail::as_scalar(first.values), on);
    }
    if (options.transposed != op::none) {
      transposed_ = analysis{policy, options.max_rhs, stream, *resource_}.run_transposed(
          forward_, first, second, options, in_one_matrix);
    }
    own_.forward_ = forward_.take_workspaces();
    if (transposed_) {
      own_.transposed_ = transposed_->take_workspaces();
    }
    own_.vector_ = sides_.make_vector(rows() * max_rhs(), on, *resource_);
  }

  [[nodiscard]] const pair& solvers(bool is_transposed) const {
    return is_transposed && transposed_ ? *transposed_ : forward_;
  }
  pair_scratch& scratch_of(bool is_transposed, workspace& scratch) const {
    auto& of = is_transposed && transposed_ ? scratch.transposed_ : scratch.forward_;
    SPTRSV_EXPECTS(of.has_value(), errc::invalid_argument, "the workspace belongs to another object");
    return *of;
  }

  /// Checks the arguments and solves with A, or with op(A) if `is_transposed`.
  void run(bool is_transposed, workspace& scratch, dense_view<const Value> b, dense_view<Value> x,
           Stream stream) const {
    pair_scratch& of_solvers = scratch_of(is_transposed, scratch);
    const one_solver& first = solvers(is_transposed).first.solver;
    const one_solver& second = solvers(is_transposed).second.solver;
    first.check_workspace(of_solvers[0]);
    second.check_workspace(of_solvers[1]);
    if (first.has_work(b, x)) {
      last_update_.expect_whole("update_values", "call it again");
    }
    scratch.was_transposed_ = is_transposed;
    if (x.rows == 0 || x.columns == 0) {
      return;
    }
    const op operation = is_transposed ? transposed_operation_ : op::none;
    const executor on(stream);
    const auto solve = [&](dense_view<const Value> from, dense_view<Value> to) {
      first.solve(from, to, Value(1), of_solvers[0], stream);
      diagonal_.divide(detail::as_scalars(to), operation == op::conj_transpose, on);
      second.solve(to, to, Value(1), of_solvers[1], stream);
    };
    sides_.run(operation, b, x, scratch.vector_.data(), on, solve);
  }

  op transposed_operation_;
  bool in_one_matrix_;
  memory_resource* resource_;
  detail::factors::side_transforms<Value, Index, executor> sides_;       ///< P_r, R, P_c, C
  pair forward_;                                                         ///< F_1, F_2
  detail::factors::stored_diagonal<scalar, Offset, executor> diagonal_;  ///< D
  std::optional<pair> transposed_;  ///< op(F_2), op(F_1); empty if they are F_1, F_2
  workspace own_;                   ///< has the solvers' own workspaces
  detail::whole_call last_update_;
};

/// Analyses the factors of a matrix for `policy`, takes their values, and returns the object that applies
/// them. Synchronises `stream`, as `analyze` does.
///
/// The factors of an incomplete factorisation `ilu` of `a` are given by `ilu.view(a)`; after
/// `ilu.factorize(...)`, `update_values(ilu.values(), stream)` takes the new ones.
///
/// @param policy the policy with its members; both factors are solved with it.
/// @param a csr_view, csc_view, bsr_view or owning matrix that holds both factors, in the memory space that
/// the policy
///   works in. By default, L without its unit diagonal below the diagonal, and U on and above it.
/// @param options how the factors, permutations and scalings make up the system.
/// @param stream the stream of the analysis.
/// @param resource source of memory; null: the default, see analyze. It must outlive the result.
/// @return a `factors<Policy, Value, Index, Offset>`, with the stream type as last argument if it is not the
///   policy's default.
/// @throws error as analyze; for a wrong permutation errc::index_out_of_range or errc::invalid_argument, with
///   the entry or the row that is wrong; errc::size_mismatch for arrays of wrong lengths; errc::unsupported
///   if apply_transpose would need a factor that is conjugated and not transposed.
template <class Policy, class Matrix, class Stream = typename Policy::default_stream,
          class View = typename Matrix::view_type, class = decltype(Policy::name)>
auto analyze_factors(
    const Policy& policy, const Matrix& a,
    const factors_options<typename View::value_type, typename View::index_type>& options = {},
    Stream stream = {}, memory_resource* resource = nullptr) {
  using made = factors<Policy, typename View::value_type, typename View::index_type,
                       typename View::offset_type, Stream>;
  return detail::with_expanded(detail::view_of(a), Policy::name, detail::executor_t<Stream>(stream), resource,
                               [&](const auto& of) { return made(policy, of, options, stream, resource); });
}

/// Analyses factors that are stored in two matrices; otherwise as the other overload.
///
/// @param policy, options, stream, resource as in the other overload. By default the first factor is lower
///   with a unit diagonal and the second upper.
/// @param first the matrix of F_1.
/// @param second the matrix of F_2, of the same size and with the same types.
template <class Policy, class First, class Second, class Stream = typename Policy::default_stream,
          class View = typename First::view_type, class = typename Second::view_type,
          class = decltype(Policy::name)>
auto analyze_factors(
    const Policy& policy, const First& first, const Second& second,
    const factors_options<typename View::value_type, typename View::index_type>& options = {},
    Stream stream = {}, memory_resource* resource = nullptr) {
  using made = factors<Policy, typename View::value_type, typename View::index_type,
                       typename View::offset_type, Stream>;
  const detail::executor_t<Stream> on(stream);
  return detail::with_expanded(detail::view_of(first), Policy::name, on, resource, [&](const auto& f) {
    return detail::with_expanded(detail::view_of(second), Policy::name, on, resource, [&](const auto& s) {
      return made(policy, f, s, options, stream, resource);
    });
  });
}

}  // namespace sptrsv::SPTRSV_ABI
