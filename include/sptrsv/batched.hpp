// Batches of small systems: many triangular systems that have one pattern and different values are solved by
// one kernel. The file is long because it is the documented interface of one class, with its checks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/base/strides.hpp"
#include "sptrsv/detail/batched/engine.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv {

/// The size of a batch, the layout of its values, and how many threads solve one system.
struct batch_options {
  std::int64_t systems = 1;  ///< number of systems, at least 0
  /// Distance in elements between the values of consecutive systems; 0: the number of entries of the matrix.
  std::int64_t value_stride = 0;
  /// Threads that share a system: 4, 8, 16 or 32. 0: chosen by the pattern and the number of systems.
  int lanes = 0;
};

/// Non-owning view of a dense matrix for each system of a batch, whose columns are right-hand sides or
/// solutions: element (i, j) of system s is `data[s * system_stride + i * row_stride + j * column_stride]`.
/// Trivially copyable. Strides may be negative.
template <class T>
struct batch_view {
  T* data = nullptr;               ///< address of element (0, 0) of system 0
  std::int64_t systems = 0;        ///< number of systems
  std::int64_t rows = 0;           ///< number of rows of each system
  std::int64_t columns = 1;        ///< number of columns of each system
  std::int64_t row_stride = 1;     ///< distance in elements from row to row of a column
  std::int64_t column_stride = 0;  ///< distance in elements from column to column of a row
  std::int64_t system_stride = 0;  ///< distance in elements from system to system

  /// Constructs a view without elements.
  constexpr batch_view() noexcept = default;
  /// Constructs a view from all its members, in their order.
  constexpr batch_view(T* first, std::int64_t system_count, std::int64_t row_count, std::int64_t column_count,
                       std::int64_t row_step, std::int64_t column_step, std::int64_t system_step) noexcept
      : data(first),
        systems(system_count),
        rows(row_count),
        columns(column_count),
        row_stride(row_step),
        column_stride(column_step),
        system_stride(system_step) {}
  /// Constructs a view of constants from a view of variables.
  template <class U,
            class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr batch_view(const batch_view<U>& other) noexcept
      : batch_view(other.data, other.systems, other.rows, other.columns, other.row_stride,
                   other.column_stride, other.system_stride) {}

  /// Returns a view without gaps: column after column of a system, system after system.
  static constexpr batch_view contiguous(T* data, std::int64_t systems, std::int64_t rows,
                                         std::int64_t columns = 1) noexcept {
    return {data, systems, rows, columns, 1, rows, rows * columns};
  }
};

/// Status of a batched solve; see batched_solver::status.
struct batch_status {
  solve_status::kind code = solve_status::kind::ok;  ///< what the solve met; never `growth`
  std::optional<std::int64_t> system;  ///< the first system that met it; empty if `code` is `ok`
  std::optional<std::int64_t> row;     ///< its first such row in the order of substitution; empty if `ok`

  /// Returns whether every component of every system is finite.
  [[nodiscard]] bool ok() const noexcept { return code == solve_status::kind::ok; }
};

/// Triangular systems op(T_s) x_s = alpha b_s with one pattern, analysed and ready to be solved; the result
/// of `analyze_batch`.
///
/// One warp solves up to 8 systems. The rows of a level are solved together; x is in shared memory, and the
/// values, which update_values puts into the order of the solve, are read once for each right-hand side. The
/// rows of all systems must therefore fit the shared memory of a thread block, together with a buffer: about
/// 28000 double-precision rows on an H100. The result is the same in every bit from solve to solve, and does
/// not depend on the other systems of the batch.
///
/// The object is move-only and owns all that it needs. It has memory for one solve in flight: its status. For
/// streams, memory and threads the rules of `solver` apply.
///
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the row and column indices of the matrix.
/// @tparam Offset signed integer type of the row (column) offsets of the matrix.
/// @tparam Stream stream type; the default is cudaStream_t.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class batched_solver {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using engine = detail::batched::engine<scalar, Index, Offset, executor>;
  static_assert(!std::is_same_v<Stream, host_stream>,
                "batches are solved on a GPU: on the host, solve one system after the other");

 public:
  using value_type = Value;    ///< type of the values of the matrices, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Analyses the pattern and takes the values; see analyze_batch.
  template <class Matrix>
  batched_solver(const Matrix& a, span<const Value> values, const batch_options& batch,
                 const system_options& options, stream_type stream, memory_resource* resource)
      : batched_solver(detail::view_of(a), values, batch, options, executor(stream), resource) {}

  /// Replaces the values of all matrices; the pattern stays the same. Only enqueues; it may be captured into
  /// a CUDA graph. The array must not be freed or changed before the enqueued work is complete.
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
  /// @param b the right-hand sides, in device memory; all systems, and at most max_rhs() columns. A stride of
  /// 0
  ///   repeats elements, for example one right-hand side for all systems. Contiguous columns are read
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
    if (!has_work(b, x)) {
      return;
    }
    engine_->solve(detail::load_scalar(detail::as_scalar(&alpha)),
                   {detail::as_scalar(b.data), b.row_stride, b.column_stride, b.system_stride},
                   {detail::as_scalar(x.data), x.row_stride, x.column_stride, x.system_stride}, x.columns,
                   executor(stream));
  }

  /// Returns whether the last solve met a zero pivot, a NaN or an infinite value, in which system first, and
  /// there in which row first. Synchronises `stream`, which must be ordered after that solve.
  ///
  /// @param stream the stream that is synchronised.
  /// @throws error errc::invalid_argument if the solver was moved from.
  [[nodiscard]] batch_status status(stream_type stream = {}) {
    expect_not_moved_from();
    if (systems_ == 0 || size_ == 0) {
      return {};
    }
    const auto found = engine_->first_fault(executor(stream));
    if (found.system < 0) {
      return {};
    }
    return {found.zero_pivot ? solve_status::kind::zero_pivot : solve_status::kind::non_finite, found.system,
            reversed_ ? size_ - 1 - found.index : found.index};
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
    result.analysis_peak_bytes = std::max(engine_->peak_bytes(), result.solver_bytes);
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
          engine(pattern, form, batch.systems, batch.lanes, on, static_cast<memory_resource&>(*this)) {}
  };

  template <class View>
  batched_solver(const View& a, span<const Value> values, const batch_options& batch,
                 const system_options& options, const executor& on, memory_resource* resource)
      : systems_(batch.systems),
        size_(a.rows),
        entries_(a.entries),
        value_stride_(batch.value_stride == 0 ? a.entries : batch.value_stride),
        max_rhs_(options.max_rhs) {
    const auto pattern = detail::pattern_of(a);
    detail::check_shape(a.rows, a.columns, pattern, values.data(), options);
    SPTRSV_EXPECTS(systems_ >= 0, errc::invalid_argument, "a batch of a negative number of systems");
    SPTRSV_EXPECTS(value_stride_ >= entries_, errc::invalid_argument,
                   "the value stride " + std::to_string(value_stride_) + " is less than the " +
                       std::to_string(entries_) + " entries of a system");
    SPTRSV_EXPECTS(
        batch.lanes == 0 || batch.lanes == 4 || batch.lanes == 8 || batch.lanes == 16 || batch.lanes == 32,
        errc::invalid_argument,
        std::to_string(batch.lanes) + " lanes for a system: there may be 4, 8, 16 or 32");
    check_space(pattern.offsets, pattern.size, "the array of offsets");
    check_space(pattern.indices, pattern.entries, "the array of indices");
    check_values(values);
    const detail::triangle_form form(options, pattern.by_columns);
    reversed_ = form.reversed;
    engine_ = std::make_unique<counted_engine>(pattern, form, batch, on,
                                               resource != nullptr ? *resource : on.default_resource());
    engine_->update_values(detail::as_scalar(values.data()), value_stride_, on);
  }

  void expect_not_moved_from() const {
    SPTRSV_EXPECTS(engine_ != nullptr, errc::invalid_argument, "the solver was moved from");
  }
  static void check_space(const void* p, std::int64_t size, const char* what) {
    SPTRSV_EXPECTS(size == 0 || p != nullptr, errc::invalid_argument,
                   std::string(what) + " is a null pointer");
    SPTRSV_EXPECTS(
        size == 0 || executor::can_access(p), errc::wrong_memory_space,
        std::string(what) + " lies where the GPU cannot reach it: batches are solved in device memory");
  }
  void check_values(span<const Value> values) const {
    const std::int64_t needed =
        systems_ == 0 || entries_ == 0 ? 0 : detail::checked_product(systems_ - 1, value_stride_) + entries_;
    SPTRSV_EXPECTS(static_cast<std::uint64_t>(needed) <= values.size(), errc::size_mismatch,
                   std::to_string(values.size()) + " values for " + std::to_string(systems_) +
                       " systems of " + std::to_string(entries_) + " entries at a distance of " +
                       std::to_string(value_stride_) + ", which are " + std::to_string(needed));
    check_space(values.data(), needed, "the array of values");
  }

  /// Checks the operands of a solve. Returns whether they have elements.
  [[nodiscard]] bool has_work(const batch_view<const Value>& b, const batch_view<Value>& x) const {
    check_operand(b, "b");
    check_operand(x, "x");
    SPTRSV_EXPECTS(b.columns == x.columns, errc::size_mismatch,
                   "b has " + std::to_string(b.columns) + " columns and x has " + std::to_string(x.columns));
    SPTRSV_EXPECTS(
        x.columns <= max_rhs_, errc::too_many_rhs,
        std::to_string(x.columns) + " right-hand sides exceed max_rhs = " + std::to_string(max_rhs_));
    if (systems_ == 0 || size_ == 0 || x.columns == 0) {
      return false;
    }
    check_elements(b, "b", true);
    check_elements(x, "x", false);
    return true;
  }
  template <class T>
  void check_operand(const batch_view<T>& v, const char* name) const {
    SPTRSV_EXPECTS(v.systems == systems_ && v.rows == size_, errc::size_mismatch,
                   std::string(name) + " has " + std::to_string(v.systems) + " systems of " +
                       std::to_string(v.rows) + " rows, the batch has " + std::to_string(systems_) + " of " +
                       std::to_string(size_));
    SPTRSV_EXPECTS(v.columns >= 0, errc::size_mismatch,
                   std::string(name) + " has a negative number of columns");
    check_space(v.data, v.rows > 0 && v.columns > 0 && v.systems > 0 ? 1 : 0, name);
  }
  /// Checks the strides of an operand that has elements. `repeats`: whether strides may be 0.
  template <class T>
  static void check_elements(const batch_view<T>& v, const char* name, bool repeats) {
    struct dimension {
      std::uint64_t stride;
      std::uint64_t steps;
    };
    std::array<dimension, 3> dimensions{
        dimension{detail::magnitude(v.row_stride), static_cast<std::uint64_t>(v.rows - 1)},
        dimension{detail::magnitude(v.column_stride), static_cast<std::uint64_t>(v.columns - 1)},
        dimension{detail::magnitude(v.system_stride), static_cast<std::uint64_t>(v.systems - 1)}};
    std::sort(dimensions.begin(), dimensions.end(),
              [](const dimension& a, const dimension& c) { return a.stride < c.stride; });
    const auto strides = [&] {
      return std::string(name) + " of " + std::to_string(v.systems) + " systems of " +
             std::to_string(v.rows) + " rows and " + std::to_string(v.columns) +
             " columns, with system stride " + std::to_string(v.system_stride) + ", row stride " +
             std::to_string(v.row_stride) + " and column stride " + std::to_string(v.column_stride);
    };
    constexpr std::uint64_t limit = static_cast<std::uint64_t>(PTRDIFF_MAX) / sizeof(T);
    std::uint64_t extent = 0;  // distance of the elements that differ in the dimensions so far
    for (const dimension& d : dimensions) {
      if (d.steps == 0) {
        continue;
      }
      SPTRSV_EXPECTS(d.stride <= (limit - extent) / d.steps, errc::invalid_argument,
                     strides() + ", exceeds the address space");
      SPTRSV_EXPECTS(repeats || d.stride > extent, errc::invalid_argument,
                     strides() + ", has elements that overlap: a stride is too small");
      extent += d.stride * d.steps;
    }
  }

  std::int64_t systems_;
  std::int64_t size_;
  std::int64_t entries_;
  std::int64_t value_stride_;
  std::int64_t max_rhs_;
  bool reversed_ = false;
  std::unique_ptr<counted_engine> engine_;
};

/// Analyses the pattern of the `options.part` triangle of `a` once for all systems of a batch, takes their
/// values, and returns the solver.
///
/// The function synchronises `stream` during the analysis, and enqueues the copy of the values on it before
/// it returns. The solver keeps no reference to `a` and `values`: the arrays may be freed or changed as soon
/// as this copy is complete.
///
/// @param a csr_view, csc_view or owning matrix in device memory: the pattern of all systems. Its values are
///   not read.
/// @param values the values of all systems, see batched_solver::update_values: a span or a contiguous
/// container
///   in device memory.
/// @param batch the number of systems, and the distance between their values.
/// @param options the triangle, the operation, and the largest number of right-hand sides, of all systems.
/// @param stream the stream of the analysis, whose device must be the current one.
/// @param resource source of memory; null: the library's pool on the current device. It must outlive the
///   solver.
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
  return batched_solver<typename View::value_type, typename View::index_type, typename View::offset_type,
                        Stream>(a, values, batch, options, stream, resource);
}

}  // namespace sptrsv

#ifdef __CUDACC__
#include "sptrsv/detail/simt/cuda_executor.cuh"
#endif
