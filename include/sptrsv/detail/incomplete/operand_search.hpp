// SPDX-License-Identifier: Apache-2.0
// The search for the operands of the rows of an incomplete factorisation, on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/incomplete/place_operands.hpp"
#include "sptrsv/detail/incomplete/place_pieces.hpp"
#include "sptrsv/detail/simt/scan.hpp"
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
  buffer<factor_state> state;        ///< of the factorisations, before the first one

  [[nodiscard]] bool has_pieces() const { return totals.long_rows > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return rows.bytes() + row_offsets.bytes() + diagonal_slots.bytes() + sources.bytes() + is_used.bytes() +
           first_operands.bytes() + operands.bytes() + pieces.bytes() + steps.bytes() + state.bytes();
  }
};

/// Finds the operands of all rows. It may cut long rows into pieces.
template <method Method, class Index, class Offset, class Executor>
class operand_search {
 public:
  /// `rows`: those of `made`, whose row_offsets may be known on the device only; `most_entries`: at least the
  /// number of their entries; `totals`: zeros, and the longest row unless rows are to be cut.
  operand_search(elimination<Index, Offset>& made, const searched_rows<Method, Index, Offset>& rows,
                 std::int64_t most_entries, operand_totals* totals, const Executor& on,
                 const analysis_memory& memory)
      : made_(made), rows_(rows), most_entries_(most_entries), totals_(totals), on_(on), memory_(memory) {
    made_.first_operands = make_buffer<std::int64_t>(made_.size + 1, on_, memory_.kept);
  }

  /// Enqueues the search in whole rows. If there are few operands, it writes them, so that nobody waits for
  /// their number. `most_operands`: at least their number.
  void start(std::int64_t most_operands = INT64_MAX) {
    starts_ = make_buffer<std::int64_t>(most_entries_ + 1, on_, memory_.scratch);
    const std::int64_t room = std::min(most_operands, few_operands_of_entry * most_entries_);
    if (room <= few_operands) {
      made_.operands = make_buffer<operand<Index, Offset>>(room, on_, memory_.kept);
    }
    count_in_whole_rows(false);
  }
  /// Cuts long rows into pieces, and enqueues the search in all rows.
  void start_with_pieces() {
    made_.operands = {};
    starts_ = make_zeros<std::int64_t>(2 * (most_entries_ + 1), on_, memory_.scratch);
    made_.pieces =
        make_buffer<row_piece<Index>>(made_.size + most_entries_ / rows_.limits.piece + 1, on_, memory_.kept);
    scan(on_, made_.size,
         cut_rows<Index, Offset>{made_.size, made_.row_offsets.data(), made_.diagonal_slots.data(),
                                 rows_.limits, made_.pieces.data(), totals_},
         memory_);
    make_cells();
    place_pieces();
    count_in_whole_rows(true);
    scan(on_, most_entries_ + 1,  // of the steps of all entries, and then 0
         simt::sum_before<std::int64_t>{starts().steps, starts().steps, most_entries_, &totals_->steps},
         memory_);
  }
  /// Returns what the work that has been started has counted. Synchronises.
  [[nodiscard]] operand_totals read_totals() const { return download_value(totals_, on_); }
  /// Ends the search.
  void finish(const operand_totals& totals) {
    made_.totals = totals;
    if (made_.totals.operands > static_cast<std::int64_t>(made_.operands.size())) {
      made_.operands = {};
      made_.operands = make_buffer<operand<Index, Offset>>(made_.totals.operands, on_, memory_.kept);
      with_warp_entries([&](auto entries) {
        simt::for_each_by_tile<32>(
            on_, simt::ceil_div(most_entries_, std::int64_t{entries}),
            write_operands<Method, Index, Offset, decltype(entries)::value>{finder(), starts_.data()});
      });
    }
    if (made_.totals.long_rows == 0) {
      made_.totals.longest_whole = made_.totals.longest_row;
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
  static constexpr std::int64_t few_operands_of_entry = Method == method::lu ? 2 : 1;

  void count_in_whole_rows(bool has_counts) {
    with_warp_entries([&](auto entries) {
      scan(on_, most_entries_,
           count_operands<Method, Index, Offset, decltype(entries)::value>{
               finder(), starts_.data(), made_.first_operands.data(), totals_, has_counts},
           memory_);
    });
  }
  /// Allocates and writes the cells, unless they need much more memory than the rows themselves.
  void make_cells() {
    constexpr std::int64_t cells_of_entry = 12;
    constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();  // entry or cell
    const std::int64_t count = entry_cells<Method>(made_.size).count(made_.size);
    if (count <= std::min(cells_of_entry * most_entries_, last) && most_entries_ <= last) {
      cells_ = make_zeros<entry_cell>(count, on_, memory_.scratch);
      triangle_kernels::for_each_entry(on_, rows_.row_offsets, made_.size, most_entries_,
                                       write_cells<Method, Index, Offset>{rows_, cells()});
    }
  }
  /// Counts the operands and steps of pieces; if there is room for steps, writes them.
  void place_pieces() {
    on_.template launch<agent_of_pieces>(
        on_.template resident_blocks<agent_of_pieces>(),
        {rows_, cells(), starts(), made_.pieces.data(), totals_, made_.operands.data(), made_.steps.data()});
  }
  /// Calls use(constant) for the entries that a warp has: few in long rows, whose steps have many items.
  template <class Use>
  void with_warp_entries(const Use& use) {
    with_one_of<8, 32>(most_entries_ > 16 * made_.size ? 8 : 32, use);
  }

  [[nodiscard]] find_operands<Method, Index, Offset> finder() const {
    return {rows_, made_.operands.data(), static_cast<std::int64_t>(made_.operands.size())};
  }
  [[nodiscard]] entry_cells<Method> cells() const { return entry_cells<Method>(made_.size, cells_.data()); }
  [[nodiscard]] piece_starts starts() const { return {starts_.data(), starts_.data() + most_entries_ + 1}; }

  elimination<Index, Offset>& made_;
  const searched_rows<Method, Index, Offset> rows_;
  const std::int64_t most_entries_;
  operand_totals* const totals_;
  const Executor& on_;
  const analysis_memory& memory_;
  buffer<std::int64_t> starts_;  ///< see piece_starts
  buffer<entry_cell> cells_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
