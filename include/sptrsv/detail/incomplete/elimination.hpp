// SPDX-License-Identifier: Apache-2.0
// The analysis of an incomplete factorisation on the device: the rows in level order, and their operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/incomplete/operands.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

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

/// Finds the operands of the rows. Synchronises. `columns`: by entry; `totals`: 0, and the entries of the
/// longest row; `longest_part`: no part of a row that is searched for operands has more entries.
template <method Method, class Index, class Offset, class Executor>
void add_operands(elimination<Index, Offset>& made, const Index* columns, const Index* solve_index_of_row,
                  const std::int64_t* totals, std::int64_t longest_part, const Executor& on,
                  memory_resource& scratch, memory_resource& resource) {
  const auto counts = make_buffer<std::int64_t>(made.entries + 2, on, scratch);
  on.copy(counts.data() + made.entries, totals, 2 * sizeof(std::int64_t));
  const bool has_long = longest_part > longest_short_step;
  const auto long_count = make_zeros<std::uint64_t>(has_long ? 1 : 0, on, scratch);
  const auto long_steps = make_buffer<Offset>(has_long ? made.entries : 0, on, scratch);
  place_operands<Method, Index, Offset> place{
      {made.row_offsets.data(), made.diagonal_slots.data(), columns, solve_index_of_row},
      made.sources.data(),
      counts.data(),
      nullptr,
      long_count.data(),
      long_steps.data()};
  const auto run = [&] {
    triangle_kernels::for_each_entry(on, made.row_offsets.data(), made.size, made.entries, place);
    if (has_long) {
      using agent = long_steps_agent<Method, Index, Offset>;
      on.template launch<agent>(on.template resident_blocks<agent>(), {place, made.size});
    }
  };
  run();
  on.exclusive_scan(counts.data(), counts.data(), made.entries + 1, scratch);
  std::int64_t found[2] = {};  // operands, and the entries of the longest row
  on.download(found, counts.data() + made.entries, sizeof(found));
  made.longest_row = found[1];
  made.operands = make_buffer<operand<Index, Offset>>(found[0], on, resource);
  made.first_operands = make_buffer<std::int64_t>(made.size + 1, on, resource);
  place.to = made.operands.data();
  if (found[0] > 0) {
    run();
  }
  simt::for_each(on, made.size + 1,
                 array_kernels::take_in_order<std::int64_t, Offset>{counts.data(), made.row_offsets.data(),
                                                                    made.first_operands.data()});
}

/// Analyses the pattern. Synchronises. Throws for the first offending row as `analyze` does, for LU for both
/// triangles.
template <method Method, class Index, class Offset, class Executor>
elimination<Index, Offset> analyze_elimination(const pattern_view<Index, Offset>& a, const Executor& on,
                                               memory_resource& resource) {
  scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
  simt::scan_words words(arena);
  const analysis_memory memory(resource, arena, &words);
  const auto form_of = [&](uplo part) { return triangle_form(system_options{part}, a.by_columns); };
  std::array<device_triangle<Index, Offset>, 2> triangles;
  auto& [lower, upper] = triangles;
  if constexpr (Method == method::lu) {
    triangles = triangle_builder<2, Index, Offset, Executor>(a, {form_of(uplo::lower), form_of(uplo::upper)},
                                                             {}, on, memory.all_scratch())
                    .build();
  } else {
    lower = build_on_device(a, form_of(uplo::lower), on, memory.all_scratch());
  }
  elimination<Index, Offset> made;
  made.size = a.size;
  if (a.size == 0) {
    return made;
  }
  device_levels<Index> levels = levels_on_device(lower, on, memory);
  made.levels = levels.count;
  made.rows = std::move(levels.rows);
  made.entries = lower.entries() + a.size + upper.entries();

  // 1. The rows in level order.
  made.row_offsets = make_buffer<Offset>(a.size + 1, on, resource);
  made.diagonal_slots = make_buffer<Index>(a.size, on, resource);
  made.sources = make_buffer<Offset>(made.entries, on, resource);
  const auto solve_index_of_row = make_buffer<Index>(a.size, on, arena);
  const auto columns = make_buffer<Index>(made.entries, on, arena);
  const eliminated_rows<Index, Offset> to{a.size,
                                          triangle_view<Index, Offset>::of(lower),
                                          lower.diagonal_sources.data(),
                                          triangle_view<Index, Offset>::of(upper),
                                          made.rows.data(),
                                          made.row_offsets.data(),
                                          made.diagonal_slots.data(),
                                          made.sources.data(),
                                          columns.data(),
                                          solve_index_of_row.data()};
  const auto totals = make_zeros<std::int64_t>(2, on, arena);
  scan(on, a.size, place_eliminated_rows<Index, Offset>{to, totals.data() + 1}, memory);
  triangle_kernels::for_each_entry(on, made.row_offsets.data(), a.size, made.entries,
                                   place_entries<Index, Offset>{to});
  const std::int64_t longest_part = Method == method::lu ? upper.longest_row : lower.longest_row;
  triangles = {};

  // 2. The operands of their steps.
  add_operands<Method>(made, columns.data(), solve_index_of_row.data(), totals.data(), longest_part, on,
                       arena, resource);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
