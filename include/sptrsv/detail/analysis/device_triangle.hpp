// SPDX-License-Identifier: Apache-2.0
// A triangle in device memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::detail {

/// The strictly lower triangle of the system by rows, in the order of substitution, columns ascending; in
/// device memory.
template <class Index, class Offset>
struct device_triangle {
  std::int64_t size = 0;
  std::int64_t longest_row = 0;
  std::int64_t partial_rows = -1;  ///< that split_long_rows() makes at first; -1: they have not been counted
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
  [[nodiscard]] std::size_t bytes() const {
    return row_offsets.bytes() + columns.bytes() + sources.bytes() + diagonal_sources.bytes();
  }
};

/// Returns a copy of the triangle that is allocated from `to`.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> copy_of(const device_triangle<Index, Offset>& from, const Executor& on,
                                       memory_resource& to) {
  return {from.size,
          from.longest_row,
          from.partial_rows,
          from.rows_are_stored_runs,
          copy_of(from.row_offsets, on, to),
          copy_of(from.columns, on, to),
          copy_of(from.sources, on, to),
          copy_of(from.diagonal_sources, on, to)};
}

/// Returns the number of bits that represent 0 ... count - 1.
inline int bits_for(std::uint64_t count) {
  int bits = 1;
  while (bits < 64 && (std::uint64_t{1} << bits) < count) {
    ++bits;
  }
  return bits;
}

}  // namespace sptrsv::detail
