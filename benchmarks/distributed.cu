// Distributed solves beside the policies of one GPU, on complete factors of grids: numbers of PEs, ways to
// deal supernodes to them, and the predictions of the model. `sptrsv_distributed --help` lists the options.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/command_line/command_line.hpp"
#include "common/measurement/distributed_options.hpp"
#include "common/measurement/distributed_solves.cuh"
#include "common/terminal/table.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/policy/supernodal.hpp"

namespace {

using namespace sptrsv_common;

struct benchmark_options {
  std::vector<std::int64_t> sides{32};
  std::vector<std::int64_t> pes{1, 2};
  std::vector<sptrsv::supernode_dealing> dealings{
      sptrsv::supernode_dealing::subtrees, sptrsv::supernode_dealing::top, sptrsv::supernode_dealing::cyclic,
      sptrsv::supernode_dealing::grid};
  std::vector<std::int64_t> grid_rows{0};
  std::vector<sptrsv::pe_tree> trees{sptrsv::pe_tree::automatic};
  std::vector<sptrsv::pe_transport> transports{sptrsv::pe_transport::automatic};
  bool has_dataflow = true;
  std::int64_t gpus = 0;  ///< 0: all
  std::int64_t rhs = 1;
  int rounds = 5;
};

/// Returns the milliseconds of a solve of one GPU with a policy.
template <class Policy>
double one_gpu(const Policy& policy, const sptrsv::csr_matrix<double>& factor, const distributed_run& run) {
  const cuda_stream stream;
  sptrsv::system_options options;
  options.operation = run.backward ? sptrsv::op::transpose : sptrsv::op::none;
  options.max_rhs = run.rhs;
  const auto a = sptrsv::to_device(factor, stream.get());
  auto solver = sptrsv::analyze(policy, a, options, stream.get());
  const auto b = sptrsv::to_device(std::vector<double>(static_cast<std::size_t>(factor.rows * run.rhs), 1.0),
                                   stream.get());
  const auto x = sptrsv::to_device(std::vector<double>(b.size()), stream.get());
  std::vector<double> times;
  for (int round = -1; round < run.rounds; ++round) {  // the first one loads the kernels
    const double ms = device_time(
        [&] {
          for (int k = 0; k < run.solves; ++k) {
            solver.solve({b.data(), factor.rows, run.rhs, 1, factor.rows},
                         {x.data(), factor.rows, run.rhs, 1, factor.rows}, stream.get());
          }
        },
        stream.get());
    if (round >= 0) {
      times.push_back(ms / run.solves);
    }
  }
  return median(times);
}

/// How the supernodes are dealt to how many PEs.
struct configuration {
  std::string name;
  sptrsv::policy::distributed policy;
  int pes;
};

/// Returns the configurations of `pes` PEs. One PE has all supernodes, however they are dealt, and sends
/// nothing. A grid whose rows do not divide the number of PEs is left out.
std::vector<configuration> configurations(int pes, const benchmark_options& options) {
  std::vector<configuration> made;
  const auto name_of = [](const auto& names, const auto& value) {
    const auto at =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.second == value; });
    return std::string(at->first);
  };
  for (const sptrsv::supernode_dealing dealing : options.dealings) {
    const bool is_grid = dealing == sptrsv::supernode_dealing::grid;
    for (const std::int64_t rows : is_grid ? options.grid_rows : std::vector<std::int64_t>{0}) {
      for (const sptrsv::pe_tree tree : options.trees) {
        for (const sptrsv::pe_transport transport : options.transports) {
          if ((pes == 1 && !made.empty()) || (rows > 0 && pes % rows != 0)) {
            continue;
          }
          sptrsv::policy::distributed policy;
          policy.pes = pes;
          policy.dealing = dealing;
          policy.grid_rows = static_cast<int>(rows);
          policy.tree = tree;
          policy.transport = transport;
          std::string text = ", " + name_of(dealing_names(), dealing);
          text += rows > 0 ? " " + std::to_string(rows) + " x " + std::to_string(pes / rows) : "";
          text += tree == sptrsv::pe_tree::automatic ? "" : ", " + name_of(tree_names(), tree);
          text += transport == sptrsv::pe_transport::automatic ? ""
                                                               : ", " + name_of(transport_names(), transport);
          made.push_back({pes > 1 ? text : "", policy, pes});
        }
      }
    }
  }
  return made;
}

int measure(const benchmark_options& options) {
  int present = 0;
  if (cudaGetDeviceCount(&present) != cudaSuccess || present == 0) {
    std::fprintf(stderr, "sptrsv_distributed: this machine has no GPU\n");
    return exit_no_gpu;
  }
  const auto gpus = options.gpus == 0 ? present : static_cast<int>(options.gpus);
  bool is_right = true;
  for (const std::int64_t n : options.sides) {
    const auto side = static_cast<vertex>(n);
    const grid_factor factor({side, side, side});
    std::printf("Factor of a %d x %d x %d grid: %s rows, %s entries, %d right-hand sides, %d GPUs\n", side,
                side, side, grouped(factor.rows()).c_str(), grouped(factor.entries()).c_str(),
                static_cast<int>(options.rhs), gpus);
    table t;
    t.add_row("", {"forward", "predicted", "backward", "predicted", "setup", "values sent", "puts", "sent",
                   "memory of a PE"});
    distributed_run run;
    run.rhs = options.rhs;
    run.rounds = options.rounds;
    const auto whole = factor.make_rows(0, factor.rows());
    const auto add_policy = [&](const auto& policy) {
      std::vector<std::string> cells;
      for (const bool backward : {false, true}) {
        run.backward = backward;
        cells.push_back(in_milliseconds(one_gpu(policy, whole, run)));
        cells.push_back("-");
      }
      t.add_row(std::string(policy.name) + ", one GPU", cells);
    };
    add_policy(sptrsv::policy::supernodal{});
    if (options.has_dataflow) {
      add_policy(sptrsv::policy::dataflow{});
    }
    std::vector<std::string> plans;
    for (const std::int64_t pes : options.pes) {
      for (const configuration& c : configurations(static_cast<int>(pes), options)) {
        std::vector<std::string> cells;
        distributed_result r;
        run.policy = c.policy;
        for (const bool backward : {false, true}) {
          run.backward = backward;
          r = measure_distributed(factor, deal_to_gpus(c.pes, gpus), run);
          plans.push_back(r.plan);
          const bool ok = r.error <= r.bound;
          is_right = is_right && ok;
          cells.push_back(ok ? in_milliseconds(r.milliseconds) : "WRONG");
          cells.push_back(in_milliseconds(r.facts.predicted_ns / 1e6));
        }
        cells.push_back(sptrsv_common::formatted("%.2f s", r.setup_seconds));
        cells.push_back(grouped(r.facts.messages));
        cells.push_back(grouped(r.facts.puts));
        cells.push_back(in_bytes(static_cast<std::size_t>(r.facts.sent_bytes)));
        cells.push_back(in_bytes(r.facts.device_bytes));
        t.add_row(std::to_string(c.pes) + (c.pes == 1 ? " PE" : " PEs") + c.name, cells);
      }
    }
    t.print();
    for (const std::string& plan : plans) {
      std::printf("%s\n", plan.c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  command_line arguments(
      "sptrsv_distributed",
      "Compares distributed solves with complete factors of 3-D grids, for several numbers of "
      "processing elements (PEs) and ways to deal supernodes to them, with each other and with "
      "policies of one GPU.");
  benchmark_options options;
  arguments.begin_group("Systems");
  arguments.add_integers("-g,--grid", options.sides, 1, 200, "N,...",
                         "Grids of N x N x N points. Default: 32.");
  arguments.add_integer("-k,--rhs", options.rhs, 1, 1 << 10, "K", "Right-hand sides. Default: 1.");
  arguments.begin_group("PEs");
  arguments.add_integers("-n,--pes", options.pes, 1, 64, "N,...", "Numbers of PEs. Default: 1,2.");
  arguments.add_integer("--gpus", options.gpus, 1, 64, "N",
                        "GPUs that the PEs are dealt to. Default: all of the machine.");
  arguments.add_choices("-d,--dealings", options.dealings, dealing_names(),
                        "How supernodes are dealt to PEs. Default: all of them.");
  arguments.add_integers("--grid-rows", options.grid_rows, 0, 64, "N,...",
                         "Rows of the grid of PEs, for the dealing grid. Default: 0, what the model says.");
  arguments.add_choices("--trees", options.trees, tree_names(),
                        "How a value goes to several PEs. Default: automatic.");
  arguments.add_choices("-t,--transports", options.transports, transport_names(),
                        "How values go to other PEs. Default: automatic, which is by direct stores here.");
  arguments.begin_group("Measurement");
  arguments.add_flag("--no-dataflow", "Leave out the policy dataflow on one GPU.",
                     [&] { options.has_dataflow = false; });
  arguments.add_integer("-r,--repeat", options.rounds, 1, 100000, "N",
                        "Number of rounds of 20 solves. The program prints their median. Default: 5.");
  // Hardware queues for the streams of all PEs of a GPU (thread_team.cuh); CUDA reads it when it starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  return arguments.run(argc, argv, [&] { return measure(options); });
}
