// SPDX-License-Identifier: Apache-2.0
// Puts a matrix by rows into square blocks, on the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The entries of a matrix, sorted by the block that holds them.
template <class Index, class Offset>
struct entries_by_block {
  pattern_view<Index, Offset> a;
  std::int64_t block;    ///< rows of a block
  std::int64_t columns;  ///< columns of blocks
  std::uint64_t* keys;   ///< number of the block: its row times `columns`, plus its column
  Offset* entries;

  /// Writes the key of an entry. Runs once per entry, before the sort.
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t m, std::int64_t e) const {
    const std::int64_t key = m / block * columns + load_index(ctx, a.indices + e) / block;
    ctx.store(keys + e, static_cast<std::uint64_t>(key));
    ctx.store(entries + e, static_cast<Offset>(e));
  }
  /// Returns whether a block starts at a sorted entry.
  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    return i == 0 || ctx.load_constant(keys + i) != ctx.load_constant(keys + i - 1);
  }
};

/// Writes the first block of a block row. Runs once per block row and for the end of the last one.
template <class Index, class Offset>
struct find_block_rows {
  entries_by_block<Index, Offset> by_block;
  std::int64_t count;   ///< blocks
  const Offset* first;  ///< by block: its first entry
  Offset* offsets;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const auto key = static_cast<std::uint64_t>(row * by_block.columns);
    ctx.store(offsets + row, static_cast<Offset>(triangle_kernels::count_while(count, [&](std::int64_t k) {
                return ctx.load_constant(by_block.keys + load_index(ctx, first + k)) < key;
              })));
  }
};

/// Writes the column of each block, and the values of its entries. Runs once per sorted entry.
template <class Scalar, class Index, class Offset>
struct fill_blocks {
  entries_by_block<Index, Offset> by_block;
  const Offset* first;
  const Scalar* stored;
  bool by_columns;  ///< the order of the values of a block
  Index* columns;
  Scalar* values;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t block, std::int64_t i) const {
    const auto& a = by_block.a;
    const std::int64_t e = load_index(ctx, by_block.entries + i);
    const std::int64_t column = load_index(ctx, a.indices + e);
    if (i == load_index(ctx, first + block)) {
      ctx.store(columns + block, static_cast<Index>(column / by_block.block));
    }
    const std::int64_t r = triangle_kernels::major_of(ctx, a.offsets, a.size, e) % by_block.block;
    const std::int64_t c = column % by_block.block;
    const std::int64_t place = by_columns ? c * by_block.block + r : r * by_block.block + c;
    ctx.store(values + block * by_block.block * by_block.block + place, ctx.load_constant(stored + e));
  }
};

/// Returns the matrix in blocks, as a `Result`; see to_bsr. Synchronises.
template <class Result, class Value, class Index, class Offset, class Executor>
Result blocks_on_device(const csr_view<Value, Index, Offset>& a, std::int64_t block, block_order order,
                        const Executor& on, memory_resource& resource) {
  check_arrays<Executor>(a, "to_bsr");
  check_blocks(a.rows, a.columns, block);
  const std::int64_t rows = a.rows / block;
  const std::int64_t columns = a.columns / block;
  SPTRSV_EXPECTS(std::max(rows, columns) <= std::int64_t{1} << 31, errc::unsupported,
                 "to_bsr on the device takes at most 2^31 rows and columns of blocks");
  auto keys = make_buffer<std::uint64_t>(a.entries, on, resource);
  auto entries = make_buffer<Offset>(a.entries, on, resource);
  entries_by_block<Index, Offset> by_block{pattern_of(a), block, columns, keys.data(), entries.data()};
  if (a.entries > 0) {
    triangle_kernels::for_each_entry(on, a.row_offsets, a.rows, a.entries, by_block);
    auto other_keys = make_buffer<std::uint64_t>(a.entries, on, resource);
    auto other_entries = make_buffer<Offset>(a.entries, on, resource);
    on.sort_pairs_in_place(keys, other_keys, entries, other_entries,
                           bits_for(static_cast<std::uint64_t>(rows * columns)), resource);
    by_block.keys = keys.data();
    by_block.entries = entries.data();
  }
  const auto found = make_runs<Offset>(a.entries, by_block, on, resource);
  SPTRSV_EXPECTS(found.count <= max_count<Offset> / (block * block), errc::invalid_argument,
                 "the values of the blocks do not fit the offset type");
  Result made{a.rows, a.columns, make_buffer<Offset>(rows + 1, on, resource),
              make_buffer<Index>(found.count, on, resource),
              make_zeros<Value>(found.count * block * block, on, resource)};
  made.block_size = block;
  made.order = order;
  simt::for_each(
      on, rows + 1,
      find_block_rows<Index, Offset>{by_block, found.count, found.first.data(), made.row_offsets.data()});
  if (a.entries > 0) {
    triangle_kernels::for_each_entry(
        on, found.first.data(), found.count, a.entries,
        fill_blocks<scalar_t<Value>, Index, Offset>{
            by_block, found.first.data(), as_scalar(a.values), order == block_order::by_columns,
            made.column_indices.data(), as_scalar(made.values.data())});
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
