// SPDX-License-Identifier: Apache-2.0
// The analysis of an incomplete factorisation on the device: the rows in level order, and their operands.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/incomplete/place_operands.hpp"
#include "sptrsv/detail/incomplete/place_pieces.hpp"
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
  buffer<Index> rows;                   ///< by solve index: the row
  buffer<Offset> row_offsets;           ///< by solve index, size + 1
  buffer<Index> diagonal_slots;         ///< by solve index: the number of entries below the diagonal
  buffer<Offset> sources;               ///< by entry: its index in the stored matrix
  buffer<unsigned char> is_used;        ///< cholesky, by entry of the stored matrix: whether a row holds it
  buffer<std::int64_t> first_operands;  ///< by solve index, size + 1
  buffer<operand<Index, Offset>> operands;
  operand_totals totals{};
  buffer<row_piece<Index>> pieces;   ///< in level order, and an end; empty if no row is long
  buffer<piece_step<Offset>> steps;  ///< of the pieces of long rows

  [[nodiscard]] bool has_pieces() const { return totals.long_rows > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return rows.bytes() + row_offsets.bytes() + diagonal_slots.bytes() + sources.bytes() + is_used.bytes() +
           first_operands.bytes() + operands.bytes() + pieces.bytes() + steps.bytes();
  }
};

/// Allocates and writes the cells of rows of which some are cut; none if they need much more memory than the
/// rows themselves.
template <method Method, class Index, class Offset, class Executor>
buffer<entry_cell> make_cells(const searched_rows<Method, Index, Offset>& rows, const Executor& on,
                              memory_resource& scratch) {
  constexpr std::int64_t cells_of_entry = 12;
  constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();  // entry or cell
  const std::int64_t count = entry_cells<Method>(rows.size).count(rows.size);
  if (count > std::min(cells_of_entry * rows.entries, last) || rows.entries > last) {
    return {};
  }
  auto cells = make_zeros<entry_cell>(count, on, scratch);
  triangle_kernels::for_each_entry(
      on, rows.row_offsets, rows.size, rows.entries,
      write_cells<Method, Index, Offset>{rows, entry_cells<Method>(rows.size, cells.data())});
  return cells;
}

/// Finds the operands of the rows, and cuts long rows into pieces. Synchronises. `rows`: those of `made`;
/// `totals`: the longest row, and zeros; `longest_row`: at least the entries of the longest row.
template <method Method, class Index, class Offset, class Executor>
void add_operands(elimination<Index, Offset>& made, const searched_rows<Method, Index, Offset>& rows,
                  const buffer<operand_totals>& totals, std::int64_t longest_row, const Executor& on,
                  const analysis_memory& memory) {
  using whole_agent = place_operands_agent<Method, Index, Offset>;
  using agent = place_pieces_agent<Method, Index, Offset>;
  const bool may_cut = longest_row > rows.limits.whole;
  const std::int64_t of_steps = made.entries + 1;  // where the counts of steps begin
  const std::int64_t all = may_cut ? 2 * of_steps : of_steps;
  const auto counts = make_buffer<std::int64_t>(all, on, memory.scratch);
  on.fill_bytes(counts.data() + made.entries, 0, at(all - made.entries) * sizeof(std::int64_t));
  made.first_operands = make_buffer<std::int64_t>(made.size + 1, on, memory.kept);
  piece_starts starts{counts.data(), counts.data() + of_steps, 0};
  buffer<entry_cell> cells;
  const int warp_entries = whole_agent::entries_of_warp(made.size, made.entries);
  const auto run = [&](bool cuts) {
    on.template launch<whole_agent>(
        simt::block_count(made.entries, whole_agent::entries_of_block(warp_entries)),
        {rows, warp_entries, counts.data(), made.operands.data(), made.first_operands.data()});
    if (cuts) {
      on.template launch<agent>(on.template resident_blocks<agent>(),
                                {rows, entry_cells<Method>(made.size, cells.data()), starts,
                                 made.pieces.data(), totals.data(), made.operands.data(), made.steps.data()});
    }
  };
  if (may_cut) {
    made.pieces =
        make_buffer<row_piece<Index>>(made.size + made.entries / rows.limits.piece + 1, on, memory.kept);
    scan(on, made.size,
         cut_rows<Index, Offset>{made.size, made.row_offsets.data(), made.diagonal_slots.data(), rows.limits,
                                 made.pieces.data(), totals.data()},
         memory);
    cells = make_cells(rows, on, memory.scratch);
  }
  run(may_cut);
  scan(on, all, sum_counts{{counts.data(), counts.data()}, made.entries, totals.data()}, memory);
  made.totals = download_value(totals.data(), on);
  // Not null without operands: null stands for counting.
  made.operands =
      make_buffer<operand<Index, Offset>>(std::max<std::int64_t>(made.totals.operands, 1), on, memory.kept);
  if (made.totals.long_rows == 0) {
    made.pieces = {};
    run(false);
    return;
  }
  starts.scan_begin = made.totals.operands;
  made.steps =
      make_buffer<piece_step<Offset>>(made.totals.operands_and_steps - starts.scan_begin, on, memory.kept);
  run(true);
  simt::for_each(on, made.totals.pieces + 1,
                 start_pieces<Index, Offset>{made.row_offsets.data(), starts, made.pieces.data()});
}

/// Analyses the pattern. Synchronises. Throws for the first offending row as `analyze` does, for LU for both
/// triangles.
template <method Method, class Index, class Offset, class Executor>
elimination<Index, Offset> analyze_elimination(const pattern_view<Index, Offset>& a,
                                               const piece_limits& limits, const Executor& on,
                                               memory_resource& resource) {
  constexpr std::size_t triangles = Method == method::lu ? 2 : 1;
  scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
  simt::scan_words words(arena);
  const analysis_memory memory(resource, arena, &words);
  std::array<triangle_form, triangles> forms;
  for (std::size_t k = 0; k < triangles; ++k) {
    forms[k] = triangle_form(system_options{k == 0 ? uplo::lower : uplo::upper}, a.by_columns);
  }
  auto built = build_with_levels<1>(a, forms, {}, {}, false, on, memory.all_scratch());
  elimination<Index, Offset> made;
  made.size = a.size;
  if (a.size == 0) {
    return made;
  }
  const device_triangle<Index, Offset>& lower = built[0].triangle;
  device_triangle<Index, Offset> none;
  const device_triangle<Index, Offset>& upper = triangles > 1 ? built[triangles - 1].triangle : none;
  auto& levels = built[0].levels;
  if (!levels) {
    levels = levels_of_rows(lower, on, memory);
  }
  made.levels = levels->count;
  made.rows = make_buffer<Index>(a.size, on, resource);
  static_cast<void>(sort_by_level(*levels, made.rows, on, memory));
  made.entries = lower.entries() + a.size + upper.entries();

  // 1. The rows in level order.
  made.row_offsets = make_buffer<Offset>(a.size + 1, on, resource);
  made.diagonal_slots = make_buffer<Index>(a.size, on, resource);
  made.sources = make_buffer<Offset>(made.entries, on, resource);
  const auto solve_index_of_row = make_buffer<Index>(a.size, on, arena);
  const auto columns = make_buffer<Index>(made.entries, on, arena);
  if (Method == method::cholesky) {
    made.is_used = make_zeros<unsigned char>(a.entries, on, resource);
  }
  const eliminated_rows<Index, Offset> to{a.size,
                                          triangle_view<Index, Offset>::of(lower),
                                          lower.diagonal_sources.data(),
                                          triangle_view<Index, Offset>::of(upper),
                                          made.rows.data(),
                                          made.row_offsets.data(),
                                          made.diagonal_slots.data(),
                                          made.sources.data(),
                                          columns.data(),
                                          solve_index_of_row.data(),
                                          made.is_used.data()};
  const auto totals = make_zeros<operand_totals>(1, on, arena);
  scan(on, a.size, place_eliminated_rows<Index, Offset>{to, &totals.data()->longest_row}, memory);
  triangle_kernels::for_each_entry(on, made.row_offsets.data(), a.size, made.entries,
                                   place_entries<Index, Offset>{to});
  const std::int64_t longest_row = lower.longest_row + 1 + upper.longest_row;
  built = {};

  // 2. The operands of their steps.
  add_operands(made,
               searched_rows<Method, Index, Offset>{a.size, made.entries, made.row_offsets.data(),
                                                    made.diagonal_slots.data(), columns.data(),
                                                    made.sources.data(), solve_index_of_row.data(), limits},
               totals, longest_row, on, memory);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
