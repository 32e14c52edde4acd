// sptrsv_complete_factors: measures forward and backward solves with complete factors, by policies of this
// library and by NVIDIA's solvers: cuSPARSE on the same factor; cuDSS, which factorises the same matrix
// itself, in its own ordering and in that of the factor; cuBLAS on a factor that is a full triangle. Writes
// the results in the form of sptrsv_bench. `--help` lists the options.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench/policies.hpp"
#include "benchmarks/bench/terminal.hpp"
#include "benchmarks/complete_factors/cublas.cuh"
#include "benchmarks/complete_factors/cudss.cuh"
#include "benchmarks/complete_factors/solver.cuh"
#include "benchmarks/complete_factors/system.hpp"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/cusparse/policy.hpp"
#include "sptrsv/policy/automatic.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/policy/supernodal.hpp"

namespace sptrsv_benchmarks::complete_factors {
namespace {

struct options {
  common::matrix_selection matrices{"", "factors"};
  std::vector<std::string> solvers;  ///< names; empty: all
  std::vector<std::int64_t> rhs{1, 8, 64};
  int rounds = 5;
  double budget = 15;     ///< milliseconds of one kind of measurement of a solver in all rounds
  double time_limit = 0;  ///< seconds; 0: none
  std::string json;       ///< path; empty: no file
  std::string command;

  [[nodiscard]] bool has(const std::string& name) const {
    return solvers.empty() || std::find(solvers.begin(), solvers.end(), name) != solvers.end();
  }
};

constexpr const char* all_solvers[] = {"supernodal", "dataflow",         "cusparse",
#ifdef SPTRSV_WITH_CUDSS
                                       "cudss",      "cudss_same_order",
#endif
                                       "cublas"};

#ifdef SPTRSV_WITH_CUDSS
constexpr const char* baseline = "cudss";
#else
constexpr const char* baseline = "cusparse";
#endif

using solver_list = std::vector<std::unique_ptr<factor_solver>>;

/// The measurements of one run.
class measurement {
 public:
  explicit measurement(options chosen) : options_(std::move(chosen)) {
    environment_.command = options_.command;
    environment_.program = "sptrsv_complete_factors";
    environment_.host = host_description();
    environment_.cusparse = sptrsv_common::cusparse::version();
    machine_.describe(environment_);
    print_environment(environment_);
    std::printf("\n%-30s %9s %11s %7s | %-17s %10s %9s | %9s %9s %8s | %7s %6s\n", "matrix", "n", "entries",
                "levels", "solver", "analysis", "values", "solve", "call", "GB/s", "x", "err");
  }

  void measure(const std::shared_ptr<const factor_system>& system) {
#ifdef SPTRSV_WITH_CUDSS
    std::shared_ptr<const cudss_factor> own_order;
    std::shared_ptr<const cudss_factor> same_order;
    const auto factorize = [&](const char* name, bool same) -> std::shared_ptr<const cudss_factor> {
      if (!system->has_matrix() || !options_.has(name)) {
        return nullptr;
      }
      try {
        const std::int64_t max_rhs = *std::max_element(options_.rhs.begin(), options_.rhs.end());
        return std::make_shared<const cudss_factor>(*system, same, max_rhs, machine_);
      } catch (const std::exception& e) {
        std::printf("%-30s %s: %s\n", system->name.c_str(), name, e.what());
        return nullptr;
      }
    };
    own_order = factorize("cudss", false);
    same_order = factorize("cudss_same_order", true);
#endif
    std::vector<measured_case> cases;
    for (const direction d : {direction::forward, direction::backward}) {
      if (d == direction::backward && system->backward.by_rows.rows == 0) {
        continue;
      }
      for (const std::int64_t rhs : options_.rhs) {
        const auto placed = std::make_shared<const placed_system>(system, d, rhs, machine_);
        solver_list solvers;
        const auto add = [&](const std::string& name, std::unique_ptr<factor_solver> solver) {
          solver->row.system =
              system->describe(d, rhs, static_cast<std::int64_t>(placed->triangle().by_rows.values.size()));
          solver->row.policy = name;
          solver->row.storage = "csr";
          solver->row.baseline = baseline;
          solvers.push_back(std::move(solver));
        };
        const auto add_policy = [&](auto form) {
          using policy = decltype(form.policy);
          if (options_.has(form.name)) {
            add(form.name, std::make_unique<policy_solver<policy>>(form, placed));
          }
        };
        add_policy(common::forms_of(common::policy_list<sptrsv::policy::supernodal>{}).front());
        add_policy(common::forms_of(common::policy_list<common::automatic_supernodal>{}).front());
        add_policy(common::forms_of(common::policy_list<sptrsv::policy::dataflow>{}).front());
        add_policy(plain_cusparse());
#ifdef SPTRSV_WITH_CUDSS
        if (own_order != nullptr) {
          add("cudss", std::make_unique<cudss_solver>(own_order, placed));
        }
        if (same_order != nullptr) {
          add("cudss_same_order", std::make_unique<cudss_solver>(same_order, placed));
        }
#endif
        if (system->is_dense() && options_.has("cublas")) {
          add("cublas", std::make_unique<cublas_solver>(placed));
        }
        cases.push_back(run(solvers));
      }
    }
    for (measured_case& one : cases) {
      report(one);
    }
  }

  void add_failure(const std::string& name, const std::string& what) {
    std::printf("%-30s FAILED: %s\n", name.c_str(), what.c_str());
    failed_ = true;
  }

  /// Returns the exit status of the program.
  int finish() {
    std::printf("\n");
    for (const char* const solver : all_solvers) {
      for (const std::int64_t rhs : options_.rhs) {
        common::ratio_summary over;
        for (const result_row& row : rows_) {
          if (row.policy == solver && row.system.rhs == rhs && row.speedup) {
            over.add(*row.speedup, row.system.label());
          }
        }
        if (over.count() > 0 && std::string(solver) != baseline) {
          std::printf("%-17s %3lld rhs: %3d systems, speed-up over %s %6.2f (worst %.2f: %s)\n", solver,
                      static_cast<long long>(rhs), over.count(), baseline, *over.mean(), *over.worst(),
                      over.worst_name().c_str());
        }
      }
    }
    return failed_ ? 1 : 0;
  }

 private:
  static constexpr double long_analysis = 500;  ///< milliseconds after which no analysis is repeated
  static constexpr int max_calls = 100;

  /// The results of all solvers of a system. Their solutions are checked while other systems are measured.
  struct measured_case {
    std::vector<result_row> rows;
    std::vector<std::future<sptrsv::backward_error_result>> errors;  ///< by row; invalid if the solver failed
  };

  /// Calls step(solver). A solver that throws is not measured further; the others are.
  template <class Step>
  void for_each(const solver_list& solvers, Step step) {
    for (const auto& solver : solvers) {
      if (solver->row.status != row_status::ok) {
        continue;
      }
      try {
        step(*solver);
      } catch (const std::exception& e) {
        solver->row.status = row_status::failed;
        solver->row.message = e.what();
        solver->row.analysis.clear();
        solver->row.warm = {};
      }
    }
  }

  measured_case run(solver_list& solvers) {
    std::map<const factor_solver*, std::future<sptrsv::backward_error_result>> checks;
    for_each(solvers, [&](factor_solver& s) {
      double spent = 0;
      for (int k = 0; k < 3 && spent < long_analysis; ++k) {
        s.row.analysis.push_back(machine_.elapsed([&] { s.analyze(); }));
        spent += s.row.analysis.back();
      }
      s.update_values();
      s.row.update.push_back(machine_.batch([&] { s.update_values(); }, 5));
      s.describe();
      checks[&s] = s.start_check();
    });
    for (int round = 0; round < options_.rounds; ++round) {
      std::shuffle(solvers.begin(), solvers.end(), shuffling_);
      for_each(solvers, [&](factor_solver& s) {
        const auto solve = [&] { s.solve(); };
        const double once = machine_.batch(solve, 1);
        const int calls =
            std::clamp(static_cast<int>(options_.budget / (options_.rounds * once)), 2, max_calls);
        machine_.each_warm(solve, std::min(calls, 10), s.row.warm.single);
        s.row.warm.batch.push_back(machine_.batch(solve, calls));
      });
    }
    measured_case made;
    for (const char* const name : all_solvers) {
      for (const auto& solver : solvers) {
        if (solver->row.policy == name) {
          made.rows.push_back(solver->row);
          made.errors.push_back(std::move(checks[solver.get()]));
        }
      }
    }
    return made;
  }

  void report(measured_case& made) {
    for (std::size_t k = 0; k < made.rows.size(); ++k) {
      if (made.errors[k].valid()) {
        const auto found = made.errors[k].get();
        made.rows[k].backward_error = found.error;
        made.rows[k].error_bound = found.bound;
        if (made.rows[k].status == row_status::ok && !found.ok()) {
          made.rows[k].status = row_status::wrong;
          made.rows[k].message = "the backward error is over its bound";
        }
      }
    }
    const auto reference = std::find_if(made.rows.begin(), made.rows.end(),
                                        [](const result_row& row) { return row.policy == baseline; });
    const result_row* const other = reference == made.rows.end() ? nullptr : &*reference;
    for (result_row& row : made.rows) {
      row.compare_with(other);
      print(row, &row == made.rows.data());
      failed_ = failed_ || row.status == row_status::wrong || row.status == row_status::failed;
      rows_.push_back(row);
    }
    std::fflush(stdout);
    if (!options_.json.empty()) {
      write_results(options_.json, environment_, rows_);
    }
  }

  static void print(const result_row& row, bool is_first) {
    const auto& s = row.system.structure;
    std::printf("%-30s %9s %11lld %7lld | %-17s", is_first ? row.system.label().c_str() : "",
                is_first ? std::to_string(s.rows).c_str() : "", static_cast<long long>(s.entries),
                static_cast<long long>(row.kernel_levels.empty() ? 0 : row.kernel_levels.front()),
                row.policy.c_str());
    if (!row.is_timed()) {
      std::printf(" %s: %s\n", name_of(row.status), row.message.c_str());
      return;
    }
    std::printf(" %10.2f %9.3f | %9.4f %9.4f %8.1f | %7s %6.2g%s\n", row.analysis_ms(),
                common::median(row.update), row.solve_ms(), common::median(row.warm.single), row.gb_s(),
                common::cell(row.speedup, "%.2f").c_str(),
                row.error_bound > 0 ? row.backward_error / row.error_bound : 0.0,
                row.status == row_status::wrong ? "  WRONG" : "");
  }

  options options_;
  environment environment_;
  device_machine machine_;
  std::vector<result_row> rows_;
  bool failed_ = false;
  std::mt19937 shuffling_{1};
};

int run(const options& chosen) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_complete_factors: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  const common::generator_registry registry;
  const auto sources = common::choose_sources(chosen.matrices, registry);
  if (sources.empty()) {
    throw common::usage_error("the options choose no matrix");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t rhs = *std::max_element(chosen.rhs.begin(), chosen.rhs.end());
  measurement made(chosen);
  constexpr std::size_t systems_ahead = 6;  // factorised by other threads
  std::deque<std::future<std::shared_ptr<const factor_system>>> ahead;
  std::size_t next = 0;
  for (const common::matrix_source& now : sources) {
    while (ahead.size() <= systems_ahead && next < sources.size()) {
      ahead.push_back(std::async(std::launch::async, [&source = sources[next++], rhs] {
        return std::make_shared<const factor_system>(make_system(source, rhs));
      }));
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (chosen.time_limit > 0 && spent.count() > chosen.time_limit) {
      std::printf("time limit: %s and what follows were not measured\n", now.name.c_str());
      break;
    }
    auto system = std::move(ahead.front());
    ahead.pop_front();
    try {
      made.measure(system.get());
    } catch (const std::exception& e) {
      made.add_failure(now.name, e.what());
    }
  }
  return made.finish();
}

void add_options(common::command_line& to, options& target) {
  add_matrix_options(to, target.matrices, "the complete Cholesky factor, by CHOLMOD with METIS,", "factors");
  to.add_integers("-k,--rhs", target.rhs, 1, 1 << 16, "K,...",
                  "Right-hand sides of a solve. Default: 1,8,64.");
  to.begin_group("Solvers");
  const std::vector<std::string> names(std::begin(all_solvers), std::end(all_solvers));
  to.add_value("-p,--solvers", "NAME,...", "Any of " + common::joined_names(names) + ". Default: all.",
               [&target, names](const std::string& text) {
                 target.solvers = common::split_list(text);
                 for (const std::string& name : target.solvers) {
                   if (std::find(names.begin(), names.end(), name) == names.end()) {
                     throw common::usage_error("this build has no solver '" + name + "', it has " +
                                               common::joined_names(names));
                   }
                 }
               });
  to.begin_group("Measurement");
  to.add_integer("-r,--rounds", target.rounds, 1, 1000, "R", "Rounds of measurements. Default: 5.");
  to.add_integer("--budget", target.budget, 1, 1000000, "MS",
                 "Milliseconds for one kind of measurement of a solver in all rounds. Default: 15.");
  to.add_integer("--time-limit", target.time_limit, 1, 1000000, "S",
                 "Start no further matrix after S seconds.");
  to.begin_group("Output");
  to.add_text("-o,--json", target.json, "FILE", "Write the results to this file, after each system.");
  to.add_footer(
      "Exit status: 0 if all solutions are right, 1 if one is wrong, a solver fails or another error occurs, "
      "2 for an error in the command line, 77 without a GPU.");
}

}  // namespace
}  // namespace sptrsv_benchmarks::complete_factors

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_complete_factors",
      "Measures forward and backward solves with complete factors, beside cuDSS, cuSPARSE and cuBLAS.");
  sptrsv_benchmarks::complete_factors::options options;
  for (int k = 0; k < argc; ++k) {
    options.command += (k > 0 ? " " : "") + std::string(argv[k]);
  }
  add_options(arguments, options);
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::complete_factors::run(options); });
}
