// Makes a triangular system of a square matrix: one triangle, a complete diagonal, and values with which
// substitution stays finite.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/matrix_market/matrix_market.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/conversions.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_common {

/// A triangular system. The matrix holds the entries of the `part` triangle only; its columns ascend, no
/// entry is stored twice, and the diagonal is complete.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct triangular_system {
  sptrsv::csr_matrix<Value, Index, Offset> matrix;
  sptrsv::uplo part = sptrsv::uplo::lower;
  std::int64_t added_pivots = 0;    ///< diagonal entries that the matrix did not store; their value is 1
  std::int64_t merged_entries = 0;  ///< repeated entries that were added to the first one
  bool seeded = false;              ///< the values are pseudo-random, not those of the matrix

  [[nodiscard]] sptrsv::system_options options() const {
    sptrsv::system_options made;
    made.part = part;
    return made;
  }
};

/// Converts a value; from a complex to a real type it keeps the real part.
template <class To, class From>
To convert_value(const From& value) {
  if constexpr (std::is_convertible_v<From, To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value.real());
  } else {
    return To(static_cast<typename To::value_type>(value.real()),
              static_cast<typename To::value_type>(value.imag()));
  }
}

/// Returns the system with its values in another type, as convert_value converts them.
template <class To, class From, class Index, class Offset>
triangular_system<To, Index, Offset> with_values_as(const triangular_system<From, Index, Offset>& system) {
  const auto& from = system.matrix;
  triangular_system<To, Index, Offset> made{
      {from.rows, from.columns, from.row_offsets, from.column_indices, {}},
      system.part,
      system.added_pivots,
      system.merged_entries,
      system.seeded};
  made.matrix.values.reserve(from.values.size());
  std::transform(from.values.begin(), from.values.end(), std::back_inserter(made.matrix.values),
                 [](const From& v) { return convert_value<To>(v); });
  return made;
}

/// Returns the transposed system, stored by rows: a lower triangle becomes an upper one.
template <class Value, class Index, class Offset>
triangular_system<Value, Index, Offset> transposed(const triangular_system<Value, Index, Offset>& system) {
  auto by_columns = sptrsv::to_csc(system.matrix);  // its arrays are those of the transpose stored by rows
  return {{by_columns.columns, by_columns.rows, std::move(by_columns.column_offsets),
           std::move(by_columns.row_indices), std::move(by_columns.values)},
          system.part == sptrsv::uplo::lower ? sptrsv::uplo::upper : sptrsv::uplo::lower,
          system.added_pivots,
          system.merged_entries,
          system.seeded};
}

/// Replaces the values by pseudo-random ones: off-diagonal entries have parts in [-1, 1] divided by the
/// length of the row, pivots lie in [1, 2]. With them neither the solution nor its rounding errors grow, for
/// any pattern.
template <class Value, class Index, class Offset>
void seed_values(triangular_system<Value, Index, Offset>& system, std::uint64_t seed = 1) {
  auto& a = system.matrix;
  system.seeded = true;
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    const auto length =
        static_cast<double>(std::max<Offset>(a.row_offsets[row + 1] - a.row_offsets[row] - 1, 1));
    for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      const auto k = static_cast<std::size_t>(e);
      if (static_cast<std::size_t>(a.column_indices[k]) == row) {
        a.values[k] = convert_value<Value>(1 + uniform(k, seed));
      } else {
        a.values[k] = signed_unit<Value>::at(k, seed) / convert_value<Value>(length);
      }
    }
  }
}

/// Returns whether serial substitution meets no zero pivot, no NaN and no infinite value.
template <class Value, class Index, class Offset>
bool has_finite_solution(const triangular_system<Value, Index, Offset>& system) {
  auto solver = sptrsv::analyze(sptrsv::policy::host_serial{}, system.matrix, system.options());
  auto x = seeded_vector<Value>(system.matrix.rows, 2);
  solver.solve(x, x);
  return solver.status().ok();
}

/// Returns the entries of one triangle, including the diagonal.
template <class Value, class Index>
sptrsv_common::coordinate_matrix<Value, Index> triangle_of(
    const sptrsv_common::coordinate_matrix<Value, Index>& file, sptrsv::uplo part) {
  sptrsv_common::coordinate_matrix<Value, Index> triangle{file.rows, file.cols, {}, {}, {}};
  for (std::size_t e = 0; e < file.values.size(); ++e) {
    const Index row = file.row_indices[e];
    const Index column = file.column_indices[e];
    if (part == sptrsv::uplo::lower ? column <= row : column >= row) {
      triangle.row_indices.push_back(row);
      triangle.column_indices.push_back(column);
      triangle.values.push_back(file.values[e]);
    }
  }
  return triangle;
}

/// Appends an entry 1 for each missing diagonal entry and returns the number of these entries.
template <class Value, class Index>
std::int64_t add_missing_pivots(sptrsv_common::coordinate_matrix<Value, Index>& a) {
  std::vector<char> has_pivot(static_cast<std::size_t>(a.rows), 0);
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    if (a.row_indices[e] == a.column_indices[e]) {
      has_pivot[static_cast<std::size_t>(a.row_indices[e])] = 1;
    }
  }
  const std::size_t before = a.values.size();
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (has_pivot[static_cast<std::size_t>(i)] == 0) {
      a.row_indices.push_back(static_cast<Index>(i));
      a.column_indices.push_back(static_cast<Index>(i));
      a.values.push_back(Value(1));
    }
  }
  return static_cast<std::int64_t>(a.values.size() - before);
}

/// Sorts each row by column and sums entries with the same row and column, as readers of Matrix Market files
/// do. Returns the number of entries that were added to another one.
template <class Value, class Index, class Offset>
std::int64_t sort_and_merge_rows(sptrsv::csr_matrix<Value, Index, Offset>& a) {
  const std::size_t before = a.values.size();
  std::vector<std::pair<Index, Value>> row;
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i) {
    const auto end = static_cast<std::size_t>(a.row_offsets[i + 1]);
    row.clear();
    for (; begin < end; ++begin) {
      row.emplace_back(a.column_indices[begin], a.values[begin]);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    const auto first = static_cast<std::size_t>(a.row_offsets[i]);
    for (const auto& [column, value] : row) {
      if (kept > first && a.column_indices[kept - 1] == column) {
        a.values[kept - 1] += value;
      } else {
        a.column_indices[kept] = column;
        a.values[kept++] = value;
      }
    }
    a.row_offsets[i + 1] = static_cast<Offset>(kept);
  }
  a.column_indices.resize(kept);
  a.values.resize(kept);
  return static_cast<std::int64_t>(before - kept);
}

/// Makes a system of the `part` triangle of a file. The values are seeded if the file has none, and, if
/// `seed_unless_finite`, if substitution with them does not stay finite.
template <class Value, class Index, class Offset = Index>
triangular_system<Value, Index, Offset> make_triangular_system(
    const sptrsv_common::coordinate_matrix<Value, Index>& file,
    const sptrsv_common::matrix_market_header& header, sptrsv::uplo part, bool seed_unless_finite = true) {
  SPTRSV_EXPECTS(file.rows == file.cols, sptrsv::errc::not_square,
                 "a triangular system needs a square matrix, this one is " + std::to_string(file.rows) +
                     " x " + std::to_string(file.cols));
  auto triangle = triangle_of(file, part);
  triangular_system<Value, Index, Offset> made;
  made.part = part;
  made.added_pivots = add_missing_pivots(triangle);
  made.matrix = sptrsv::make_csr<Offset>(triangle.rows, triangle.cols, triangle.row_indices,
                                         triangle.column_indices, triangle.values);
  made.merged_entries = sort_and_merge_rows(made.matrix);
  if (header.field == sptrsv_common::mm_field::pattern ||
      (seed_unless_finite && !has_finite_solution(made))) {
    seed_values(made);
  }
  return made;
}

}  // namespace sptrsv_common
