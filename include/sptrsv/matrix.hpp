// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in compressed form: non-owning views, the owning types, and conversions between them.
//
// `Index` is the type of row and column indices, `Offset` the type of offsets into the entries, both signed:
// 64-bit offsets with 32-bit indices suit matrices with more than 2^31 entries. The largest number of rows
// (entries) is 65536 less than the largest value of Index (Offset). Rows, columns and entries are counted
// from 0; the entries of a row (column) may be in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace detail {

/// Whether a type may count rows or entries: a signed integer type.
template <class T>
inline constexpr bool is_index_type = std::is_integral_v<T>&& std::is_signed_v<T>;
/// Refuses other types for the indices and the offsets of a matrix.
template <class Index, class Offset>
constexpr bool are_index_types() {
  static_assert(is_index_type<Index>, "Index must be a signed integer type");
  static_assert(is_index_type<Offset>, "Offset must be a signed integer type");
  return true;
}

/// Throws errc::size_mismatch if the arrays of a matrix of `majors` rows (columns) have other lengths than
/// they must have. `major`, `minor`: "row" and "column", or the reverse.
inline void expect_lengths(std::int64_t majors, std::size_t offsets, std::size_t indices, std::size_t values,
                           const char* major, const char* minor) {
  SPTRSV_EXPECTS(indices == values, errc::size_mismatch,
                 "the matrix has " + std::to_string(indices) + " " + minor + " indices and " +
                     std::to_string(values) + " values");
  SPTRSV_EXPECTS(
      offsets == (majors < 0 ? 0 : static_cast<std::size_t>(majors) + 1) || (majors == 0 && offsets == 0),
      errc::size_mismatch,
      "the matrix has " + std::to_string(majors) + " " + major + "s and " + std::to_string(offsets) + " " +
          major + " offsets: there must be one more offset than " + major + "s");
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

  std::int64_t rows = 0;     ///< number of rows
  std::int64_t columns = 0;  ///< number of columns
  std::int64_t entries = 0;  ///< number of entries
  const Offset* column_offsets =
      nullptr;  ///< first entry of each column, from 0 to `entries`; columns + 1 elements
  const Index* row_indices = nullptr;  ///< row of each entry; `entries` elements
  const Value* values = nullptr;       ///< value of each entry; `entries` elements
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
    detail::expect_lengths(rows, row_offsets.size(), column_indices.size(), values.size(), "row", "column");
    return {rows,
            columns,
            static_cast<std::int64_t>(values.size()),
            row_offsets.data(),
            column_indices.data(),
            values.data()};
  }
  /// Returns view().
  operator view_type() const { return view(); }
};

/// Matrix in compressed sparse columns that owns its arrays. Converts to a csc_view.
template <class Value, class Index = std::int32_t, class Offset = Index, class Storage = host_storage>
struct csc_matrix {
  static_assert(detail::are_index_types<Index, Offset>());

  using view_type = csc_view<Value, Index, Offset>;  ///< type of the view

  std::int64_t rows = 0;     ///< number of rows
  std::int64_t columns = 0;  ///< number of columns
  typename Storage::template array<Offset>
      column_offsets;                                   ///< first entry of each column; columns + 1 elements
  typename Storage::template array<Index> row_indices;  ///< row of each entry
  typename Storage::template array<Value> values;       ///< value of each entry

  /// Returns a view of the arrays, valid as long as they are. Throws error with errc::size_mismatch if the
  /// arrays have other lengths than stated above.
  [[nodiscard]] view_type view() const {
    detail::expect_lengths(columns, column_offsets.size(), row_indices.size(), values.size(), "column",
                           "row");
    return {rows,
            columns,
            static_cast<std::int64_t>(values.size()),
            column_offsets.data(),
            row_indices.data(),
            values.data()};
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

/// Returns what `make` returns, and throws errc::out_of_memory with the message if the heap has no room.
template <class Make>
auto in_host_memory(const std::string& message, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory, message);
  } catch (const std::length_error&) {  // more elements than an address space has
    throw error(errc::out_of_memory, message);
  }
}

/// Sorts entries by a key in [0, groups) with a stable counting sort. Writes the offsets of the groups, and
/// returns the entries in the sorted order.
template <class Offset, class Index>
std::vector<Offset> group_entries(const Index* keys, std::size_t entries, std::int64_t groups,
                                  std::vector<Offset>& offsets) {
  auto lists = lists_of<Offset, Offset>(groups, [&](const auto& add) {
    for (std::size_t e = 0; e < entries; ++e) {
      add(keys[e], static_cast<Offset>(e));
    }
  });
  offsets = std::move(lists.offsets);
  return std::move(lists.vertices);
}

/// Returns the matrix in the other storage, which has `minors` rows (columns): entries of each new row
/// (column) ascend. `taker`: see check_space; `no_memory`: the message of errc::out_of_memory.
template <class Result, class View>
Result recompressed(const View& a, std::int64_t minors, const char* taker, const char* no_memory) {
  check_on_host(a, taker);
  return in_host_memory(no_memory, [&] {
    using index = typename View::index_type;
    using offset = typename View::offset_type;
    const auto pattern = pattern_of(a);
    // Returns what `of(m, e)` returns of each entry e, of the row (column) m, by new column (row).
    const auto lists_by_minor = [&](const auto& of) {
      return lists_of<decltype(of(index{}, offset{})), offset>(minors, [&](const auto& add) {
        for (std::int64_t m = 0; m < pattern.size; ++m) {
          for (offset e = pattern.offsets[m]; e < pattern.offsets[m + 1]; ++e) {
            add(pattern.indices[e], of(static_cast<index>(m), e));
          }
        }
      });
    };
    auto majors = lists_by_minor([](index m, offset) { return m; });
    auto values = lists_by_minor([&](index, offset e) { return a.values[e]; });
    return Result{a.rows, a.columns, std::move(majors.offsets), std::move(majors.vertices),
                  std::move(values.vertices)};
  });
}

}  // namespace detail

/// Returns the matrix by columns; the entries of a column are in the order of rows. Host memory, one core. A
/// matrix without rows needs no offsets.
///
/// @throws error errc::invalid_argument for sizes that are negative or do not fit the types, and for null
///   pointers; errc::size_mismatch for arrays of wrong lengths; errc::offsets_not_monotone and
///   errc::index_out_of_range with the row (column, for to_csr); errc::wrong_memory_space;
///   errc::out_of_memory.
template <class Value, class Index, class Offset>
csc_matrix<Value, Index, Offset> to_csc(const csr_view<Value, Index, Offset>& a) {
  return detail::recompressed<csc_matrix<Value, Index, Offset>>(a, a.columns, "to_csc",
                                                                "no memory for the matrix by columns");
}
/// Returns the matrix by columns; see the overload for views.
template <class Value, class Index, class Offset>
csc_matrix<Value, Index, Offset> to_csc(const csr_matrix<Value, Index, Offset>& a) {
  return to_csc(a.view());
}

/// Returns the matrix by rows; the entries of a row are in the order of columns. Otherwise as to_csc.
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const csc_view<Value, Index, Offset>& a) {
  return detail::recompressed<csr_matrix<Value, Index, Offset>>(a, a.rows, "to_csr",
                                                                "no memory for the matrix by rows");
}
/// Returns the matrix by rows; see the overload for views.
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const csc_matrix<Value, Index, Offset>& a) {
  return to_csr(a.view());
}

/// Returns the matrix by rows from a list of entries in any order; host memory, one core. The entries of a
/// row keep the order of the list; entries that are given twice are not added up.
///
/// @param rows number of rows of the matrix.
/// @param columns number of columns of the matrix.
/// @param row_indices row of each entry, counted from 0.
/// @param column_indices column of each entry, counted from 0.
/// @param values value of each entry.
/// @tparam Offset type of the offsets; it is not deduced: `make_csr<std::int32_t>(...)`.
/// @throws error errc::size_mismatch if the arrays have different sizes; errc::index_out_of_range;
///   errc::invalid_argument for a negative number of rows or columns, more rows than Index can count, or more
///   entries than Offset can count; errc::out_of_memory.
template <class Offset, class Value, class Index>
csr_matrix<Value, Index, Offset> make_csr(std::int64_t rows, std::int64_t columns,
                                          const std::vector<Index>& row_indices,
                                          const std::vector<Index>& column_indices,
                                          const std::vector<Value>& values) {
  const std::size_t entries = values.size();
  SPTRSV_EXPECTS(rows >= 0 && columns >= 0, errc::invalid_argument,
                 "a matrix of " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns");
  SPTRSV_EXPECTS(rows <= static_cast<std::int64_t>(std::numeric_limits<Index>::max()), errc::invalid_argument,
                 std::to_string(rows) + " rows do not fit the index type");
  SPTRSV_EXPECTS(entries <= static_cast<std::size_t>(std::numeric_limits<Offset>::max()),
                 errc::invalid_argument, std::to_string(entries) + " entries do not fit the offset type");
  SPTRSV_EXPECTS(row_indices.size() == entries && column_indices.size() == entries, errc::size_mismatch,
                 "the three arrays of a coordinate matrix have different sizes");
  const auto are_within = [](const std::vector<Index>& indices, std::int64_t first, std::int64_t last) {
    return std::all_of(indices.begin(), indices.end(), [&](Index i) { return i >= first && i <= last; });
  };
  for (std::size_t e = 0; e < entries; ++e) {
    SPTRSV_EXPECTS(
        row_indices[e] >= 0 && row_indices[e] < rows && column_indices[e] >= 0 && column_indices[e] < columns,
        errc::index_out_of_range,
        "entry " + std::to_string(e) + " lies outside the matrix" +
            (are_within(row_indices, 1, rows) && are_within(column_indices, 1, columns)
                 ? ": the indices seem to count from 1, and must count from 0"
                 : ""));
  }
  const std::string no_memory = "no memory for the offsets of " + std::to_string(rows) + " rows";
  SPTRSV_EXPECTS(rows < PTRDIFF_MAX / static_cast<std::int64_t>(sizeof(Offset)), errc::out_of_memory,
                 no_memory);
  return detail::in_host_memory(no_memory, [&] {
    csr_matrix<Value, Index, Offset> result{rows, columns, {}, {}, {}};
    const std::vector<Offset> order =
        detail::group_entries(row_indices.data(), entries, rows, result.row_offsets);
    result.column_indices.reserve(entries);
    result.values.reserve(entries);
    for (const Offset e : order) {
      result.column_indices.push_back(column_indices[detail::at(e)]);
      result.values.push_back(values[detail::at(e)]);
    }
    return result;
  });
}

/// Returns a complex view as a real one with twice as many columns: the real and the imaginary part of column
/// j are the columns 2 j and 2 j + 1. So a real triangle is solved for complex right-hand sides, with half of
/// the bytes of a complex one: `solver.solve(real_view(b), real_view(x))`, where max_rhs is twice the number
/// of complex right-hand sides.
///
/// @tparam Complex std::complex, cuda::std::complex or thrust::complex, or a constant one.
/// @param of a view of one column, or one whose columns lie side by side (column_stride 1).
/// @throws error errc::invalid_argument for another view, for negative sizes, and if twice a size or a stride
///   exceeds 64 bits.
template <class Complex>
auto real_view(const dense_view<Complex>& of) {
  using real = typename std::remove_const_t<Complex>::value_type;
  using element = std::conditional_t<std::is_const_v<Complex>, const real, real>;
  static_assert(sizeof(Complex) == 2 * sizeof(real), "not a complex number");
  SPTRSV_EXPECTS(of.columns <= 1 || of.column_stride == 1, errc::invalid_argument,
                 "real_view: the columns do not lie side by side");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  SPTRSV_EXPECTS(of.rows >= 0 && of.columns >= 0 && of.columns <= most && of.row_stride >= -most &&
                     of.row_stride <= most,
                 errc::invalid_argument,
                 "real_view: " + std::to_string(of.rows) + " rows, " + std::to_string(of.columns) +
                     " columns and the row stride " + std::to_string(of.row_stride) +
                     " are negative or too large");
  return dense_view<element>(reinterpret_cast<element*>(of.data), of.rows, 2 * of.columns, 2 * of.row_stride,
                             1);
}

}  // namespace sptrsv::SPTRSV_ABI
