// sptrsv_block_kernels: measures the block algorithms of Lu, Niu and Liu 2020: the times of a solve and of
// its analysis for each number of blocks, and the time of each kernel on each part of systems that are cut
// into more and more blocks. The script fit_block_kernels.py computes the thresholds of block_tuning from the
// file of --csv. Squares are also multiplied by cuSPARSE.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/block_kernels/parts.cuh"
#include "benchmarks/block_kernels/vendor_squares.cuh"
#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/command_line/matrix_options.hpp"
#include "common/gpu/pool.cuh"
#include "common/measurement/placement.hpp"
#include "common/systems/matrix_source.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/host/structure.hpp"

namespace sptrsv_benchmarks::block_kernels {

namespace common = sptrsv_common;

namespace {

constexpr const char* chosen_systems =
    "laplace5_1024x1024,laplace7_128x128x128,laplace27_128x128x128,random_2000000_6,random_400000_24,"
    "power_law_both,kkt_two_levels,kronecker_18,random_geometric_400000,ilu0_random,cholesky_400x400";

struct fit_options {
  common::matrix_selection systems{"", chosen_systems};
  std::string csv;        ///< path; empty: parts are not measured
  double time_limit = 0;  ///< seconds; 0: none
};

void add_fit_options(common::command_line& to, fit_options& target) {
  add_matrix_options(to, target.systems, "the lower triangle", "a choice of 11 matrices");
  to.begin_group("Measurement");
  to.add_integer("--time-limit", target.time_limit, 1, 1000000, "S",
                 "Start no further system after S seconds.");
  to.begin_group("Output");
  to.add_text(
      "-o,--csv", target.csv, "FILE",
      "Measure every kernel on every part, write these times to this file, and compare the squares with "
      "cuSPARSE. Without it, only solves are measured.");
  to.add_footer(
      "Exit status: 0 if all solutions are right, 1 if one is wrong or an error occurs, 2 for an error in "
      "the "
      "command line, 77 without a GPU.");
}

/// A lower triangular system in host memory.
struct host_system {
  explicit host_system(const common::matrix_source& source)
      : name(source.name),
        matrix(common::make_triangle<scalar>(source, sptrsv::uplo::lower).matrix),
        b(common::seeded_vector<scalar>(matrix.rows, 3)) {}

  std::string name;
  sptrsv::csr_matrix<scalar, index> matrix;
  std::vector<scalar> b;
};

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// A host_system in device memory.
struct device_system {
  explicit device_system(const host_system& s)
      : matrix(sptrsv::to_device(s.matrix, cudaStream_t{})),
        b(sptrsv::to_device(s.b, cudaStream_t{})),
        x(s.b.size(), executor().default_resource(), cudaStream_t{}) {}

  sptrsv::device_csr_matrix<scalar, index> matrix;
  sptrsv::buffer<scalar> b;
  sptrsv::buffer<scalar> x;
};

/// Measures a policy and prints its line. Returns whether the solution is right.
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
  const auto solve = [&] { solver->solve(d.b, d.x); };
  const double first = common::device_time(solve);
  const int count = first > 20 ? 1 : static_cast<int>(20 / first) + 1;
  std::vector<double> samples;
  for (int k = 0; k < 3; ++k) {
    samples.push_back(common::device_time([&] {
                        for (int i = 0; i < count; ++i) {
                          solve();
                        }
                      }) /
                      count);
  }
  const double time = common::median(samples);
  const std::vector<scalar> x = sptrsv::to_host(d.x, cudaStream_t{});
  const auto checked = sptrsv::backward_error(s.matrix, options, s.b, x);
  std::printf("  %-20s %10.4f %10.3f %8.1f  %s %s\n", name.c_str(), time, analysis, analysis / time,
              checked.ok() ? "ok   " : "WRONG", solver->info().kernels.at(1).text.c_str());
  std::fflush(stdout);
  return checked.ok();
}

/// Measures the block policies with several numbers of blocks. Returns whether all solutions are right.
bool print_solves(const host_system& s, device_system& d) {
  bool right = true;
  right = print_solve("recursive_block", sptrsv::policy::recursive_block{}, s, d) && right;
  right = print_solve("  paper's kernels",
                      sptrsv::policy::recursive_block{0, {sptrsv::policy::block_selector::paper}}, s, d) &&
          right;
  for (const int depth : {0, 1, 2, 3, 4, 6}) {
    if (s.matrix.rows >> depth >= 1000) {
      right = print_solve("  depth " + std::to_string(depth), sptrsv::policy::recursive_block{1 << depth}, s,
                          d) &&
              right;
    }
  }
  right = print_solve("column_block 16", sptrsv::policy::column_block{16}, s, d) && right;
  right = print_solve("row_block 16", sptrsv::policy::row_block{16}, s, d) && right;
  return right;
}

/// Writes the times of all parts.
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

int run(const fit_options& options) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_block_kernels: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  sptrsv_common::keep_pool_memory();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> csv(
      options.csv.empty() ? nullptr : std::fopen(options.csv.c_str(), "w"), &std::fclose);
  if (!options.csv.empty() && csv == nullptr) {
    throw common::usage_error("cannot write " + options.csv);
  }
  if (csv != nullptr) {
    std::fputs("matrix,depth,part,shape,rows,rows_with_entries,entries,levels,kernel,microseconds\n",
               csv.get());
  }
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s\n", executor().device_name().c_str(),
              driver_version().c_str(), runtime_version().c_str());
  std::printf("%-22s %10s %10s %8s\n", "", "solve ms", "analyse ms", "ratio");
  const auto start = clock::now();
  bool right = true;
  vendor_spmv<scalar, index> vendor;
  vendor_comparison squares;
  const common::generator_registry registry;
  for (const common::matrix_source& source : common::choose_sources(options.systems, registry)) {
    if (options.time_limit > 0 && seconds_since(start) > options.time_limit) {
      std::printf("time limit: stopped before %s\n", source.name.c_str());
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
  sptrsv_common::command_line arguments("sptrsv_block_kernels",
                                        "Measures the block policies: the solve and the analysis for several "
                                        "numbers of blocks and, with --csv, "
                                        "every kernel on every part of the system.");
  sptrsv_benchmarks::block_kernels::fit_options options;
  add_fit_options(arguments, options);
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::block_kernels::run(options); });
}
