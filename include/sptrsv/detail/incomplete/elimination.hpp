// SPDX-License-Identifier: Apache-2.0
// The analysis of an incomplete factorisation on the device: the rows in level order, and their operands,
// which are searched in whole rows, and in pieces of long rows. The file is long because the analysis is one
// sequence of steps: each step takes arrays that the steps before it have filled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/incomplete/place_operands.hpp"
#include "sptrsv/detail/incomplete/place_pieces.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
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
  /// Of operands of pieces: the index in the stored matrix of each needed entry, and lists of such indices.
  buffer<Offset> needed_sources;
  buffer<factor_state> state;  ///< of the factorisations, before the first one

  [[nodiscard]] bool has_pieces() const { return totals.long_rows > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return rows.bytes() + row_offsets.bytes() + diagonal_slots.bytes() + sources.bytes() + is_used.bytes() +
           first_operands.bytes() + operands.bytes() + pieces.bytes() + steps.bytes() +
           needed_sources.bytes() + state.bytes();
  }
};

/// Analyses a pattern. The rows of a small matrix are written, and their operands are searched, before the
/// host knows what the checks and the search for levels have found: it waits once. If one of them has failed,
/// or if rows are to be cut, that work is repeated.
template <method Method, class Index, class Offset, class Executor>
class elimination_analysis {
  using triangle = device_triangle<Index, Offset>;
  static constexpr std::size_t triangles = Method == method::lu ? 2 : 1;
  static_assert(sizeof(operand_totals) == sizeof(triangle_kernels::report::more), "they are counted there");

 public:
  /// `kept`: for what is returned; `resource`: for the rest.
  elimination_analysis(const pattern_view<Index, Offset>& a, const piece_limits& limits, const Executor& on,
                       memory_resource& kept, memory_resource& resource)
      : a_(a),
        limits_(limits),
        on_(on),
        arena_(arena_bytes<Executor>(a.size, 2 * a.entries, sizeof(Offset)), resource, on.stream()),
        words_(arena_),
        memory_(kept, arena_, &words_) {}

  /// Returns the rows. Synchronises. Throws for the first offending row as `analyze` does, for LU for both
  /// triangles.
  elimination<Index, Offset> run() {
    std::array<triangle_form, triangles> forms;
    for (std::size_t k = 0; k < triangles; ++k) {
      forms[k] = triangle_form(system_options{k == 0 ? uplo::lower : uplo::upper}, a_.by_columns);
    }
    made_.size = a_.size;
    auto built = build_with_levels<1>(
        a_, forms, {limits_.piece, limits_.whole / 2}, {}, false, on_, memory_.all_scratch(),
        [&](const auto& t, const row_levels<Index>& levels, triangle_kernels::report* found) {
          if (a_.size < most_rows_ahead && a_.entries <= most_entries_ahead) {
            totals_ = reinterpret_cast<operand_totals*>(found->more);
            place_rows(t[0], t[triangles - 1], levels, a_.size, a_.entries,
                       known_triangles{found, static_cast<int>(triangles)});
            search_in_whole_rows();
          }
        });
    if (a_.size == 0) {
      return std::move(made_);
    }
    const triangle& lower = built[0].triangle;
    const triangle& upper = built[triangles - 1].triangle;
    std::optional<row_levels<Index>>& levels = built[0].levels;
    made_.entries = lower.entries() + a_.size + (Method == method::lu ? upper.entries() : 0);
    const bool may_cut =
        lower.longest_row + 1 + (Method == method::lu ? upper.longest_row : 0) > limits_.whole;
    const bool is_sorted = built[0].found.unsorted == 0 && built[triangles - 1].found.unsorted == 0;
    const bool is_placed = most_entries_ > 0 && is_sorted && levels && !levels->is_from_host;
    operand_totals totals{};
    std::memcpy(&totals, built[0].found.more, sizeof(totals));
    if (!is_placed || may_cut) {
      own_totals_ = make_zeros<operand_totals>(1, on_, arena_);
      totals_ = own_totals_.data();
    }
    if (!is_placed) {
      if (!levels) {
        levels = levels_of_rows(lower, on_, memory_);
      }
      place_rows(lower, upper, *levels, levels->count, made_.entries, known_triangles{nullptr, 0});
    }
    made_.levels = levels->count;
    long_entries_ = limits_.piece * (lower.partial_rows + (Method == method::lu ? upper.partial_rows : 0));
    const std::int64_t most_operands = lower.entries() * (1 + upper.longest_row);
    if (may_cut) {
      sort_needed_entries(lower);
    }
    built = {};
    if (!is_placed) {
      search_in_whole_rows(most_operands);
    }
    if (may_cut) {
      search_in_pieces();
    }
    made_.totals = is_placed && !may_cut ? totals : download_value(totals_, on_);
    if (is_placed) {
      made_.totals.operands = totals.operands;
      made_.totals.longest_row = totals.longest_row;
    }
    finish_search();
    made_.sources.shrink(at(made_.entries));
    return std::move(made_);
  }

 private:
  using agent_of_pieces = place_pieces_agent<Method, Index, Offset>;
  static constexpr std::int64_t few_operands = std::int64_t{1} << 18;
  static constexpr std::int64_t few_operands_of_entry = Method == method::lu ? 2 : 1;
  // Limits of matrices whose rows are written before the host has waited.
  static constexpr std::int64_t most_rows_ahead = std::int64_t{1} << 16;
  static constexpr std::int64_t most_entries_ahead = std::int64_t{1} << 18;

  /// Enqueues the sort of the rows by level, and writes them and their entries. `most_levels`,
  /// `most_entries`: at least their numbers.
  void place_rows(const triangle& lower, const triangle& upper, const row_levels<Index>& levels,
                  std::int64_t most_levels, std::int64_t most_entries, const known_triangles& condition) {
    made_.rows = make_buffer<Index>(a_.size, on_, memory_.kept);
    static_cast<void>(sort_by_level(levels, most_levels, made_.rows, on_, memory_));
    made_.row_offsets = make_buffer<Offset>(a_.size + 1, on_, memory_.kept);
    made_.diagonal_slots = make_buffer<Index>(a_.size, on_, memory_.kept);
    made_.sources = make_buffer<Offset>(most_entries, on_, memory_.kept);
    made_.state = make_buffer<factor_state>(1, on_, memory_.kept);
    solve_index_of_row_ = make_buffer<Index>(a_.size, on_, arena_);
    columns_ = make_buffer<Index>(most_entries, on_, arena_);
    if (Method == method::cholesky) {
      made_.is_used = make_zeros<unsigned char>(a_.entries, on_, memory_.kept);
    }
    using view = triangle_view<Index, Offset>;
    const eliminated_rows<Index, Offset> to{a_.size,
                                            view::of(lower),
                                            lower.diagonal_sources.data(),
                                            Method == method::lu ? view::of(upper) : view{},
                                            made_.rows.data(),
                                            made_.row_offsets.data(),
                                            made_.diagonal_slots.data(),
                                            made_.sources.data(),
                                            columns_.data(),
                                            solve_index_of_row_.data(),
                                            made_.is_used.data(),
                                            made_.state.data()};
    scan(on_, a_.size, place_eliminated_rows<Index, Offset>{to, condition, &totals_->longest_row}, memory_);
    triangle_kernels::for_each_entry(on_, made_.row_offsets.data(), a_.size, most_entries,
                                     place_entries<Index, Offset>{to});
    made_.first_operands = make_buffer<std::int64_t>(a_.size + 1, on_, memory_.kept);
    most_entries_ = most_entries;
  }

  [[nodiscard]] searched_rows<Method, Index, Offset> rows() const {
    return {a_.size,         made_.row_offsets.data(), made_.diagonal_slots.data(),
            columns_.data(), made_.sources.data(),     solve_index_of_row_.data(),
            limits_};
  }

  /// Enqueues the search in whole rows. If there are few operands, it writes them, so that nobody waits for
  /// their number. `most_operands`: at least their number.
  void search_in_whole_rows(std::int64_t most_operands = INT64_MAX) {
    starts_ = {};
    starts_ = make_buffer<std::int64_t>(most_entries_ + 1, on_, memory_.scratch);
    const std::int64_t room = std::min(most_operands, few_operands_of_entry * most_entries_);
    if (room <= few_operands) {
      made_.operands = make_buffer<operand<Index, Offset>>(room, on_, memory_.kept);
    }
    with_warp_entries([&](auto entries) {
      scan(on_, most_entries_,
           count_operands<Method, Index, Offset, decltype(entries)::value>{
               finder(), starts_.data(), made_.first_operands.data(), totals_},
           memory_);
    });
  }
  /// Sorts the entries that steps of pieces need by columns, if the method needs it.
  void sort_needed_entries(const triangle& lower) {
    if constexpr (Method == method::cholesky) {
      needed_offsets_ = make_buffer<Offset>(made_.size + 1, on_, memory_.scratch);
      const auto order = sort_by_column(lower.columns.data(), lower.entries(), made_.size,
                                        needed_offsets_.data(), on_, memory_.scratch);
      needed_columns_ = make_buffer<Index>(lower.entries(), on_, memory_.scratch);
      sources_by_column_ = make_buffer<Offset>(lower.entries(), on_, memory_.scratch);
      simt::for_each(
          on_, lower.entries(),
          take_rows<Index, Offset>{made_.size, order.data(), lower.row_offsets.data(), lower.sources.data(),
                                   needed_columns_.data(), sources_by_column_.data()});
    }
  }
  /// Cuts long rows into pieces, and counts their steps.
  void search_in_pieces() {
    const std::int64_t most_pieces = made_.size + made_.entries / limits_.piece + 1;
    made_.pieces = make_buffer<row_piece<Index>>(most_pieces, on_, memory_.kept);
    scan(on_, made_.size,
         cut_rows<Index, Offset>{made_.size, made_.row_offsets.data(), made_.diagonal_slots.data(), limits_,
                                 made_.pieces.data(), totals_},
         memory_);
    make_cells();
    const std::int64_t shares = most_pieces * agent_of_pieces::shares;
    piece_starts_ = make_zeros<std::int64_t>(2 * shares, on_, memory_.scratch);
    place_pieces();
    scan(on_, 2 * shares, simt::sum_before<std::int64_t>{piece_starts_.data(), piece_starts_.data()},
         memory_);
  }
  /// Writes what has been counted and is not written yet.
  void finish_search() {
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
    const buffer<Offset>& needed = Method == method::lu ? made_.sources : sources_by_column_;
    made_.needed_sources = make_buffer<Offset>(needed_entries() + made_.totals.listed, on_, memory_.kept);
    on_.copy(made_.needed_sources.data(), needed.data(), at(needed_entries()) * sizeof(Offset));
    made_.steps = make_buffer<piece_step<Offset>>(made_.totals.steps, on_, memory_.kept);
    place_pieces();
    simt::for_each(on_, made_.totals.pieces + 1,
                   start_pieces<Index>{agent_of_pieces::shares, piece_starts_.data(), made_.pieces.data()});
  }

  /// Allocates and writes the cells, unless they need much more memory than the rows themselves.
  void make_cells() {
    constexpr std::int64_t cells_of_entry = 12;
    constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();  // entry or cell
    const std::int64_t count = entry_cells(made_.size).count(made_.size);
    if (count <= std::min(cells_of_entry * made_.entries, last) && made_.entries <= last) {
      cells_ = make_zeros<entry_cell>(count, on_, memory_.scratch);
      constexpr bool is_lu = Method == method::lu;
      triangle_kernels::for_each_entry(on_, is_lu ? made_.row_offsets.data() : needed_offsets_.data(),
                                       made_.size, needed_entries(),
                                       write_cells<Method, Index, Offset>{needed(), cells()});
    }
  }
  /// Counts the steps of pieces; if there is room for steps, writes them.
  void place_pieces() {
    on_.template launch<agent_of_pieces>(
        on_.template resident_blocks<agent_of_pieces>(),
        {rows(), needed(), cells(), piece_starts_.data(), piece_starts_.data() + piece_starts_.size() / 2,
         made_.pieces.data(), totals_, needed_entries(), made_.needed_sources.data(), made_.steps.data()});
  }
  /// Calls use(constant) for the entries that a warp has: few if whole rows are long, whose steps have many
  /// items.
  template <class Use>
  void with_warp_entries(const Use& use) {
    with_one_of<8, 32>(most_entries_ - long_entries_ > std::max(16 * made_.size, long_entries_) ? 8 : 32,
                       use);
  }

  [[nodiscard]] find_operands<Method, Index, Offset> finder() const {
    return {rows(), made_.operands.data(), static_cast<std::int64_t>(made_.operands.size())};
  }
  [[nodiscard]] needed_rows<Method, Index, Offset> needed() const {
    return {rows(), needed_offsets_.data(), Method == method::lu ? columns_.data() : needed_columns_.data()};
  }
  [[nodiscard]] std::int64_t needed_entries() const {
    return Method == method::lu ? made_.entries : static_cast<std::int64_t>(needed_columns_.size());
  }
  [[nodiscard]] entry_cells cells() const { return entry_cells(made_.size, cells_.data()); }

  const pattern_view<Index, Offset> a_;
  const piece_limits limits_;
  const Executor& on_;
  scratch_arena arena_;
  simt::scan_words words_;
  const analysis_memory memory_;
  elimination<Index, Offset> made_;
  buffer<Index> solve_index_of_row_;
  buffer<Index> columns_;  ///< by entry
  buffer<operand_totals> own_totals_;
  operand_totals* totals_ = nullptr;   ///< in a report, or own ones
  std::int64_t long_entries_ = 0;      ///< about those of rows that are cut, if it is known
  std::int64_t most_entries_ = 0;      ///< at least the number of entries, when the rows have been placed
  buffer<std::int64_t> starts_;        ///< see count_operands
  buffer<std::int64_t> piece_starts_;  ///< see place_pieces_agent
  buffer<Offset> needed_offsets_;      ///< these are for cholesky only, see needed_rows
  buffer<Index> needed_columns_;
  buffer<Offset> sources_by_column_;  ///< of the needed entries
  buffer<entry_cell> cells_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
