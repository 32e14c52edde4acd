// SPDX-License-Identifier: Apache-2.0
// A triangle in device memory, its values, and its rows whose entries are adjacent in the stored matrix: one
// number per row suffices to find their values.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The strictly lower triangle by rows in the order of substitution, columns ascending; in device memory.
template <class Index, class Offset>
struct device_triangle {
  std::int64_t size = 0;
  std::int64_t longest_row = 0;
  triangle_kernels::split_limits counted{};  ///< of the next two; `part` 0: they have not been counted
  std::int64_t partial_rows = 0;             ///< that split_long_rows() makes at first
  std::int64_t split_rows = 0;               ///< rows that have them
  std::int64_t longer_rows = 0;              ///< see triangle_kernels::report
  /// True if the entries of each row that have a source are adjacent in the stored matrix, in ascending order
  /// (descending if substitution starts at the last row), and the diagonal entry follows them.
  bool rows_are_stored_runs = false;
  buffer<Offset> row_offsets;  ///< by row, size + 1
  buffer<Index> columns;       ///< by entry: its column
  /// By entry: its index in the stored matrix, or -1, or minus_one_source.
  buffer<Offset> sources;
  /// By row: index of the diagonal entry in the stored matrix; empty if the diagonal is unit.
  buffer<Offset> diagonal_sources;

  [[nodiscard]] std::int64_t entries() const { return static_cast<std::int64_t>(columns.size()); }
  [[nodiscard]] triangle_view<Index, Offset> view() const {
    return {size, row_offsets.data(), columns.data(), sources.data(), diagonal_sources.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return row_offsets.bytes() + columns.bytes() + sources.bytes() + diagonal_sources.bytes();
  }
};

/// Addresses the stored entries of a row relative to its diagonal entry: entry 0 is the diagonal entry,
/// entries 1, 2, ... follow in the direction away from it.
template <class Offset>
struct stored_run {
  Offset diagonal;  ///< index in the stored matrix, or where it would be if the diagonal is not stored
  bool reversed;    ///< true if substitution starts at the last row

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr Offset source(std::int64_t number) const {
    return static_cast<Offset>(reversed ? diagonal + static_cast<Offset>(number)
                                        : diagonal - static_cast<Offset>(number));
  }
};

/// Finds the run of a row of a triangle with device_triangle::rows_are_stored_runs. The result is meaningless
/// if the row has neither stored entries nor a pivot. `reversed`: see stored_run.
template <class Context, class Index, class Offset>
SPTRSV_DEVICE stored_run<Offset> run_of_row(Context& ctx, const triangle_view<Index, Offset>& t,
                                            std::int64_t row, bool reversed) {
  const Offset pivot =
      t.diagonal_sources == nullptr ? Offset{-1} : ctx.load_constant(t.diagonal_sources + row);
  if (pivot >= 0) {
    return {pivot, reversed};
  }
  const Offset end = ctx.load_constant(t.row_offsets + row + 1);
  const bool has_entries = end > ctx.load_constant(t.row_offsets + row);
  const Offset last = has_entries ? ctx.load_constant(t.sources + end - 1) : 0;
  return {static_cast<Offset>(reversed ? last - 1 : last + 1), reversed};
}

/// Returns the number of bits that represent 0 ... count - 1.
inline int bits_for(std::uint64_t count) {
  int bits = 1;
  while (bits < 64 && (std::uint64_t{1} << bits) < count) {
    ++bits;
  }
  return bits;
}

/// Returns whether a pivot is zero and is that of one row. Runs once per pivot.
template <class Stored, class Index>
struct is_zero_pivot_of_row {
  const Stored* diagonal;
  const Index* substitution_indices;  ///< by index of the diagonal; null if the two indices are the same
  std::int64_t substitution_index;    ///< of the row

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    const std::int64_t row = substitution_indices == nullptr ? i : load_index(ctx, substitution_indices + i);
    return row == substitution_index && ctx.load_constant(diagonal + i) == Stored{};
  }
};

/// Values of the entries and of the diagonal, gathered from the stored matrix and kept as a `Stored`.
template <class Scalar, class Executor, class Stored = Scalar>
class device_values {
 public:
  /// Allocates `entries` values and `pivots` diagonal entries (0: the diagonal is unit).
  device_values(std::int64_t entries, std::int64_t pivots, const Executor& on, memory_resource& resource)
      : values_(make_buffer<Stored>(entries, on, resource)),
        diagonal_(make_buffer<Stored>(pivots, on, resource)) {}

  /// Gathers the values from the stored matrix: entry k from index sources[k], pivot p from
  /// diagonal_sources[p]. Source -1 gives an entry 0 and a pivot 1.
  template <class Offset>
  void gather(const Scalar* stored, const Offset* sources, const Offset* diagonal_sources, bool conjugated,
              const Executor& on) {
    const auto entries = static_cast<std::int64_t>(values_.size());
    const auto pivots = static_cast<std::int64_t>(diagonal_.size());
    simt::for_each(on, entries + pivots,
                   triangle_kernels::gather_all_values<Scalar, Offset, Stored>{
                       {stored, sources, values_.data(), conjugated},
                       {stored, diagonal_sources, diagonal_.data(), conjugated, pivot_divisor<Scalar>::one()},
                       entries});
  }

  [[nodiscard]] Stored* values() { return values_.data(); }
  [[nodiscard]] const Stored* values() const { return values_.data(); }
  /// Returns null if the diagonal is unit.
  [[nodiscard]] Stored* diagonal() { return diagonal_.data(); }
  [[nodiscard]] const Stored* diagonal() const { return diagonal_.data(); }
  [[nodiscard]] std::size_t bytes() const { return values_.bytes() + diagonal_.bytes(); }

  /// Returns whether the pivot of a row is zero. `substitution_indices`: by index of the triangle's order;
  /// null if it is the order of substitution. `flag`: see simt::any_of. Synchronises.
  template <class Index>
  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const Index* substitution_indices,
                                   std::uint32_t* flag, const Executor& on) const {
    return simt::any_of(
        on, static_cast<std::int64_t>(diagonal_.size()),
        is_zero_pivot_of_row<Stored, Index>{diagonal_.data(), substitution_indices, substitution_index},
        flag);
  }

 private:
  buffer<Stored> values_;
  buffer<Stored> diagonal_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
