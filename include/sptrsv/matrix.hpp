// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in compressed form, by rows (CSR), by columns (CSC) or by rows of square blocks (BSR):
// non-owning views and the owning types.
//
// `Index` is the type of row and column indices, `Offset` the type of offsets into the entries, both signed:
// 64-bit offsets with 32-bit indices suit matrices with more than 2^31 entries. The largest number of rows
// (entries) is 65536 less than the largest value of Index (Offset). Rows, columns and entries are counted
// from 0; the entries of a row (column) may be in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace detail {

/// Refuses other types for the indices and the offsets of a matrix than signed integers.
template <class Index, class Offset>
constexpr bool are_index_types() {
  static_assert(std::is_integral_v<Index> && std::is_signed_v<Index>, "Index must be a signed integer type");
  static_assert(std::is_integral_v<Offset> && std::is_signed_v<Offset>,
                "Offset must be a signed integer type");
  return true;
}

/// Returns the view of a matrix of `majors` rows (columns). Throws errc::size_mismatch if its arrays have
/// other lengths than they must have. `major`, `minor`: "row" and "column", or the reverse. `block_values`:
/// values of an index.
template <class View, class Offsets, class Indices, class Values>
View view_of_arrays(std::int64_t rows, std::int64_t columns, const Offsets& offsets, const Indices& indices,
                    const Values& values, std::int64_t majors, const char* major, const char* minor,
                    std::int64_t block_values = 1) {
  SPTRSV_EXPECTS(indices.size() * static_cast<std::size_t>(block_values) == values.size(),
                 errc::size_mismatch, "the matrix has ", indices.size(), " ", minor, " indices and ",
                 values.size(), " values",
                 block_values > 1 ? text_from(", in blocks of ", block_values) : "");
  SPTRSV_EXPECTS(offsets.size() == (majors < 0 ? 0 : static_cast<std::size_t>(majors) + 1) ||
                     (majors == 0 && offsets.size() == 0),
                 errc::size_mismatch, "the matrix has ", majors, " ", major, "s and ", offsets.size(), " ",
                 major, " offsets: there must be one more offset than ", major, "s");
  const auto entries = static_cast<std::int64_t>(values.size());
  return {rows, columns, entries, offsets.data(), indices.data(), values.data()};
}

}  // namespace detail

/// Non-owning view of a matrix in compressed sparse rows (CSR). Trivially copyable. The arrays are all in
/// host memory or all in device memory: each function says which it needs. They must outlive the use of the
/// view.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct csr_view {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = csr_view;  ///< the view itself
  using value_type = Value;    ///< type of values
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets

  std::int64_t rows = 0;                  ///< number of rows
  std::int64_t columns = 0;               ///< number of columns
  std::int64_t entries = 0;               ///< number of entries
  const Offset* row_offsets = nullptr;    ///< first entry of each row, from 0 to `entries`; rows + 1 elements
  const Index* column_indices = nullptr;  ///< column of each entry; `entries` elements
  const Value* values = nullptr;          ///< value of each entry; `entries` elements
};

/// Non-owning view of a matrix in compressed sparse columns (CSC); otherwise as csr_view.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct csc_view {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = csc_view;  ///< the view itself
  using value_type = Value;    ///< type of values
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets

  std::int64_t rows = 0;                   ///< number of rows
  std::int64_t columns = 0;                ///< number of columns
  std::int64_t entries = 0;                ///< number of entries
  const Offset* column_offsets = nullptr;  ///< first entry of each column, as csr_view::row_offsets
  const Index* row_indices = nullptr;      ///< row of each entry; `entries` elements
  const Value* values = nullptr;           ///< value of each entry; `entries` elements
};

/// Non-owning view of a matrix of square blocks, all of the same size, in compressed sparse rows of blocks
/// (BSR); otherwise as csr_view. Values of a block that are zero are entries like others. Of a block on the
/// diagonal a triangle has the part that belongs to it.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct bsr_view {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = bsr_view;  ///< the view itself
  using value_type = Value;    ///< type of values
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets

  std::int64_t rows = 0;                  ///< number of rows, a multiple of `block_size`
  std::int64_t columns = 0;               ///< number of columns, a multiple of `block_size`
  std::int64_t entries = 0;               ///< number of values: those of all blocks
  const Offset* row_offsets = nullptr;    ///< first block of each block row; rows / block_size + 1 elements
  const Index* column_indices = nullptr;  ///< by block: its column, counted in blocks
  const Value* values = nullptr;          ///< block after block; `entries` elements
  std::int64_t block_size = 1;            ///< rows and columns of a block, 1 to 1024
  block_order order = block_order::by_rows;  ///< of the values of a block
};

/// Storage of an owning matrix in host memory. device_storage (sptrsv/device_matrix.hpp) is the storage in
/// device memory.
struct host_storage {
  /// Type of the arrays.
  template <class T>
  using array = std::vector<T>;
};

/// Matrix in compressed sparse rows that owns its arrays. Converts to a csr_view.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct csr_matrix {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = csr_view<Value, Index, Offset>;  ///< type of the view

  std::int64_t rows = 0;                                   ///< number of rows
  std::int64_t columns = 0;                                ///< number of columns
  typename Storage::template array<Offset> row_offsets;    ///< first entry of each row; rows + 1 elements
  typename Storage::template array<Index> column_indices;  ///< column of each entry
  typename Storage::template array<Value> values;          ///< value of each entry

  /// Returns a view of the arrays, valid as long as they are. Throws error with errc::size_mismatch if the
  /// arrays have other lengths than stated above.
  [[nodiscard]] view_type view() const {
    return detail::view_of_arrays<view_type>(rows, columns, row_offsets, column_indices, values, rows, "row",
                                             "column");
  }
  /// Returns view().
  operator view_type() const { return view(); }
};

/// Matrix in compressed sparse columns that owns its arrays. Converts to a csc_view.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct csc_matrix {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = csc_view<Value, Index, Offset>;  ///< type of the view

  std::int64_t rows = 0;                                    ///< number of rows
  std::int64_t columns = 0;                                 ///< number of columns
  typename Storage::template array<Offset> column_offsets;  ///< first entry of each column; columns + 1
  typename Storage::template array<Index> row_indices;      ///< row of each entry
  typename Storage::template array<Value> values;           ///< value of each entry

  /// Returns a view of the arrays, valid as long as they are. Throws error with errc::size_mismatch if the
  /// arrays have other lengths than stated above.
  [[nodiscard]] view_type view() const {
    return detail::view_of_arrays<view_type>(rows, columns, column_offsets, row_indices, values, columns,
                                             "column", "row");
  }
  /// Returns view().
  operator view_type() const { return view(); }
};

/// Matrix of square blocks in compressed sparse rows of blocks that owns its arrays. Converts to a bsr_view.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct bsr_matrix {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = bsr_view<Value, Index, Offset>;  ///< type of the view

  std::int64_t rows = 0;                                   ///< number of rows
  std::int64_t columns = 0;                                ///< number of columns
  typename Storage::template array<Offset> row_offsets;    ///< first block of each block row
  typename Storage::template array<Index> column_indices;  ///< by block: its column, counted in blocks
  typename Storage::template array<Value> values;          ///< block after block
  std::int64_t block_size = 1;                             ///< rows and columns of a block, 1 to 1024
  block_order order = block_order::by_rows;                ///< of the values of a block

  /// Returns a view of the arrays, valid as long as they are. Throws error with errc::size_mismatch if the
  /// arrays have other lengths than stated above, and with errc::invalid_argument if the matrix does not
  /// consist of blocks of this size.
  [[nodiscard]] view_type view() const {
    detail::check_blocks(rows, columns, block_size);
    auto made =
        detail::view_of_arrays<view_type>(rows, columns, row_offsets, column_indices, values,
                                          rows / block_size, "block row", "column", block_size * block_size);
    made.block_size = block_size;
    made.order = order;
    return made;
  }
  /// Returns view().
  operator view_type() const { return view(); }
};

namespace detail {

template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csr_view<Value, Index, Offset>& a) {
  return {a.rows, a.entries, a.row_offsets, a.column_indices, false};
}
template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csc_view<Value, Index, Offset>& a) {
  return {a.columns, a.entries, a.column_offsets, a.row_indices, true};
}

/// The sizes may be wrong: check_shape() and check_arrays() throw then.
template <class Value, class Index, class Offset>
block_pattern<Index, Offset> pattern_of(const bsr_view<Value, Index, Offset>& a) {
  const std::int64_t block = std::clamp<std::int64_t>(a.block_size, 1, max_block_size);
  return {
      a.rows / block, a.entries / (block * block),       a.row_offsets, a.column_indices, a.columns / block,
      a.block_size,   a.order == block_order::by_columns};
}

/// Returns a view of a matrix or of a view.
template <class Matrix>
typename Matrix::view_type view_of(const Matrix& a) {
  if constexpr (std::is_same_v<Matrix, typename Matrix::view_type>) {
    return a;
  } else {
    return a.view();
  }
}

template <class View>
inline constexpr bool is_block_view = false;
template <class Value, class Index, class Offset>
inline constexpr bool is_block_view<bsr_view<Value, Index, Offset>> = true;

/// Checks the sizes of a matrix, and that its arrays are where the executor computes. `taker`: see
/// check_space.
template <class Executor, class View>
void check_arrays(const View& a, const char* taker) {
  check_counts<typename View::index_type, typename View::offset_type>(a.rows, a.columns, a.entries);
  if constexpr (is_block_view<View>) {
    check_blocks(a.rows, a.columns, a.block_size);
    SPTRSV_EXPECTS(a.entries % (a.block_size * a.block_size) == 0, errc::invalid_argument, a.entries,
                   " values do not fill blocks of ", a.block_size, " x ", a.block_size);
  }
  check_space<Executor>(a.values, a.entries, "the array of values", taker);
  check_spaces<Executor>(pattern_of(a), taker);
}

/// Checks a matrix that is read on the host, its offsets and indices included. `taker`: see check_space.
template <class View>
void check_on_host(const View& a, const char* taker) {
  check_arrays<host_executor>(a, taker);
  const auto pattern = pattern_of(a);
  if constexpr (is_block_view<View>) {
    validate_storage_on_host(pattern.of_blocks(), pattern.columns, 0, pattern.block);
  } else {
    validate_storage_on_host(pattern, pattern.by_columns ? a.rows : a.columns);
  }
}

}  // namespace detail

}  // namespace sptrsv::SPTRSV_ABI
