// SPDX-License-Identifier: Apache-2.0
// The analysis of an incomplete factorisation on the device: the rows in level order, and their operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "sptrsv/detail/incomplete/operand_search.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Analyses a pattern. The rows of a small matrix are written, and their operands are searched, before the
/// host knows what the checks and the search for levels have found: it waits once. If one of them has failed,
/// or if rows are to be cut, that work is repeated.
template <method Method, class Index, class Offset, class Executor>
class elimination_analysis {
  using triangle = device_triangle<Index, Offset>;
  using search = operand_search<Method, Index, Offset, Executor>;
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
        a_, forms, {}, {}, false, on_, memory_.all_scratch(),
        [&](const auto& t, const row_levels<Index>& levels, triangle_kernels::report* found) {
          if (a_.size < most_rows_ahead && a_.entries <= most_entries_ahead) {
            totals_ = reinterpret_cast<operand_totals*>(found->more);
            place_rows(t[0], t[triangles - 1], levels, a_.size, a_.entries,
                       known_triangles{found, static_cast<int>(triangles)});
            search_->start();
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
    const bool is_sorted = lower.rows_are_stored_runs && upper.rows_are_stored_runs;
    const bool is_placed = search_.has_value() && is_sorted && levels && !levels->is_from_host;
    operand_totals totals{};
    std::memcpy(&totals, built[0].found.more, sizeof(totals));
    const bool is_found = is_placed && !may_cut;
    if (!is_found) {
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
    const std::int64_t most_operands = lower.entries() * (1 + upper.longest_row);
    built = {};
    if (may_cut) {
      search_.emplace(made_, rows(), made_.entries, totals_, on_, memory_);
      search_->start_with_pieces();
    } else if (!is_placed) {
      search_->start(most_operands);
    }
    search_->finish(is_found ? totals : search_->read_totals());
    made_.sources.shrink(at(made_.entries));
    return std::move(made_);
  }

 private:
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
    search_.emplace(made_, rows(), most_entries, totals_, on_, memory_);
  }

  [[nodiscard]] searched_rows<Method, Index, Offset> rows() const {
    return {a_.size,         made_.row_offsets.data(), made_.diagonal_slots.data(),
            columns_.data(), made_.sources.data(),     solve_index_of_row_.data(),
            limits_};
  }

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
  operand_totals* totals_ = nullptr;  ///< in a report, or own ones
  std::optional<search> search_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
