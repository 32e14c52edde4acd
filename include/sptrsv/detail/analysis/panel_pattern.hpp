// SPDX-License-Identifier: Apache-2.0
// The pattern of a lower triangle in supernodal panels, and its faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// A lower triangle in supernodal panels without its values; see supernodal_view.
template <class Index, class Offset>
struct panel_pattern {
  static constexpr bool by_columns = true;

  std::int64_t size;
  std::int64_t supernodes;
  std::int64_t panel_rows;  ///< number of `row_indices`
  std::int64_t entries;     ///< number of values, those above the diagonal included
  const Index* first_columns;
  const Offset* row_offsets;
  const Index* row_indices;
  const Offset* value_offsets;
};

/// The faults of a supernode, in the order in which they are reported.
enum class panel_fault { columns, rows, values, index, order };

/// Throws the error for the first offending supernode, whose first column is `column`.
[[noreturn]] inline void throw_panel_fault(panel_fault fault, std::int64_t supernode, std::int64_t column) {
  struct text {
    errc code;
    const char* before;
    const char* after;
  };
  static constexpr text texts[] = {
      {errc::offsets_not_monotone, "the first columns of the supernodes are wrong at ",
       ": they must start at 0, ascend and end at the number of columns"},
      {errc::offsets_not_monotone, "the row offsets of ",
       " are wrong: they must lie within the row indices, and leave as many rows as columns at least"},
      {errc::offsets_not_monotone, "the value offsets of ",
       " are wrong: they must lie within the values, and leave room for the panel"},
      {errc::index_out_of_range, "", " holds a row index that is negative or not below the dimension"},
      {errc::invalid_argument, "",
       " must have its own columns as its first rows, and other rows in ascending order"}};
  const text& found = texts[static_cast<std::size_t>(fault)];
  throw error(found.code, found.before + ("supernode " + std::to_string(supernode)) + found.after, column);
}

/// Checks the dimensions of a system whose matrix is a triangle in panels.
template <class Value, class Index, class Offset>
void check_shape(std::int64_t rows, std::int64_t columns, const panel_pattern<Index, Offset>& a,
                 const system_options& options) {
  check_dimensions<Value, Index, Offset>(rows, columns, a.entries, options);
  SPTRSV_EXPECTS(a.supernodes >= 0 && a.panel_rows >= 0, errc::invalid_argument,
                 "the matrix has a negative number of supernodes or rows of panels");
  SPTRSV_EXPECTS(options.part == uplo::lower, errc::unsupported,
                 "a supernodal matrix is a lower triangle: options.part must be uplo::lower");
  SPTRSV_EXPECTS((a.supernodes == 0) == (rows == 0) && a.supernodes <= rows, errc::offsets_not_monotone,
                 a.supernodes, " supernodes cannot have ", rows, " columns");
  SPTRSV_EXPECTS(rows > 0 || a.entries == 0, errc::offsets_not_monotone,
                 "a matrix of size 0 cannot have entries");
}

/// Checks that the arrays of a pattern are where the executor computes. `taker`: see check_space.
template <class Executor, class Index, class Offset>
void check_spaces(const panel_pattern<Index, Offset>& a, const char* taker) {
  check_space<Executor>(a.first_columns, a.supernodes, "the array of first columns", taker);
  check_space<Executor>(a.row_offsets, a.supernodes, "the array of row offsets", taker);
  check_space<Executor>(a.row_indices, a.panel_rows, "the array of row indices", taker);
  check_space<Executor>(a.value_offsets, a.supernodes, "the array of value offsets", taker);
}

}  // namespace sptrsv::SPTRSV_ABI::detail
