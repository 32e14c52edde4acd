// Makes a triangular system of each matrix that is measured.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/systems/matrix_source.hpp"
#include "common/systems/seeded_values.hpp"
#include "options.hpp"
#include "row.hpp"
#include "sptrsv/host/structure.hpp"

namespace sptrsv_benchmarks {

/// A triangular matrix with the options of its system.
template <class Value, class Index>
struct stored_triangle {
  sptrsv::csr_matrix<Value, Index> matrix;
  sptrsv::system_options options;  ///< for one right-hand side
};

/// A system in host memory, ready to be solved.
template <class Value, class Index>
struct bench_system {
  case_description description;  ///< for one right-hand side
  stored_triangle<Value, Index> by_rows;
  /// The same system stored by columns, as the rows of the transposed matrix; empty if no policy needs it.
  stored_triangle<Value, Index> by_columns;
  std::vector<Value> b;  ///< the largest number of right-hand sides, one after the other

  [[nodiscard]] std::int64_t rows() const { return by_rows.matrix.rows; }
  /// Returns the first `count` right-hand sides.
  [[nodiscard]] std::vector<Value> right_hand_sides(std::int64_t count) const {
    return {b.begin(), b.begin() + static_cast<std::ptrdiff_t>(rows() * count)};
  }
  /// Returns the description for `rhs` right-hand sides.
  [[nodiscard]] case_description describe(std::int64_t rhs) const {
    case_description made = description;
    made.rhs = rhs;
    made.bytes_moved += static_cast<double>(rhs - 1) * 3 * sizeof(Value) * static_cast<double>(rows());
    return made;
  }
};

/// Returns whether a policy gets the matrix stored by columns. The storage "own" stores the columns of op(T)
/// for policies that work on columns, and the rows of op(T) for the others.
inline bool takes_columns(const bench_options& options, bool works_by_columns) {
  return options.storage == "csc" ||
         (options.storage == "own" && works_by_columns != (options.operation == sptrsv::op::transpose));
}

/// Converts the indices of a matrix.
template <class Index, class Value>
sptrsv::csr_matrix<Value, Index> with_indices_as(sptrsv::csr_matrix<Value>&& a) {
  if constexpr (std::is_same_v<Index, std::int32_t>) {
    return std::move(a);
  } else {
    return {a.rows,
            a.columns,
            {a.row_offsets.begin(), a.row_offsets.end()},
            {a.column_indices.begin(), a.column_indices.end()},
            std::move(a.values)};
  }
}

/// Returns the system stored by columns: the rows of its matrix are the columns of the given one.
template <class Value, class Index>
stored_triangle<Value, Index> stored_by_columns(const stored_triangle<Value, Index>& by_rows) {
  auto columns = sptrsv::to_csc(by_rows.matrix);
  stored_triangle<Value, Index> made{{columns.columns, columns.rows, std::move(columns.column_offsets),
                                      std::move(columns.row_indices), std::move(columns.values)},
                                     by_rows.options};
  const bool was_lower = by_rows.options.part == sptrsv::uplo::lower;
  const bool was_plain = by_rows.options.operation == sptrsv::op::none;
  made.options.part = was_lower ? sptrsv::uplo::upper : sptrsv::uplo::lower;
  made.options.operation = was_plain ? sptrsv::op::transpose : sptrsv::op::none;
  return made;
}

/// Reads or generates one triangle of a matrix and makes its system.
template <class Value, class Index>
bench_system<Value, Index> make_bench_system(const common::matrix_source& source, sptrsv::uplo part,
                                             const bench_options& options) {
  bench_system<Value, Index> made;
  auto& [matrix, system_options] = made.by_rows;
  matrix = with_indices_as<Index>(common::make_triangle<Value>(source, part).matrix);
  system_options.part = part;
  system_options.operation = options.operation;
  if (takes_columns(options, true) || takes_columns(options, false)) {
    made.by_columns = stored_by_columns(made.by_rows);
  }
  made.b = common::seeded_vector<Value>(matrix.rows * options.max_rhs(), 3);

  case_description& d = made.description;
  d.matrix = source.name;
  d.source = source.generated != nullptr ? "generated" : "file";
  d.kind = source.generated != nullptr ? source.generated->kind : "";
  d.value = common::value_name<Value>();
  d.index = sizeof(Index) == 4 ? "i32" : "i64";
  d.part = common::name_of(part);
  d.operation = common::name_of(options.operation);
  d.structure = sptrsv::structure_of(matrix, system_options);
  d.shape = shape_of(matrix, system_options);
  const auto entries = static_cast<double>(d.structure.entries);
  const auto rows = static_cast<double>(d.structure.rows);
  d.matrix_bytes = entries * (sizeof(Value) + sizeof(Index)) + (rows + 1) * sizeof(Index);
  d.bytes_moved = entries * (sizeof(Value) + sizeof(Index)) + rows * (sizeof(Index) + 3 * sizeof(Value));
  return made;
}

}  // namespace sptrsv_benchmarks
