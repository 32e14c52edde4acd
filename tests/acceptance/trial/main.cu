// The acceptance trial: tries to make the solvers of one GPU hang, fail, or return a wrong or another
// solution. Each mode prints one line of counts. `--help` lists the modes and the options.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/measurement/placement.hpp"
#include "policies.cuh"

namespace sptrsv_trial {
namespace {

namespace common = sptrsv_common;

struct mode {
  const char* name;
  mode_result (*run)(const trial_options&);
};
constexpr mode modes[] = {{"load", run_load},           {"process", run_process}, {"bits", run_bits},
                          {"malformed", run_malformed}, {"values", run_values},   {"large", run_large},
                          {"sanitize", run_sanitize}};

/// Returns the modes of these names; without names all.
std::vector<mode> choose_modes(const std::vector<std::string>& names) {
  std::vector<mode> chosen;
  for (const std::string& name : names) {
    const auto* const found =
        std::find_if(std::begin(modes), std::end(modes), [&](const mode& m) { return m.name == name; });
    if (found == std::end(modes)) {
      throw common::usage_error("there is no mode '" + name + "'");
    }
    chosen.push_back(*found);
  }
  return names.empty() ? std::vector<mode>(std::begin(modes), std::end(modes)) : chosen;
}

/// Throws usage_error for a name of a form that this program does not have.
void expect_known_policies(const trial_options& options) {
  for (const std::string& name : options.policies) {
    trial_options only;
    only.policies = {name};
    if (chosen_policies<f64>(only).empty() && chosen_policies<c64>(only).empty()) {
      throw common::usage_error("this program has no policy '" + name + "'");
    }
  }
}

/// Runs the modes. Returns the exit status. Stops where the GPU is lost.
int run(const std::vector<mode>& chosen, const trial_options& options) {
  mode_result all;
  for (const mode& each : chosen) {
    const auto start = std::chrono::steady_clock::now();
    const mode_result result = each.run(options);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%-10s %8lld cases %9lld solves %13lld components compared %4lld failures %7.1f s\n",
                each.name, static_cast<long long>(result.cases), static_cast<long long>(result.solves),
                static_cast<long long>(result.components), static_cast<long long>(result.failures),
                seconds.count());
    std::fflush(stdout);
    all.solves += result.solves;
    all.failures += result.failures;
  }
  return all.failures == 0 && all.solves > 0 ? 0 : 1;
}

void add_options(common::command_line& to, trial_options& target) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  to.begin_group("Trial");
  to.add_integer("--seconds", target.seconds, 1, 86400, "S",
                 "Time of each mode. A round that has begun is completed. Default: 20.");
  to.add_integer("--limit", target.limit, 1, 86400, "S",
                 "Work on the GPU that does not end within this time counts as a hang. Default: 60.");
  to.add_integer("--large-entries", target.large_entries, 1000000, 100000000000, "N",
                 "Entries of the system of the mode large. Default: 2200000000.");
  to.begin_group("To repeat a failure");
  to.add_integer("--seed", target.seed, 0, most, "N", "Seed of the first round of each mode. Default: 1.");
  to.add_integer("--rounds", target.rounds, 0, most, "N",
                 "Rounds of each mode. Default: 0, as many as the time allows.");
  to.add_value(
      "-p,--policies", "NAME,...",
      "Forms of policies, with or without their types, for example dataflow or dataflow_f64_i32_o32. "
      "Default: all.",
      [&target](const std::string& names) { target.policies = common::split_list(names); });
  to.add_footer(
      "Exit status: 0 if nothing fails, 1 if something fails, 2 for an error in the command line, 3 if work "
      "on the GPU does not end, 77 if there is no GPU.");
}

}  // namespace
}  // namespace sptrsv_trial

int main(int argc, char** argv) {
  using namespace sptrsv_trial;
  common::command_line arguments(
      "sptrsv_trial",
      "Tries to make the solvers of one GPU hang, fail, or return a wrong or another solution. The modes:\n"
      "load: eight threads with four streams each solve, replay graphs, update values and analyse on a busy "
      "GPU.\n"
      "process: solvers beside threads that synchronise, allocate and capture graphs.\n"
      "bits: repeated solves under changing load have the same bits.\n"
      "malformed: analyze refuses malformed matrices with the documented error.\n"
      "values: NaN, infinities, zeros and subnormal numbers act as in serial substitution.\n"
      "large: more than 2^31 entries, allocations that are refused, and a nearly full GPU.\n"
      "sanitize: one small case of each form, for compute-sanitizer.");
  trial_options options;
  std::vector<std::string> names;
  arguments.add_positionals("MODE", names, false, "Modes to run. Default: all.");
  add_options(arguments, options);
  return arguments.run(argc, argv, [&] {
    const std::vector<mode> chosen = choose_modes(names);
    expect_known_policies(options);
    if (!common::has_gpu()) {
      std::printf("no GPU on this machine: skipped\n");
      return common::exit_no_gpu;
    }
    return run(chosen, options);
  });
}
