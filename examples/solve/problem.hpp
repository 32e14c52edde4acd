// The problems of the example program `solve`: a matrix and one or two triangular systems with it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/option_types.hpp"
#include "common/systems/poisson.hpp"
#include "common/systems/triangular_system.hpp"
#include "common/terminal/progress.hpp"
#include "common/terminal/table.hpp"
#include "incomplete_cholesky.hpp"
#include "sptrsv/io/matrix_market.hpp"
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
std::int64_t entries_beside_diagonal(const sptrsv::coordinate_matrix<Value, Index>& a) {
  std::int64_t count = 0;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    count += a.row_indices[e] != a.column_indices[e] ? 1 : 0;
  }
  return count;
}

/// Makes the problem of one triangle of the matrix in a file. The notes warn if this seems to be the wrong
/// triangle.
template <class Value>
problem<Value> make_file_problem(const std::string& path, sptrsv::uplo part,
                                 common::progress_line& progress) {
  progress.begin("reading " + path);
  sptrsv::matrix_market_header header;
  sptrsv::matrix_market_options options;
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
  const auto file = sptrsv::read_matrix_market<Value>(path, &header, options);
  progress.begin("forming the triangular system");
  auto system = common::make_triangular_system(file, header, part, false);

  problem<Value> made;
  const bool lower = part == sptrsv::uplo::lower;
  made.title = path + ", " + common::name_of(part) + " triangle";
  if (system.added_pivots > 0) {
    made.notes.push_back("missing diagonal entries added: " + common::grouped(system.added_pivots));
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
    made.notes.push_back("the file has no values: pseudo-random values are used");
  }
  made.matrix = std::move(system.matrix);
  made.steps = {{lower ? "L x = b" : "U x = b", {}}};
  made.steps[0].options.part = part;
  return made;
}

}  // namespace sptrsv_examples
