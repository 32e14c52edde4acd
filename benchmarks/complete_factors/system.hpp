// The systems of sptrsv_complete_factors: a complete factor, and the matrix that it is the factor of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench/row.hpp"
#include "common/systems/matrix_source.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/host/structure.hpp"

namespace sptrsv_benchmarks::complete_factors {

namespace common = sptrsv_common;
using matrix = sptrsv::csr_matrix<double>;

enum class direction { forward, backward };

/// One triangular system of a factor: L x = b forward, L^T x = b backward.
struct factor_triangle {
  matrix by_rows;
  sptrsv::system_options options;
  sptrsv::triangle_structure structure;
};

/// A factor with its systems.
struct factor_system {
  std::string name;
  std::string source;  ///< "file" or "generated"
  std::string kind;
  common::factored_matrix factored;  ///< without the factor; empty if there is no matrix, as for LU factors
  factor_triangle forward;
  factor_triangle backward;  ///< empty for LU factors, whose two triangles are two systems
  std::vector<double> b;     ///< the largest number of right-hand sides, one after the other

  [[nodiscard]] bool has_matrix() const { return factored.lower.rows > 0; }
  [[nodiscard]] std::int64_t rows() const { return forward.by_rows.rows; }
  [[nodiscard]] const factor_triangle& triangle(direction d) const {
    return d == direction::forward ? forward : backward;
  }
  /// Returns whether the factor is a full triangle.
  [[nodiscard]] bool is_dense() const {
    return static_cast<std::int64_t>(forward.by_rows.values.size()) == rows() * (rows() + 1) / 2;
  }

  /// Returns the description of a system whose factor has `entries` entries.
  [[nodiscard]] case_description describe(direction d, std::int64_t rhs, std::int64_t entries) const {
    case_description made;
    made.matrix = name;
    made.source = source;
    made.kind = kind;
    made.value = "f64";
    made.index = "i32";
    made.part = d == direction::forward ? "lower" : "upper";
    made.operation = "none";
    made.rhs = rhs;
    made.structure = triangle(d).structure;
    made.structure.entries = entries;
    const auto n = static_cast<double>(rows());
    made.matrix_bytes = static_cast<double>(entries) * 12 + (n + 1) * 4;
    made.bytes_moved = static_cast<double>(entries) * 12 + n * (4 + 24 * static_cast<double>(rhs));
    return made;
  }
};

/// Returns the matrix of a file with values that make it positive definite. Entries beside the diagonal are
/// -1. A diagonal entry is 1 plus the number of other entries in its row. A file has one triangle of a
/// symmetric matrix.
inline common::factored_matrix factorize_file(const std::string& path) {
  matrix lower = common::read_triangle<double>(path, sptrsv::uplo::lower).matrix;
  std::vector<double> pivots(static_cast<std::size_t>(lower.rows), 1);
  for (std::size_t row = 0; row < pivots.size(); ++row) {
    for (auto e = static_cast<std::size_t>(lower.row_offsets[row]);
         e + 1 < static_cast<std::size_t>(lower.row_offsets[row + 1]); ++e) {
      lower.values[e] = -1;
      pivots[row] += 1;
      pivots[static_cast<std::size_t>(lower.column_indices[e])] += 1;
    }
  }
  for (std::size_t row = 0; row < pivots.size(); ++row) {
    lower.values[static_cast<std::size_t>(lower.row_offsets[row + 1]) - 1] = pivots[row];
  }
  return common::factored_by_cholmod(std::move(lower), common::fill_reducing::metis);
}

/// Makes the systems of a matrix with `rhs` right-hand sides. Throws the errors of the factorisation.
inline factor_system make_system(const common::matrix_source& from, std::int64_t rhs) {
  factor_system made;
  made.name = from.name;
  made.source = from.generated != nullptr ? "generated" : "file";
  made.kind = from.generated != nullptr ? from.generated->kind : "cholesky";
  if (from.generated == nullptr) {
    made.factored = factorize_file(from.path);
  } else if (from.generated->factorize) {
    made.factored = from.generated->factorize();
  } else {
    made.factored.factor = from.generated->build();
  }
  auto lower = common::system_of<double>(std::move(made.factored.factor));
  made.factored.factor = {};
  made.forward.structure = sptrsv::structure_of(lower.matrix);
  if (made.has_matrix()) {
    made.backward.by_rows = transposed(lower).matrix;
    made.backward.options.part = sptrsv::uplo::upper;
    // The chains of dependent rows of L^T are those of L, from the end.
    made.backward.structure = made.forward.structure;
    std::swap(made.backward.structure.longest_row, made.backward.structure.longest_column);
  }
  made.forward.by_rows = std::move(lower.matrix);
  made.b = common::seeded_vector<double>(made.rows() * rhs, 3);
  return made;
}

}  // namespace sptrsv_benchmarks::complete_factors
