// sptrsv_natural_blocks: solves systems by their natural blocks, which are runs of rows with the same
// columns, in each shape of the natural_blocks path of dataflow, by the path that dataflow takes of the
// others, and by cuSPARSE and dataflow in blocked storage. All solutions are compared with substitution on
// the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/natural_blocks/bsr_peer.cuh"
#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/generators/grids.hpp"
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#include "common/systems/matrix_source.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv_benchmarks::natural_blocks {
namespace {

namespace common = sptrsv_common;
using index = std::int32_t;
using system = common::triangular_system<double>;
using sptrsv::detail::cuda_executor;

/// dataflow without the natural_blocks path, unless it is asked for.
struct without_blocks : sptrsv::experimental::dataflow_tuning {
  static constexpr double natural_blocks_rows_per_level = 0;
};
using policy_type = sptrsv::policy::basic_dataflow<without_blocks>;

/// Returns the microseconds of a solve: the least of five rounds of solves back to back, about 5 ms each.
template <class Solve>
double time_of(const Solve& solve) {
  const auto round = [&](int solves) {
    return 1000 * common::device_time([&] {
             for (int k = 0; k < solves; ++k) {
               solve();
             }
           }) /
           solves;
  };
  round(2);
  const int solves = std::max(2, static_cast<int>(5000 / round(5)));
  double best = round(solves);
  for (int k = 0; k < 4; ++k) {
    best = std::min(best, round(solves));
  }
  return best;
}

struct device_system {
  explicit device_system(const system& host)
      : stored(host.matrix), b(common::seeded_vector<double>(host.matrix.rows, 1)) {}
  const sptrsv::csr_matrix<double>& stored;
  std::vector<double> b;
  sptrsv::device_csr_matrix<double> a = sptrsv::to_device(stored, cudaStream_t{});
  sptrsv::buffer<double> b_there = sptrsv::to_device(b, cudaStream_t{});
  sptrsv::buffer<double> x_there = sptrsv::to_device(std::vector<double>(b.size()), cudaStream_t{});

  [[nodiscard]] bool is_right() const {
    const auto x = sptrsv::to_host(x_there, cudaStream_t{});
    return sptrsv::backward_error(stored, sptrsv::system_options{}, b, x).ok();
  }
};

/// A solution by one policy: what is known of it, and whether it is right.
struct solved {
  sptrsv::solver_info info;
  double us = 0;
  double analysis_us = 0;  ///< of the second analysis
  bool right = false;
};
template <class Policy>
solved solve_by(const Policy& policy, device_system& s) {
  const auto analyze = [&] { return sptrsv::analyze(policy, s.a, sptrsv::system_options{}, cudaStream_t{}); };
  analyze();
  const auto start = std::chrono::steady_clock::now();
  auto solver = analyze();
  const std::chrono::duration<double, std::micro> analysis = std::chrono::steady_clock::now() - start;
  const auto solve = [&] { solver.solve(s.b_there, s.x_there, cudaStream_t{}); };
  solve();
  const bool right = s.is_right();
  return {solver.info(), time_of(solve), analysis.count(), right};
}

/// Solves in one shape and prints a line. Returns whether the solution is right; true without a schedule.
bool measure(int shape, device_system& s, double before) {
  policy_type policy;
  policy.path = sptrsv::policy::dataflow_path::natural_blocks;
  policy.shape = shape;
  try {
    const solved of = solve_by(policy, s);
    const sptrsv::kernel_info& kernel = of.info.kernels.front();
    std::printf("  shape %d, %s: %5.1f bytes an entry, %8.2f us, %4.0f ns a step, %5.2f x%s\n", shape,
                kernel.text.c_str(),
                static_cast<double>(of.info.solver_bytes) / static_cast<double>(of.info.entries), of.us,
                1000 * of.us / static_cast<double>(kernel.tiles), before / of.us, of.right ? "" : " WRONG");
    return of.right;
  } catch (const sptrsv::error& e) {
    std::printf("  shape %d: %s\n", shape, e.what());
    return true;
  }
}

/// Solves in square blocks, by cuSPARSE with its policy by levels and without and by dataflow, and prints a
/// line for each size. Returns whether the solutions are right.
bool measure_bsr(const device_system& s, double before) {
  bool right = true;
  for (const int block : {2, 3, 4, 6}) {
    const auto blocks = in_blocks(s.stored, block);
    const auto a = sptrsv::to_device(blocks, cudaStream_t{});
    std::vector<double> b = s.b;
    b.resize(static_cast<std::size_t>(blocks.rows));
    const auto b_there = sptrsv::to_device(b, cudaStream_t{});
    const auto is_right = [&](const std::vector<double>& x) {
      return sptrsv::backward_error(blocks, sptrsv::system_options{}, b, x).ok();
    };
    double us[2];
    bool peer_is_right = true;
    for (const bool is_by_levels : {false, true}) {
      bsr_peer peer(a, b_there, is_by_levels);
      peer.solve();
      peer_is_right = is_right(peer.solution()) && peer_is_right;
      us[is_by_levels ? 1 : 0] = time_of([&] { peer.solve(); });
    }
    const auto analyze = [&] {
      return sptrsv::analyze(sptrsv::policy::dataflow{}, a, sptrsv::system_options{}, cudaStream_t{});
    };
    analyze();
    const auto start = std::chrono::steady_clock::now();
    auto solver = analyze();
    const std::chrono::duration<double, std::micro> analysis = std::chrono::steady_clock::now() - start;
    auto x = sptrsv::to_device(b, cudaStream_t{});
    const auto solve = [&] { solver.solve(b_there, x, cudaStream_t{}); };
    solve();
    const bool own_is_right = is_right(sptrsv::to_host(x, cudaStream_t{}));
    const double own_us = time_of(solve);
    std::printf(
        "  blocks of %d, %.2f values an entry: bsrsv2 %8.2f us, by levels %8.2f us, %5.2f x%s; dataflow: %s, "
        "%8.2f us, analysis %.0f us, %5.2f x bsrsv2%s\n",
        block, static_cast<double>(blocks.values.size()) / static_cast<double>(s.stored.values.size()), us[0],
        us[1], before / std::min(us[0], us[1]), peer_is_right ? "" : " WRONG", solver.info().path.c_str(),
        own_us, analysis.count(), std::min(us[0], us[1]) / own_us, own_is_right ? "" : " WRONG");
    right = right && peer_is_right && own_is_right;
  }
  return right;
}

/// Returns how many rows the runs of rows with the same structure have on average.
template <class Triangle>
double rows_of_run(const Triangle& t) {
  std::int64_t runs = 1;
  for (std::int32_t row = 1; row < t.size(); ++row) {
    const auto before = t.columns.begin() + t.row_offsets[static_cast<std::size_t>(row - 1)];
    const auto begin = before + t.length(row - 1);
    const bool joins = t.length(row) == t.length(row - 1) + 1 && begin[t.length(row - 1)] == row - 1 &&
                       std::equal(before, begin, begin);
    runs += joins ? 0 : 1;
  }
  return static_cast<double>(t.size()) / static_cast<double>(runs);
}

/// Measures one system in all shapes, if its runs have 1.4 rows on average.
bool measure(const std::string& name, const system& host) {
  const double min_rows = 1.4;
  const auto rows = sptrsv::detail::build_on_host(sptrsv::detail::pattern_of(host.matrix.view()),
                                                  {sptrsv::system_options{}, false});
  const double per_block = rows_of_run(rows);
  if (per_block < min_rows) {
    return true;
  }
  device_system s(host);
  const solved before = solve_by(policy_type{}, s);
  const solved now = solve_by(sptrsv::policy::dataflow{}, s);
  std::printf(
      "%s: %lld rows, %.2f a block, %zu entries; dataflow without natural blocks: %s, %.2f us, analysis %.0f "
      "us%s; "
      "with them: %s, %.2f us (%.2f x), analysis %.0f us%s\n",
      name.c_str(), static_cast<long long>(rows.size()), per_block, rows.columns.size(),
      before.info.path.c_str(), before.us, before.analysis_us, before.right ? "" : " WRONG",
      now.info.path.c_str(), now.us, before.us / now.us, now.analysis_us, now.right ? "" : " WRONG");
  bool right = before.right && now.right;
  for (int shape = 0; shape < static_cast<int>(std::size(without_blocks::natural_block_shapes)); ++shape) {
    right = measure(shape, s, before.us) && right;
  }
  right = measure_bsr(s, before.us) && right;
  std::fflush(stdout);
  return right;
}

/// Returns the lower triangle of a matrix with `unknowns` unknowns at each point of a pattern, all coupled.
system with_unknowns(const common::pattern& points, common::vertex unknowns) {
  return common::system_of<double>(common::pattern_of_rows(
      points.rows() * unknowns, [&](common::vertex i, std::vector<common::vertex>& out) {
        const auto point = static_cast<std::size_t>(i / unknowns);
        for (auto e = points.row_offsets[point]; e < points.row_offsets[point + 1]; ++e) {
          const common::vertex first = points.columns[static_cast<std::size_t>(e)] * unknowns;
          for (common::vertex j = first; j < std::min(first + unknowns, i); ++j) {
            out.push_back(j);
          }
        }
      }));
}
/// Returns systems like those of elasticity, flow, reservoirs and poses.
std::vector<std::pair<std::string, system>> generated_systems() {
  return {{"3 unknowns, 27 points, 10 x 10 x 10", with_unknowns(common::box_stencil({10, 10, 10}), 3)},
          {"4 unknowns, 9 points, 40 x 40", with_unknowns(common::box_stencil({40, 40, 1}), 4)},
          {"3 unknowns, 7 points, 14 x 14 x 14", with_unknowns(common::star_stencil({14, 14, 14}), 3)},
          {"6 unknowns, 5 points, 30 x 30", with_unknowns(common::star_stencil({30, 30, 1}), 6)}};
}

int run(const common::matrix_selection& selection, bool is_with_generated) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_natural_blocks: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  const common::generator_registry registry;
  const auto sources = common::choose_sources(selection, registry);
  if (sources.empty() && !is_with_generated) {
    throw common::usage_error("the options choose no matrix");
  }
  common::keep_pool_memory();
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s\n", cuda_executor().device_name().c_str(),
              driver_version().c_str(), runtime_version().c_str());
  bool right = true;
  const auto try_to = [&](const std::string& name, const auto& make) {
    try {
      right = measure(name, make()) && right;
    } catch (const std::exception& e) {
      std::printf("%s FAILED: %s\n", name.c_str(), e.what());
      right = false;
    }
  };
  for (const common::matrix_source& source : sources) {
    try_to(source.name, [&] { return common::make_triangle<double>(source, sptrsv::uplo::lower); });
  }
  for (const auto& [name, generated] :
       is_with_generated ? generated_systems() : decltype(generated_systems()){}) {
    try_to(name, [&, &made = generated] { return made; });
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::natural_blocks

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_natural_blocks",
      "Solves with natural blocks, which are runs of rows with the same columns, beside policy::dataflow.");
  sptrsv_common::matrix_selection selection{"", "none"};
  bool is_with_generated = false;
  add_matrix_options(arguments, selection, "the lower triangle", "none");
  arguments.add_flag("--unknowns", is_with_generated, "Also grids with 3, 4 and 6 unknowns at each point.");
  arguments.add_footer(
      "Systems with less than 1.4 rows a block are left out. Exit status: 0 for success, 1 if a solution is "
      "wrong or an error occurs, 2 for an error in the command line, 77 without a GPU.");
  return arguments.run(argc, argv,
                       [&] { return sptrsv_benchmarks::natural_blocks::run(selection, is_with_generated); });
}
