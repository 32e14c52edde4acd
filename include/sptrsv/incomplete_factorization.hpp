// SPDX-License-Identifier: Apache-2.0
// What the incomplete factorisations share: their options, and the class that holds one. The
// functions that make one are in sptrsv/incomplete_lu.hpp and sptrsv/incomplete_cholesky.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sptrsv/detail/incomplete/device_engine.hpp"
#include "sptrsv/detail/incomplete/fill_levels.hpp"
#include "sptrsv/detail/incomplete/host_engine.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// What a factorisation does to avoid breakdown. By default it does nothing.
struct pivot_options {
  /// The diagonal entries of A are multiplied by 1 + diagonal_shift before the factorisation (Manteuffel
  /// 1980).
  double diagonal_shift = 0;
  /// Pivots of at most this magnitude are replaced by boost_to. For Cholesky the pivot is the number under
  /// the square root, and all numbers up to boost_below are replaced, negative ones too.
  double boost_below = 0;
  double boost_to = 0;  ///< what replaces them; 0: pivots stay as they are
};

/// Options of an incomplete factorisation.
struct incomplete_options {
  incomplete_options() = default;
  /// Constructs options from those of the pivots; a pivot_options object may stand for the options.
  incomplete_options(const pivot_options& for_pivots, std::int64_t fill = 0)
      : pivots(for_pivots), fill_level(fill) {}
  /// Returns options with a level of fill.
  static incomplete_options fill(std::int64_t level) { return {pivot_options{}, level}; }

  pivot_options pivots;  ///< what the factorisation does to pivots
  /// Largest level of fill of an entry of the factors, at least 0. An entry of A has level 0. An update of
  /// a_ij by l_ik u_kj gives it the level of l_ik plus that of u_kj plus 1, and the smallest one counts. At 0
  /// the factors have the pattern of A.
  std::int64_t fill_level = 0;
};

/// Description of a factorisation.
struct incomplete_info {
  std::string device;               ///< name of the device
  std::int64_t rows = 0;            ///< rows of A
  std::int64_t entries = 0;         ///< entries of A
  std::int64_t fill_level = 0;      ///< see incomplete_options
  std::int64_t factor_entries = 0;  ///< size of values(): `entries`, or those of the factors with fill-in
  std::int64_t levels = 0;          ///< rows on the longest chain of rows that need each other
  std::int64_t longest_row = 0;     ///< entries of the longest row that is factorised
  std::int64_t operands = 0;        ///< entries of earlier rows that all rows need together; 0 on the host
  std::int64_t lanes_per_row = 1;   ///< threads that compute one row
  std::size_t bytes = 0;            ///< bytes of memory, those of the factors included
  /// The largest number of bytes that the analysis had allocated at one time; 0 on the host, where memory is
  /// not counted.
  std::size_t analysis_peak_bytes = 0;
};

namespace experimental {

/// Tuning constants of the incomplete factorisations. To change some, derive a struct from this one, redefine
/// these members, and give the struct to the class.
struct incomplete_tuning {
  /// Threads of a block: a multiple of 32, at most 1024.
  static constexpr int block_threads = 128;
  /// Levels whose rows are in work at the same time, at most; fewer, but at least 8 or this number, where
  /// they have thousands of rows.
  static constexpr std::int64_t levels_at_once = 32;
  /// If true, the kernel computes a row in registers where the row fits the registers of its threads.
  static constexpr bool short_rows_in_registers = true;
  /// Longest row, in entries, that is computed by one warp. Longer ones are cut into pieces for several
  /// warps.
  static constexpr std::int64_t longest_whole_row = 128;
  /// Entries of a piece, at most: 2 to 32, not more than longest_whole_row.
  static constexpr std::int64_t piece_entries = 32;
  /// Longest row that is cut.
  static constexpr std::int64_t longest_cut_row = 4096;
  /// Shared memory of a block in bytes, at most. Longer rows are computed in global memory.
  static constexpr std::int64_t shared_bytes = 24 * 1024;
};

}  // namespace experimental

/// An incomplete factorisation: the factors have the pattern of A, or that of A and its fill-in up to a
/// level. Made by analyze_incomplete_lu or analyze_incomplete_cholesky, which analyse the pattern once;
/// factorize() computes the factors of new values with the same pattern.
///
/// On the device, rows are computed in level order by one launch, and a value of the factors is its own flag
/// for the rows that need it. Repeated factorisations of the same values give the same bits.
///
/// The object is move-only and owns all that it needs. For streams, memory and threads the rules of `solver`
/// apply, with factorize() in the place of update_values(): it must be ordered after all work that reads the
/// factors of before.
///
/// @tparam Method the method; use the aliases incomplete_lu and incomplete_cholesky.
/// @tparam Value, Index, Offset as for solver.
/// @tparam Stream stream type: cudaStream_t, or host_stream for the serial factorisation on the host.
/// @tparam Tuning incomplete_tuning, or a struct derived from it.
template <incomplete_method Method, class Value, class Index = std::int32_t, class Offset = Index,
          class Stream = stream_handle, class Tuning = experimental::incomplete_tuning>
class incomplete_factorization {
  using executor = detail::executor_t<Stream>;
  using scalar = detail::scalar_t<Value>;
  using engine = detail::incomplete::engine<Tuning, Method, scalar, Index, Offset, executor>;
  using rule = detail::incomplete::pivot_rule<scalar>;
  using filled = detail::incomplete::filled_matrix<Method, scalar, Index, Offset, executor>;

 public:
  using value_type = Value;    ///< type of the values
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Analyses the pattern of `a` and enqueues the factorisation of its values. Synchronises `stream` during
  /// the analysis. The object keeps no reference to `a`.
  ///
  /// @param a csr_view, csc_view or owning matrix; see analyze_incomplete_lu.
  /// @param options what the factorisation does to pivots, and the level of fill.
  /// @param stream the stream of the analysis.
  /// @param resource source of memory; null: the default of the stream's device. It must outlive the object.
  /// @throws error as analyze_incomplete_lu.
  template <class Matrix>
  incomplete_factorization(const Matrix& a, const incomplete_options& options, Stream stream,
                           memory_resource* resource)
      : options_(options) {
    const auto view = detail::view_of(a);
    const auto pattern = detail::pattern_of(view);
    size_ = view.rows;
    entries_ = pattern.entries;
    by_columns_ = pattern.by_columns;
    detail::check_shape<Value>(view.rows, view.columns, pattern, system_options{});
    detail::check_spaces<executor>(pattern, detail::incomplete::name<Method>);
    check_values(view.values);
    SPTRSV_EXPECTS(options.fill_level >= 0, errc::invalid_argument, "fill_level is negative");
    const rule checked = rule::of(options.pivots);
    const executor on(stream);
    analysed_ = std::make_unique<analysed_pattern>(pattern, options.fill_level, on,
                                                   detail::resource_or_default(resource, on));
    analysed_->factorize(detail::as_scalar(view.values), checked, on);
  }

  /// Computes the factors of new values; the pattern stays the same. Only enqueues; it may be captured into a
  /// CUDA graph. The array must not be freed or changed before the enqueued work is complete.
  ///
  /// @param values the values of all entries of A, in the order of its arrays, in the memory space of the
  ///   analysis; not values().
  /// @param pivots what the factorisation does to pivots.
  /// @param stream the stream that the work is enqueued on.
  /// @throws error errc::size_mismatch if the size is not the number of entries; errc::wrong_memory_space;
  ///   errc::invalid_argument for a null pointer, for values(), for an option that is negative or not finite,
  ///   or if the object was moved from. Values are never errors: see status.
  void factorize(span<const Value> values, const pivot_options& pivots, stream_type stream = {}) {
    expect_not_moved_from();
    SPTRSV_EXPECTS(static_cast<std::int64_t>(values.size()) == entries_, errc::size_mismatch,
                   "factorize got ", values.size(), " values for a matrix of ", entries_, " entries");
    check_values(values.data());
    const auto range = [](span<const Value> v) {
      return detail::address_range(v.data(), v.size() * sizeof(Value));
    };
    SPTRSV_EXPECTS(entries_ == 0 || !range(values).meets(range(this->values())), errc::invalid_argument,
                   "factorize got the array of the factors, which it overwrites");
    const rule checked = rule::of(pivots);
    analysed_->last.run(
        [&] { analysed_->factorize(detail::as_scalar(values.data()), checked, executor(stream)); });
  }
  /// Computes the factors of new values with the options of the analysis; see the other overload.
  void factorize(span<const Value> values, stream_type stream = {}) {
    factorize(values, options_.pivots, stream);
  }

  /// Returns the values of the factors in the memory space of the analysis: without fill-in one for each
  /// entry of A, in the order of its arrays, and with fill-in one for each entry of view(). The next
  /// factorisation overwrites them.
  ///
  /// - LU: below the diagonal the values of L, whose diagonal is 1; on and above it those of U.
  /// - Cholesky: on and below the diagonal the values of L. Above it, those of A without fill-in, and no
  ///   entries with it.
  [[nodiscard]] span<const Value> values() const {
    expect_not_moved_from();
    return {reinterpret_cast<const Value*>(analysed_->computed.factors()),
            detail::at(analysed_->fill.pattern().entries)};
  }

  /// Returns a view of the factors, for `analyze` (part lower with a unit diagonal and part upper for LU;
  /// part lower, and the same with op::conj_transpose, for Cholesky). It has values(), and the pattern of `a`
  /// or, with fill-in, that of the factors. It is stored as `a` is, by rows or by columns; the pattern of the
  /// factors has ascending indices, and belongs to this object.
  ///
  /// @param a the matrix that was analysed, or another one with the same arrays; without fill-in they must
  ///   outlive the view.
  /// @throws error errc::size_mismatch if `a` has another size; errc::invalid_argument if it is stored by
  ///   rows and the analysed matrix by columns, or the reverse.
  template <class Matrix>
  [[nodiscard]] auto view(const Matrix& a) const {
    auto result = detail::view_of(a);
    SPTRSV_EXPECTS(result.rows == size_ && result.entries == entries_, errc::size_mismatch,
                   "the matrix is not the one that was analysed");
    SPTRSV_EXPECTS(detail::pattern_of(result).by_columns == by_columns_, errc::invalid_argument,
                   "the matrix that was analysed is stored by ", (by_columns_ ? "columns" : "rows"),
                   ", and this one is not");
    expect_factors();
    result.values = values().data();
    if (analysed_->fill.has_fill()) {
      const auto& filled_in = analysed_->fill.pattern();
      result = {size_, size_, filled_in.entries, filled_in.offsets, filled_in.indices, result.values};
    }
    return result;
  }

  /// Returns whether the last factorisation met a zero pivot or a value that is not finite, in which row
  /// first, and how many pivots it replaced. Synchronises `stream`, which must be ordered after it.
  [[nodiscard]] factor_status status(stream_type stream = {}) const {
    expect_not_moved_from();
    expect_factors();
    return analysed_->computed.status(executor(stream));
  }

  /// Returns sizes, and the memory that the object holds.
  [[nodiscard]] incomplete_info info() const {
    expect_not_moved_from();
    incomplete_info result;
    result.rows = size_;
    result.entries = entries_;
    result.fill_level = options_.fill_level;
    result.factor_entries = analysed_->fill.pattern().entries;
    analysed_->computed.describe(result, executor{});
    result.bytes += analysed_->fill.bytes();
    if constexpr (!std::is_same_v<executor, detail::host_executor>) {
      result.analysis_peak_bytes = analysed_->memory.peak_bytes();
    }
    return result;
  }

  /// Returns the number of rows.
  [[nodiscard]] std::int64_t rows() const noexcept { return size_; }

 private:
  /// What the analysis leaves. All memory comes from `memory`, which counts it.
  struct analysed_pattern {
    template <class Pattern>
    analysed_pattern(const Pattern& a, std::int64_t fill_level, const executor& on, memory_resource& resource)
        : memory(resource),
          fill(a, fill_level, on, memory),
          computed(fill.pattern(), on, static_cast<memory_resource&>(memory)) {}

    void factorize(const scalar* values, const rule& checked, const executor& on) {
      computed.factorize(fill.take_values(values, on), checked, on);
    }

    detail::peak_resource memory;
    filled fill;
    engine computed;
    detail::whole_call last;  ///< of factorize()
  };
  void expect_factors() const {
    analysed_->last.expect_whole("factorisation", "the factors are undefined until factorize succeeds");
  }
  void check_values(const Value* values) const {
    detail::check_space<executor>(values, entries_, "the array of values", detail::incomplete::name<Method>);
  }
  void expect_not_moved_from() const {
    SPTRSV_EXPECTS(analysed_ != nullptr, errc::invalid_argument, "the factorisation was moved from");
  }

  std::int64_t size_ = 0;
  std::int64_t entries_ = 0;
  bool by_columns_ = false;  ///< how the matrix is stored
  incomplete_options options_;
  std::unique_ptr<analysed_pattern> analysed_;
};

}  // namespace sptrsv::SPTRSV_ABI
