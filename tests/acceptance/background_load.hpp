// The trial of host_parallel on a machine that other programs use: the time of a solve beside busy processes,
// as a multiple of the time of one worker.
#pragma once

#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/generators/cholesky.hpp"
#include "common/generators/grids.hpp"
#include "common/measurement/placement.hpp"
#include "common/measurement/statistics.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_acceptance {

namespace common = sptrsv_common;

/// Processes that compute without a pause until the object is destroyed.
class busy_processes {
 public:
  explicit busy_processes(std::int64_t count) {
    const pid_t parent = getpid();
    for (std::int64_t i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive this process
        for (volatile unsigned counted = 0; getppid() == parent || counted == 0; ++counted) {
        }
        std::_Exit(0);
      }
      if (child < 0) {
        throw std::runtime_error("a busy process cannot be started");
      }
      ids_.push_back(child);
    }
  }
  busy_processes(const busy_processes&) = delete;
  busy_processes& operator=(const busy_processes&) = delete;
  ~busy_processes() {
    for (const pid_t id : ids_) {
      kill(id, SIGKILL);
      waitpid(id, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> ids_;
};

/// Compares host_parallel, with the number of workers that it chooses and with the one asked for, to one
/// worker. All three solve in turns of ten, so that what else the machine does meets them alike.
class background_load_trial {
 public:
  static constexpr double aim = 1.3;  ///< largest ratio of the medians

  explicit background_load_trial(std::int64_t most_processes) : most_processes_(most_processes) {}

  /// Returns whether all medians are within the aim.
  bool run() {
    std::printf(
        "Time of host_parallel as a multiple of that of one worker. chosen: workers = 0. asked: workers = 2, "
        "which has no trial.\nload: when the busy processes start. The aim for chosen is a median of at most "
        "%g.\n\n%-26s %5s %-15s %10s %14s %13s %13s %12s\n",
        aim, "system", "busy", "load", "one [ms]", "chosen, median", "chosen, mean", "asked, median",
        "asked, mean");
    const common::pattern grid = common::star_stencil({64, 64, 64});
    const common::pattern factor = common::complete_cholesky_of_grid({250, 250, 1});
    for (std::int64_t processes = 0; processes <= most_processes_; ++processes) {
      try_both("7-point 64^3, L", processes, values_of(grid), false);
      try_both("factors of 250^2, L L^T", processes, values_of(factor), true);
    }
    std::printf("\n%lld of %lld medians exceed the aim\n", static_cast<long long>(beyond_),
                static_cast<long long>(rows_));
    return beyond_ == 0;
  }

 private:
  using matrix = sptrsv::csr_matrix<double>;
  using vector = std::vector<double>;
  using solve_call = std::function<void(const vector& b, vector& x)>;
  static constexpr int turns = 40;
  static constexpr int solves_of_turn = 10;

  /// Returns the matrix of a pattern, with a dominant diagonal.
  static matrix values_of(const common::pattern& p) {
    const auto entries = static_cast<std::int64_t>(p.columns.size());
    matrix made{p.rows(), p.rows(), p.row_offsets, p.columns, common::seeded_vector<double>(entries, 5)};
    for (std::size_t row = 0; row + 1 < p.row_offsets.size(); ++row) {
      const std::int32_t end = p.row_offsets[row + 1];
      made.values[static_cast<std::size_t>(end) - 1] = end - p.row_offsets[row];
    }
    return made;
  }
  /// Analyses L x = b, or L L^T x = b if `both`, and returns the call that solves it.
  static solve_call analysed(const matrix& a, bool both, int workers) {
    const sptrsv::policy::host_parallel policy{workers};
    if (!both) {
      const auto solver = std::make_shared<decltype(analyze(policy, a))>(analyze(policy, a));
      return [solver](const vector& b, vector& x) { solver->solve(b, x); };
    }
    sptrsv::factors_options<double> options;
    options.first = {sptrsv::uplo::lower, sptrsv::diag::non_unit, sptrsv::op::none};
    options.second = {sptrsv::uplo::lower, sptrsv::diag::non_unit, sptrsv::op::transpose};
    const auto factors =
        std::make_shared<decltype(analyze_factors(policy, a, options))>(analyze_factors(policy, a, options));
    return [factors](const vector& b, vector& x) { factors->apply(b, x); };
  }
  static std::vector<solve_call> analyse_all(const matrix& a, bool both) {
    return {analysed(a, both, 1), analysed(a, both, 0), analysed(a, both, 2)};
  }

  void try_both(const char* name, std::int64_t processes, const matrix& a, bool both) {
    {
      const auto calls = analyse_all(a, both);
      const busy_processes others(processes);
      measure(name, processes, processes > 0 ? "after analysis" : "-", calls, a.rows);
    }
    if (processes > 0) {
      const busy_processes others(processes);
      measure(name, processes, "before analysis", analyse_all(a, both), a.rows);
    }
  }
  void measure(const char* name, std::int64_t processes, const char* start,
               const std::vector<solve_call>& calls, std::int64_t rows) {
    const auto b = common::seeded_vector<double>(rows, 3);
    vector x(b.size());
    std::vector<vector> times(calls.size());
    for (int turn = 0; turn < turns; ++turn) {
      for (std::size_t k = 0; k < calls.size(); ++k) {
        const double all = common::host_placement::time([&] {
          for (int i = 0; i < solves_of_turn; ++i) {
            calls[k](b, x);
          }
        });
        times[k].push_back(all / solves_of_turn);
      }
    }
    const auto mean = [](const vector& v) { return std::accumulate(v.begin(), v.end(), 0.0) / turns; };
    const double one = common::median(times[0]);
    const double chosen = common::median(times[1]) / one;
    std::printf("%-26s %5lld %-15s %10.3f %14.2f %13.2f %13.2f %12.2f%s\n", name,
                static_cast<long long>(processes), start, one, chosen, mean(times[1]) / mean(times[0]),
                common::median(times[2]) / one, mean(times[2]) / mean(times[0]),
                chosen > aim ? "  beyond the aim" : "");
    std::fflush(stdout);
    ++rows_;
    beyond_ += chosen > aim ? 1 : 0;
  }

  std::int64_t most_processes_;
  std::int64_t rows_ = 0;
  std::int64_t beyond_ = 0;
};

}  // namespace sptrsv_acceptance
