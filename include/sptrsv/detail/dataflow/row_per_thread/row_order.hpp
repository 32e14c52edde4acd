// SPDX-License-Identifier: Apache-2.0
// The order in which row_per_thread solves the rows: by level, in slices of about equally long rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"
#include "sptrsv/detail/levels/level_order.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

/// A sort key for the rows of one level: slices whose rows are about equally long have few empty slots. A
/// sort takes less time for fewer bits.
struct long_rows_first {
  int bits;
  std::int64_t longest;  ///< longer rows have the key of this length

  /// `longest_row`: of the system.
  explicit long_rows_first(std::int64_t longest_row)
      : bits(std::min(6, bits_for(static_cast<std::uint64_t>(longest_row) + 1))),
        longest((std::int64_t{1} << bits) - 1) {}

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    return static_cast<std::uint64_t>(longest - (length < longest ? length : longest));
  }
};

/// The rows in the order in which the path solves them, and where their slices begin.
template <class Index, class Offset>
struct row_order {
  device_levels<Index> levels;  ///< with solve indices; empty: the order of substitution
  buffer<Index> gates;          ///< by slice; empty if there are none
  buffer<Offset> slices;        ///< by slice: its first slot; then the number of all slots
  /// Slots that the host allocates: the number of all slots, or an upper bound of it if the rows are stored
  /// runs; -1: the host does not know the number yet.
  std::int64_t slots = -1;

  [[nodiscard]] packing_order<Index> packing() const {
    return {levels.rows.data(), levels.solve_indices.data()};
  }
  /// Returns the bytes that a path may keep: all but the solve indices.
  [[nodiscard]] std::size_t kept_bytes() const {
    return levels.level_offsets.bytes() + levels.rows.bytes() + gates.bytes() + slices.bytes();
  }
};

/// Returns into how many sections of consecutive rows order_rows() cuts the rows; 0: no sort by length.
template <class Tuning, class Index, class Offset>
std::int64_t sections_of(const device_triangle<Index, Offset>& triangle, std::int64_t levels) {
  return triangle.longest_row * triangle.size <= 2 * triangle.entries()
             ? 0
             : std::max<std::int64_t>(
                   1, triangle.size / (Tuning::length_scope * std::max<std::int64_t>(1, levels)));
}

/// Returns a number of slots that rows in the order of order_rows() do not exceed, if it exceeds the entries
/// by at most an eighth; otherwise -1. Of rows that descend in length, a slice takes at most as many slots as
/// the 32 rows before it have entries, except the first two of each level and section.
template <class Tuning, class Index, class Offset>
std::int64_t slots_without_count(const device_triangle<Index, Offset>& triangle, std::int64_t levels) {
  const std::int64_t sections = sections_of<Tuning>(triangle, levels);
  const std::int64_t most =
      sections == 0 ? triangle.longest_row * slice_rows * simt::ceil_div(triangle.size, slice_rows)
                    : triangle.entries() + 2 * slice_rows * triangle.longest_row * levels * sections;
  const bool are_sorted = triangle.longest_row <= long_rows_first(triangle.longest_row).longest;
  return are_sorted && 8 * most <= 9 * triangle.entries() ? most : -1;
}

/// Puts the rows in level order. If lengths differ much, rows of a level are sorted by length, in sections of
/// consecutive rows, so that rows that are solved together lie near each other. `total`: see find_slices(),
/// also for when the function synchronises.
template <class Tuning, class Index, class Offset, class Executor>
row_order<Index, Offset> order_rows(const device_triangle<Index, Offset>& triangle,
                                    const row_levels<Index>& levels, std::int64_t* total, const Executor& on,
                                    const analysis_memory& memory) {
  row_order<Index, Offset> made;
  const std::int64_t sections = sections_of<Tuning>(triangle, levels.count);
  made.levels = sections == 0
                    ? order_by_level(levels, on, memory, true)
                    : order_by_level_and_length(triangle, levels, sections,
                                                long_rows_first(triangle.longest_row), on, memory, true)
                          .levels;
  made.gates = make_buffer<Index>(Tuning::gate_levels > 0 ? simt::ceil_div(triangle.size, slice_rows) : 0, on,
                                  memory.kept);
  made.slices = find_slices(
      triangle, made.packing(),
      {made.levels.level_offsets.data(), made.levels.count, Tuning::gate_levels, nullptr, made.gates.data()},
      total, on, memory);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
