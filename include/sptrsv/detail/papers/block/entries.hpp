// Stores the entries part by part in the order of execution: triangles and squares by rows; squares with many
// empty rows store only the rows with entries (DCSR). Lu, Niu, Liu 2020, Figure 3.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/papers/block/layout.hpp"
#include "sptrsv/detail/papers/block/renumber.hpp"

namespace sptrsv::detail::block {

using entry_key = std::uint64_t;

/// Computes the sort key part * size + row of each entry. Runs once per entry in the order of substitution.
template <class Index, class Offset>
struct find_entry_keys {
  std::int64_t size;
  const Offset* row_offsets;   ///< by substitution index, size + 1
  const Index* columns;        ///< by entry
  const Index* solve_indices;  ///< by substitution index
  device_bounds blocks;
  scheme cut;
  entry_key* keys;  ///< output by entry
  Offset* numbers;  ///< output by entry: its index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t substitution_index = triangle_kernels::major_of(ctx, row_offsets, size, e);
    const std::int64_t row = ctx.load_constant(solve_indices + substitution_index);
    const std::int64_t column = ctx.load_constant(solve_indices + ctx.load_constant(columns + e));
    const std::int64_t part = part_of(cut, blocks.block_of(ctx, row), blocks.block_of(ctx, column));
    ctx.store(keys + e, static_cast<entry_key>(part * size + row));
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

/// Finds, for each i, how many of the sorted keys are below first + i * stride.
template <class Offset>
struct find_offsets {
  const entry_key* sorted;
  std::int64_t entries;
  entry_key first;
  entry_key stride;
  Offset* offsets;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const entry_key key = first + static_cast<entry_key>(i) * stride;
    ctx.store(offsets + i, static_cast<Offset>(triangle_kernels::count_below(ctx, sorted, entries, key)));
  }
};

/// Finds, for each key, how many elements of the ascending `sorted` are below it.
template <class T, class Key>
struct count_below_each {
  const T* sorted;
  std::int64_t count;
  const Key* keys;
  Key* counts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const Key key = ctx.load_constant(keys + i);
    ctx.store(counts + i, static_cast<Key>(triangle_kernels::count_below(ctx, sorted, count, key)));
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

/// The size of a part.
struct part_size {
  std::int64_t entries;
  std::int64_t rows;  ///< rows that have entries
};

/// How the rows of a part are stored.
struct row_storage {
  bool is_compressed;    ///< true: only rows with entries are stored
  std::int64_t offsets;  ///< index of its first row offset; the part has rows + 1 of them
  std::int64_t numbers;  ///< index of its first row number, if it is compressed
  std::int64_t rows;     ///< number of stored rows
};

/// Sorts the entries by part and row, measures the parts, and then stores their rows.
template <class Index, class Offset, class Executor>
class part_entries {
 public:
  /// Sorts the entries of `t`, which is in the order of substitution. `substitution_indices` is by solve
  /// index. Synchronises.
  part_entries(const device_triangle<Index, Offset>& t, const buffer<Index>& substitution_indices, scheme cut,
               const std::vector<std::int64_t>& bounds, const Executor& on, const analysis_memory& memory)
      : size_(t.size), entries_(t.entries()), parts_(2 * static_cast<std::int64_t>(bounds.size()) - 3) {
    memory_resource& scratch = memory.scratch;
    const buffer<std::int64_t> on_device =
        make_buffer<std::int64_t>(static_cast<std::int64_t>(bounds.size()), on, scratch);
    on.upload(on_device.data(), bounds.data(), on_device.bytes());
    const device_bounds blocks{on_device.data(), static_cast<std::int64_t>(bounds.size()) - 1, bounds.back()};
    const buffer<Index> solve_indices = make_buffer<Index>(t.size, on, scratch);
    simt::for_each(on, t.size,
                   array_kernels::invert_order<Index>{substitution_indices.data(), solve_indices.data()});
    auto order = make_buffer<Offset>(entries_, on, scratch);
    sorted_ = make_buffer<entry_key>(entries_, on, scratch);
    if (entries_ > 0) {
      auto other_order = make_buffer<Offset>(entries_, on, scratch);
      auto other_keys = make_buffer<entry_key>(entries_, on, scratch);
      simt::for_each(
          on, entries_,
          find_entry_keys<Index, Offset>{t.size, t.row_offsets.data(), t.columns.data(), solve_indices.data(),
                                         blocks, cut, sorted_.data(), order.data()});
      on.sort_pairs_in_place(
          sorted_, other_keys, order, other_order,
          bits_for(static_cast<std::uint64_t>(parts_) * static_cast<std::uint64_t>(t.size)), scratch);
    }
    columns_ = make_buffer<Index>(entries_, on, memory.kept);
    sources_ = make_buffer<Offset>(entries_, on, memory.kept);
    diagonal_sources_ =
        make_buffer<Offset>(static_cast<std::int64_t>(t.diagonal_sources.size()), on, memory.kept);
    simt::for_each(on, entries_,
                   take_entries<Index, Offset>{order.data(), t.columns.data(), t.sources.data(),
                                               solve_indices.data(), columns_.data(), sources_.data()});
    simt::for_each(on, static_cast<std::int64_t>(diagonal_sources_.size()),
                   array_kernels::take_in_order<Offset, Index>{
                       t.diagonal_sources.data(), substitution_indices.data(), diagonal_sources_.data()});
    measure(on, memory.all_scratch());
  }

  /// Returns the size of each part.
  [[nodiscard]] std::vector<part_size> sizes() const {
    std::vector<part_size> made;
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts_); ++p) {
      made.push_back({static_cast<std::int64_t>(part_offsets_[p + 1] - part_offsets_[p]),
                      static_cast<std::int64_t>(rows_before_[p + 1] - rows_before_[p])});
    }
    return made;
  }

  /// Fills `offsets` and `numbers`; storage[p] says how part p is stored.
  void store_rows(const std::vector<part>& parts, const std::vector<row_storage>& storage, Offset* offsets,
                  Index* numbers, const Executor& on) const {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const row_storage& s = storage[p];
      if (s.is_compressed) {
        const Offset* const starts = row_starts_.first.data() + rows_before_[p];
        on.copy(offsets + s.offsets, starts, static_cast<std::size_t>(s.rows + 1) * sizeof(Offset));
        simt::for_each(on, s.rows,
                       take_row_numbers<Index, Offset>{sorted_.data(), starts, size_, numbers + s.numbers});
      } else if (s.rows > 0) {
        const auto first = static_cast<entry_key>(static_cast<std::int64_t>(p) * size_ + parts[p].first_row);
        simt::for_each(on, s.rows + 1,
                       find_offsets<Offset>{sorted_.data(), entries_, first, 1, offsets + s.offsets});
      }
    }
  }

  /// Moves the results out. Call after store_rows.
  buffer<Index> take_columns() { return std::move(columns_); }
  buffer<Offset> take_sources() { return std::move(sources_); }
  buffer<Offset> take_diagonal_sources() { return std::move(diagonal_sources_); }

 private:
  void measure(const Executor& on, const analysis_memory& memory) {
    const auto count = static_cast<std::size_t>(parts_) + 1;
    const buffer<Offset> found(count, memory.scratch, on.stream());
    part_offsets_.resize(count);
    rows_before_.resize(count);
    simt::for_each(
        on, parts_ + 1,
        find_offsets<Offset>{sorted_.data(), entries_, 0, static_cast<entry_key>(size_), found.data()});
    on.download(part_offsets_.data(), found.data(), found.bytes());
    row_starts_ = make_runs<Offset>(entries_, starts_with_key{sorted_.data()}, on, memory);
    const buffer<Offset> rows_before(count, memory.scratch, on.stream());
    simt::for_each(on, parts_ + 1,
                   count_below_each<Offset, Offset>{row_starts_.first.data(), row_starts_.count, found.data(),
                                                    rows_before.data()});
    on.download(rows_before_.data(), rows_before.data(), rows_before.bytes());
  }

  std::int64_t size_;
  std::int64_t entries_;
  std::int64_t parts_;
  buffer<entry_key> sorted_;
  buffer<Index> columns_;
  buffer<Offset> sources_;
  buffer<Offset> diagonal_sources_;
  runs<Offset> row_starts_;
  std::vector<Offset> part_offsets_;
  std::vector<Offset> rows_before_;
};

}  // namespace sptrsv::detail::block
