// SPDX-License-Identifier: Apache-2.0
// Conversions between matrices by rows, by columns, of blocks and as lists of entries, in host memory; and a
// view of complex numbers as real ones. device_matrix.hpp has the conversions in device memory.
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

#include "sptrsv/detail/analysis/expanded_view.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI {
namespace detail {

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

/// Returns the matrix by single rows, all values of the blocks included; the entries of a row are in the
/// order of the blocks. Otherwise as to_csc, with the block row of wrong offsets or indices.
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const bsr_view<Value, Index, Offset>& a) {
  detail::check_on_host(a, "to_csr");
  return detail::in_host_memory("no memory for the matrix by rows", [&] {
    const auto entries = detail::at(a.entries);
    csr_matrix<Value, Index, Offset> made{a.rows, a.columns, std::vector<Offset>(detail::at(a.rows) + 1),
                                          std::vector<Index>(entries), std::vector<Value>(entries)};
    if (a.rows > 0) {
      const detail::host_executor on;
      detail::expand_into(a, "to_csr", on, on.default_resource(), made.row_offsets, made.column_indices,
                          made.values);
    }
    return made;
  });
}
/// Returns the matrix by single rows; see the overload for views.
template <class Value, class Index, class Offset>
csr_matrix<Value, Index, Offset> to_csr(const bsr_matrix<Value, Index, Offset>& a) {
  return to_csr(a.view());
}

namespace detail {

/// Returns a view of a matrix by rows or by columns, or a matrix of blocks by single rows.
template <class Matrix>
auto by_single_rows(const Matrix& a) {
  if constexpr (is_block_view<typename Matrix::view_type>) {
    return to_csr(view_of(a));
  } else {
    return view_of(a);
  }
}

}  // namespace detail

/// Returns the matrix in blocks: those that have an entry of `a`, filled with zeros, ascending in each block
/// row. Entries that `a` has twice are added up. Otherwise as to_csc.
///
/// @param a csr_view or csr_matrix.
/// @param block_size rows and columns of a block, 1 to 1024.
/// @param order of the values of a block.
/// @throws error as to_csc; errc::invalid_argument if the blocks do not fill the matrix, or overflow Offset.
template <class Value, class Index, class Offset>
bsr_matrix<Value, Index, Offset> to_bsr(const csr_view<Value, Index, Offset>& a, std::int64_t block_size,
                                        block_order order = block_order::by_rows) {
  detail::check_on_host(a, "to_bsr");
  detail::check_blocks(a.rows, a.columns, block_size);
  return detail::in_host_memory("no memory for the matrix of blocks", [&] {
    const std::int64_t area = block_size * block_size;
    bsr_matrix<Value, Index, Offset> made{a.rows, a.columns, {0}, {}, {}, block_size, order};
    std::vector<std::int64_t> block_at(detail::at(a.columns / block_size), -1);  // by column of blocks
    std::int64_t before = 0;                                                     // blocks of earlier rows
    for (std::int64_t major = 0; major < a.rows / block_size; ++major) {
      const std::int64_t first = major * block_size;
      const auto for_each_entry = [&](const auto& visit) {
        for (std::int64_t row = 0; row < block_size; ++row) {
          for (Offset e = a.row_offsets[first + row]; e < a.row_offsets[first + row + 1]; ++e) {
            visit(row, static_cast<std::int64_t>(a.column_indices[e]), a.values[e]);
          }
        }
      };
      for_each_entry([&](std::int64_t, std::int64_t column, const Value&) {
        std::int64_t& found = block_at[detail::at(column / block_size)];
        if (found < before) {
          found = before;
          made.column_indices.push_back(static_cast<Index>(column / block_size));
        }
      });
      std::sort(made.column_indices.begin() + before, made.column_indices.end());
      const auto end = static_cast<std::int64_t>(made.column_indices.size());
      SPTRSV_EXPECTS(end <= detail::max_count<Offset> / area, errc::invalid_argument,
                     "the values of the blocks do not fit the offset type");
      for (std::int64_t block = before; block < end; ++block) {
        block_at[detail::at(made.column_indices[detail::at(block)])] = block;
      }
      made.row_offsets.push_back(static_cast<Offset>(end));
      made.values.resize(detail::at(end * area), Value{});
      for_each_entry([&](std::int64_t row, std::int64_t column, const Value& value) {
        const std::int64_t inside = column % block_size;
        const std::int64_t place =
            order == block_order::by_rows ? row * block_size + inside : inside * block_size + row;
        made.values[detail::at(block_at[detail::at(column / block_size)] * area + place)] += value;
      });
      before = end;
    }
    return made;
  });
}
/// Returns the matrix in blocks; see the overload for views.
template <class Value, class Index, class Offset>
bsr_matrix<Value, Index, Offset> to_bsr(const csr_matrix<Value, Index, Offset>& a, std::int64_t block_size,
                                        block_order order = block_order::by_rows) {
  return to_bsr(a.view(), block_size, order);
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
  SPTRSV_EXPECTS(rows >= 0 && columns >= 0, errc::invalid_argument, "a matrix of ", rows, " rows and ",
                 columns, " columns");
  SPTRSV_EXPECTS(rows <= static_cast<std::int64_t>(std::numeric_limits<Index>::max()), errc::invalid_argument,
                 rows, " rows do not fit the index type");
  SPTRSV_EXPECTS(entries <= static_cast<std::size_t>(std::numeric_limits<Offset>::max()),
                 errc::invalid_argument, entries, " entries do not fit the offset type");
  SPTRSV_EXPECTS(row_indices.size() == entries && column_indices.size() == entries, errc::size_mismatch,
                 "the three arrays of a coordinate matrix have different sizes");
  const auto are_within = [](const std::vector<Index>& indices, std::int64_t first, std::int64_t last) {
    return std::all_of(indices.begin(), indices.end(), [&](Index i) { return i >= first && i <= last; });
  };
  for (std::size_t e = 0; e < entries; ++e) {
    SPTRSV_EXPECTS(
        row_indices[e] >= 0 && row_indices[e] < rows && column_indices[e] >= 0 && column_indices[e] < columns,
        errc::index_out_of_range, "entry ", e, " lies outside the matrix",
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
                 errc::invalid_argument, "real_view: ", of.rows, " rows, ", of.columns,
                 " columns and the row stride ", of.row_stride, " are negative or too large");
  return dense_view<element>(reinterpret_cast<element*>(of.data), of.rows, 2 * of.columns, 2 * of.row_stride,
                             1);
}

}  // namespace sptrsv::SPTRSV_ABI
