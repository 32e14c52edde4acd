// The problems of the example program `solve`: a matrix and one or two triangular systems with it.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/option_types.hpp"
#include "common/matrix_market/matrix_market.hpp"
#include "common/systems/poisson.hpp"
#include "common/systems/seeded_values.hpp"
#include "common/systems/triangular_system.hpp"
#include "common/terminal/progress.hpp"
#include "common/terminal/table.hpp"
#include "incomplete_cholesky.hpp"
#include "options.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv_examples {

namespace common = sptrsv_common;

/// One system with the problem's matrix.
struct problem_step {
  std::string name;
  sptrsv::system_options options;
};

/// A matrix and the systems that are solved with it.
template <class Value>
struct problem {
  std::string title;
  std::vector<std::string> notes;  ///< changes of the input, as sentences
  sptrsv::csr_matrix<Value> matrix;
  std::vector<problem_step> steps;  ///< the solution of a step is the right-hand side of the next
};

/// Makes the problem of a preconditioner: L y = b, then L^T x = y with the incomplete Cholesky factor L of a
/// Poisson problem. `grid`: points in each direction.
inline problem<double> make_poisson_problem(std::int64_t grid, common::progress_line& progress) {
  const std::string n = std::to_string(grid);
  progress.begin("assembling the Poisson problem on a " + n + " x " + n + " x " + n + " grid");
  const auto a = common::assemble_poisson(grid);
  progress.begin("factorising the matrix");
  problem<double> made;
  made.title = "3-D Poisson problem, " + n + " x " + n + " x " + n + " grid, incomplete Cholesky factor L";
  made.matrix =
      incomplete_cholesky(a, [&](std::int64_t done, std::int64_t total) { progress.update(done, total); });
  made.steps = {{"L y = b", {}}, {"L^T x = y", {}}};
  made.steps[1].options.operation = sptrsv::op::transpose;
  return made;
}

/// Returns the number of entries that are not on the diagonal.
template <class Value, class Index>
std::int64_t entries_beside_diagonal(const sptrsv_common::coordinate_matrix<Value, Index>& a) {
  std::int64_t count = 0;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    count += a.row_indices[e] != a.column_indices[e] ? 1 : 0;
  }
  return count;
}

/// Throws sptrsv::error for a row whose values have no solution: `fault` says why. Files count rows from 1,
/// and so does the message.
[[noreturn]] inline void throw_no_solution(const std::string& place, const std::string& fault,
                                           std::int64_t row) {
  throw sptrsv::error(sptrsv::errc::invalid_argument,
                      place + ": " + fault + " in row " + std::to_string(row + 1) + " (the first row is 1)",
                      row);
}

/// Throws sptrsv::error for the first row of a triangle with a zero on the diagonal or with a value that is
/// not finite. `place`: what the message names.
template <class Value>
void expect_regular(const sptrsv::csr_matrix<Value>& a, const std::string& place) {
  for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]);
         e < static_cast<std::size_t>(a.row_offsets[row + 1]); ++e) {
      const Value value = a.values[e];
      const bool on_diagonal = static_cast<std::size_t>(a.column_indices[e]) == row;
      if (!std::isfinite(std::real(value)) || !std::isfinite(std::imag(value))) {
        throw_no_solution(place, "a value that is not finite", static_cast<std::int64_t>(row));
      }
      if (on_diagonal && value == Value(0)) {
        throw_no_solution(place, "zero pivot", static_cast<std::int64_t>(row));
      }
    }
  }
}

/// Reads right-hand sides of `rows` components, one per column of the file, and returns them one after the
/// other. Throws sptrsv::error if the file has another number of rows.
template <class Value>
std::vector<Value> read_right_hand_sides(const std::string& path, std::int64_t rows) {
  const auto file = sptrsv_common::read_matrix_market<Value>(path);
  SPTRSV_EXPECTS(file.rows == rows && file.cols > 0, sptrsv::errc::size_mismatch,
                 path + " has " + std::to_string(file.rows) + " rows and " + std::to_string(file.cols) +
                     " columns, but the system has " + std::to_string(rows) + " rows");
  std::vector<Value> b(static_cast<std::size_t>(rows) * static_cast<std::size_t>(file.cols));
  for (std::size_t e = 0; e < file.values.size(); ++e) {
    const auto column = static_cast<std::size_t>(file.column_indices[e]);
    b[column * static_cast<std::size_t>(rows) + static_cast<std::size_t>(file.row_indices[e])] +=
        file.values[e];
  }
  return b;
}

/// Makes the problem of one triangle of the matrix in a file. The notes warn if this seems to be the wrong
/// triangle. Throws sptrsv::error for values with which the triangle has no solution.
template <class Value>
problem<Value> make_file_problem(const solve_options& chosen, common::progress_line& progress) {
  const std::string& path = chosen.file;
  const sptrsv::uplo part = chosen.part;
  progress.begin("reading " + path);
  sptrsv_common::matrix_market_header header;
  sptrsv_common::matrix_market_options options;
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
  const auto file = sptrsv_common::read_matrix_market<Value>(path, &header, options);
  progress.begin("forming the triangular system");
  auto system = common::make_triangular_system(file, header, part, false);
  const bool has_no_values = system.seeded;
  if (chosen.seeded_values) {
    common::seed_values(system);
  }
  expect_regular(system.matrix, path);

  problem<Value> made;
  const bool lower = part == sptrsv::uplo::lower;
  made.title = path + ", " + common::name_of(part) + " triangle";
  if (system.added_pivots > 0) {
    made.notes.push_back("missing diagonal entries added: " + common::grouped(system.added_pivots) +
                         ", each with the value 1");
  }
  const std::int64_t others = entries_beside_diagonal(file);
  if (system.matrix.view().entries == file.rows && others > 0) {
    made.notes.push_back(std::string("warning: the ") + common::name_of(part) +
                         " triangle has no entry beside its diagonal, but the other triangle has " +
                         common::grouped(others) + ": try --part " + (lower ? "upper" : "lower"));
  }
  if (system.merged_entries > 0) {
    made.notes.push_back("repeated entries added to the first one: " +
                         common::grouped(system.merged_entries));
  }
  if (system.seeded) {
    made.notes.push_back(std::string(has_no_values ? "the file has no values" : "--seeded-values") +
                         ": pseudo-random values are used");
  }
  if (chosen.rhs_file.empty()) {
    made.notes.push_back("no right-hand side is given (--rhs-file): pseudo-random ones are used");
  }
  made.matrix = std::move(system.matrix);
  made.steps = {{lower ? "L x = b" : "U x = b", {}}};
  made.steps[0].options.part = part;
  return made;
}

}  // namespace sptrsv_examples
