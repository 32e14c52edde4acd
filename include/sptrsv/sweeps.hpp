// SPDX-License-Identifier: Apache-2.0
// Gauss-Seidel, SOR and SSOR with a matrix as it is, as smoothers and as preconditioners.
#pragma once

#include <cstdint>

#include "sptrsv/detail/factors/analyze_both.hpp"
#include "sptrsv/detail/factors/around_solves.hpp"
#include "sptrsv/detail/sweeps/residual.hpp"
#include "sptrsv/factors_options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Options of sweeps.
struct sweep_options {
  /// Relaxation factor, between 0 and 2. 1: Gauss-Seidel; otherwise SOR, and the values of the matrix are
  /// held a second time.
  double relaxation = 1;
  /// Whether relax() is wanted. Otherwise only apply() is available, which needs less memory: it does not
  /// multiply with a triangle.
  bool is_smoother = true;
  std::int64_t max_rhs = 1;  ///< largest number of right-hand sides of one call
};

/// The order in which a sweep visits the rows.
enum class sweep_direction {
  forward,   ///< from the first row to the last
  backward,  ///< from the last row to the first
  symmetric  ///< forward, then backward
};

/// Sweeps over the rows of A = L + D + U, where D is the diagonal; the result of `analyze_sweeps`. With the
/// relaxation factor w, a forward sweep solves (D / w + L) x' = b - (U + (1 - 1 / w) D) x, and a backward
/// sweep exchanges L and U. One analysis serves both directions.
///
/// Each entry of A is read once in a sweep: a product with one triangle and a solve with the other. To
/// compute a residual and correct x by a triangular solve would read one triangle twice. A symmetric sweep
/// reads only one triangle more than its two solves: what the product with L would give is known from the
/// solve before, L x' = c - D x' / w, where c was its right-hand side (Niethammer 1964). Further symmetric
/// sweeps of the same call read no triangle but for the solves.
///
/// Sweeps in the order of colours (sptrsv/orderings.hpp) have few levels: reorder the matrix and the vectors.
///
/// The object is move-only and owns all that it needs. It has memory for one call in flight. For streams and
/// memory the rules of `solver` apply.
///
/// The type parameters are those of `solver`.
template <class Policy, class Value, class Index = std::int32_t, class Offset = Index,
          class Stream = typename Policy::default_stream>
class sweeps {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using one_solver = solver<Policy, Value, Index, Offset, Stream>;
  using analysis = detail::factors::pair_analysis<one_solver>;
  using triangle = detail::sweeps::strict_triangle<scalar, Index, Offset, executor>;
  using diagonal = detail::factors::stored_diagonal<scalar, Offset, executor>;

 public:
  using policy_type = Policy;  ///< the policy
  using value_type = Value;    ///< type of the values of the matrix, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Analyses the matrix; see analyze_sweeps.
  template <class Matrix>
  sweeps(const Policy& policy, const Matrix& a, const sweep_options& options, Stream stream,
         memory_resource* resource)
      : sweeps(policy, detail::view_of(a), options, stream, executor(stream),
               detail::resource_or_default(resource, executor(stream))) {}

  /// Replaces the values of the matrix; see solver::update_values.
  void update_values(span<const Value> values, stream_type stream = {}) {
    lower().check_values(values);
    const executor on(stream);
    last_update_.run([&] {
      if (scaled_.size() > 0) {
        take_scaled(detail::as_scalar(values.data()), on);
        values = scaled_;
      }
      solvers_.update_values(values, values, stream);
      update_products(values, on);
    });
  }

  /// Sweeps `count` times, from the values that x has. Only enqueues; it may be captured into a CUDA graph.
  ///
  /// @param direction the order of the rows.
  /// @param b right-hand sides; see solver::solve.
  /// @param x the iterates, which are replaced; x must not overlap b.
  /// @param count number of sweeps; a symmetric one is a forward and a backward sweep.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error as solver::solve; errc::invalid_argument if sweep_options::is_smoother is false, for a
  ///   negative count, and if x overlaps b. Views of different strides that lie within each other count as
  ///   overlapping.
  void relax(sweep_direction direction, dense_view<const Value> b, dense_view<Value> x, int count = 1,
             stream_type stream = {}) {
    SPTRSV_EXPECTS(is_smoother_, errc::invalid_argument, "relax needs sweep_options::is_smoother");
    SPTRSV_EXPECTS(count >= 0, errc::invalid_argument, "relax got ", count, " as the number of sweeps");
    lower().check_workspace(lower().own_);
    if (!lower().has_work(b, x)) {
      return;
    }
    SPTRSV_EXPECTS(!detail::views_overlap(b, x), errc::invalid_argument,
                   "relax got vectors x and b that overlap: each sweep reads b after x has changed");
    expect_values();
    const executor on(stream);
    for (int k = 0; k < count; ++k) {
      if (direction != sweep_direction::symmetric) {
        const bool forward = direction == sweep_direction::forward;
        residual(forward ? above_ : below_, b, x, on);
        solve(forward ? lower() : upper(), x, stream);
        continue;
      }
      k == 0 ? residual(above_, b, x, on) : turn_around(b, x, on);
      solve(lower(), x, stream);
      turn_around(b, x, on);
      solve(upper(), x, stream);
    }
  }

  /// Solves M x = b, where M = (D / w + L) ((2 / w - 1) D)^-1 (D / w + U) is the SSOR preconditioner: the
  /// result of one symmetric sweep from x = 0. Only enqueues; it may be captured into a CUDA graph.
  ///
  /// @param b right-hand sides; see solver::solve.
  /// @param x the solutions. x may be b, element for element.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error as solver::solve.
  void apply(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    expect_values();
    lower().solve(b, x, stream);
    const auto to = detail::as_scalars(x);
    detail::simt::for_each(
        executor(stream), x.columns > 0 ? x.rows : 0,
        detail::sweeps::turn_around<scalar>{diagonal_.values(), real(2 - relaxation_), false, {}, to, to});
    upper().solve(x, x, stream);
  }

  /// Returns what the last forward sweep, and then the last backward sweep met: `part` is first for forward.
  /// Synchronises `stream`, which must be ordered after them.
  [[nodiscard]] factors_status status(stream_type stream = {}) {
    for (const factor_part part : {factor_part::first, factor_part::second}) {
      solve_status met = (part == factor_part::first ? lower() : upper()).status(stream);
      if (!met.ok()) {
        met.part = part;
        return met;
      }
    }
    return {};
  }

  /// Returns what the analysis decided for both directions, and how much memory the object holds. The peak of
  /// the analysis is not counted.
  [[nodiscard]] factors_info info() const {
    factors_info result;
    result.rows = rows();
    result.bytes = diagonal_.bytes() + above_.bytes() + below_.bytes() + scaled_.bytes();
    result.workspace_bytes = rhs_.bytes();
    solvers_.describe(result);
    result.analysis_peak_bytes = 0;
    return result;
  }

  /// Returns the number of rows of the matrix.
  [[nodiscard]] std::int64_t rows() const noexcept { return solvers_.first.solver.rows(); }
  /// Returns the largest number of right-hand sides of one call.
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return solvers_.first.solver.max_rhs(); }

 private:
  template <class View>
  sweeps(const Policy& policy, const View& a, const sweep_options& options, Stream stream, const executor& on,
         memory_resource& resource)
      : relaxation_(checked(options.relaxation)),
        is_smoother_(options.is_smoother),
        solvers_(analysis{policy, options.max_rhs, stream, resource}.run(
            a, triangular_factor{uplo::lower}, a, triangular_factor{uplo::upper}, true)) {
    const auto pattern = detail::pattern_of(a);
    diagonal_ = diagonal(pattern, on, resource);
    if (is_smoother_) {
      below_ = triangle(pattern, uplo::lower, on, resource);
      above_ = triangle(pattern, uplo::upper, on, resource);
      rhs_ = detail::make_buffer<Value>(a.rows * options.max_rhs, on, resource);
    }
    if (relaxation_ != 1) {
      scaled_ = detail::make_buffer<Value>(a.entries, on, resource);
    }
    const span<const Value> values(a.values, detail::at(a.entries));
    scaled_.size() > 0 ? update_values(values, stream) : update_products(values, on);
  }

  static double checked(double relaxation) {
    SPTRSV_EXPECTS(relaxation > 0 && relaxation < 2, errc::invalid_argument, "the relaxation factor is ",
                   relaxation, ", not between 0 and 2");
    return relaxation;
  }
  void expect_values() const { last_update_.expect_whole("update_values", "call it again"); }

  static scalar real(double v) { return detail::from_real<scalar>(static_cast<detail::real_t<scalar>>(v)); }

  /// Returns the workspace's right-hand sides.
  [[nodiscard]] dense_view<Value> rhs(const dense_view<Value>& x) const {
    return dense_view<Value>::column_major(rhs_.data(), x.rows, x.columns, x.rows);
  }

  /// Enqueues the copy of the values with D / w in the place of D.
  void take_scaled(const scalar* values, const executor& on) {
    on.copy(scaled_.data(), values, scaled_.bytes());
    detail::simt::for_each(
        on, rows(),
        detail::sweeps::scale_diagonal<scalar, Offset>{diagonal_.sources(), real(1 / relaxation_), values,
                                                       detail::as_scalar(scaled_.data())});
  }
  /// Enqueues the copies of D, L and U. With a relaxation factor, `values` hold D / w.
  void update_products(span<const Value> values, const executor& on) {
    diagonal_.update_values(detail::as_scalar(values.data()), on);
    below_.update_values(detail::as_scalar(values.data()), on);
    above_.update_values(detail::as_scalar(values.data()), on);
  }

  /// Enqueues c = b - T x - (1 - 1 / w) D x for a strict triangle T. diagonal_ holds D / w.
  void residual(const triangle& t, dense_view<const Value> b, dense_view<Value> x, const executor& on) const {
    t.residual(diagonal_.values(), real(relaxation_ - 1), detail::as_scalars(b), detail::as_scalars(x),
               detail::as_scalars(rhs(x)), on);
  }
  /// Enqueues c = b - c + (2 / w - 1) D x: the residual for the opposite direction.
  void turn_around(dense_view<const Value> b, dense_view<Value> x, const executor& on) const {
    detail::simt::for_each(on, x.rows,
                           detail::sweeps::turn_around<scalar>{
                               diagonal_.values(), real(2 - relaxation_), true, detail::as_scalars(b),
                               detail::as_scalars(x), detail::as_scalars(rhs(x))});
  }
  [[nodiscard]] one_solver& lower() { return solvers_.first.solver; }
  [[nodiscard]] one_solver& upper() { return solvers_.second.solver; }
  void solve(one_solver& with, dense_view<Value> x, Stream stream) { with.solve(rhs(x), x, stream); }

  double relaxation_;
  bool is_smoother_;
  detail::whole_call last_update_;
  typename analysis::pair solvers_;  ///< of D / w + L and D / w + U
  diagonal diagonal_;                ///< D / w
  triangle below_;                   ///< L; only for a smoother
  triangle above_;                   ///< U; only for a smoother
  buffer<Value> scaled_;             ///< the values of A with D / w; empty if w = 1
  buffer<Value> rhs_;                ///< size x max_rhs; only for a smoother
};

/// Analyses the sweeps of a matrix for `policy`, takes the values, and returns the object that sweeps.
/// Synchronises `stream`, as `analyze` does.
///
/// @param policy the policy with its members.
/// @param a csr_view, csc_view, bsr_view or owning matrix with a complete diagonal, in the memory space that
///   the policy works in.
/// @param options the relaxation factor, and what the sweeps are for.
/// @param stream the stream of the analysis.
/// @param resource source of memory; null: the default, see analyze. It must outlive the result.
/// @return a `sweeps<Policy, Value, Index, Offset>`, with the stream type as last argument if it is not the
///   policy's default.
/// @throws error as analyze; errc::invalid_argument if the relaxation factor is not between 0 and 2.
template <class Policy, class Matrix, class Stream = typename Policy::default_stream,
          class View = typename Matrix::view_type>
auto analyze_sweeps(const Policy& policy, const Matrix& a, const sweep_options& options = {},
                    Stream stream = {}, memory_resource* resource = nullptr) {
  using made = sweeps<Policy, typename View::value_type, typename View::index_type,
                      typename View::offset_type, Stream>;
  const detail::executor_t<Stream> on(stream);
  return detail::with_expanded(detail::view_of(a), Policy::name, on, resource,
                               [&](const auto& of) { return made(policy, of, options, stream, resource); });
}

}  // namespace sptrsv::SPTRSV_ABI
