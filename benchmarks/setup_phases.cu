// The phases of an analysis, each on the CPU (one core) and on the GPU: the transposition of the pattern, the
// dependency counts, and the levels by Kahn's algorithm level by level and without synchronisation between
// levels. After Li and Zhang, Efficient Parallel Implementations of Sparse Triangular Solves for GPU
// Architectures, 2020, section 4.4 and Table 4.1. Exit status 1 if the levels differ. Needs no Google
// Benchmark.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench/driver.cuh"
#include "benchmarks/bench/options.hpp"
#include "benchmarks/bench/pool.cuh"
#include "benchmarks/bench/statistics.hpp"
#include "benchmarks/setup_phases/systems.hpp"
#include "sptrsv/detail/analysis/kahn_levels.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "sptrsv/device_matrix.hpp"

namespace sptrsv_benchmarks::setup_phases {
namespace {

using index = std::int32_t;
using clock = std::chrono::steady_clock;
using namespace sptrsv::detail;

constexpr const char* usage_text =
    "usage: sptrsv_setup_phases [OPTIONS]\n"
    "\n"
    "  --matrices DIR      one triangle of each .mtx file of a directory\n"
    "  --generated WHICH   names of generated matrices, none, or all: the grids of Li and Zhang (default)\n"
    "  --help              this text\n";

/// Milliseconds of `work` by the clock of the host, the median of up to five calls that take half a second
/// together. On the GPU each call ends with a synchronisation, and one that is not timed goes before.
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
  return median(milliseconds);
}
template <class Work>
double time_on(const cuda_executor& on, const Work& work) {
  const auto whole = [&] {
    work();
    on.synchronize();
  };
  whole();
  return time_of(whole);
}

/// Milliseconds.
struct phases {
  double transposition = 0;
  double in_degrees = 0;
  double kahn = 0;
  double rows = 0;      ///< levels without synchronisation: on the CPU, the rows one after the other
  double transfer = 0;  ///< the pattern to the host (GPU: column), the levels to the device (CPU: column)
};

struct row {
  phases cpu;
  phases gpu;
  std::int64_t levels = 0;
  bool same = true;
};

/// Level of each row, from rows in level order.
std::vector<index> level_of_rows(const std::vector<index>& offsets, const std::vector<index>& rows) {
  std::vector<index> level(rows.size(), -1);
  for (std::size_t l = 0; l + 1 < offsets.size(); ++l) {
    for (index k = offsets[l]; k < offsets[l + 1]; ++k) {
      level[static_cast<std::size_t>(rows[static_cast<std::size_t>(k)])] = static_cast<index>(l);
    }
  }
  return level;
}

/// Returns the level of each row.
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
  made.gpu.in_degrees = time_on(on, [&] { degrees = count_in_degrees_on_device(columns, 0, on, resource); });
  made.gpu.kahn = time_on(on, [&] { kahn = kahn_levels_on_device(columns, degrees, on, resource); });
  made.gpu.rows = time_on(on, [&] { levels = levels_on_device(d, on, resource); });
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

/// Empty if only the usage is asked for.
std::vector<system_source> choose_systems(int argc, char** argv) {
  const generator_registry registry;
  std::vector<system_source> chosen;
  std::string generated = "all";
  support::argument_list arguments(argc, argv);
  while (!arguments.empty()) {
    const std::string option = arguments.take();
    if (option == "--matrices") {
      chosen = files_of(arguments.value_of(option));
    } else if (option == "--generated") {
      generated = arguments.value_of(option);
    } else if (option == "--help" || option == "-h") {
      return {};
    } else {
      throw support::usage_error("there is no option " + option);
    }
  }
  if (generated == "all") {
    const auto grids = laplacian_grids(registry);
    chosen.insert(chosen.end(), grids.begin(), grids.end());
  } else if (generated != "none") {
    for (const std::string& name : split_list(generated)) {
      const generator* const g = registry.find(name);
      if (g == nullptr) {
        throw support::usage_error(registry.why_absent(name));
      }
      chosen.push_back(generated_system(*g));
    }
  }
  if (chosen.empty()) {
    throw support::usage_error("there is nothing to measure");
  }
  return chosen;
}

int run(int argc, char** argv) {
  const std::vector<system_source> systems = choose_systems(argc, argv);
  if (systems.empty()) {
    std::fputs(usage_text, stdout);
    return 0;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "sptrsv_setup_phases: no GPU\n");
    return 77;
  }
  keep_pool_memory();
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s\n", cuda_executor().device_name().c_str(),
              driver_version().c_str(), runtime_version().c_str());
  print_heading();
  bool right = true;
  for (const system_source& s : systems) {
    try {
      const triangle t = s.make();
      row made;
      const std::vector<index> levels = measure_cpu(t, made);
      measure_gpu(t, levels, made);
      print(s.name, t, made);
      right = right && made.same;
    } catch (const std::exception& e) {
      std::printf("%-26s FAILED: %s\n", s.name.c_str(), e.what());
      right = false;
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::setup_phases

int main(int argc, char** argv) {
  try {
    return sptrsv_benchmarks::setup_phases::run(argc, argv);
  } catch (const sptrsv_examples::usage_error& e) {
    std::fprintf(stderr, "sptrsv_setup_phases: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_setup_phases: %s\n", e.what());
    return 1;
  }
}
