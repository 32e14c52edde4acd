// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in compressed form: non-owning views and the owning types.
//
// `Index` is the type of row and column indices, `Offset` the type of offsets into the entries, both signed:
// 64-bit offsets with 32-bit indices suit matrices with more than 2^31 entries. The largest number of rows
// (entries) is 65536 less than the largest value of Index (Offset). Rows, columns and entries are counted
// from 0; the entries of a row (column) may be in any order.
#pragma once

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
/// other lengths than they must have. `major`, `minor`: "row" and "column", or the reverse.
template <class View, class Offsets, class Indices, class Values>
View view_of_arrays(std::int64_t rows, std::int64_t columns, const Offsets& offsets, const Indices& indices,
                    const Values& values, std::int64_t majors, const char* major, const char* minor) {
  SPTRSV_EXPECTS(indices.size() == values.size(), errc::size_mismatch, "the matrix has ", indices.size(), " ",
                 minor, " indices and ", values.size(), " values");
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

namespace detail {

template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csr_view<Value, Index, Offset>& a) {
  return {a.rows, a.entries, a.row_offsets, a.column_indices, false};
}
template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const csc_view<Value, Index, Offset>& a) {
  return {a.columns, a.entries, a.column_offsets, a.row_indices, true};
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

/// Checks the sizes of a matrix, and that its arrays are where the executor computes. `taker`: see
/// check_space.
template <class Executor, class View>
void check_arrays(const View& a, const char* taker) {
  check_counts<typename View::index_type, typename View::offset_type>(a.rows, a.columns, a.entries);
  check_space<Executor>(a.values, a.entries, "the array of values", taker);
  check_spaces<Executor>(pattern_of(a), taker);
}

/// Checks a matrix that is read on the host, its offsets and indices included. `taker`: see check_space.
template <class View>
void check_on_host(const View& a, const char* taker) {
  check_arrays<host_executor>(a, taker);
  const auto pattern = pattern_of(a);
  validate_storage_on_host(pattern, pattern.by_columns ? a.rows : a.columns);
}

}  // namespace detail

}  // namespace sptrsv::SPTRSV_ABI
