// SPDX-License-Identifier: Apache-2.0
// Batches of small systems: many triangular systems that have one pattern and different values are solved by
// one kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "sptrsv/batch.hpp"
#include "sptrsv/detail/batched/batched_engine.hpp"
#include "sptrsv/detail/batched/checks.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Triangular systems op(T_s) x_s = alpha b_s with one pattern, analysed and ready to be solved; the result
/// of `analyze_batch`.
///
/// One warp solves up to 16 systems. The rows of a level are solved together; x is in shared memory, and the
/// values, which update_values puts into the order of the solve, are read once for each right-hand side. The
/// rows of a system must therefore fit the shared memory of a thread block: about 29000 double-precision rows
/// on an H100. The result is the same in every bit from solve to solve, and does not depend on the other
/// systems of the batch. On the host one system of any size is solved after the other.
///
/// The object is move-only and owns all that it needs. It has memory for one solve in flight: its status. For
/// streams, memory and threads the rules of `solver` apply.
///
/// The type parameters are those of `solver`. Stream: cudaStream_t, or host_stream for batches on the host.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class batched_solver {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using engine = detail::batched::engine<scalar, Index, Offset, executor>;

 public:
  using value_type = Value;    ///< type of the values of the matrices, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Analyses the pattern and takes the values; see analyze_batch.
  template <class Matrix>
  batched_solver(const Matrix& a, span<const Value> values, const batch_options& batch,
                 const system_options& options, stream_type stream, memory_resource* resource)
      : systems_(batch.systems), max_rhs_(options.max_rhs) {
    const auto view = detail::view_of(a);
    const auto pattern = detail::pattern_of(view);
    size_ = view.rows;
    entries_ = view.entries;
    value_stride_ = batch.value_stride == 0 ? entries_ : batch.value_stride;
    detail::check_shape<Value>(view.rows, view.columns, pattern, options);
    detail::batched::check_options(batch, entries_, sizeof(Value));
    detail::check_spaces<executor>(pattern, taker);
    check_values(values);
    const executor on(stream);
    engine_ = std::make_unique<counted_engine>(pattern, detail::triangle_form(options, pattern.by_columns),
                                               batch, on, detail::resource_or_default(resource, on));
    engine_->update_values(detail::as_scalar(values.data()), value_stride_, on);
  }

  /// Replaces the values of all matrices; otherwise as solver::update_values.
  ///
  /// @param values the values of all entries of the stored matrix, in the order of its arrays, for one system
  ///   after the other at a distance of batch_options::value_stride; device memory.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error errc::size_mismatch if there are fewer values than the systems need;
  ///   errc::wrong_memory_space; errc::invalid_argument for a null pointer, or if the solver was moved from.
  void update_values(span<const Value> values, stream_type stream = {}) {
    expect_not_moved_from();
    check_values(values);
    engine_->update_values(detail::as_scalar(values.data()), value_stride_, executor(stream));
  }

  /// Solves op(T_s) x_s = b_s for all systems; otherwise as the other overload.
  void solve(batch_view<const Value> b, batch_view<Value> x, stream_type stream = {}) {
    solve(b, x, Value(1), stream);
  }
  /// Solves op(T_s) x_s = alpha b_s for all systems, each with one or several right-hand sides. Only
  /// enqueues: the function does not allocate and does not synchronise, and it may be captured into a CUDA
  /// graph.
  ///
  /// @param b the right-hand sides, in device memory; all systems, and at most max_rhs() columns. A stride
  ///   of 0 repeats elements, for example one right-hand side for all systems. Contiguous columns are read
  ///   fastest.
  /// @param x the solutions; its elements must not overlap. Ordered by size, each stride of x must be larger
  ///   than the distance between two elements whose indices differ in dimensions of smaller strides only. x
  ///   may be b, element for element; any other overlap of x and b gives undefined values.
  /// @param alpha factor of b.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error errc::size_mismatch if b or x have another number of systems or rows than the batch, or
  ///   different numbers of columns; errc::too_many_rhs; errc::wrong_memory_space; errc::invalid_argument for
  ///   a null pointer, for strides with which elements overlap or exceed the address space, or if the solver
  ///   was moved from. Zero pivots, NaN and infinite values are no errors: see status.
  void solve(batch_view<const Value> b, batch_view<Value> x, Value alpha, stream_type stream = {}) {
    expect_not_moved_from();
    if (detail::batched::check_operands<executor>(b, x, systems_, size_, max_rhs_, taker)) {
      engine_->solve(detail::load_scalar(detail::as_scalar(&alpha)), detail::batched::as_scalars(b),
                     detail::batched::as_scalars(x), executor(stream));
    }
  }

  /// Returns whether the last solve met a zero pivot, a NaN or an infinite value, in which system first, and
  /// there in which row first. Synchronises `stream`, which must be ordered after that solve.
  ///
  /// @param stream the stream that is synchronised.
  /// @throws error errc::invalid_argument if the solver was moved from.
  [[nodiscard]] batch_status status(stream_type stream = {}) {
    expect_not_moved_from();
    return systems_ == 0 || size_ == 0 ? batch_status{} : engine_->status(executor(stream));
  }

  /// Returns what the analysis decided and how much memory the solver holds; numbers of rows, entries and
  /// levels are those of one system. May synchronise.
  ///
  /// @throws error errc::invalid_argument if the solver was moved from.
  [[nodiscard]] solver_info info() const {
    expect_not_moved_from();
    solver_info result;
    result.policy = "batched";
    result.rows = size_;
    engine_->describe(result, executor{});
    result.ignored_entries = entries_ - result.entries;
    if (const std::size_t peak = engine_->peak_bytes(); peak > 0) {
      result.analysis_peak_bytes = std::max(peak, result.solver_bytes);
    }
    return result;
  }

  /// Returns the number of systems.
  [[nodiscard]] std::int64_t systems() const noexcept { return systems_; }
  /// Returns the number of rows of each system.
  [[nodiscard]] std::int64_t rows() const noexcept { return size_; }
  /// Returns the largest number of right-hand sides of one solve, for each system.
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return max_rhs_; }

 private:
  /// The engine, and the resource that it allocates from, which counts and is destroyed after it.
  struct counted_engine : detail::peak_resource, engine {
    counted_engine(const detail::pattern_view<Index, Offset>& pattern, const detail::triangle_form& form,
                   const batch_options& batch, const executor& on, memory_resource& resource)
        : detail::peak_resource(resource),
          engine(pattern, form, batch, on, static_cast<memory_resource&>(*this)) {}
  };

  void expect_not_moved_from() const {
    SPTRSV_EXPECTS(engine_ != nullptr, errc::invalid_argument, "the solver was moved from");
  }
  void check_values(span<const Value> values) const {
    const std::int64_t needed =
        detail::batched::check_values(values.size(), systems_, entries_, value_stride_);
    detail::check_space<executor>(values.data(), needed, "the array of values", taker);
  }

  static constexpr const char* taker = "a batch";  ///< the name of this class in messages

  std::int64_t systems_;
  std::int64_t size_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t value_stride_ = 0;
  std::int64_t max_rhs_;
  std::unique_ptr<counted_engine> engine_;
};

/// Analyses the pattern of the `options.part` triangle of `a` once for all systems of a batch, takes their
/// values, and returns the solver.
///
/// Synchronises `stream`, and keeps no reference to `a` and `values`, as `analyze`.
///
/// @param a csr_view, csc_view, bsr_view or owning matrix in device memory: the pattern of all systems. Its
///   values are not read.
/// @param values the values of all systems, see batched_solver::update_values: a span or a contiguous
///   container in device memory.
/// @param batch the number of systems, and the distance between their values.
/// @param options the triangle, the operation, and the largest number of right-hand sides, of all systems.
/// @param stream, resource as in analyze.
/// @return a `batched_solver<Value, Index, Offset>`, with the stream type as last argument if it is not
///   cudaStream_t. Value, Index and Offset are the types of the matrix.
/// @throws error with the codes of `analyze`; errc::size_mismatch if there are fewer values than the systems
///   need; errc::invalid_argument if the number of systems or the stride is negative, if the stride is less
///   than the number of entries, or if `lanes` is not one of those that batch_options lists;
///   errc::unsupported if a system does not fit the shared memory of a thread block.
template <class Matrix, class Stream = stream_handle, class View = typename Matrix::view_type>
auto analyze_batch(const Matrix& a, span<const typename View::value_type> values, const batch_options& batch,
                   const system_options& options = {}, Stream stream = {},
                   memory_resource* resource = nullptr) {
  using made = batched_solver<typename View::value_type, typename View::index_type,
                              typename View::offset_type, Stream>;
  const detail::executor_t<Stream> on(stream);
  return detail::with_expanded(detail::view_of(a), "a batch", on, resource, [&](const auto& of) {
    return made(of, values, batch, options, stream, resource);
  });
}

}  // namespace sptrsv::SPTRSV_ABI
