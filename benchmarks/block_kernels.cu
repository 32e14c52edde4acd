// The block algorithms of Lu, Niu and Liu 2020 on this machine: how long a solve and its analysis take for
// each number of blocks, and how long each kernel takes for each part of triangles that are cut ever finer.
// From what it writes `benchmarks/python fit-block-kernels` finds the thresholds of block_tuning. Squares are
// measured with cuSPARSE's product, too. Needs no Google Benchmark.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/bench/driver.cuh"
#include "benchmarks/bench/matrix_source.hpp"
#include "benchmarks/bench/options.hpp"
#include "benchmarks/bench/pool.cuh"
#include "benchmarks/block_kernels/parts.cuh"
#include "benchmarks/block_kernels/vendor_squares.cuh"
#include "examples/support/seeded_values.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/host/structure.hpp"
#include "sptrsv/policy/column_block.hpp"
#include "sptrsv/policy/row_block.hpp"

namespace sptrsv_benchmarks::block_kernels {
namespace {

constexpr const char* usage_text =
    "usage: sptrsv_block_kernels [OPTIONS]\n"
    "\n"
    "  --matrices DIR      one triangle of each .mtx file of a directory\n"
    "  --generated WHICH   names of generated matrices, none, small, grids, or all: a choice (default)\n"
    "  --csv FILE          write the times of the parts there, and compare squares with cuSPARSE; without "
    "it\n"
    "                      parts are not measured\n"
    "  --time-limit S      begin no further system after S seconds\n"
    "  --help              this text\n";

constexpr const char* chosen_systems =
    "laplace5_1024x1024,laplace7_128x128x128,laplace27_128x128x128,random_2000000_6,random_400000_24,"
    "power_law_both,kkt_two_levels,kronecker_18,random_geometric_400000,ilu0_random,cholesky_400x400";

struct fit_options {
  bench_options systems;
  std::string csv;
  double time_limit = 0;
  bool help = false;
};

fit_options parse(int argc, char** argv) {
  fit_options made;
  made.systems.generated = chosen_systems;
  support::argument_list arguments(argc, argv);
  while (!arguments.empty()) {
    const std::string option = arguments.take();
    if (option == "--matrices") {
      made.systems.directory = arguments.value_of(option);
    } else if (option == "--generated") {
      made.systems.generated = arguments.value_of(option);
    } else if (option == "--csv") {
      made.csv = arguments.value_of(option);
    } else if (option == "--time-limit") {
      made.time_limit = static_cast<double>(arguments.number_of(option, 1, 1000000));
    } else if (option == "--help" || option == "-h") {
      made.help = true;
    } else {
      throw support::usage_error("there is no option " + option);
    }
  }
  return made;
}

/// The lower triangle.
struct host_system {
  explicit host_system(const matrix_source& source)
      : name(source.name),
        matrix(source.made != nullptr ? generate_triangle<scalar>(*source.made, sptrsv::uplo::lower).matrix
                                      : read_triangle<scalar>(source.path, sptrsv::uplo::lower).matrix),
        b(support::seeded_vector<scalar>(matrix.rows, 3)) {}

  std::string name;
  sptrsv::csr_matrix<scalar, index> matrix;
  std::vector<scalar> b;
};
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

struct device_system {
  explicit device_system(const host_system& s)
      : matrix(sptrsv::to_device(s.matrix, cudaStream_t{})),
        b(sptrsv::to_device(s.b, cudaStream_t{})),
        x(s.b.size(), executor().default_resource(), cudaStream_t{}) {}

  sptrsv::device_csr_matrix<scalar, index> matrix;
  sptrsv::buffer<scalar> b;
  sptrsv::buffer<scalar> x;
};

/// Prints a line; whether the solution is right.
template <class Policy>
bool print_solve(const std::string& name, const Policy& policy, const host_system& s, device_system& d) {
  const sptrsv::system_options options;
  auto solver = std::make_unique<decltype(sptrsv::analyze(policy, d.matrix, options))>(
      sptrsv::analyze(policy, d.matrix, options));
  solver.reset();
  SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
  const auto start = clock::now();
  solver = std::make_unique<decltype(sptrsv::analyze(policy, d.matrix, options))>(
      sptrsv::analyze(policy, d.matrix, options));
  SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
  const double analysis = 1e3 * seconds_since(start);
  stopwatch watch;
  const auto solve = [&] { solver->solve(d.b, d.x); };
  const double first = watch.time(solve) * 1e-6;
  const int count = first > 20 ? 1 : static_cast<int>(20 / first) + 1;
  std::vector<double> samples;
  for (int k = 0; k < 3; ++k) {
    samples.push_back(watch.time([&] {
      for (int i = 0; i < count; ++i) {
        solve();
      }
    }) * 1e-6 / count);
  }
  const double time = median(samples);
  const std::vector<scalar> x = sptrsv::to_host(d.x, cudaStream_t{});
  const auto checked = sptrsv::backward_error(s.matrix, options, s.b, x);
  std::printf("  %-20s %10.4f %10.3f %8.1f  %s %s\n", name.c_str(), time, analysis, analysis / time,
              checked.ok() ? "ok   " : "WRONG", solver->info().kernels.at(1).c_str());
  std::fflush(stdout);
  return checked.ok();
}

bool print_solves(const host_system& s, device_system& d) {
  bool right = true;
  right = print_solve("recursive_block", sptrsv::policy::recursive_block{}, s, d) && right;
  right = print_solve("  paper's kernels",
                      sptrsv::policy::recursive_block{-1, {sptrsv::policy::block_selector::paper}}, s, d) &&
          right;
  for (const int depth : {0, 1, 2, 3, 4, 6}) {
    if (s.matrix.rows >> depth >= 1000) {
      right = print_solve("  depth " + std::to_string(depth), sptrsv::policy::recursive_block{depth}, s, d) &&
              right;
    }
  }
  right = print_solve("column_block 16", sptrsv::policy::column_block{16}, s, d) && right;
  right = print_solve("row_block 16", sptrsv::policy::row_block{16}, s, d) && right;
  return right;
}

void write_parts(const host_system& s, const device_system& d, vendor_spmv<scalar, index>& vendor,
                 vendor_comparison& squares, std::FILE* csv) {
  const executor on;
  const auto view = d.matrix.view();
  const auto triangle = sptrsv::detail::build_on_device(
      sptrsv::detail::pattern_of(view), sptrsv::detail::triangle_form(sptrsv::system_options{}, false), on,
      on.default_resource());
  for (const int depth : {1, 3, 5}) {
    if (s.matrix.rows >> depth < 2000) {
      return;
    }
    measure_parts(triangle, view.values, depth, vendor, on, [&](const part_time& p) {
      const bool is_triangle = p.part.is_triangle;
      if (!is_triangle) {
        squares.add(s.name, depth, p.number, p.kernel, p.microseconds);
      }
      std::fprintf(
          csv, "%s,%d,%zu,%s,%lld,%lld,%lld,%lld,%s,%.3f\n", s.name.c_str(), depth, p.number,
          is_triangle ? "triangle" : "square",
          static_cast<long long>(is_triangle ? p.part.triangle.rows : p.part.square.rows),
          static_cast<long long>(is_triangle ? p.part.triangle.rows : p.part.square.rows_with_entries),
          static_cast<long long>(is_triangle ? p.part.triangle.entries : p.part.square.entries),
          static_cast<long long>(is_triangle ? p.part.triangle.levels : 0), p.kernel, p.microseconds);
    });
    std::fflush(csv);
  }
}

int run(int argc, char** argv) {
  const fit_options options = parse(argc, argv);
  if (options.help) {
    std::fputs(usage_text, stdout);
    return 0;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "sptrsv_block_kernels: no GPU\n");
    return 77;
  }
  keep_pool_memory();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> csv(
      options.csv.empty() ? nullptr : std::fopen(options.csv.c_str(), "w"), &std::fclose);
  if (!options.csv.empty() && csv == nullptr) {
    throw support::usage_error("cannot write " + options.csv);
  }
  if (csv != nullptr) {
    std::fputs("matrix,depth,part,shape,rows,rows_with_entries,entries,levels,kernel,microseconds\n",
               csv.get());
  }
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s\n", executor().device_name().c_str(),
              driver_version().c_str(), runtime_version().c_str());
  std::printf("%-22s %10s %10s %8s\n", "", "solve ms", "analyse ms", "solves");
  const auto start = clock::now();
  bool right = true;
  vendor_spmv<scalar, index> vendor;
  vendor_comparison squares;
  const generator_registry registry;
  for (const matrix_source& source : choose_sources(options.systems, registry, true)) {
    if (options.time_limit > 0 && seconds_since(start) > options.time_limit) {
      std::printf("time is up before %s\n", source.name.c_str());
      break;
    }
    try {
      const host_system s(source);
      const auto structure = sptrsv::structure_of(s.matrix, sptrsv::system_options{});
      std::printf("%s: %lld rows, %lld entries, %lld levels\n", source.name.c_str(),
                  static_cast<long long>(s.matrix.rows), static_cast<long long>(structure.entries),
                  static_cast<long long>(structure.levels));
      device_system d(s);
      right = print_solves(s, d) && right;
      if (csv != nullptr) {
        write_parts(s, d, vendor, squares, csv.get());
      }
    } catch (const std::exception& e) {
      std::printf("%s FAILED: %s\n", source.name.c_str(), e.what());
      right = false;
    }
  }
  if (csv != nullptr) {
    squares.print(microseconds_of_a_launch(executor()));
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::block_kernels

int main(int argc, char** argv) {
  try {
    return sptrsv_benchmarks::block_kernels::run(argc, argv);
  } catch (const sptrsv_examples::usage_error& e) {
    std::fprintf(stderr, "sptrsv_block_kernels: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_block_kernels: %s\n", e.what());
    return 1;
  }
}
