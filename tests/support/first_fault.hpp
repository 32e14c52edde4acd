// Decides whether a stored matrix is valid, independently of the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sptrsv/error.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::testing {

/// The first fault of a matrix; no row: the fault concerns none.
struct fault {
  errc code;
  std::optional<std::int64_t> row;
};

/// Returns the fault that `analyze` must report. `Index`, `Offset`: types of the matrix. `a` has the members
/// rows, columns, entries, offsets, indices (of integer types; an empty array stands for a null pointer, if
/// elements are needed) and by_columns. Where the sizes are valid the arrays are as long as the sizes say.
/// `has_values`: whether the array of values is not null.
template <class Index, class Offset, class Matrix>
std::optional<fault> first_fault(const Matrix& a, bool has_values, const system_options& options) {
  if (a.rows < 0 || a.columns < 0 || a.entries < 0) {
    return fault{errc::invalid_argument, {}};
  }
  if (a.rows != a.columns) {
    return fault{errc::not_square, {}};
  }
  constexpr std::int64_t reserved = 65536;  // see sptrsv/matrix.hpp
  if (a.rows > std::numeric_limits<Index>::max() - reserved ||
      a.entries > std::numeric_limits<Offset>::max() - reserved || options.max_rhs < 1 ||
      (a.offsets.empty() && a.rows > 0) || ((a.indices.empty() || !has_values) && a.entries > 0)) {
    return fault{errc::invalid_argument, {}};
  }
  if (a.rows == 0) {
    return a.entries == 0 ? std::optional<fault>() : fault{errc::offsets_not_monotone, {}};
  }
  const auto offset = [&](std::int64_t m) {
    return static_cast<std::int64_t>(a.offsets[static_cast<std::size_t>(m)]);
  };
  const auto index = [&](std::int64_t e) {
    return static_cast<std::int64_t>(a.indices[static_cast<std::size_t>(e)]);
  };
  for (std::int64_t m = 0; m < a.rows; ++m) {
    if (offset(m) > offset(m + 1) || (m == 0 && offset(0) != 0) ||
        (m == a.rows - 1 && offset(a.rows) != a.entries)) {
      return fault{errc::offsets_not_monotone, m};
    }
  }
  for (std::int64_t m = 0; m < a.rows; ++m) {
    for (std::int64_t e = offset(m); e < offset(m + 1); ++e) {
      if (index(e) < 0 || index(e) >= a.rows) {
        return fault{errc::index_out_of_range, m};
      }
    }
  }
  const bool unit = options.diagonal == diag::unit;
  const bool rows_below = (options.part == uplo::lower) != a.by_columns;  // of a row or column m: minors < m
  std::optional<fault> missing;
  for (std::int64_t m = 0; m < a.rows; ++m) {
    std::vector<std::int64_t> of_triangle;
    for (std::int64_t e = offset(m); e < offset(m + 1); ++e) {
      const std::int64_t minor = index(e);
      if (minor == m ? !unit : (minor < m) == rows_below) {
        of_triangle.push_back(minor);
      }
    }
    std::sort(of_triangle.begin(), of_triangle.end());
    if (std::adjacent_find(of_triangle.begin(), of_triangle.end()) != of_triangle.end()) {
      return fault{errc::duplicate_entry, m};
    }
    if (!unit && !missing && !std::binary_search(of_triangle.begin(), of_triangle.end(), m)) {
      missing = fault{errc::missing_diagonal, m};
    }
  }
  return missing;
}

}  // namespace sptrsv::testing
