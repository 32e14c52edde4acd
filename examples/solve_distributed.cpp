// Solves with the complete factor of a grid on several GPUs, checks the solutions, and prints the times.
// `solve_distributed --help` lists the options.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/measurement/distributed_options.hpp"
#include "common/measurement/distributed_processes.cuh"
#include "common/terminal/table.hpp"

namespace {

using namespace sptrsv_common;

struct solve_options {
  std::vector<std::int64_t> pes{1};
  std::int64_t gpus = 0;  ///< 0: all
  std::int64_t grid = 32;
  team_kind team = team_kind::processes;
  std::int64_t limit_s = 300;
  std::string join;  ///< host and port of PE 0; empty: the program starts the PEs
  distributed_run run;
};

const choices<team_kind>& team_names() {
  static const choices<team_kind> names{
      {"processes", team_kind::processes},
      {"threads", team_kind::threads},
#ifdef SPTRSV_WITH_NVSHMEM
      {"nvshmem", team_kind::nvshmem},
      {"nvshmem_puts", team_kind::nvshmem_puts},
#endif
  };
  return names;
}

void begin_table(table& t, vertex side, const grid_factor& factor) {
  std::printf("Factor of a %d x %d x %d grid: %s rows, %s entries\n\n", side, side, side,
              grouped(factor.rows()).c_str(), grouped(factor.entries()).c_str());
  t.add_row("", {"solving PEs", "time", "predicted", "setup", "messages", "sent", "memory of a PE",
                 "backward error"});
}

/// Adds the line of a run. Returns whether its solution is right.
bool add_result(table& t, bool backward, std::int64_t pes, const distributed_result& r) {
  const bool is_right = r.error <= r.bound;
  t.add_row(
      std::string(backward ? "L^T x = b, " : "L x = b, ") + std::to_string(pes) + (pes == 1 ? " PE" : " PEs"),
      {std::to_string(r.facts.pes), in_milliseconds(r.milliseconds),
       in_milliseconds(r.facts.predicted_ns / 1e6), formatted("%.2f s", r.setup_seconds),
       grouped(r.facts.messages), in_bytes(static_cast<std::size_t>(r.facts.sent_bytes)),
       in_bytes(r.facts.device_bytes), formatted("%.1e", r.error) + (is_right ? " OK" : " WRONG")});
  return is_right;
}

/// Solves as one of the processes that srun or mpirun has started.
int solve_in_job(solve_options options) {
  const job_place place = find_job_place();
  const std::size_t colon = options.join.rfind(':');
  if (place.size == 0 || colon == std::string::npos || options.team == team_kind::threads) {
    std::fprintf(stderr, "solve_distributed: --join HOST:PORT is for processes that srun or mpirun starts\n");
    return 2;
  }
  const auto side = static_cast<vertex>(options.grid);
  const grid_factor factor({side, side, side});
  int exit_status = 0;
  try {
    int gpus = 0;
    SPTRSV_CUDA_CHECK(cudaGetDeviceCount(&gpus));
    const char* const token = std::getenv("SPTRSV_TOKEN");
    SPTRSV_EXPECTS(
        token != nullptr, sptrsv::errc::invalid_argument,
        "--join needs the environment variable SPTRSV_TOKEN: the same random text of 16 to 63 bytes "
        "in all processes, for example $(openssl rand -hex 16)");
    socket_group group(place.rank, place.size, options.join.substr(0, colon),
                       std::atoi(options.join.c_str() + colon + 1), token,
                       static_cast<double>(options.limit_s));
    table t;
    if (place.rank == 0) {
      begin_table(t, side, factor);
    }
    for (const bool backward : {false, true}) {
      options.run.backward = backward;
      const distributed_result r =
          measure_as_process(group, place.rank_on_host % gpus, options.team, factor, options.run);
      if (place.rank == 0 && !add_result(t, backward, place.size, r)) {
        exit_status = 1;
      }
    }
    if (place.rank == 0) {
      t.print();
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "solve_distributed, PE %d: %s\n", place.rank, e.what());
    std::_Exit(1);  // a kernel may wait for another PE
  }
  return exit_status;
}

int solve(solve_options options) {
  if (!options.join.empty()) {
    return solve_in_job(options);
  }
  const int present = count_gpus();
  if (present == 0) {
    std::fprintf(stderr, "solve_distributed: this machine has no GPU\n");
    return exit_no_gpu;
  }
  if (options.team == team_kind::threads) {
    // Hardware queues for the streams of all PEs of a GPU (thread_team.cuh); CUDA reads it when it starts. A
    // process has few streams, and MPS has no room for so many queues of several processes.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  }
  const auto gpus = options.gpus == 0 ? present : static_cast<int>(options.gpus);
  const auto side = static_cast<vertex>(options.grid);
  const grid_factor factor({side, side, side});
  table t;
  begin_table(t, side, factor);
  bool is_right = true;
  for (const bool backward : {false, true}) {
    for (const std::int64_t pes : options.pes) {
      options.run.backward = backward;
      std::string failure;
      const distributed_result r =
          options.team == team_kind::threads
              ? measure_distributed(factor, deal_to_gpus(static_cast<int>(pes), gpus), options.run)
              : measure_in_processes(factor, static_cast<int>(pes), gpus, options.team, options.run,
                                     static_cast<double>(options.limit_s), failure);
      if (!failure.empty()) {
        std::fprintf(stderr, "solve_distributed: %s; the run with %d PEs has ended\n", failure.c_str(),
                     static_cast<int>(pes));
        return 1;
      }
      is_right = add_result(t, backward, pes, r) && is_right;
    }
  }
  t.print();
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  command_line arguments(
      "solve_distributed",
      "Solves with the complete Cholesky factor of a 3-D grid, in nested dissection order, on "
      "several processing elements (PEs). Each PE is a process, makes its own rows of the factor, "
      "and has a GPU or a share of one. A PE that fails ends the run.");
  solve_options options;
  arguments.begin_group("PEs");
  arguments.add_integers("-n,--pes", options.pes, 1, 64, "N,...", "Numbers of PEs. Default: 1.");
  arguments.add_integer("--gpus", options.gpus, 1, 64, "N",
                        "GPUs that the PEs are dealt to. Default: all of the machine.");
  arguments.add_integer("--solving", options.run.policy.pes, 0, 64, "N",
                        "How many of the PEs solve. Default: the model chooses.");
  arguments.add_choice("--team", options.team, team_names(),
                       "What PEs are: processes with memory that CUDA maps into all of them, threads of one "
                       "process, or processes with NVSHMEM. Default: processes.");
  arguments.add_choice("-d,--dealing", options.run.policy.dealing, dealing_names(),
                       "How supernodes are dealt to PEs. Default: the model chooses.");
  arguments.add_integer("--grid-rows", options.run.policy.grid_rows, 0, 1 << 10, "N",
                        "Rows of the grid of PEs, for the dealing grid. Default: 0, what the model says.");
  arguments.add_choice("--tree", options.run.policy.tree, tree_names(),
                       "How a value goes to several PEs. Default: automatic.");
  arguments.add_choice("-t,--transport", options.run.policy.transport, transport_names(),
                       "How values go to other PEs. Default: automatic.");
  arguments.add_integer("--time-limit", options.limit_s, 1, 1 << 20, "S",
                        "Seconds after which processes that have not ended are ended. Default: 300.");
  arguments.add_text(
      "--join", options.join, "HOST:PORT",
      "Be one of the PEs that srun or mpirun has started; PE 0 runs on HOST. All have the same random "
      "text in SPTRSV_TOKEN.");
  arguments.begin_group("System");
  arguments.add_integer("-g,--grid", options.grid, 1, 200, "N", "A grid of N x N x N points. Default: 32.");
  arguments.add_integer("-k,--rhs", options.run.rhs, 1, 1 << 10, "K", "Right-hand sides. Default: 1.");
  arguments.begin_group("Measurement");
  arguments.add_integer("-r,--repeat", options.run.rounds, 1, 100000, "N",
                        "Number of rounds of 20 solves. The program prints their median. Default: 5.");
  return arguments.run(argc, argv, [&] { return solve(options); });
}
