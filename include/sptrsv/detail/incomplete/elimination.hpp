// The analysis of an incomplete factorisation on the device: the rows in level order, and their operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/incomplete/eliminated_rows.hpp"
#include "sptrsv/detail/incomplete/operands.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::detail::incomplete {

/// The rows and their operands, in device memory. A row holds the entries that the method uses: those below
/// the diagonal with ascending columns, the diagonal, and for LU those above it, with ascending columns. The
/// slot of an entry is its rank in this order.
template <class Index, class Offset>
struct elimination {
  std::int64_t size = 0;
  std::int64_t levels = 0;
  std::int64_t entries = 0;             ///< of all rows
  std::int64_t longest_row = 0;         ///< entries
  buffer<Index> rows;                   ///< by solve index: the row
  buffer<Offset> row_offsets;           ///< by solve index, size + 1
  buffer<Index> diagonal_slots;         ///< by solve index: the number of entries below the diagonal
  buffer<Offset> sources;               ///< by entry: its index in the stored matrix
  buffer<std::int64_t> first_operands;  ///< by solve index, size + 1
  buffer<operand<Index, Offset>> operands;

  [[nodiscard]] std::size_t bytes() const {
    return rows.bytes() + row_offsets.bytes() + diagonal_slots.bytes() + sources.bytes() +
           first_operands.bytes() + operands.bytes();
  }
};

/// Analyses the pattern. Synchronises. Throws for the first offending row as `analyze` does, for LU for both
/// triangles.
template <method Method, class Index, class Offset, class Executor>
elimination<Index, Offset> analyze_elimination(const pattern_view<Index, Offset>& a, const Executor& on,
                                               memory_resource& resource) {
  const auto form_of = [&](uplo part) { return triangle_form(system_options{part}, a.by_columns); };
  device_triangle<Index, Offset> lower = build_on_device(a, form_of(uplo::lower), on, resource);
  device_triangle<Index, Offset> upper;
  if constexpr (Method == method::lu) {
    upper = build_on_device(a, form_of(uplo::upper), on, resource);
  }
  elimination<Index, Offset> made;
  made.size = a.size;
  if (a.size == 0) {
    return made;
  }
  device_levels<Index> levels = levels_on_device(lower, on, resource);
  made.levels = levels.count;
  made.rows = std::move(levels.rows);
  made.entries = lower.entries() + a.size + upper.entries();

  // 1. The rows in level order.
  made.row_offsets = make_buffer<Offset>(a.size + 1, on, resource);
  made.diagonal_slots = make_buffer<Index>(a.size, on, resource);
  made.sources = make_buffer<Offset>(made.entries, on, resource);
  const auto solve_index_of_row = make_buffer<Index>(a.size, on, resource);
  const auto columns = make_buffer<Index>(made.entries, on, resource);
  const auto lower_view = triangle_view<Index, Offset>::of(lower);
  const auto upper_view = triangle_view<Index, Offset>::of(upper);
  scan(on, a.size,
       place_eliminated_rows<Index, Offset>{a.size, lower_view, upper_view, made.rows.data(),
                                            made.row_offsets.data(), made.diagonal_slots.data(),
                                            solve_index_of_row.data()},
       resource);
  simt::for_each(
      on, made.entries,
      place_entries<Index, Offset>{a.size, lower_view, lower.diagonal_sources.data(), upper_view,
                                   made.rows.data(), made.row_offsets.data(), made.diagonal_slots.data(),
                                   columns.data(), made.sources.data()});
  lower = {};
  upper = {};
  const auto counts = make_buffer<std::int64_t>(made.entries + 1, on, resource);
  on.fill_bytes(counts.data(), 0, counts.bytes());
  simt::find_largest(on, a.size, length_of_row<Offset>{made.row_offsets.data()}, counts.data());
  on.download(&made.longest_row, counts.data(), sizeof(made.longest_row));

  // 2. The operands of their steps.
  const find_operands<Method, Index, Offset> steps{
      a.size, made.row_offsets.data(), made.diagonal_slots.data(), columns.data(), solve_index_of_row.data()};
  simt::for_each(on, made.entries, count_operands<Method, Index, Offset>{steps, counts.data()});
  on.exclusive_scan(counts.data(), counts.data(), made.entries + 1, resource);
  std::int64_t operands = 0;
  on.download(&operands, counts.data() + made.entries, sizeof(operands));
  made.operands = make_buffer<operand<Index, Offset>>(operands, on, resource);
  made.first_operands = make_buffer<std::int64_t>(a.size + 1, on, resource);
  simt::for_each(
      on, made.entries,
      write_operands<Method, Index, Offset>{steps, made.sources.data(), counts.data(), made.operands.data()});
  simt::for_each(
      on, a.size + 1,
      take_first_operands<Offset>{made.row_offsets.data(), counts.data(), made.first_operands.data()});
  return made;
}

}  // namespace sptrsv::detail::incomplete
