// The programs pcg and gmres share this code: options, the runs, and the output.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/systems/seeded_values.hpp"
#include "common/terminal/progress.hpp"
#include "common/terminal/table.hpp"
#include "cusparse_preconditioner.hpp"
#include "places.hpp"
#include "preconditioner.hpp"
#include "problems.hpp"
#include "sptrsv/krylov.hpp"
#include "sptrsv/orderings.hpp"

#ifdef SPTRSV_WITH_METIS
#include "sptrsv/interop/metis.hpp"
#endif

#ifdef __CUDACC__
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#endif

namespace sptrsv_examples {

enum class row_ordering { natural, rcm, colour, metis };
enum class comparison { none, cusparse, alternatives };

struct krylov_options {
  std::string file;  ///< empty: a generated problem
  bool laplacian = false;
  std::string history;  ///< file for the residuals; empty: none
  problem what = problem::star;
  std::int64_t grid = 32;
  int dimensions = 3;
  double peclet = 0;
  preconditioner_choice m = preconditioning::ilu0;
  preconditioning incomplete = preconditioning::ilu0;  ///< the factorisation that suits the method
  row_ordering order = row_ordering::natural;
  sptrsv::krylov::options when;
  bool on_host = false;
  comparison with = comparison::none;
  int repeat = 1;
  bool progress = false;
};

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

/// Adds the options that both programs have. `kinds`: the incomplete factorisations of the program; the first
/// one is the default.
inline void add_krylov_options(common::command_line& to, krylov_options& target,
                               const common::choices<preconditioning>& kinds) {
  target.incomplete = kinds.front().second;
  target.m = target.incomplete;
  to.add_positional("FILE", target.file, false,
                    "Matrix Market file (.mtx or .mtx.gz) with real values. Without it, a finite-difference "
                    "problem on a grid.");
  to.begin_group("System");
  to.add_flag(
      "--laplacian", target.laplacian,
      "Take the pattern of FILE only, with -1 beside the diagonal and 1.001 times their number on it.");
  to.add_choice(
      "--problem", target.what,
      common::choices<problem>{{"star", problem::star},
                               {"box", problem::box},
                               {"anisotropic", problem::anisotropic},
                               {"elasticity", problem::elasticity}},
      "Problem on the grid: the Laplacian with 5 or 7 points, with 9 or 27 points, with couplings of "
      "0.01 along all axes but one, or elasticity with 3 unknowns per point. Default: star.");
  to.add_integer("-g,--grid", target.grid, 1, 1000, "N", "Points in each direction. Default: 32.");
  to.add_integer("-d,--dimensions", target.dimensions, 2, 3, "2|3", "Dimensions of the grid. Default: 3.");
  to.add_choice(
      "-o,--ordering", target.order, ordering_choices(),
      "Order of the rows: as they are, reverse Cuthill-McKee, by colours, or nested dissection where "
      "METIS is installed. Default: natural.");
  to.begin_group("Method");
  common::choices<preconditioning> all{
      {"none", preconditioning::none}, {"ssor", preconditioning::ssor}, {"dilu", preconditioning::dilu}};
  all.insert(all.end(), kinds.begin(), kinds.end());
  all.insert(all.end(), {{"jacobi", preconditioning::jacobi},
                         {"spai0", preconditioning::spai0},
                         {"block_jacobi", preconditioning::block_jacobi},
                         {"chebyshev", preconditioning::chebyshev},
                         {"ilu_sweeps", preconditioning::ilu_sweeps},
                         {"isai", preconditioning::isai}});
  to.add_choice(
      "-p,--preconditioner", target.m.kind, all,
      "Preconditioner: the exact solves of SSOR, DILU and incomplete factors, or alternatives without "
      "triangular solves.");
  to.add_integer("--fill", target.m.fill_level, 0, 1000, "K",
                 "Level of fill of ilu0 and ic0, which are ILU(K) and IC(K) then. Default: 0.");
  to.add_flag("--single", target.m.single,
              "Keep the factors of ilu0 and ic0 in single precision (policy::dataflow_single). Needs a GPU.");
  to.add_integer("--steps", target.m.steps, 1, 100, "K",
                 "Degree of chebyshev, or Jacobi sweeps of ilu_sweeps for each triangle. Default: 3.");
  to.add_integer("-n,--max-iterations", target.when.max_iterations, 0, 1000000, "N",
                 "Iterations at most. Default: 10000.");
  using sptrsv::krylov::repetition;
  to.add_choice("--loop", target.when.repeat,
                common::choices<repetition>{{"device", repetition::on_device},
                                            {"graphs", repetition::graphs},
                                            {"launches", repetition::launches}},
                "What repeats an iteration on the GPU: the device, or the host with graphs or launches. "
                "Default: device.");
  to.add_flag("--host", target.on_host, "Run on the host. Default: on the GPU if there is one.");
  to.begin_group("Measurement");
  to.add_choice(
      "--compare", target.with,
      common::choices<comparison>{{"cusparse", comparison::cusparse},
                                  {"alternatives", comparison::alternatives}},
      "cusparse: run the same iteration with the factorisation and the solves of cuSPARSE beside it. "
      "alternatives: run with all preconditioners, those with solves in several orders of the rows.");
  to.add_integer("--repeat", target.repeat, 1, 1000, "N",
                 "Run everything N times; the fastest run counts. The first one loads kernels. Default: 1.");
  to.begin_group("Output");
  to.add_text("--history", target.history, "FILE",
              "Append the relative residual of each iteration to FILE, one line for the run; "
              "scripts/convergence_figure.py draws it.");
  to.add_flag("--progress", target.progress, "Show the progress even if stderr is not a terminal.");
  to.add_footer("Exit status: 0 if the residual is at most 1e-8 of the right-hand side, else 1.");
}

/// Reads or generates the matrix.
inline sptrsv::csr_matrix<double> make_matrix(const krylov_options& options) {
  if (!options.file.empty()) {
    return read_matrix(options.file, options.laplacian);
  }
  const auto n = static_cast<common::vertex>(options.grid);
  return grid_matrix(options.what, {n, n, options.dimensions == 3 ? n : 1}, options.peclet);
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

/// The result of a run, and its times.
struct outcome {
  double setup_ms = 0;
  double solve_ms = 0;
  sptrsv::krylov::result found;
  std::vector<double> x;
  std::vector<std::int64_t> levels;  ///< of the solves
  std::int64_t factor_entries = 0;   ///< see preconditioner::factor_entries

  [[nodiscard]] double total_ms() const { return setup_ms + solve_ms; }
};

/// Makes the preconditioner and runs a method with it, `options.repeat` times, and returns the fastest run.
template <class Preconditioner, class Place, class Method>
outcome fastest_run(const krylov_options& options, const std::vector<double>& b, const Place& on,
                    const Method& method, common::progress_line& progress) {
  using clock = std::chrono::steady_clock;
  const auto milliseconds = [](clock::time_point from) {
    return std::chrono::duration<double, std::milli>(clock::now() - from).count();
  };
  sptrsv::krylov::options when = options.when;
  when.keep_history = !options.history.empty();
  const sptrsv::krylov::csr_operator product(on.a, on.stream());
  const auto there = on.put(b);
  outcome fastest;
  for (int k = 0; k < options.repeat; ++k) {
    progress.begin("making the preconditioner");
    outcome made;
    const auto start = clock::now();
    Preconditioner m(options.m, on);
    made.setup_ms = milliseconds(start);
    progress.begin("iterating");
    const auto first = clock::now();
    auto x = on.put(std::vector<double>(b.size()));
    sptrsv::krylov::workspace<double, typename Place::stream_type> scratch(on.stream());
    made.found =
        m.visit([&](auto&& of) { return method(product, of, there, x, scratch, when, on.stream()); });
    made.solve_ms = milliseconds(first);
    made.x = on.get(x);
    made.levels = m.levels();
    made.factor_entries = m.factor_entries();
    if (k == 0 || made.total_ms() < fastest.total_ms()) {
      fastest = std::move(made);
    }
  }
  progress.clear();
  return fastest;
}

/// Returns the norm of b - A x relative to that of b.
inline double relative_residual(const sptrsv::csr_matrix<double>& a, const std::vector<double>& x,
                                const std::vector<double>& b) {
  std::vector<double> product(b.size());
  sptrsv::krylov::csr_operator(a, sptrsv::host_stream{}).apply(x, product);
  double square = 0;
  double b_square = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += (b[i] - product[i]) * (b[i] - product[i]);
    b_square += b[i] * b[i];
  }
  return b_square > 0 ? std::sqrt(square / b_square) : 0;
}

/// Appends the residuals to the file that the options name.
inline void write_history(const krylov_options& options, const std::string& name,
                          const sptrsv::krylov::result& found) {
  std::ofstream to(options.history, std::ios::app);
  to << name << ", " << name_of(options.m) << ", " << name_of(options.order) << ':';
  for (const double value : found.history) {
    to << ' ' << value;
  }
  to << '\n';
  SPTRSV_EXPECTS(to.good(), sptrsv::errc::io_error, options.history + " cannot be written");
}

/// Prints what the runs found: the one of this library, and that of cuSPARSE if there is one. Returns whether
/// all have converged.
inline bool print(const krylov_options& options, const sptrsv::csr_matrix<double>& a,
                  const std::vector<double>& b, const std::vector<outcome>& runs) {
  common::table t;
  bool all_converged = true;
  const auto cells_of = [&](const auto& text_of) {
    std::vector<std::string> cells(runs.size());
    std::transform(runs.begin(), runs.end(), cells.begin(), text_of);
    return cells;
  };
  const auto add_time = [&](const std::string& label, const auto& time_of) {
    auto cells = cells_of([&](const outcome& run) { return common::in_milliseconds(time_of(run)); });
    if (runs.size() > 1) {
      cells.push_back(common::formatted("%.2f", time_of(runs[1]) / time_of(runs[0])));
    }
    t.add_row(label, cells);
  };
  std::string levels;
  for (const std::int64_t count : runs[0].levels) {
    levels +=
        (levels.empty() ? "" : ", ") + (count > 0 ? common::grouped(count) : std::string("not counted"));
  }
  if (runs.size() > 1) {
    t.add_row("", {"sptrsv", "cuSPARSE", "speed-up"});
  }
  t.add_row("rows", {common::grouped(a.rows)});
  t.add_row("entries", {common::grouped(static_cast<std::int64_t>(a.values.size()))});
  if (runs[0].factor_entries > 0) {
    t.add_row("entries of the factors", {common::grouped(runs[0].factor_entries)});
  }
  t.add_row("levels of the solves", {levels.empty() ? "-" : levels});
  add_time("set-up", [](const outcome& run) { return run.setup_ms; });
  t.add_row("iterations", cells_of([](const outcome& run) { return common::grouped(run.found.iterations); }));
  add_time("time of the iterations", [](const outcome& run) { return run.solve_ms; });
  add_time("time to the solution", [](const outcome& run) { return run.total_ms(); });
  std::vector<std::string> verdicts;
  verdicts.reserve(runs.size());
  t.add_row(
      "relative residual", cells_of([&](const outcome& run) {
        const double residual = relative_residual(a, run.x, b);
        const bool converged = run.found.converged() && residual <= 2 * options.when.tolerance;
        all_converged = all_converged && converged;
        verdicts.emplace_back(converged ? "OK" : std::string("NOT CONVERGED: ") + name_of(run.found.why));
        return common::formatted("%.2e", residual);
      }));
  t.add_row("solution", verdicts);
  t.print();
  return all_converged;
}

/// Prints a row for each preconditioner and order of the rows. Returns whether one of them has converged.
template <class Method>
bool compare_alternatives(krylov_options options, const sptrsv::csr_matrix<double>& natural, bool uses_gpu,
                          const Method& method, common::progress_line& progress) {
  common::table t;
  t.add_row("", {"set-up", "iterations", "an iteration", "to the solution", "solution"});
  bool any_converged = false;
  const auto try_one = [&](const sptrsv::csr_matrix<double>& a, const auto& on,
                           const preconditioner_choice& m) {
    const std::string name =
        name_of(m) +
        (options.order == row_ordering::natural ? std::string() : std::string(", ") + name_of(options.order));
    options.m = m;
    try {
      const auto b = common::seeded_vector<double>(a.rows, 1);
      using place = std::decay_t<decltype(on)>;
      const outcome run = fastest_run<preconditioner<place>>(options, b, on, method, progress);
      const bool converged =
          run.found.converged() && relative_residual(a, run.x, b) <= 2 * options.when.tolerance;
      any_converged = any_converged || converged;
      t.add_row(name, {common::in_milliseconds(run.setup_ms), common::grouped(run.found.iterations),
                       common::in_milliseconds(run.solve_ms / std::max(run.found.iterations, 1)),
                       common::in_milliseconds(run.total_ms()),
                       converged ? "OK" : std::string(name_of(run.found.why))});
    } catch (const sptrsv::error& e) {
      progress.clear();
      t.add_row(name, {"-", "-", "-", "-", e.what()});
    }
  };
  const auto try_all = [&](const sptrsv::csr_matrix<double>& a, const auto& on) {
    using kind = preconditioning;
    std::vector<preconditioner_choice> tried{
        {options.incomplete}, {options.incomplete, 1}, {kind::ssor}, {kind::dilu}};
    if (uses_gpu) {
      tried.emplace_back(options.incomplete).single = true;
    }
    if (options.order == row_ordering::natural) {
      tried.insert(tried.end(), {{kind::none},
                                 {kind::jacobi},
                                 {kind::spai0},
                                 {kind::block_jacobi},
                                 {kind::chebyshev},
                                 {kind::isai}});
      for (const int sweeps : {1, 2, 3, 5}) {
        tried.emplace_back(kind::ilu_sweeps).steps = sweeps;
      }
    }
    for (const preconditioner_choice& m : tried) {
      try_one(a, on, m);
    }
  };
  for (const auto& order : ordering_choices()) {
    options.order = order.second;
    const auto a = ordered(natural, order.second);
    if (!uses_gpu) {
      try_all(a, on_host(a));
    }
#ifdef __CUDACC__
    if (uses_gpu) {
      try_all(a, on_gpu(a));
    }
#endif
  }
  t.print();
  return any_converged;
}

/// Runs a method on the GPU if there is one and it is wanted, else on the host, and prints what it did.
/// `method` has the arguments of sptrsv::krylov::gmres. Returns the exit status of the program.
template <class Method>
int run_program(const krylov_options& options, const std::string& name, const Method& method) {
  common::progress_line progress(options.progress || common::stderr_is_terminal());
  progress.begin("making the matrix");
  const auto a = ordered(make_matrix(options), options.order);
  const auto b = common::seeded_vector<double>(a.rows, 1);
  std::vector<outcome> runs;
  bool uses_gpu = false;
#ifdef __CUDACC__
  uses_gpu = !options.on_host && common::has_gpu();
  if (uses_gpu) {
    common::keep_pool_memory();
  }
#endif
  if (options.with == comparison::alternatives) {
    return compare_alternatives(options, a, uses_gpu, method, progress) ? 0 : 1;
  }
#ifdef __CUDACC__
  if (uses_gpu) {
    const on_gpu on(a);
    runs.push_back(fastest_run<preconditioner<on_gpu>>(options, b, on, method, progress));
    if (options.with == comparison::cusparse) {
      runs.push_back(fastest_run<cusparse_preconditioner>(options, b, on, method, progress));
    }
  }
#endif
  if (!uses_gpu) {
    SPTRSV_EXPECTS(options.with != comparison::cusparse, sptrsv::errc::unsupported,
                   "--compare cusparse needs a GPU, and a build with CUDA");
    progress.clear();
    std::printf("solving on the host\n");
    const on_host on(a);
    runs.push_back(fastest_run<preconditioner<on_host>>(options, b, on, method, progress));
  }
  if (!options.history.empty()) {
    write_history(options, name, runs[0].found);
  }
  return print(options, a, b, runs) ? 0 : 1;
}

}  // namespace sptrsv_examples
