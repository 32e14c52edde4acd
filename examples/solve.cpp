// Solves a sparse triangular system of a file or of a model problem, checks the solution, and prints the
// times. `solve --help` lists the options.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/measurement/floors.hpp"
#include "common/measurement/placement.hpp"
#include "common/policies/policy_list.hpp"
#include "common/systems/seeded_values.hpp"
#include "common/terminal/progress.hpp"
#include "common/terminal/table.hpp"
#include "solve/measurement.hpp"
#include "solve/options.hpp"
#include "solve/problem.hpp"
#include "sptrsv/sptrsv.hpp"

namespace {

using namespace sptrsv_common;
using namespace sptrsv_examples;

/// Returns whether the host solves, and prints a note if it does so because there is no GPU. Throws if the
/// options ask for the GPU and there is none, or if the policy runs on the other side.
bool choose_host(const solve_options& options) {
  side wanted = options.where;
  for_each_policy(all_policies{}, [&](auto policy) {
    if (options.policy == decltype(policy)::name) {
      const side needed = runs_on_host<decltype(policy)> ? side::host : side::device;
      SPTRSV_EXPECTS(wanted == side::any || wanted == needed, sptrsv::errc::unsupported,
                     options.policy + " runs on the " + (needed == side::host ? "host" : "GPU"));
      wanted = needed;
    }
  });
  if (wanted == side::host || has_gpu()) {
    return wanted == side::host;
  }
#ifdef __CUDACC__
  const char* const reason = "this machine has no GPU";
#else
  const char* const reason = "this program was built without CUDA";
#endif
  SPTRSV_EXPECTS(wanted == side::any, sptrsv::errc::unsupported, reason);
  std::printf("%s: solving on the host\n", reason);
  return true;
}

/// Calls `visit(policy)` for the policy that the options name, or for all policies of the side that solves if
/// the options ask for the fastest.
template <class Visit>
void for_each_candidate(const solve_options& options, bool on_host, Visit visit) {
  const std::string wanted = options.policy.empty() ? default_policy(on_host) : options.policy;
  for_each_policy(all_policies{}, [&](auto policy) {
    using policy_type = decltype(policy);
    if (runs_on_host<policy_type> == on_host && (wanted == fastest || wanted == policy_type::name)) {
      visit(policy);
    }
  });
}

/// The results of one step of a problem.
struct step_report {
  std::string name;
  sptrsv::triangle_structure structure;
  std::vector<std::string> trials;  ///< policies with their times in the trial
  measurement result;
  double bandwidth_ms = 0;
  std::optional<double> latency_ms;  ///< of the inter-block latency model; the host has none

  [[nodiscard]] double larger_estimate_ms() const { return std::max(bandwidth_ms, latency_ms.value_or(0)); }
};

/// Throws sptrsv::error if the solve met a zero pivot or a value that is not finite.
void expect_solved(const step_report& report) {
  if (const sptrsv::solve_status& status = report.result.status; !status.ok()) {
    const bool pivot = status.code == sptrsv::solve_status::kind::zero_pivot;
    throw_no_solution(report.name, pivot ? "zero pivot" : "a solution that is not finite",
                      status.row.value_or(-1));
  }
}

/// Solves one step with the fastest candidate and replaces `b` by the solution. The trial also loads the
/// kernels, so that the measured times do not include loading.
template <class Value>
step_report run_step(const problem_step& step, const sptrsv::csr_matrix<Value>& matrix, std::vector<Value>& b,
                     const solve_options& options, bool on_host, progress_line& progress) {
  step_report report;
  report.name = step.name;
  progress.begin("counting the levels of " + step.name);
  report.structure = sptrsv::structure_of(matrix, step.options);

  std::string best;
  double best_ms = 0;
  for_each_candidate(options, on_host, [&](auto policy) {
    const std::string name = decltype(policy)::name;
    progress.begin("trying " + name + " on " + step.name);
    const double ms = try_policy(policy, matrix, step.options, b);
    report.trials.push_back(name + " " + in_milliseconds(ms));
    if (best.empty() || ms < best_ms) {
      best = name;
      best_ms = ms;
    }
  });
  for_each_candidate(options, on_host, [&](auto policy) {
    if (best == decltype(policy)::name) {
      progress.begin("solving " + step.name + " with " + best);
      report.result = measure(policy, matrix, step.options, b, options.repeat);
      expect_solved(report);
    }
  });
  return report;
}

/// Returns the bytes per millisecond of a copy in the memory of the side that solves.
double bandwidth_of(bool on_host) {
#ifdef __CUDACC__
  if (!on_host) {
    return copy_bandwidth(device_placement{});
  }
#endif
  static_cast<void>(on_host);
  return copy_bandwidth(host_placement{});
}

void print(const std::vector<step_report>& reports, double bytes_per_ms) {
  table t;
  const auto add = [&](const char* label, auto cell) {
    std::vector<std::string> cells;
    cells.reserve(reports.size());
    for (const step_report& r : reports) {
      cells.push_back(cell(r));
    }
    t.add_row(label, std::move(cells));
  };
  add("", [](const step_report& r) { return r.name; });
  add("rows", [](const step_report& r) { return grouped(r.structure.rows); });
  add("entries", [](const step_report& r) { return grouped(r.structure.entries); });
  add("levels", [](const step_report& r) { return grouped(r.structure.levels); });
  add("longest row", [](const step_report& r) { return grouped(r.structure.longest_row); });
  add("policy", [](const step_report& r) { return r.result.info.policy; });
  add("analysis", [](const step_report& r) { return in_milliseconds(r.result.analysis_ms); });
  add("solve, median", [](const step_report& r) { return in_milliseconds(r.result.solve_ms); });
  add("bandwidth model", [](const step_report& r) { return in_milliseconds(r.bandwidth_ms); });
  add("latency model",
      [](const step_report& r) { return r.latency_ms ? in_milliseconds(*r.latency_ms) : std::string("-"); });
  add("solve / larger model", [](const step_report& r) {
    return r.larger_estimate_ms() > 0 ? formatted("%.1f", r.result.solve_ms / r.larger_estimate_ms()) : "-";
  });
  add("solver holds", [](const step_report& r) { return in_bytes(r.result.info.solver_bytes); });
  add("workspace holds", [](const step_report& r) { return in_bytes(r.result.info.workspace_bytes); });
  add("backward error", [](const step_report& r) { return formatted("%.2e", r.result.quality.error); });
  add("bound of the error", [](const step_report& r) { return formatted("%.2e", r.result.quality.bound); });
  add("solution", [](const step_report& r) { return r.result.ok() ? "OK" : "WRONG"; });

  std::printf("\n");
  t.print();
  std::printf("\n");
  for (const step_report& r : reports) {
    std::printf("%s ran on %s:\n", r.name.c_str(), r.result.info.device.c_str());
    if (!r.result.info.plan.empty()) {
      std::printf("  %s\n", r.result.info.plan.c_str());
    }
    for (const sptrsv::kernel_info& kernel : r.result.info.kernels) {
      std::printf("  %s\n", kernel.text.c_str());
    }
    if (r.trials.size() > 1) {
      std::printf("  in the trial:");
      for (const std::string& trial : r.trials) {
        std::printf("%s %s", &trial == r.trials.data() ? "" : ",", trial.c_str());
      }
      std::printf("\n");
    }
  }
  std::printf(
      "Bandwidth model: every byte of the system moves once, at the bandwidth of a copy in memory, %.1f "
      "GB/s. "
      "A system that\nstays in the caches takes less time.\n",
      bytes_per_ms / 1e6);
  if (reports[0].latency_ms) {
    std::printf(
        "Inter-block latency model: a value passes through the L2 cache once per level, in %.0f ns.\n",
        device_hop * 1e6);
  }
}

/// Solves all steps of a problem, prints the results and writes the solution. Returns whether all solutions
/// are right; a wrong one is not written.
template <class Value>
bool solve_problem(problem<Value> p, solve_options options, bool on_host, progress_line& progress) {
  std::vector<Value> b;
  if (options.rhs_file.empty()) {
    b = seeded_vector<Value>(p.matrix.rows * options.rhs, 1);
  } else {
    b = read_right_hand_sides<Value>(options.rhs_file, p.matrix.rows);
    options.rhs = static_cast<std::int64_t>(b.size()) / std::max<std::int64_t>(p.matrix.rows, 1);
  }
  progress.clear();
  std::printf("%s\n", p.title.c_str());
  for (const std::string& note : p.notes) {
    std::printf("%s\n", note.c_str());
  }
  progress.begin("measuring the bandwidth of the memory");
  const double bytes_per_ms = bandwidth_of(on_host);

  std::vector<step_report> reports;
  for (problem_step& step : p.steps) {
    step.options.max_rhs = options.rhs;
    reports.push_back(run_step(step, p.matrix, b, options, on_host, progress));
    step_report& report = reports.back();
    report.bandwidth_ms =
        bytes_of_solve<Value, std::int32_t, std::int32_t>(report.structure, options.rhs) / bytes_per_ms;
    if (!on_host) {
      report.latency_ms = static_cast<double>(report.structure.levels) * device_hop;
    }
  }
  progress.clear();
  print(reports, bytes_per_ms);
  const bool ok =
      std::all_of(reports.begin(), reports.end(), [](const step_report& r) { return r.result.ok(); });
  if (ok && !options.output.empty()) {
    sptrsv_common::write_matrix_market(options.output, as_columns(std::as_const(b), p.matrix.rows));
  }
  return ok;
}

bool run(const solve_options& options) {
  progress_line progress(options.progress || stderr_is_terminal());
  const bool on_host = choose_host(options);
  if (options.file.empty()) {
    const std::int64_t grid = options.grid > 0 ? options.grid : on_host ? 64 : 128;
    return solve_problem(make_poisson_problem(grid, progress), options, on_host, progress);
  }
  const auto is_complex = [](const std::string& path) {
    return !path.empty() &&
           sptrsv_common::read_matrix_market_header(path).field == sptrsv_common::mm_field::complex;
  };
  if (is_complex(options.file) || is_complex(options.rhs_file)) {
    return solve_problem(make_file_problem<std::complex<double>>(options, progress), options, on_host,
                         progress);
  }
  return solve_problem(make_file_problem<double>(options, progress), options, on_host, progress);
}

}  // namespace

int main(int argc, char** argv) {
  command_line arguments("solve",
                         "Solves a sparse triangular system, checks the solution, and prints the times.");
  solve_options options;
  add_solve_options(arguments, options);
  return arguments.run(argc, argv, [&] { return run(options) ? 0 : 1; });
}
