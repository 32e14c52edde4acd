// Systems with values: a pattern becomes a stored matrix in one of the forms that the library takes.
//
// Solutions stay bounded: the absolute value of an off-diagonal entry is at most one over the length of its
// row and of its column, and that of a diagonal entry at least one, so that a solution grows by at most a
// constant per level.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "sptrsv/conversions.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/options.hpp"
#include "support/patterns.hpp"

namespace sptrsv::testing {

/// The content of the stored matrix outside the strict triangle that is solved.
enum class content {
  triangle,  ///< the diagonal only; columns of a row ascend
  general,   ///< the diagonal and an unrelated other triangle; columns of a row in random order
  ascending  ///< like `general`, but columns of a row ascend
};

/// A way to store a system and to describe it to `analyze`.
struct form {
  uplo part = uplo::lower;
  diag diagonal = diag::non_unit;
  op operation = op::none;
  bool by_columns = false;
  content holds = content::triangle;
  bool stores_diagonal = true;  ///< false: `diagonal` must be unit

  [[nodiscard]] system_options options(std::int64_t max_rhs = 1) const {
    return {part, diagonal, operation, max_rhs};
  }
  [[nodiscard]] std::string name() const {
    const std::string operations[] = {"", ", transposed", ", conjugate-transposed"};
    return std::string(part == uplo::lower ? "lower" : "upper") +
           (diagonal == diag::unit ? ", unit" : ", non-unit") + operations[static_cast<int>(operation)] +
           (by_columns ? ", CSC" : ", CSR") + (holds == content::triangle ? "" : ", in a general matrix") +
           (holds == content::ascending ? ", ascending" : "") +
           (stores_diagonal ? "" : ", no diagonal stored");
  }
};

/// Returns every combination of part, diagonal, operation and compression.
inline std::vector<form> all_forms(content holds = content::triangle) {
  std::vector<form> forms;
  for (const uplo part : {uplo::lower, uplo::upper}) {
    for (const diag diagonal : {diag::non_unit, diag::unit}) {
      for (const op operation : {op::none, op::transpose, op::conj_transpose}) {
        for (const bool by_columns : {false, true}) {
          forms.push_back({part, diagonal, operation, by_columns, holds, true});
        }
      }
    }
  }
  return forms;
}

/// Returns six forms in which every pair of choices occurs; `rotation` changes all of them.
inline std::vector<form> covering_forms(std::size_t rotation = 0) {
  constexpr op operations[] = {op::none, op::transpose, op::conj_transpose};
  std::vector<form> forms;
  for (std::size_t k = 0; k < 6; ++k) {
    const bool turn = k / 3 == 1;
    form f;
    f.operation = operations[(k + rotation) % 3];
    f.part = turn != (rotation / 3 % 2 == 1) ? uplo::upper : uplo::lower;
    f.diagonal = (turn != (k % 3 == 1)) != (rotation / 6 % 2 == 1) ? diag::unit : diag::non_unit;
    f.by_columns = (turn != (k % 3 == 2)) != (rotation / 12 % 2 == 1);
    f.holds = (k + rotation) % 2 == 0 ? content::triangle : content::general;
    f.stores_diagonal = f.diagonal == diag::non_unit || (k + rotation) % 4 < 2;
    forms.push_back(f);
  }
  return forms;
}

template <class Value>
inline constexpr bool is_complex = detail::is_complex_v<detail::scalar_t<Value>>;

template <class Value>
Value make_value(double re, double im = 0) {
  if constexpr (is_complex<Value>) {
    using real = typename Value::value_type;
    return Value(static_cast<real>(re), static_cast<real>(im));
  } else {
    return static_cast<Value>(re);
  }
}

/// Returns a value whose absolute value is at most `limit`.
template <class Value>
Value random_value(random_source& source, double limit) {
  const double re = source.between(-limit, limit);
  const double im = source.between(-limit, limit);
  return is_complex<Value> ? make_value<Value>(0.7 * re, 0.7 * im) : make_value<Value>(re);
}

/// Returns a value with an absolute value between one and three and any sign or phase.
template <class Value>
Value random_pivot(random_source& source) {
  const double size = source.between(1, 2);
  const double sign = source.coin() ? 1 : -1;
  const double slope = source.between(
      -1, 1);  // of the phase; trigonometric functions are rounded differently by different libraries
  if (!is_complex<Value>) {
    return make_value<Value>(sign * size);
  }
  const double re = source.coin() ? 1 : slope;
  const double im = re == 1 ? slope : 1;
  return make_value<Value>(sign * size * re, size * im);
}

/// The entries of a stored matrix in coordinate form.
template <class Value>
struct coordinates {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
  std::vector<Value> values;

  void add(std::int64_t row, std::int64_t column, Value value) {
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  }
};

/// Returns the entries of the pattern's triangle, mirrored at the anti-diagonal for an upper one, and those
/// that `f` adds.
template <class Value>
coordinates<Value> make_coordinates(const pattern& p, const form& f, std::uint64_t seed) {
  random_source source(seed);
  std::vector<double> row_length(static_cast<std::size_t>(p.size), 0);
  std::vector<double> column_length(static_cast<std::size_t>(p.size), 0);
  for (const position& e : p.entries) {
    row_length[static_cast<std::size_t>(e.row)] += 1;
    column_length[static_cast<std::size_t>(e.column)] += 1;
  }
  coordinates<Value> made;
  const auto add_triangle = [&](bool lower) {
    for (const position& e : p.entries) {
      const double length = std::max(row_length[static_cast<std::size_t>(e.row)],
                                     column_length[static_cast<std::size_t>(e.column)]);
      made.add(lower ? e.row : p.size - 1 - e.row, lower ? e.column : p.size - 1 - e.column,
               random_value<Value>(source, 1 / length));
    }
  };
  add_triangle(f.part == uplo::lower);
  if (f.holds != content::triangle) {
    add_triangle(f.part == uplo::upper);
  }
  for (std::int64_t i = 0; f.stores_diagonal && i < p.size; ++i) {
    made.add(i, i, random_pivot<Value>(source));
  }
  return made;
}

/// Returns the stored matrix by rows.
template <class Value, class Index = std::int32_t, class Offset = Index>
csr_matrix<Value, Index, Offset> compress(const coordinates<Value>& entries, std::int64_t size, bool shuffled,
                                          std::uint64_t seed) {
  std::vector<std::size_t> order(entries.values.size());
  for (std::size_t e = 0; e < order.size(); ++e) {
    order[e] = e;
  }
  if (shuffled) {
    random_source(seed).shuffle(order);
  } else {
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return entries.columns[a] < entries.columns[b]; });
  }
  std::vector<Index> rows;
  std::vector<Index> columns;
  std::vector<Value> values;
  for (const std::size_t e : order) {
    rows.push_back(static_cast<Index>(entries.rows[e]));
    columns.push_back(static_cast<Index>(entries.columns[e]));
    values.push_back(entries.values[e]);
  }
  return make_csr<Offset>(size, size, rows, columns, values);
}

/// A matrix stored by rows or by columns. The arrays by columns are the CSR arrays of the transpose, so that
/// the entries of a column may be in any order, too.
template <class Value, class Index, class Offset>
struct stored_matrix {
  csr_matrix<Value, Index, Offset> by_rows;
  csc_matrix<Value, Index, Offset> by_columns;
  bool is_csc = false;

  /// Calls `use` with the matrix in the form that it is stored in.
  template <class Use>
  decltype(auto) visit(Use&& use) const {
    return is_csc ? use(by_columns) : use(by_rows);
  }
  [[nodiscard]] std::vector<Value>& values() { return is_csc ? by_columns.values : by_rows.values; }
  [[nodiscard]] const std::vector<Value>& values() const {
    return is_csc ? by_columns.values : by_rows.values;
  }
  [[nodiscard]] std::int64_t size() const { return is_csc ? by_columns.rows : by_rows.rows; }

  /// Returns the index of entry (row, column) of A in the values; the entry must be stored.
  [[nodiscard]] std::size_t index_of(std::int64_t row, std::int64_t column) const {
    const auto& offsets = is_csc ? by_columns.column_offsets : by_rows.row_offsets;
    const auto& minors = is_csc ? by_columns.row_indices : by_rows.column_indices;
    const auto major = static_cast<std::size_t>(is_csc ? column : row);
    const auto found = std::find(minors.begin() + offsets[major], minors.begin() + offsets[major + 1],
                                 static_cast<Index>(is_csc ? row : column));
    return static_cast<std::size_t>(found - minors.begin());
  }
  void set(std::int64_t row, std::int64_t column, Value value) { values()[index_of(row, column)] = value; }
};

template <class Value, class Index = std::int32_t, class Offset = Index>
stored_matrix<Value, Index, Offset> make_matrix(const pattern& p, const form& f, std::uint64_t seed = 1) {
  coordinates<Value> entries = make_coordinates<Value>(p, f, seed);
  stored_matrix<Value, Index, Offset> made;
  made.is_csc = f.by_columns;
  if (f.by_columns) {
    std::swap(entries.rows, entries.columns);
  }
  auto compressed = compress<Value, Index, Offset>(entries, p.size, f.holds == content::general, seed);
  if (f.by_columns) {
    made.by_columns = {p.size, p.size, std::move(compressed.row_offsets),
                       std::move(compressed.column_indices), std::move(compressed.values)};
  } else {
    made.by_rows = std::move(compressed);
  }
  return made;
}

/// Returns right-hand sides: `count` values whose absolute value is at most one.
template <class Value>
std::vector<Value> random_vector(std::int64_t count, std::uint64_t seed) {
  random_source source(seed ^ 0x5eedu);
  std::vector<Value> made;
  made.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    made.push_back(random_value<Value>(source, 1));
  }
  return made;
}

}  // namespace sptrsv::testing
