// SPDX-License-Identifier: Apache-2.0
// analyze() and the solver that it returns: the interface that all policies share.
//
// This header includes no policy, so that a program compiles only what it uses. The header of a policy
// (sptrsv/policy/<name>.hpp) includes this one and the policy's engine, see detail/base/engine.hpp. Under
// nvcc this header has the executor of CUDA streams. The file is long because most of it is the documented
// interface of one class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/analysis/expanded_view.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/detail/base/engine.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/nvtx_range.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"
#include "sptrsv/supernodal_matrix.hpp"
#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif

namespace sptrsv::SPTRSV_ABI {

template <class Policy, class Value, class Index, class Offset, class Stream>
class factors;
template <class Policy, class Value, class Index, class Offset, class Stream>
class sweeps;

namespace detail {

/// The executor of a stream type.
template <class Stream>
using executor_t = typename executor_for<Stream>::type;

namespace factors {
template <class Solver>
struct pair_analysis;
}

}  // namespace detail

/// A triangular system op(T) x = alpha b that is analysed and ready to be solved; the result of `analyze`.
///
/// The solver is move-only and owns all that it needs. It has no default state: a member of a class is
/// initialised by `analyze`, or is a `std::optional<solver<...>>`. After a move, the source may only be
/// destroyed or assigned to; its other functions throw errc::invalid_argument. Workspaces belong to the
/// solver that the source was moved to.
///
/// **Streams.** `update_values` and `solve` only enqueue work on the stream that they are given. Work on one
/// stream is ordered; across streams, the caller orders it with events:
/// - the first use of the solver on another stream, after `analyze`;
/// - a solve, after earlier solves on the same workspace, and after the `update_values` whose values it uses;
/// - `update_values`, after all earlier solves on all workspaces.
///
/// **Memory.** The solver and its workspaces give their memory back on the stream of `analyze` (of
/// `make_workspace`). This stream must still exist then, and work of other streams that uses the memory must
/// be ordered before. The memory resource must outlive the solver and its workspaces.
///
/// **Threads.** Several host threads may call const members at the same time, each with a workspace of its
/// own. No other call may run at the same time as a call of a non-const member.
///
/// @tparam Policy a policy, for example policy::dataflow.
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the row and column indices of the matrix.
/// @tparam Offset signed integer type of the row (column) offsets of the matrix.
/// @tparam Stream stream type; the default is that of the policy: cudaStream_t on the GPU, host_stream on the
///   host.
template <class Policy, class Value, class Index = std::int32_t, class Offset = Index,
          class Stream = typename Policy::default_stream>
class solver {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using engine = detail::engine<Policy, scalar, Index, Offset, executor>;

 public:
  using policy_type = Policy;  ///< the policy
  using value_type = Value;    ///< type of the values of the matrix, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Scratch memory of one solve in flight; made by make_workspace. Move-only. A workspace is used with the
  /// solver that made it, also after that solver was moved, by one solve at a time. Any other solver refuses
  /// it.
  class workspace {
   public:
    /// Takes the memory of `other`, which no solver accepts then.
    workspace(workspace&& other) noexcept
        : state_(std::move(other.state_)),
          solver_number_(std::exchange(other.solver_number_, 0)),
          last_solve_(other.last_solve_) {}
    /// Gives its memory back and takes that of `other`, which no solver accepts then.
    workspace& operator=(workspace&& other) noexcept {
      state_ = std::move(other.state_);
      solver_number_ = std::exchange(other.solver_number_, 0);
      last_solve_ = other.last_solve_;
      return *this;
    }
    ~workspace() = default;

   private:
    friend class solver;
    workspace(typename engine::workspace&& state, std::uint64_t solver_number)
        : state_(std::move(state)), solver_number_(solver_number) {}

    typename engine::workspace state_;
    std::uint64_t solver_number_;  ///< of the solver that made it; 0 after a move
    detail::whole_call last_solve_;
  };

  /// Replaces the values of the matrix; the pattern stays the same. Only enqueues; it may be captured into a
  /// CUDA graph. The array must not be freed or changed before the enqueued work is complete.
  ///
  /// @param values the values of all entries of the stored matrix, in the order of its arrays, in the memory
  ///   space of `analyze`.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error errc::size_mismatch if the size is not the number of entries; errc::wrong_memory_space;
  ///   errc::invalid_argument for a null pointer, or if the solver was moved from; errc::cuda_error, after
  ///   which `solve` refuses to work until a call of this function succeeds.
  void update_values(span<const Value> values, stream_type stream = {}) {
    [[maybe_unused]] const detail::nvtx_range range("update_values");
    check_values(values);
    last_update_->run([&] { engine_->update_values(detail::as_scalar(values.data()), executor(stream)); });
  }

  /// Solves op(T) x = b on the solver's own workspace; otherwise as the last overload.
  void solve(dense_view<const Value> b, dense_view<Value> x, stream_type stream = {}) {
    solve(b, x, Value(1), own_, stream);
  }
  /// Solves op(T) x = alpha b on the solver's own workspace; otherwise as the last overload.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, stream_type stream = {}) {
    solve(b, x, alpha, own_, stream);
  }
  /// Solves op(T) x = alpha b for one or several right-hand sides. Only enqueues: the function does not
  /// allocate and does not synchronise, and it may be captured into a CUDA graph.
  ///
  /// @param b the right-hand sides, one for each column: a dense_view, a span or a contiguous container, in
  ///   the memory space of `analyze`; rows() rows and at most max_rhs() columns. A stride of 0 repeats an
  ///   element in every row, or a column in every right-hand side; apart from this the elements must not
  ///   overlap.
  /// @param x the solutions, as many as right-hand sides; its elements must not overlap. x may be b, element
  ///   for element; any other overlap of x and b gives undefined values.
  /// @param alpha factor of b.
  /// @param scratch scratch memory that no other solve in flight uses.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error errc::size_mismatch if b or x have another number of rows than the system, or different
  ///   numbers of columns; errc::too_many_rhs; errc::wrong_memory_space; errc::invalid_argument for a null
  ///   pointer, for strides with which elements overlap or exceed the address space, for the workspace of
  ///   another solver, or if the solver or the workspace was moved from, or if the last `update_values`
  ///   failed half way; errc::cuda_error, after which x is undefined and the next solve on the workspace,
  ///   which may not be captured, resets it first. Zero pivots, NaN and infinite values are no errors: see
  ///   status.
  void solve(dense_view<const Value> b, dense_view<Value> x, Value alpha, workspace& scratch,
             stream_type stream = {}) const {
    [[maybe_unused]] const detail::nvtx_range range("solve");
    check_workspace(scratch);
    if (!has_work(b, x)) {
      return;
    }
    last_update_->expect_whole("update_values", "call it again");
    const executor on(stream);
    reset_if_broken(scratch, on);
    scratch.last_solve_.run([&] {
      engine_->solve(detail::load_scalar(detail::as_scalar(&alpha)), detail::as_scalars(b),
                     detail::as_scalars(x), scratch.state_, on);
    });
  }

  /// Returns scratch memory for one more solve in flight. Allocates; the first use of the workspace must be
  /// ordered after the work that this function enqueues on `stream`.
  ///
  /// @param stream the stream on which memory is allocated, initialised and given back.
  /// @param resource source of memory; null: the resource of `analyze`.
  /// @throws error errc::out_of_memory; errc::invalid_argument if the solver was moved from.
  [[nodiscard]] workspace make_workspace(stream_type stream = {}, memory_resource* resource = nullptr) const {
    expect_not_moved_from();
    return workspace(engine_->make_workspace(executor(stream), resource != nullptr ? *resource : *resource_),
                     number_);
  }

  /// Returns what the last solve on the solver's own workspace met; otherwise as the other overload.
  [[nodiscard]] solve_status status(stream_type stream = {}) { return status(own_, stream); }
  /// Returns whether the last solve on `scratch` met a zero pivot, a NaN or an infinite value, and in which
  /// row first; otherwise, whether the latest values suit the plan of the analysis
  /// (solve_status::kind::growth). Synchronises `stream`, which must be ordered after that solve.
  ///
  /// @param scratch the workspace of the solve.
  /// @param stream the stream that is synchronised.
  /// @throws error errc::invalid_argument for the workspace of another solver, if the solver or the workspace
  ///   was moved from, or if the last solve failed half way.
  [[nodiscard]] solve_status status(workspace& scratch, stream_type stream = {}) const {
    check_workspace(scratch);
    scratch.last_solve_.expect_whole("solve on this workspace", "it has no status");
    solve_status result;
    const executor on(stream);
    std::int64_t substitution_index = size_ == 0 ? -1 : engine_->first_nonfinite_index(scratch.state_, on);
    if (substitution_index >= 0) {
      result.code = engine_->is_zero_pivot(substitution_index, scratch.state_, on)
                        ? solve_status::kind::zero_pivot
                        : solve_status::kind::non_finite;
    } else if (size_ > 0) {
      substitution_index = detail::first_grown_index(*engine_, on);
      result.code = substitution_index >= 0 ? solve_status::kind::growth : solve_status::kind::ok;
    }
    if (substitution_index >= 0) {
      result.row = reversed_ ? size_ - 1 - substitution_index : substitution_index;
    }
    return result;
  }

  /// Returns what the analysis decided and how much memory the solver holds. May synchronise.
  ///
  /// @throws error errc::invalid_argument if the solver was moved from.
  [[nodiscard]] solver_info info() const {
    expect_not_moved_from();
    solver_info result;
    result.policy = Policy::name;
    result.rows = size_;
    engine_->describe(result, executor{});
    if (const std::size_t peak = engine_->peak_bytes(); peak > 0) {
      result.analysis_peak_bytes = std::max(peak, result.solver_bytes + result.workspace_bytes);
    }
    result.ignored_entries = entries_ - result.entries;
    return result;
  }

  /// Returns a solver of the transposed system, op(T)^T x = alpha b, that shares the matrix with this one, so
  /// that both together need little more memory than one. `update_values` of either replaces the values of
  /// both. Only for policy::supernodal. Synchronises `stream`, which must be ordered after the work of this
  /// solver.
  ///
  /// @param operation op::transpose, or op::conj_transpose for op(T)^H x = alpha b.
  /// @param stream the stream of the analysis, as in `analyze`.
  /// @param resource source of memory; null: the resource of `analyze`.
  /// @throws error errc::invalid_argument if the operation is op::none, or if the solver was moved from;
  ///   errc::out_of_memory.
  [[nodiscard]] solver transposed(op operation = op::transpose, stream_type stream = {},
                                  memory_resource* resource = nullptr) {
    static_assert(
        has_transposed,
        "transposed() is for policy::supernodal: analyse the matrix again with options.operation changed");
    expect_not_moved_from();
    SPTRSV_EXPECTS(operation != op::none, errc::invalid_argument,
                   "transposed() takes op::transpose or op::conj_transpose");
    return solver(*this, operation, executor(stream), resource != nullptr ? *resource : *resource_);
  }

  /// Returns the number of rows of the system.
  [[nodiscard]] std::int64_t rows() const noexcept { return size_; }
  /// Returns the largest number of right-hand sides of one solve.
  [[nodiscard]] std::int64_t max_rhs() const noexcept { return max_rhs_; }

 private:
  template <class P, class Matrix, class S, class>
  friend auto analyze(const P&, const Matrix&, const system_options&, S, memory_resource*);
  template <class P, class V, class I, class O, class S>
  friend class factors;
  template <class P, class V, class I, class O, class S>
  friend class sweeps;
  template <class Solver>
  friend struct detail::factors::pair_analysis;

  /// `begun`: what the engine takes of an analysis that has begun (engine::begin_both); mostly nothing.
  template <class Pattern, class... Begun>
  solver(const Policy& policy, const Pattern& pattern, const Value* values, const system_options& options,
         const executor& on, memory_resource& resource, Begun&... begun)
      : size_(pattern.size),
        entries_(pattern.entries),
        max_rhs_(options.max_rhs),
        reversed_(detail::triangle_form(options, pattern.by_columns).reversed),
        number_(detail::next_solver_number()),
        resource_(&resource),
        engine_(checked_engine(policy, pattern, values, options, on, resource, begun...)),
        own_(engine_->make_workspace(on, resource), number_) {
    engine_->update_values(detail::as_scalar(values), on);
  }

  /// Whether the policy has transposed().
  static constexpr bool has_transposed =
      std::is_constructible_v<engine, const engine&, op, const executor&, memory_resource&>;

  solver(solver& other, op operation, const executor& on, memory_resource& resource)
      : size_(other.size_),
        entries_(other.entries_),
        max_rhs_(other.max_rhs_),
        reversed_(!other.reversed_),
        number_(detail::next_solver_number()),
        resource_(&resource),
        last_update_(other.last_update_),
        engine_(std::make_shared<counted_engine>(other.engine_, operation, on, resource)),
        own_(engine_->make_workspace(on, resource), number_) {}

  /// The engine, the resource that it allocates from, which counts, and what the engine shares. They are
  /// destroyed in this order.
  struct counted_engine : private detail::shared_owner, detail::peak_resource, engine {
    template <class Pattern, class... Begun>
    counted_engine(const Policy& policy, const Pattern& pattern, const detail::triangle_form& form,
                   std::int64_t max_rhs, const executor& on, memory_resource& resource, Begun&... begun)
        : detail::peak_resource(resource),
          engine(policy, pattern, form, max_rhs, on, static_cast<memory_resource&>(*this), begun...) {}
    counted_engine(const std::shared_ptr<counted_engine>& other, op operation, const executor& on,
                   memory_resource& resource)
        : detail::shared_owner{other},
          detail::peak_resource(resource),
          engine(static_cast<const engine&>(*other), operation, on, static_cast<memory_resource&>(*this)) {}
  };

  template <class Pattern, class... Begun>
  static std::shared_ptr<counted_engine> checked_engine(const Policy& policy, const Pattern& pattern,
                                                        const Value* values, const system_options& options,
                                                        const executor& on, memory_resource& resource,
                                                        Begun&... begun) {
    detail::check_space<executor>(values, pattern.entries, "the array of values", Policy::name);
    detail::check_spaces<executor>(pattern, Policy::name);
    const auto with_values = detail::with_values(pattern, detail::as_scalar(values));
    static_assert(std::is_constructible_v<engine, const Policy&, decltype(with_values), detail::triangle_form,
                                          std::int64_t, const executor&, memory_resource&>,
                  "this policy takes no matrices of this kind: supernodal panels are for policy::supernodal");
    const detail::triangle_form form(options, pattern.by_columns);
    return std::make_shared<counted_engine>(policy, with_values, form, options.max_rhs, on, resource,
                                            begun...);
  }

  void expect_not_moved_from() const {
    SPTRSV_EXPECTS(engine_ != nullptr, errc::invalid_argument, "the solver was moved from");
  }
  void check_workspace(const workspace& scratch) const {
    expect_not_moved_from();
    SPTRSV_EXPECTS(scratch.solver_number_ != 0, errc::invalid_argument, "the workspace was moved from");
    SPTRSV_EXPECTS(scratch.solver_number_ == number_, errc::invalid_argument,
                   "the workspace belongs to another solver");
  }

  /// Resets a workspace whose last solve has enqueued only some of its launches: their counters and flags do
  /// not fit the next solve.
  static void reset_if_broken(workspace& scratch, const executor& on) {
    if (scratch.last_solve_.is_whole()) {
      return;
    }
    if constexpr (!std::is_same_v<executor, detail::host_executor>) {
      SPTRSV_EXPECTS(!on.is_capturing(), errc::invalid_argument,
                     "the last solve on this workspace failed: solve once outside the capture");
    }
    scratch.state_.reset(on);
  }

  void check_values(span<const Value> values) const {
    expect_not_moved_from();
    SPTRSV_EXPECTS(static_cast<std::int64_t>(values.size()) == entries_, errc::size_mismatch,
                   "update_values got ", values.size(), " values for a matrix of ", entries_, " entries");
    detail::check_space<executor>(values.data(), entries_, "the array of values", Policy::name);
  }
  /// Checks the operands of a solve. Returns whether they have elements.
  [[nodiscard]] bool has_work(const dense_view<const Value>& b, const dense_view<Value>& x) const {
    return detail::check_operands<executor>(b, x, size_, max_rhs_, Policy::name);
  }

  std::int64_t size_;
  std::int64_t entries_;
  std::int64_t max_rhs_;
  bool reversed_;
  std::uint64_t number_;  ///< unique; the solver's workspaces have the same number
  memory_resource* resource_;
  /// Transposed solvers share it, as they share the values.
  std::shared_ptr<detail::whole_call> last_update_ = std::make_shared<detail::whole_call>();
  std::shared_ptr<counted_engine> engine_;  ///< transposed solvers share it
  workspace own_;
};

/// Analyses the pattern of the `options.part` triangle of `a` for `policy`, takes the values, and returns the
/// solver. There is an overload without `policy`, for the default policy (sptrsv/policy/automatic.hpp).
///
/// The function synchronises `stream` during the analysis, and enqueues the copy of the values on it before
/// it returns. The solver keeps no reference to `a`: its arrays may be freed or changed as soon as this copy
/// is complete.
///
/// @param policy the policy with its members.
/// @param a csr_view, csc_view, bsr_view or owning matrix, in the memory space that the policy works in:
///   device memory for GPU policies, host memory for host policies. The entries of a row (column) may be in
///   any order; entries outside the triangle are ignored. policy::supernodal also takes a supernodal_view or
///   supernodal_matrix.
/// @param options the triangle, the operation, and the largest number of right-hand sides.
/// @param stream the stream of the analysis: cudaStream_t for GPU policies, whose device must be the current
///   one; host_stream for host policies.
/// @param resource source of memory; null: the library's pool on the current device
///   (default_device_resource), or the heap for host policies (host_memory_resource). It must outlive the
///   solver.
/// @return a `solver<Policy, Value, Index, Offset>`, with the stream type as last argument if it is not the
///   policy's default. Value, Index and Offset are the types of the matrix.
/// @throws error with one of these codes, and the first offending row (column, for CSC; block row, for wrong
///   offsets and indices of BSR) where there is one:
///   - errc::not_square, errc::offsets_not_monotone, errc::index_out_of_range;
///   - errc::duplicate_entry: the triangle has an entry twice;
///   - errc::missing_diagonal: a row without a diagonal entry, and `options.diagonal` is diag::non_unit;
///   - errc::size_mismatch: the arrays of an owning matrix have wrong lengths;
///   - errc::invalid_argument: a null pointer; `max_rhs` < 1, or so large that no address space holds x;
///     dimensions that Index or Offset cannot hold;
///   - errc::wrong_memory_space: arrays that the policy cannot access;
///   - errc::unsupported: the policy cannot solve this system, or not as its members ask;
///   - errc::out_of_memory, errc::cuda_error.
template <class Policy, class Matrix, class Stream = typename Policy::default_stream,
          class = decltype(Policy::name)>
auto analyze(const Policy& policy, const Matrix& a, const system_options& options = {}, Stream stream = {},
             memory_resource* resource = nullptr) {
  [[maybe_unused]] const detail::nvtx_range range("analyze");
  const auto view = detail::view_of(a);
  using view_type = std::remove_const_t<decltype(view)>;
  detail::check_shape<typename view_type::value_type>(view.rows, view.columns, detail::pattern_of(view),
                                                      options);
  const detail::executor_t<Stream> on(stream);
  return detail::with_expanded(view, Policy::name, on, resource, [&](const auto& expanded) {
    return solver<Policy, typename view_type::value_type, typename view_type::index_type,
                  typename view_type::offset_type, Stream>(policy, detail::pattern_of(expanded), view.values,
                                                           options, on,
                                                           detail::resource_or_default(resource, on));
  });
}

}  // namespace sptrsv::SPTRSV_ABI
