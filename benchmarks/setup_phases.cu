// sptrsv_setup_phases: measures the phases of an analysis, each on the CPU (one core) and on the GPU: the
// transposition of the pattern, the dependency counts, and the levels, by Kahn's algorithm level by level and
// without synchronisation between levels. It repeats section 4.4 and Table 4.1 of Li and Zhang, Efficient
// Parallel Implementations of Sparse Triangular Solves for GPU Architectures, 2020. It also checks that all
// levels are equal.
#include <cuda_runtime.h>
#include <array>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/setup_phases/kahn_levels.hpp"
#include "benchmarks/setup_phases/systems.hpp"
#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#include "common/measurement/statistics.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks::setup_phases {
namespace {

using index = std::int32_t;
using clock = std::chrono::steady_clock;
using namespace sptrsv::detail;

/// Returns the median milliseconds of up to five calls of `work` that take about half a second together, by
/// the clock of the host.
template <class Work>
double time_of(const Work& work) {
  std::vector<double> milliseconds;
  double total = 0;
  while (milliseconds.empty() || (milliseconds.size() < 5 && total < 500)) {
    const auto start = clock::now();
    work();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
    total += milliseconds.back();
  }
  return common::median(milliseconds);
}

/// Returns the median time of a call of `work` on the GPU. Each call ends with a synchronisation, and the
/// first call is not timed.
template <class Work>
double time_on(const cuda_executor& on, const Work& work) {
  const auto whole = [&] {
    work();
    on.synchronize();
  };
  whole();
  return time_of(whole);
}

/// Times of the phases in milliseconds.
struct phases {
  double transposition = 0;
  double in_degrees = 0;  ///< the dependency counts
  double kahn = 0;
  double rows = 0;      ///< levels without synchronisation; on the CPU, one row after the other
  double transfer = 0;  ///< `gpu`: of the pattern to the host; `cpu`: of the levels to the device
};

/// The results of one matrix.
struct row {
  phases cpu;
  phases gpu;
  std::int64_t levels = 0;
  bool same = true;  ///< whether all methods find the same levels
};

/// Returns the level of each row. `offsets`: of the levels in `rows`. `rows`: in level order.
std::vector<index> level_of_rows(const std::vector<index>& offsets, const std::vector<index>& rows) {
  std::vector<index> level(rows.size(), -1);
  for (std::size_t l = 0; l + 1 < offsets.size(); ++l) {
    for (index k = offsets[l]; k < offsets[l + 1]; ++k) {
      level[static_cast<std::size_t>(rows[static_cast<std::size_t>(k)])] = static_cast<index>(l);
    }
  }
  return level;
}

/// Measures the phases on the CPU. Returns the level of each row.
std::vector<index> measure_cpu(const triangle& t, row& made) {
  host_columns<index, index> columns;
  std::vector<index> degrees;
  host_levels<index> kahn;
  host_levels<index> levels;
  made.cpu.transposition = time_of([&] { columns = columns_on_host<index>(t.row_offsets, t.columns); });
  made.cpu.in_degrees = time_of([&] { degrees = in_degrees_on_host(columns); });
  made.cpu.kahn = time_of([&] { kahn = kahn_levels_on_host(columns, degrees); });
  made.cpu.rows = time_of([&] { levels = levels_on_host<index>(t.row_offsets, t.columns); });
  made.levels = levels.count();
  made.same = kahn.level_of_row == levels.level_of_row && kahn.level_offsets == levels.level_offsets;
  return std::move(levels.level_of_row);
}

/// Measures the phases on the GPU and compares the levels with `expected`, the level of each row.
void measure_gpu(const triangle& t, const std::vector<index>& expected, row& made) {
  const cuda_executor on;
  sptrsv::memory_resource& resource = on.default_resource();
  device_triangle<index, index> d;
  d.size = static_cast<std::int64_t>(t.row_offsets.size()) - 1;
  d.longest_row = t.longest_row();
  d.row_offsets = sptrsv::to_device(t.row_offsets, cudaStream_t{});
  d.columns = sptrsv::to_device(t.columns, cudaStream_t{});
  d.sources = sptrsv::to_device(t.sources, cudaStream_t{});

  device_columns<index, index> columns;
  in_degrees<index> degrees;
  device_levels<index> kahn;
  device_levels<index> levels;
  made.gpu.transposition = time_on(on, [&] { columns = columns_of(d, on, resource); });
  made.gpu.in_degrees = time_on(on, [&] { degrees = count_in_degrees(columns, 0, on, resource); });
  made.gpu.kahn = time_on(on, [&] { kahn = kahn_levels_on_device(columns, degrees, on, resource); });
  made.gpu.rows = time_on(on, [&] {
    // Without a limit: the search of a small system would be continued on the host.
    levels = order_by_level(levels_of_rows(d, on, resource, false, search_limit{}), on, resource);
  });
  const auto seen = [&](const device_levels<index>& of) {
    return level_of_rows(sptrsv::to_host(of.level_offsets, cudaStream_t{}),
                         sptrsv::to_host(of.rows, cudaStream_t{})) == expected &&
           of.count == made.levels;
  };
  made.same = made.same && seen(kahn) && seen(levels);

  std::vector<index> offsets(t.row_offsets.size());
  std::vector<index> indices(t.columns.size());
  made.gpu.transfer = time_on(on, [&] {
    on.download(offsets.data(), d.row_offsets.data(), d.row_offsets.bytes());
    on.download(indices.data(), d.columns.data(), d.columns.bytes());
  });
  made.cpu.transfer =
      time_on(on, [&] { on.upload(levels.rows.data(), expected.data(), levels.rows.bytes()); });
}

void print_heading() {
  std::printf("%-26s %9s %10s %7s | %-39s | %-31s |\n", "milliseconds", "", "", "", "CPU, one core", "GPU");
  std::printf("%-26s %9s %10s %7s | %7s %7s %7s %7s %7s | %7s %7s %7s %7s %7s | %s\n", "matrix", "rows",
              "entries", "levels", "trans", "count", "Kahn", "rows", "to GPU", "trans", "count", "Kahn",
              "no sync", "to CPU", "levels");
}

void print(const std::string& name, const triangle& t, const row& r) {
  std::printf("%-26s %9zu %10zu %7lld | %7.2f %7.2f %7.2f %7.2f %7.2f | %7.3f %7.3f %7.2f %7.2f %7.2f | %s\n",
              name.c_str(), t.row_offsets.size() - 1, t.columns.size(), static_cast<long long>(r.levels),
              r.cpu.transposition, r.cpu.in_degrees, r.cpu.kahn, r.cpu.rows, r.cpu.transfer,
              r.gpu.transposition, r.gpu.in_degrees, r.gpu.kahn, r.gpu.rows, r.gpu.transfer,
              r.same ? "same" : "DIFFERENT");
  std::fflush(stdout);
}

int run(common::matrix_selection selection) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_setup_phases: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  if (selection.generated == "all") {  // all matrices of the paper
    selection.generated = "grids";
  }
  const common::generator_registry registry;
  const auto sources = common::choose_sources(selection, registry);
  if (sources.empty()) {
    throw common::usage_error("the options choose no matrix");
  }
  sptrsv_common::keep_pool_memory();
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s\n", cuda_executor().device_name().c_str(),
              driver_version().c_str(), runtime_version().c_str());
  print_heading();
  bool right = true;
  for (const common::matrix_source& source : sources) {
    try {
      const triangle t = make_pattern(source);
      row made;
      const std::vector<index> levels = measure_cpu(t, made);
      measure_gpu(t, levels, made);
      print(source.name, t, made);
      right = right && made.same;
    } catch (const std::exception& e) {
      std::printf("%-26s FAILED: %s\n", source.name.c_str(), e.what());
      right = false;
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::setup_phases

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_setup_phases",
      "Measures the phases of an analysis, each on one core of the CPU and on the GPU.");
  sptrsv_common::matrix_selection selection{"", "grids"};
  add_matrix_options(arguments, selection, "the lower triangle", "grids; all also stands for grids here");
  arguments.add_footer(
      "Exit status: 0 for success, 1 if the levels differ or an error occurs, 2 for an error in the command "
      "line, 77 "
      "without a GPU.");
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::setup_phases::run(selection); });
}
