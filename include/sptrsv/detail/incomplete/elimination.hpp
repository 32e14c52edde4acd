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
#include "sptrsv/detail/base/with_constant.hpp"
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

/// Finds the operands of rows, of which some may be cut into pieces. Part of the analysis, see there.
template <method Method, class Index, class Offset, class Executor>
class operand_search {
 public:
  /// `made`: the rows; `rows`: the same; `totals`: the longest row, and zeros.
  operand_search(elimination<Index, Offset>& made, const searched_rows<Method, Index, Offset>& rows,
                 const buffer<operand_totals>& totals, const Executor& on, const analysis_memory& memory)
      : made_(made), rows_(rows), totals_(totals), on_(on), memory_(memory) {}

  /// Finds the operands, and cuts long rows into pieces. Synchronises. `may_cut`: whether a row may be cut;
  /// `most_operands`: at least the number of operands.
  void run(bool may_cut, std::int64_t most_operands) {
    made_.first_operands = make_buffer<std::int64_t>(made_.size + 1, on_, memory_.kept);
    starts_ = make_buffer<std::int64_t>((may_cut ? 2 : 1) * (made_.entries + 1), on_, memory_.scratch);
    if (may_cut) {
      cut_and_count();
    }
    // Few operands are written as soon as they are counted, so that the host does not wait in between.
    std::int64_t room = std::min(most_operands, few_operands_of_entry * made_.entries);
    room = may_cut || room > few_operands ? 0 : room;
    made_.operands = make_buffer<operand<Index, Offset>>(room, on_, memory_.kept);
    count_and_write_few();
    made_.totals = download_value(totals_.data(), on_);
    if (made_.totals.operands > room) {
      made_.operands = {};
      made_.operands = make_buffer<operand<Index, Offset>>(made_.totals.operands, on_, memory_.kept);
      with_warp_entries([&](auto entries) {
        using agent = write_operands_agent<Method, Index, Offset, decltype(entries)::value>;
        on_.template launch<agent>(simt::block_count(made_.entries, agent::block_entries),
                                   {finder(), starts_.data()});
      });
    }
    if (made_.totals.long_rows == 0) {
      made_.pieces = {};
      return;
    }
    made_.steps = make_buffer<piece_step<Offset>>(made_.totals.steps, on_, memory_.kept);
    place_pieces();
    simt::for_each(on_, made_.totals.pieces + 1,
                   start_pieces<Index, Offset>{made_.row_offsets.data(), starts(), made_.pieces.data()});
  }

 private:
  using agent_of_pieces = place_pieces_agent<Method, Index, Offset>;
  static constexpr std::int64_t few_operands = std::int64_t{1} << 18;
  static constexpr std::int64_t few_operands_of_entry = 4;

  /// Cuts long rows, and counts the operands and steps of the pieces.
  void cut_and_count() {
    on_.fill_bytes(starts_.data(), 0, starts_.bytes());
    made_.pieces =
        make_buffer<row_piece<Index>>(made_.size + made_.entries / rows_.limits.piece + 1, on_, memory_.kept);
    scan(on_, made_.size,
         cut_rows<Index, Offset>{made_.size, made_.row_offsets.data(), made_.diagonal_slots.data(),
                                 rows_.limits, made_.pieces.data(), totals_.data()},
         memory_);
    make_cells();
    place_pieces();
    scan(on_, made_.entries + 1, sum_steps{{starts().steps, starts().steps}, made_.entries, totals_.data()},
         memory_);
  }
  /// Allocates and writes the cells, unless they need much more memory than the rows themselves.
  void make_cells() {
    constexpr std::int64_t cells_of_entry = 12;
    constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();  // entry or cell
    const std::int64_t count = entry_cells<Method>(made_.size).count(made_.size);
    if (count <= std::min(cells_of_entry * made_.entries, last) && made_.entries <= last) {
      cells_ = make_zeros<entry_cell>(count, on_, memory_.scratch);
      triangle_kernels::for_each_entry(on_, rows_.row_offsets, made_.size, made_.entries,
                                       write_cells<Method, Index, Offset>{rows_, cells()});
    }
  }
  /// Counts the operands and steps of pieces; if there is room for operands, writes them.
  void place_pieces() {
    on_.template launch<agent_of_pieces>(on_.template resident_blocks<agent_of_pieces>(),
                                         {rows_, cells(), starts(), made_.pieces.data(), totals_.data(),
                                          made_.operands.data(), made_.steps.data()});
  }
  void count_and_write_few() {
    with_warp_entries([&](auto entries) {
      scan(on_, made_.entries,
           count_operands<Method, Index, Offset, decltype(entries)::value>{
               finder(), starts_.data(), made_.first_operands.data(), totals_.data()},
           memory_);
    });
  }
  /// Calls use(constant) for the entries that a warp has: few in long rows, whose steps have many items.
  template <class Use>
  void with_warp_entries(const Use& use) {
    with_one_of<8, 32>(made_.entries > 16 * made_.size ? 8 : 32, use);
  }

  [[nodiscard]] find_operands<Method, Index, Offset> finder() const {
    return {rows_, made_.operands.data(), static_cast<std::int64_t>(made_.operands.size())};
  }
  [[nodiscard]] entry_cells<Method> cells() const { return entry_cells<Method>(made_.size, cells_.data()); }
  [[nodiscard]] piece_starts starts() const { return {starts_.data(), starts_.data() + made_.entries + 1}; }

  elimination<Index, Offset>& made_;
  const searched_rows<Method, Index, Offset> rows_;
  const buffer<operand_totals>& totals_;
  const Executor& on_;
  const analysis_memory& memory_;
  buffer<std::int64_t> starts_;  ///< see piece_starts
  buffer<entry_cell> cells_;
};

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
  const bool may_cut = lower.longest_row + 1 + upper.longest_row > limits.whole;
  const std::int64_t most_operands =
      lower.entries() * (1 + (Method == method::lu ? upper : lower).longest_row);
  built = {};

  // 2. The operands of their steps.
  operand_search<Method, Index, Offset, Executor>(
      made,
      {a.size, made.entries, made.row_offsets.data(), made.diagonal_slots.data(), columns.data(),
       made.sources.data(), solve_index_of_row.data(), limits},
      totals, on, memory)
      .run(may_cut, most_operands);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
