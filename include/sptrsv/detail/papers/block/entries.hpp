// SPDX-License-Identifier: Apache-2.0
// Stores the entries part by part in the order of execution: triangles and squares by rows; squares with many
// empty rows store only the rows with entries (DCSR). Lu, Niu, Liu 2020, Figure 3.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/papers/block/layout.hpp"
#include "sptrsv/detail/papers/block/renumber.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

using entry_key = std::uint64_t;

/// Computes the sort key part * size + row of each entry. Runs once per entry in the order of substitution,
/// see for_each_entry().
template <class Index, class Offset>
struct find_entry_keys {
  const Index* columns;        ///< by entry
  const Index* solve_indices;  ///< by substitution index
  row_wise::device_bounds blocks;
  policy::block_cut cut;
  entry_key* keys;  ///< output by entry
  Offset* numbers;  ///< output by entry: its index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t substitution_index, std::int64_t e) const {
    const std::int64_t row = ctx.load_constant(solve_indices + substitution_index);
    const std::int64_t column = ctx.load_constant(solve_indices + ctx.load_constant(columns + e));
    const std::int64_t part = part_of(cut, blocks.block_of(ctx, row), blocks.block_of(ctx, column));
    ctx.store(keys + e, static_cast<entry_key>(part * blocks.size + row));
    ctx.store(numbers + e, static_cast<Offset>(e));
  }
};

/// Takes the solve index of the column and the source of each entry. Runs once per entry in the final order.
template <class Index, class Offset>
struct take_entries {
  const Offset* order;         ///< by final index: the entry
  const Index* old_columns;    ///< by entry
  const Offset* old_sources;   ///< by entry
  const Index* solve_indices;  ///< by substitution index
  Index* columns;              ///< by final index
  Offset* sources;             ///< by final index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Offset e = ctx.load_constant(order + k);
    ctx.store(columns + k, ctx.load_constant(solve_indices + ctx.load_constant(old_columns + e)));
    ctx.store(sources + k, ctx.load_constant(old_sources + e));
  }
};

struct key_in_steps {
  entry_key first;
  entry_key stride;

  template <class Context>
  SPTRSV_DEVICE entry_key operator()(Context&, std::int64_t i) const {
    return first + static_cast<entry_key>(i) * stride;
  }
};

/// Finds the row of each row with entries, from the key of its first entry.
template <class Index, class Offset>
struct take_row_numbers {
  const entry_key* sorted;   ///< by final index of an entry, ascending
  const Offset* row_starts;  ///< by row with entries: its first entry
  std::int64_t size;
  Index* rows;  ///< output by row with entries

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const entry_key key = ctx.load_constant(sorted + ctx.load_constant(row_starts + i));
    ctx.store(rows + i, static_cast<Index>(key % static_cast<entry_key>(size)));
  }
};

/// Sorts the entries by part and row, measures the parts, and then stores their rows.
template <class Index, class Offset, class Executor>
class part_entries {
 public:
  /// Sorts the entries of `t`, which is in the order of substitution. Synchronises.
  part_entries(const device_triangle<Index, Offset>& t, const buffer<Index>& substitution_indices,
               policy::block_cut cut, const row_wise::device_bounds& blocks, const Executor& on,
               const analysis_memory& memory)
      : size_(t.size), entries_(t.entries()), parts_(2 * blocks.blocks - 1) {
    memory_resource& scratch = memory.scratch;
    const buffer<Index> solve_indices = make_buffer<Index>(t.size, on, scratch);
    simt::for_each(on, t.size,
                   array_kernels::invert_order<Index>{substitution_indices.data(), solve_indices.data()});
    auto order = make_buffer<Offset>(entries_, on, scratch);
    sorted_ = make_buffer<entry_key>(entries_, on, scratch);
    if (entries_ > 0) {
      auto other_order = make_buffer<Offset>(entries_, on, scratch);
      auto other_keys = make_buffer<entry_key>(entries_, on, scratch);
      triangle_kernels::for_each_entry(
          on, t.row_offsets.data(), t.size, entries_,
          find_entry_keys<Index, Offset>{t.columns.data(), solve_indices.data(), blocks, cut, sorted_.data(),
                                         order.data()});
      on.sort_pairs_in_place(
          sorted_, other_keys, order, other_order,
          bits_for(static_cast<std::uint64_t>(parts_) * static_cast<std::uint64_t>(t.size)), scratch);
    }
    triangle.size = t.size;
    triangle.longest_row = t.longest_row;
    triangle.columns = make_buffer<Index>(entries_, on, memory.kept);
    triangle.sources = make_buffer<Offset>(entries_, on, memory.kept);
    triangle.diagonal_sources = buffer<Offset>(t.diagonal_sources.size(), memory.kept, on.stream());
    simt::for_each(
        on, entries_,
        take_entries<Index, Offset>{order.data(), t.columns.data(), t.sources.data(), solve_indices.data(),
                                    triangle.columns.data(), triangle.sources.data()});
    simt::for_each(
        on, static_cast<std::int64_t>(t.diagonal_sources.size()),
        array_kernels::take_in_order<Offset, Index>{t.diagonal_sources.data(), substitution_indices.data(),
                                                    triangle.diagonal_sources.data()});
  }

  /// Finds the numbers of entries and of rows with entries of the parts. Synchronises.
  void measure(std::vector<part>& parts, const Executor& on, const analysis_memory& memory) {
    const auto count = static_cast<std::size_t>(parts_) + 1;
    const buffer<Offset> found(count, memory.scratch, on.stream());
    count_below(parts_ + 1, {0, static_cast<entry_key>(size_)}, found.data(), on);
    const std::vector<Offset> entries_before = download_array(found, on);
    row_starts_ = make_runs<Offset>(entries_, starts_with_key{sorted_.data()}, on, memory.all_scratch());
    const buffer<Offset> rows_before(count, memory.scratch, on.stream());
    simt::for_each(on, parts_ + 1,
                   triangle_kernels::count_below_each<Offset, array_kernels::element_of<Offset>, Offset>{
                       row_starts_.first.data(), row_starts_.count, {found.data()}, rows_before.data()});
    rows_before_ = download_array(rows_before, on);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      part& p = parts[i];
      const std::int64_t entries = entries_before[i + 1] - entries_before[i];
      if (p.is_triangle) {
        p.triangle = {p.rows(), entries, 0};
      } else {
        p.square = {p.rows(), rows_before_[i + 1] - rows_before_[i], entries};
      }
    }
  }

  /// Writes triangle.row_offsets, and the numbers of the rows of compressed parts to `numbers`.
  void store_rows(const std::vector<part>& parts, Index* numbers, const Executor& on) const {
    Offset* const offsets = triangle.row_offsets.data();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& p = parts[i];
      if (p.is_compressed()) {
        const Offset* const starts = row_starts_.first.data() + rows_before_[i];
        on.copy(offsets + p.offsets, starts, static_cast<std::size_t>(p.stored_rows + 1) * sizeof(Offset));
        simt::for_each(on, p.stored_rows,
                       take_row_numbers<Index, Offset>{sorted_.data(), starts, size_, numbers + p.numbers});
      } else if (p.stored_rows > 0) {
        const auto first = static_cast<entry_key>(static_cast<std::int64_t>(i) * size_ + p.first_row);
        count_below(p.stored_rows + 1, {first, 1}, offsets + p.offsets, on);
      }
    }
  }

  device_triangle<Index, Offset> triangle;  ///< part by part; its row_offsets are empty at first

 private:
  /// Finds how many entries have keys below each of `count` keys.
  void count_below(std::int64_t count, const key_in_steps& key, Offset* counts, const Executor& on) const {
    simt::for_each(on, count,
                   triangle_kernels::count_below_each<entry_key, key_in_steps, Offset>{
                       sorted_.data(), entries_, key, counts});
  }

  std::int64_t size_;
  std::int64_t entries_;
  std::int64_t parts_;
  buffer<entry_key> sorted_;
  runs<Offset> row_starts_;
  std::vector<Offset> rows_before_;  ///< by part: rows with entries of the parts before
};

}  // namespace sptrsv::SPTRSV_ABI::detail::block
