// The programs pcg and gmres share this code: options, the problem, the run, and the output.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/generators/factors.hpp"
#include "common/systems/seeded_values.hpp"
#include "common/systems/triangular_system.hpp"
#include "common/terminal/progress.hpp"
#include "common/terminal/table.hpp"
#include "cuda_backend.hpp"
#include "host_backend.hpp"
#include "methods.hpp"
#include "sptrsv/io/matrix_market.hpp"
#include "sptrsv/orderings.hpp"

#ifdef SPTRSV_WITH_METIS
#include "sptrsv/interop/metis.hpp"
#endif

#ifdef __CUDACC__
#include "common/measurement/placement.hpp"
#endif

namespace sptrsv_examples {

namespace common = sptrsv_common;

enum class row_ordering { natural, rcm, colour, metis };

struct krylov_options {
  std::string file;     ///< empty: a generated problem
  std::string history;  ///< file for the residuals; empty: none
  std::int64_t grid = 32;
  int dimensions = 3;
  double peclet = 0;
  preconditioning kind = preconditioning::ilu0;
  row_ordering order = row_ordering::natural;
  stopping when;
  bool on_host = false;
  bool progress = false;
};

inline const char* name_of(preconditioning kind) {
  const char* const names[] = {"no preconditioner", "Jacobi", "SSOR", "ILU(0)", "IC(0)"};
  return names[static_cast<int>(kind)];
}
inline const char* name_of(row_ordering order) {
  const char* const names[] = {"natural order", "reverse Cuthill-McKee", "colours", "nested dissection"};
  return names[static_cast<int>(order)];
}

/// Returns the orderings of this build.
inline common::choices<row_ordering> ordering_choices() {
  return {{"natural", row_ordering::natural},
          {"rcm", row_ordering::rcm},
          {"colour", row_ordering::colour},
#ifdef SPTRSV_WITH_METIS
          {"metis", row_ordering::metis}
#endif
  };
}

/// Adds the options that both programs have.
inline void add_krylov_options(common::command_line& to, krylov_options& target,
                               const common::choices<preconditioning>& kinds) {
  to.add_positional("FILE", target.file, false,
                    "Matrix Market file (.mtx or .mtx.gz) with real values. Without it, a finite-difference "
                    "problem on a grid.");
  to.begin_group("System");
  to.add_integer("-g,--grid", target.grid, 1, 1000, "N", "Points in each direction. Default: 32.");
  to.add_integer("-d,--dimensions", target.dimensions, 2, 3, "2|3", "Dimensions of the grid. Default: 3.");
  to.add_choice(
      "-o,--ordering", target.order, ordering_choices(),
      "Order of the rows: as they are, reverse Cuthill-McKee, by colours, or nested dissection where "
      "METIS is installed. Default: natural.");
  to.begin_group("Method");
  to.add_choice("-p,--preconditioner", target.kind, kinds, "Preconditioner.");
  to.add_integer("-n,--max-iterations", target.when.max_iterations, 0, 1000000, "N",
                 "Iterations at most. Default: 10000.");
  to.add_flag("--host", target.on_host, "Run on the host. Default: on the GPU if there is one.");
  to.begin_group("Output");
  to.add_text("--history", target.history, "FILE",
              "Append the relative residual of each iteration to FILE, one line for the run; "
              "scripts/convergence_figure.py draws it.");
  to.add_flag("--progress", target.progress, "Show the progress even if stderr is not a terminal.");
  to.add_footer("Exit status: 0 if the residual is at most 1e-8 of the right-hand side, else 1.");
}

/// Reads or generates the matrix.
inline sptrsv::csr_matrix<double> make_matrix(const krylov_options& options) {
  if (options.file.empty()) {
    const auto n = static_cast<common::vertex>(options.grid);
    return common::convection_diffusion({n, n, options.dimensions == 3 ? n : 1}, options.peclet);
  }
  auto file = sptrsv::read_matrix_market<double>(options.file);
  auto a = sptrsv::make_csr<std::int32_t>(file.rows, file.cols, file.row_indices, file.column_indices,
                                          file.values);
  common::sort_and_merge_rows(a);
  return a;
}

/// Returns the matrix in the order that the options ask for.
inline sptrsv::csr_matrix<double> ordered(sptrsv::csr_matrix<double> a, row_ordering order) {
  switch (order) {
    case row_ordering::rcm:
      return sptrsv::reordered(a, sptrsv::reverse_cuthill_mckee(a)).matrix;
    case row_ordering::colour:
      return sptrsv::reordered(a, sptrsv::greedy_colouring(a).order()).matrix;
#ifdef SPTRSV_WITH_METIS
    case row_ordering::metis:
      return sptrsv::reordered(a, sptrsv::nested_dissection(a)).matrix;
#endif
    default:
      return a;
  }
}

/// Runs a method, prints what it did, and returns whether it has converged. `method(backend, preconditioner,
/// b, stopping)`.
template <class Backend, class Method>
bool run_on(const krylov_options& options, const sptrsv::csr_matrix<double>& a, std::size_t slots,
            const std::string& name, const Method& method, common::progress_line& progress) {
  using clock = std::chrono::steady_clock;
  const auto milliseconds = [](clock::time_point from) {
    return std::chrono::duration<double, std::milli>(clock::now() - from).count();
  };
  const auto b = common::seeded_vector<double>(a.rows, 1);
  Backend on(a, slots);
  on.synchronize();
  progress.begin("making the preconditioner");
  const auto start = clock::now();
  preconditioner<Backend> m(options.kind, a, on);
  const double setup_ms = milliseconds(start);
  progress.begin("iterating");
  stopping when = options.when;
  when.report = [&](int iteration, double residual) {
    if (iteration % 100 == 0) {
      progress.begin(name + ", iteration " + std::to_string(iteration) + ", residual " +
                     common::formatted("%.1e", residual));
    }
  };
  const auto first = clock::now();
  const solution found = method(on, m, b, when);
  on.synchronize();
  const double solve_ms = milliseconds(first);
  progress.clear();

  // The residual of the method is updated, not computed: it is computed here.
  host_backend check(a, 1);
  std::vector<double> product(b.size());
  check.multiply(found.x, product);
  double square = 0;
  double b_square = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += (b[i] - product[i]) * (b[i] - product[i]);
    b_square += b[i] * b[i];
  }
  const double residual = std::sqrt(square / b_square);
  const bool converged = residual <= 2 * when.tolerance;

  std::string levels;
  for (const std::int64_t count : m.levels()) {
    levels +=
        (levels.empty() ? "" : ", ") + (count > 0 ? common::grouped(count) : std::string("not counted"));
  }
  common::table t;
  t.add_row("rows", {common::grouped(a.rows)});
  t.add_row("entries", {common::grouped(static_cast<std::int64_t>(a.values.size()))});
  t.add_row("levels of the solves", {levels.empty() ? "-" : levels});
  t.add_row("set-up", {common::in_milliseconds(setup_ms)});
  t.add_row("iterations", {common::grouped(found.iterations())});
  t.add_row("time of the iterations", {common::in_milliseconds(solve_ms)});
  t.add_row("relative residual", {common::formatted("%.2e", residual)});
  t.add_row("solution", {converged ? "OK" : "NOT CONVERGED"});
  t.print();
  if (!options.history.empty()) {
    std::ofstream to(options.history, std::ios::app);
    to << name << ", " << name_of(options.kind) << ", " << name_of(options.order) << ':';
    for (const double value : found.residuals) {
      to << ' ' << value;
    }
    to << '\n';
    SPTRSV_EXPECTS(to.good(), sptrsv::errc::io_error, options.history + " cannot be written");
  }
  return converged;
}

/// Runs a method on the GPU if there is one and it is wanted, else on the host.
template <class Method>
int run_program(const krylov_options& options, std::size_t slots, const std::string& name,
                const Method& method) {
  common::progress_line progress(options.progress || common::stderr_is_terminal());
  progress.begin("making the matrix");
  const auto a = ordered(make_matrix(options), options.order);
  SPTRSV_EXPECTS(a.rows == a.columns, sptrsv::errc::not_square, "the matrix is not square");
#ifdef __CUDACC__
  if (!options.on_host && common::has_gpu()) {
    return run_on<cuda_backend>(options, a, slots, name, method, progress) ? 0 : 1;
  }
#endif
  progress.clear();
  std::printf("solving on the host\n");
  return run_on<host_backend>(options, a, slots, name, method, progress) ? 0 : 1;
}

}  // namespace sptrsv_examples
