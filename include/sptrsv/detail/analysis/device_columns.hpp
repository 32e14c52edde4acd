// SPDX-License-Identifier: Apache-2.0
// The triangle by columns on the device, for policies that scatter updates, and the in-degrees of unknowns.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The strictly lower triangle of the system by columns, rows ascending; in device memory. Columns and rows
/// are in the order of substitution, or in the order of the triangle that the columns were made from.
template <class Index, class Offset>
struct device_columns {
  std::int64_t size = 0;
  buffer<Offset> column_offsets;    ///< by column, size + 1
  buffer<Index> rows;               ///< by entry: its row
  buffer<Offset> sources;           ///< by entry: its index in the stored matrix
  buffer<Offset> diagonal_sources;  ///< by column, size; empty if the diagonal is unit

  [[nodiscard]] std::int64_t entries() const { return static_cast<std::int64_t>(rows.size()); }
  [[nodiscard]] std::size_t bytes() const {
    return column_offsets.bytes() + rows.bytes() + sources.bytes() + diagonal_sources.bytes();
  }
};

/// Copies `from` in reverse order. Each element v becomes top - v; if `top` is -1, it stays v.
template <class T>
struct reverse_array {
  const T* from;
  T* to;
  std::int64_t count;
  std::int64_t top;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const T value = ctx.load_constant(from + count - 1 - i);
    ctx.store(to + i, top < 0 ? value : static_cast<T>(top - static_cast<std::int64_t>(value)));
  }
};

/// Returns the form whose rows, from the last to the first, are the columns of `form`: the columns of a lower
/// triangle L, from the last to the first, are the rows of L^T reversed: again a lower triangle.
inline triangle_form flipped(triangle_form form) {
  form.transposed = !form.transposed;
  form.reversed = !form.reversed;
  return form;
}

/// Returns the columns of the system, given the triangle of its flipped form.
template <class Index, class Offset, class Executor>
device_columns<Index, Offset> columns_of_flipped(const device_triangle<Index, Offset>& t, const Executor& on,
                                                 memory_resource& resource) {
  const auto reversed = [&](const auto& from, std::int64_t top) {
    buffer<std::decay_t<decltype(*from.data())>> to(from.size(), resource, on.stream());
    const auto count = static_cast<std::int64_t>(from.size());
    simt::for_each(on, count,
                   reverse_array<std::decay_t<decltype(*from.data())>>{from.data(), to.data(), count, top});
    return to;
  };
  device_columns<Index, Offset> c;
  c.size = t.size;
  c.column_offsets = reversed(t.row_offsets, t.entries());
  c.rows = reversed(t.columns, t.size - 1);
  c.sources = reversed(t.sources, -1);
  c.diagonal_sources = reversed(t.diagonal_sources, -1);
  return c;
}

/// Builds the columns in the order of substitution, with the checks of build_on_device. No sort is needed if
/// the storage has these columns as its rows or columns. Synchronises.
template <class Index, class Offset, class Executor>
device_columns<Index, Offset> build_columns_on_device(const pattern_view<Index, Offset>& a,
                                                      const triangle_form& form, const Executor& on,
                                                      memory_resource& resource) {
  return columns_of_flipped(build_on_device(a, flipped(form), on, resource), on, resource);
}

/// Writes the column of each entry, the key of a sort, and the index of the entry.
template <class Index, class Offset>
struct write_column_keys {
  const Index* columns;
  std::make_unsigned_t<Index>* keys;
  Offset* order;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    ctx.store(keys + e, static_cast<std::make_unsigned_t<Index>>(ctx.load_constant(columns + e)));
    ctx.store(order + e, static_cast<Offset>(e));
  }
};

/// Finds the row and the source, or the value, of each entry in column order.
template <class Index, class Offset, class Source = Offset>
struct take_rows {
  std::int64_t size;
  const Offset* order;  ///< index of the entry in row order
  const Offset* row_offsets;
  const Source* row_sources;
  Index* rows;
  Source* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Offset e = ctx.load_constant(order + k);
    ctx.store(rows + k, static_cast<Index>(triangle_kernels::major_of(ctx, row_offsets, size, e)));
    ctx.store(sources + k, ctx.load_constant(row_sources + e));
  }
};

/// Sorts entries that are stored by rows by their columns, and writes where the entries of each of the `size`
/// columns begin. Returns the entries in the sorted order. Only enqueues.
template <class Index, class Offset, class Executor>
buffer<Offset> sort_by_column(const Index* columns, std::int64_t entries, std::int64_t size,
                              Offset* column_offsets, const Executor& on, memory_resource& resource) {
  using key = std::make_unsigned_t<Index>;
  auto order = make_buffer<Offset>(entries, on, resource);
  if (entries == 0) {
    on.fill_bytes(column_offsets, 0, at(size + 1) * sizeof(Offset));
    return order;
  }
  auto keys = make_buffer<key>(entries, on, resource);
  auto other_keys = make_buffer<key>(entries, on, resource);
  auto other_order = make_buffer<Offset>(entries, on, resource);
  simt::for_each(on, entries, write_column_keys<Index, Offset>{columns, keys.data(), order.data()});
  on.sort_pairs_in_place(keys, other_keys, order, other_order, bits_for(static_cast<std::uint64_t>(size)),
                         resource);
  simt::for_each(on, size + 1,
                 triangle_kernels::count_below_each<key, array_kernels::own_index, Offset>{
                     keys.data(), entries, {}, column_offsets});
  return order;
}

/// Returns the columns of a triangle that is stored by rows, in any order. diagonal_sources stays empty.
template <class Index, class Offset, class Executor>
device_columns<Index, Offset> columns_of(const device_triangle<Index, Offset>& t, const Executor& on,
                                         memory_resource& resource) {
  device_columns<Index, Offset> c;
  c.size = t.size;
  c.column_offsets = make_buffer<Offset>(t.size + 1, on, resource);
  const auto order =
      sort_by_column(t.columns.data(), t.entries(), t.size, c.column_offsets.data(), on, resource);
  c.rows = make_buffer<Index>(t.entries(), on, resource);
  c.sources = make_buffer<Offset>(t.entries(), on, resource);
  simt::for_each(on, t.entries(),
                 take_rows<Index, Offset>{t.size, order.data(), t.row_offsets.data(), t.sources.data(),
                                          c.rows.data(), c.sources.data()});
  return c;
}

/// The number of entries of each row of the triangle, that is, of the unknowns that the row waits for.
template <class Index>
struct in_degrees {
  buffer<Index> total;  ///< by row
  /// By row: the entries in columns of the row's own block; empty if no block size was given.
  buffer<Index> inside;
  std::int64_t longest = 0;

  [[nodiscard]] std::size_t bytes() const { return total.bytes() + inside.bytes(); }
};

/// Counts the entries of the rows, one thread per entry (Liu et al., Algorithm 2, lines 4 to 6).
template <class Index, class Offset>
struct add_in_degrees {
  std::int64_t size;
  const Offset* column_offsets;
  const Index* rows;
  std::int64_t block;  ///< unknowns per block; 0: no blocks
  Index* total;
  Index* inside;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t row = ctx.load_constant(rows + e);
    ctx.reduce_add(total + row, Index{1});
    if (block > 0 && triangle_kernels::major_of(ctx, column_offsets, size, e) / block == row / block) {
      ctx.reduce_add(inside + row, Index{1});
    }
  }
};

/// Counts the in-degrees in one pass over the entries. `block`: the number of unknowns that one thread block
/// solves, or 0. Synchronises.
template <class Index, class Offset, class Executor>
in_degrees<Index> count_in_degrees(const device_columns<Index, Offset>& c, std::int64_t block,
                                   const Executor& on, memory_resource& resource) {
  in_degrees<Index> result;
  result.total = make_zeros<Index>(c.size, on, resource);
  result.inside = make_zeros<Index>(block > 0 ? c.size : 0, on, resource);
  const auto longest = make_zeros<std::int64_t>(1, on, resource);
  simt::for_each(on, c.entries(),
                 add_in_degrees<Index, Offset>{c.size, c.column_offsets.data(), c.rows.data(), block,
                                               result.total.data(), result.inside.data()});
  simt::find_largest(on, c.size, array_kernels::element_of<Index>{result.total.data()}, longest.data());
  result.longest = download_value(longest.data(), on);
  return result;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
