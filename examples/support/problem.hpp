// What the example program `solve` solves: a matrix and one or two triangular systems with it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "incomplete_cholesky.hpp"
#include "poisson.hpp"
#include "progress.hpp"
#include "sptrsv/io/matrix_market.hpp"
#include "sptrsv/matrix.hpp"
#include "sptrsv/options.hpp"
#include "table.hpp"
#include "triangular_system.hpp"

namespace sptrsv_examples {

/// One system with the problem's matrix.
struct problem_step {
  std::string name;
  sptrsv::system_options options;
};

template <class Value>
struct problem {
  std::string title;
  std::vector<std::string> notes;  ///< what was done to the input
  sptrsv::csr_matrix<Value> matrix;
  std::vector<problem_step> steps;  ///< the solution of a step is the right-hand side of the next
};

/// The incomplete Cholesky factor L of a Poisson problem, and what a preconditioner does with it:
/// L y = b, then L^T x = y.
inline problem<double> make_poisson_problem(std::int64_t grid, progress_line& progress) {
  const std::string n = std::to_string(grid);
  progress.begin("assembling the Poisson problem on a " + n + " x " + n + " x " + n + " grid");
  const auto a = assemble_poisson(grid);
  progress.begin("factoring it");
  problem<double> made;
  made.title = "3-D Poisson problem, " + n + " x " + n + " x " + n + " grid, incomplete Cholesky factor L";
  made.matrix =
      incomplete_cholesky(a, [&](std::int64_t done, std::int64_t total) { progress.update(done, total); });
  made.steps = {{"L y = b", {}}, {"L^T x = y", {}}};
  made.steps[1].options.operation = sptrsv::op::transpose;
  return made;
}

/// One triangle of the matrix in a file.
template <class Value>
problem<Value> make_file_problem(const std::string& path, sptrsv::uplo part, progress_line& progress) {
  progress.begin("reading " + path);
  sptrsv::matrix_market_header header;
  sptrsv::matrix_market_options options;
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
  const auto file = sptrsv::read_matrix_market<Value>(path, &header, options);
  progress.begin("forming the triangular system");
  auto system = make_triangular_system(file, header, part);

  problem<Value> made;
  const bool lower = part == sptrsv::uplo::lower;
  made.title = path + ", " + (lower ? "lower" : "upper") + " triangle";
  if (system.added_pivots > 0) {
    made.notes.push_back("missing diagonal entries added: " + grouped(system.added_pivots));
  }
  if (system.merged_entries > 0) {
    made.notes.push_back("repeated entries summed into others: " + grouped(system.merged_entries));
  }
  if (system.seeded) {
    made.notes.push_back(header.field == sptrsv::mm_field::pattern
                             ? "the file holds no values: they are seeded"
                             : "substitution with the file's values does not stay finite: they are seeded");
  }
  made.matrix = std::move(system.matrix);
  made.steps = {{lower ? "L x = b" : "U x = b", {}}};
  made.steps[0].options.part = part;
  return made;
}

}  // namespace sptrsv_examples
