// SPDX-License-Identifier: Apache-2.0
// Solves with both factors of a matrix: the application of a preconditioner, or the solves of a direct
// method. Most of the header is the documented interface of one class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "sptrsv/detail/factors/analyze_both.hpp"
#include "sptrsv/detail/factors/factor_operations.hpp"
#include "sptrsv/detail/factors/row_transform.hpp"
#include "sptrsv/detail/factors/stored_diagonal.hpp"
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
/// @tparam Policy a policy, for example policy::dataflow; both factors are solved with it.
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the indices of the matrix.
/// @tparam Offset signed integer type of the offsets of the matrix.
/// @tparam Stream stream type, as for solver.
template <class Policy, class Value, class Index = std::int32_t, class Offset = Index,
          class Stream = typename Policy::default_stream>
class factors {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using one_solver = solver<Policy, Value, Index, Offset, Stream>;
  using solver_scratch = typename one_solver::workspace;
  using transform = detail::factors::row_transform<scalar, Index, executor>;
  using diagonal = detail::factors::stored_diagonal<scalar, Offset, executor>;

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
    /// The workspaces of the solvers of one operation; empty: the solvers' own.
    struct pair {
      std::optional<solver_scratch> first;
      std::optional<solver_scratch> second;
    };
    pair forward_;
    pair transposed_;
    buffer<scalar> vector_;        ///< size x max_rhs; empty if nothing is permuted or scaled
    bool was_transposed_ = false;  ///< whether the last application was a transposed one
  };

  /// Analyses factors that are stored in one matrix; see analyze_factors.
  template <class Matrix>
  factors(const Policy& policy, const Matrix& a, const options_type& options, Stream stream,
          memory_resource* resource)
      : factors(policy, detail::view_of(a), detail::view_of(a), true, options, stream, executor(stream),
                resource != nullptr ? *resource : executor(stream).default_resource()) {}
  /// Analyses factors that are stored in two matrices; see analyze_factors.
  template <class First, class Second>
  factors(const Policy& policy, const First& first, const Second& second, const options_type& options,
          Stream stream, memory_resource* resource)
      : factors(policy, detail::view_of(first), detail::view_of(second), false, options, stream,
                executor(stream), resource != nullptr ? *resource : executor(stream).default_resource()) {}

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
    forward_.first->check_values(first_values);
    forward_.second->check_values(second_values);
    SPTRSV_EXPECTS(!forward_.second_shares || first_values.data() == second_values.data(),
                   errc::invalid_argument,
                   "update_values got two arrays: both factors have the same values with this policy");
    const auto update = [&](pair& of, span<const Value> first, span<const Value> second) {
      if (of.has_own_values) {
        of.first->update_values(first, stream);
      }
      if (of.has_own_values && !of.second_shares) {
        of.second->update_values(second, stream);
      }
    };
    last_update_.run([&] {
      update(forward_, first_values, second_values);
      if (transposed_) {
        update(*transposed_, second_values, first_values);
      }
      diagonal_.update_values(detail::as_scalar(first_values.data()), executor(stream));
    });
  }

  /// Solves A x = b on the object's own workspace; otherwise as the other overload.
  void apply(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    run(false, own_, own_scratch(forward_), b, x, stream);
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
    run(false, scratch, scratch_of(scratch.forward_), b, x, stream);
  }

  /// Solves op(A) x = b on the object's own workspace, where op is factors_options::transposed; otherwise as
  /// apply.
  ///
  /// @throws error errc::invalid_argument if the option is op::none.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    expect_transposed();
    run(true, own_, own_scratch(transposed()), b, x, stream);
  }
  /// Solves op(A) x = b; see the other overloads.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
                       stream_type stream = {}) const {
    expect_transposed();
    run(true, scratch, scratch_of(transposed_ ? scratch.transposed_ : scratch.forward_), b, x, stream);
  }

  /// Returns scratch memory for one more application in flight; see solver::make_workspace.
  [[nodiscard]] workspace make_workspace(stream_type stream = {}, memory_resource* resource = nullptr) const {
    workspace made;
    made.forward_ = make_pair(forward_, stream, resource);
    if (transposed_) {
      made.transposed_ = make_pair(*transposed_, stream, resource);
    }
    made.vector_ = make_vector(executor(stream), resource != nullptr ? *resource : *resource_);
    return made;
  }

  /// Returns what the last application on the object's own workspace met; otherwise as the other overload.
  [[nodiscard]] factors_status status(stream_type stream = {}) {
    auto& of = own_.was_transposed_ ? transposed() : forward_;
    return status_of(of, own_scratch(of), own_.was_transposed_, stream);
  }
  /// Returns whether the last application that was called with `scratch` met a zero pivot, a NaN or an
  /// infinite value, in which factor and row first; otherwise, whether a factor's latest values suit the plan
  /// of the analysis. Synchronises `stream`, which must be ordered after that application.
  [[nodiscard]] factors_status status(workspace& scratch, stream_type stream = {}) const {
    const bool was_transposed = scratch.was_transposed_;
    const auto& of = was_transposed ? transposed() : forward_;
    return status_of(of, scratch_of(was_transposed && transposed_ ? scratch.transposed_ : scratch.forward_),
                     was_transposed, stream);
  }

  /// Returns what the analysis decided for each factor, and how much memory the object holds.
  [[nodiscard]] factors_info info() const {
    factors_info result;
    result.rows = rows();
    result.bytes = rows_.bytes() + columns_.bytes();
    const auto add = [&](const pair& of) {
      const auto add_peak = [&](std::size_t bytes) {  // on top of what was allocated before it
        if (bytes > 0) {
          result.analysis_peak_bytes =
              std::max(result.analysis_peak_bytes, result.bytes + result.workspace_bytes + bytes);
        }
      };
      add_peak(of.shared.peak);
      for (int k = 0; k < 2; ++k) {
        result.solvers.push_back((k == 0 ? of.first : of.second)->info());
        const solver_info& added = result.solvers.back();
        add_peak(added.analysis_peak_bytes > 0 ? of.shared.beside[k] + added.analysis_peak_bytes : 0);
        result.bytes += added.solver_bytes;
        result.workspace_bytes += added.workspace_bytes;
      }
    };
    add(forward_);
    result.bytes += diagonal_.bytes();
    if (transposed_) {
      add(*transposed_);
    }
    result.workspace_bytes += own_.vector_.bytes();
    if (result.analysis_peak_bytes > 0) {
      result.analysis_peak_bytes =
          std::max(result.analysis_peak_bytes, result.bytes + result.workspace_bytes);
    }
    return result;
  }

  /// Returns the number of rows of the system.
  [[nodiscard]] std::int64_t rows() const noexcept { return forward_.first->rows(); }
  /// Returns the largest number of right-hand sides of one application.
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return forward_.first->max_rhs(); }

 private:
  /// The solvers of one operation, in the order of its solves.
  struct pair {
    std::optional<one_solver> first;
    std::optional<one_solver> second;
    bool second_shares = false;  ///< whether the second solver has the values of the first one
    bool has_own_values = true;  ///< false: both have the values of other solvers
    detail::factors::joint_memory shared;
  };
  struct scratch_pair {
    solver_scratch& first;
    solver_scratch& second;
  };

  template <class First, class Second>
  factors(const Policy& policy, const First& first, const Second& second, bool in_one_matrix,
          const options_type& options, Stream stream, const executor& on, memory_resource& resource)
      : transposed_operation_(checked(first, second, options).transposed),
        in_one_matrix_(in_one_matrix),
        resource_(&resource),
        rows_(as_scalars(options.row_order), as_scalars(options.row_scale), first.rows, "row", on, resource),
        columns_(as_scalars(options.column_order), as_scalars(options.column_scale), first.rows, "column", on,
                 resource),
        forward_(
            analyze_both(policy, first, options.first, second, options.second, options.max_rhs, stream)) {
    if (options.has_diagonal) {
      diagonal_ = diagonal(detail::pattern_of(first), on, resource);
      diagonal_.update_values(detail::as_scalar(first.values), on);
    }
    if (options.transposed != op::none) {
      const auto of_second = detail::factors::transpose_of<scalar>(options.second, options.transposed);
      const auto of_first = detail::factors::transpose_of<scalar>(options.first, options.transposed);
      if (!in_one_matrix || !detail::factors::is_same<scalar>(of_second, options.first) ||
          !detail::factors::is_same<scalar>(of_first, options.second)) {
        transposed_ = analyze_transposed(policy, second, of_second, first, of_first, options, stream);
      }
    }
    own_.vector_ = make_vector(on, resource);
  }

  /// Checks all that needs no kernel, before anything is enqueued, and returns the options.
  template <class First, class Second>
  static const options_type& checked(const First& first, const Second& second, const options_type& options) {
    const auto check = [&](const auto& a, const triangular_factor& f) {
      const auto pattern = detail::pattern_of(a);
      detail::check_shape<Value>(a.rows, a.columns, pattern,
                                 {f.part, f.diagonal, f.operation, options.max_rhs});
      one_solver::check_space(a.values, a.entries, "the array of values");
      detail::check_spaces<executor>(pattern, Policy::name);
    };
    check(first, options.first);
    check(second, options.second);
    SPTRSV_EXPECTS(first.rows == second.rows, errc::size_mismatch,
                   "the matrix of the first factor has " + std::to_string(first.rows) +
                       " rows, that of the second " + std::to_string(second.rows));
    SPTRSV_EXPECTS(!options.has_diagonal ||
                       (options.first.diagonal == diag::unit && options.second.diagonal == diag::unit),
                   errc::invalid_argument, "factors with a stored diagonal between them must be unit");
    if (options.transposed != op::none) {  // throws if a factor has no transpose
      static_cast<void>(detail::factors::transpose_of<scalar>(options.second, options.transposed));
      static_cast<void>(detail::factors::transpose_of<scalar>(options.first, options.transposed));
    }
    transform::check(as_scalars(options.row_order), as_scalars(options.row_scale), first.rows, "row");
    transform::check(as_scalars(options.column_order), as_scalars(options.column_scale), first.rows,
                     "column");
    return options;
  }

  template <class First, class Second>
  pair analyze_both(const Policy& policy, const First& first, const triangular_factor& first_factor,
                    const Second& second, const triangular_factor& second_factor, std::int64_t max_rhs,
                    Stream stream) {
    const auto options_of = [&](const triangular_factor& f) {
      return system_options{f.part, f.diagonal, f.operation, max_rhs};
    };
    pair made;
    if constexpr (one_solver::has_transposed) {  // one set of values serves both
      const op between =
          in_one_matrix_ ? detail::factors::operation_between<scalar>(first_factor, second_factor) : op::none;
      if (between != op::none) {
        made.first.emplace(sptrsv::analyze(policy, first, options_of(first_factor), stream, resource_));
        made.second.emplace(made.first->transposed(between, stream, resource_));
        made.second_shares = true;
        return made;
      }
    }
    made.shared = detail::factors::pair_analysis<one_solver>(policy, stream, *resource_)
                      .run(detail::factors::system<First>{first, options_of(first_factor)},
                           detail::factors::system<Second>{second, options_of(second_factor)}, in_one_matrix_,
                           made.first, made.second);
    return made;
  }
  /// Returns the solvers of op(F_2) and op(F_1).
  template <class First, class Second>
  pair analyze_transposed(const Policy& policy, const Second& second, const triangular_factor& of_second,
                          const First& first, const triangular_factor& of_first, const options_type& options,
                          Stream stream) {
    if constexpr (one_solver::has_transposed) {
      pair made;
      made.first.emplace(forward_.second->transposed(options.transposed, stream, resource_));
      made.second.emplace(forward_.first->transposed(options.transposed, stream, resource_));
      made.has_own_values = false;
      return made;
    } else {
      return analyze_both(policy, second, of_second, first, of_first, options.max_rhs, stream);
    }
  }

  template <class T>
  static auto as_scalars(span<const T> values) {
    if constexpr (std::is_same_v<T, Value>) {
      return span<const scalar>(detail::as_scalar(values.data()), values.size());
    } else {
      return values;
    }
  }

  void expect_transposed() const {
    SPTRSV_EXPECTS(transposed_operation_ != op::none, errc::invalid_argument,
                   "apply_transpose needs factors_options::transposed");
  }
  [[nodiscard]] const pair& transposed() const { return transposed_ ? *transposed_ : forward_; }
  [[nodiscard]] pair& transposed() { return transposed_ ? *transposed_ : forward_; }

  static scratch_pair own_scratch(pair& of) { return {of.first->own_, of.second->own_}; }
  static scratch_pair scratch_of(typename workspace::pair& of) {
    SPTRSV_EXPECTS(of.first && of.second, errc::invalid_argument, "the workspace belongs to another object");
    return {*of.first, *of.second};
  }
  static typename workspace::pair make_pair(const pair& of, Stream stream, memory_resource* resource) {
    return {of.first->make_workspace(stream, resource), of.second->make_workspace(stream, resource)};
  }
  [[nodiscard]] buffer<scalar> make_vector(const executor& on, memory_resource& resource) const {
    const bool is_needed = !rows_.is_identity() || !columns_.is_identity();
    return detail::make_buffer<scalar>(is_needed ? rows() * max_rhs() : 0, on, resource);
  }

  /// Checks the arguments and solves with A, or with op(A) if `is_transposed`. `scratch`: the workspaces of
  /// the solvers that belong to `in_use`.
  void run(bool is_transposed, workspace& in_use, scratch_pair scratch, dense_view<const Value> b,
           dense_view<Value> x, Stream stream) const {
    const pair& with = is_transposed ? transposed() : forward_;
    with.first->check_workspace(scratch.first);
    with.second->check_workspace(scratch.second);
    const bool has_work = with.first->has_work(b, x);
    if (has_work) {
      last_update_.expect_whole("update_values", "call it again");
    }
    in_use.was_transposed_ = is_transposed;
    if (!has_work) {
      return;
    }
    const transform& in = is_transposed ? columns_ : rows_;
    const transform& out = is_transposed ? rows_ : columns_;
    const bool conjugated = is_transposed && transposed_operation_ == op::conj_transpose;
    scalar* const vector = in_use.vector_.data();
    const executor on(stream);
    const auto permuted = dense_view<scalar>::column_major(vector, x.rows, x.columns, x.rows);
    const auto as_values =
        dense_view<Value>::column_major(reinterpret_cast<Value*>(vector), x.rows, x.columns, x.rows);
    const dense_view<Value> between = out.is_identity() ? x : as_values;
    if (!in.is_identity()) {
      in.gather(detail::as_scalars(b), permuted, conjugated, on);
    }
    with.first->solve(in.is_identity() ? b : dense_view<const Value>(as_values), between, Value(1),
                      scratch.first, stream);
    diagonal_.divide(detail::as_scalars(between), conjugated, on);
    with.second->solve(between, between, Value(1), scratch.second, stream);
    if (!out.is_identity()) {
      out.scatter(permuted, detail::as_scalars(x), conjugated, on);
    }
  }

  factors_status status_of(const pair& with, scratch_pair scratch, bool was_transposed, Stream stream) const {
    const solve_status of_first = with.first->status(scratch.first, stream);
    const solve_status of_second = with.second->status(scratch.second, stream);
    const auto is_finite = [](const solve_status& s) {
      return s.ok() || s.code == solve_status::kind::growth;
    };
    const bool in_first = !is_finite(of_first) || (is_finite(of_second) && !of_first.ok());
    const solve_status& met = in_first ? of_first : of_second;
    if (met.ok()) {
      return {};
    }
    if (!in_first && !is_finite(met) && !diagonal_.is_identity()) {
      const scalar pivot = diagonal_.entry(*met.row, executor(stream));
      if (pivot == scalar{} || !detail::is_finite(pivot)) {
        return {pivot == scalar{} ? solve_status::kind::zero_pivot : solve_status::kind::non_finite, met.row,
                factor_part::diagonal};
      }
    }
    return {met.code, met.row, in_first != was_transposed ? factor_part::first : factor_part::second};
  }

  op transposed_operation_;
  bool in_one_matrix_;
  memory_resource* resource_;
  transform rows_;                  ///< P_r, R
  transform columns_;               ///< P_c, C
  pair forward_;                    ///< F_1, F_2
  diagonal diagonal_;               ///< D
  std::optional<pair> transposed_;  ///< op(F_2), op(F_1); empty if they are F_1, F_2
  workspace own_;                   ///< without workspaces of the solvers, which have their own
  detail::whole_call last_update_;
};

/// Analyses the factors of a matrix for `policy`, takes their values, and returns the object that applies
/// them. Synchronises `stream`, as `analyze` does.
///
/// The factors of an incomplete factorisation `ilu` of `a` are given by `ilu.view(a)`; after
/// `ilu.factorize(...)`, `update_values(ilu.values(), stream)` takes the new ones.
///
/// @param policy the policy with its members; both factors are solved with it.
/// @param a csr_view, csc_view or owning matrix that holds both factors, in the memory space that the policy
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
  return factors<Policy, typename View::value_type, typename View::index_type, typename View::offset_type,
                 Stream>(policy, a, options, stream, resource);
}

/// Analyses factors that are stored in two matrices; otherwise as the other overload.
///
/// @param policy the policy with its members; both factors are solved with it.
/// @param first the matrix of F_1.
/// @param second the matrix of F_2, of the same size and with the same types.
/// @param options how the factors, permutations and scalings make up the system. By default the first factor
///   is lower with a unit diagonal and the second upper.
/// @param stream the stream of the analysis.
/// @param resource source of memory; null: the default, see analyze. It must outlive the result.
template <class Policy, class First, class Second, class Stream = typename Policy::default_stream,
          class View = typename First::view_type, class = typename Second::view_type,
          class = decltype(Policy::name)>
auto analyze_factors(
    const Policy& policy, const First& first, const Second& second,
    const factors_options<typename View::value_type, typename View::index_type>& options = {},
    Stream stream = {}, memory_resource* resource = nullptr) {
  return factors<Policy, typename View::value_type, typename View::index_type, typename View::offset_type,
                 Stream>(policy, first, second, options, stream, resource);
}

}  // namespace sptrsv::SPTRSV_ABI

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
