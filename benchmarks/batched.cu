// sptrsv_batched: batches of small systems with one pattern, by this library, by cuSPARSE in a loop over
// systems, and by cuBLAS as dense triangles. It checks solutions of this library by their backward error.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/cusparse/policy.hpp"
#include "common/gpu/cuda_handles.cuh"
#include "common/gpu/pool.cuh"
#include "common/measurement/floors.hpp"
#include "common/measurement/placement.hpp"
#include "common/measurement/statistics.hpp"
#include "common/systems/seeded_values.hpp"
#include "sptrsv/batched.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/host/backward_error.hpp"

namespace sptrsv_benchmarks::batched {
namespace {

namespace common = sptrsv_common;
using matrix = sptrsv::csr_matrix<double>;
using sptrsv::batch_options;
using sptrsv::batch_view;

/// A lower triangle; its values come later.
struct problem {
  std::string name;
  matrix a;
};

/// Returns the lower triangle in which `holds(i, j)` says whether there is an entry (i, j), j < i.
template <class Holds>
problem make_problem(const std::string& name, std::int64_t rows, const Holds& holds) {
  problem made{name, {rows, rows, {0}, {}, {}}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (holds(i, j)) {
        made.a.column_indices.push_back(static_cast<std::int32_t>(j));
      }
    }
    made.a.column_indices.push_back(static_cast<std::int32_t>(i));
    made.a.row_offsets.push_back(static_cast<std::int32_t>(made.a.column_indices.size()));
  }
  made.a.values.resize(made.a.column_indices.size());
  return made;
}
problem grid(std::int64_t n) {
  return make_problem("5-point grid " + std::to_string(n) + "x" + std::to_string(n), n * n,
                      [=](auto i, auto j) { return j == i - n || (j == i - 1 && i % n > 0); });
}
/// About `mean` entries in a row beside the diagonal.
problem random_rows(std::int64_t rows, double mean) {
  return make_problem("random, " + std::to_string(rows) + " rows", rows, [=](auto i, auto j) {
    return common::uniform(static_cast<std::uint64_t>(i * rows + j), 3) * static_cast<double>(i) < mean;
  });
}
problem dense(std::int64_t rows) {
  return make_problem("dense, " + std::to_string(rows) + " rows", rows, [](auto, auto) { return true; });
}

/// Returns the values of all systems: random entries of at most one over the length of their row, and a
/// diagonal between 1 and 2.
std::vector<double> make_values(const matrix& a, std::int64_t systems) {
  std::vector<double> made;
  made.reserve(a.values.size() * static_cast<std::size_t>(systems));
  std::uint64_t counter = 0;
  for (std::int64_t s = 0; s < systems; ++s) {
    for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
      const std::int32_t length = a.row_offsets[row + 1] - a.row_offsets[row];
      for (std::int32_t k = 1; k < length; ++k) {
        made.push_back((2 * common::uniform(++counter, 1) - 1) / length);
      }
      made.push_back(1 + common::uniform(++counter, 2));
    }
  }
  return made;
}

/// Returns the median milliseconds of a call of `work(k)`, k ascending from 0, in five rounds of `calls`
/// calls, which are enqueued one after the other.
template <class Work>
double time_of(int calls, const Work& work) {
  std::vector<double> samples;
  for (int round = 0; round < 6; ++round) {
    const double time = common::device_time([&] {
      for (int k = 0; k < calls; ++k) {
        work(k);
      }
    });
    if (round > 0) {  // the first round loads kernels
      samples.push_back(time / calls);
    }
  }
  return common::median(samples);
}

/// Returns whether the solutions of some systems are right.
bool are_right(matrix a, const std::vector<double>& values, const std::vector<double>& b,
               const std::vector<double>& x, std::int64_t systems) {
  const std::size_t entries = a.values.size();
  const auto rows = static_cast<std::size_t>(a.rows);
  for (std::int64_t s = 0; s < systems; s += 1 + systems / 50) {
    const auto k = static_cast<std::size_t>(s);
    a.values.assign(values.begin() + static_cast<std::ptrdiff_t>(k * entries),
                    values.begin() + static_cast<std::ptrdiff_t>((k + 1) * entries));
    if (!sptrsv::backward_error(a, {}, sptrsv::span<const double>(b.data() + k * rows, rows),
                                sptrsv::span<const double>(x.data() + k * rows, rows))
             .ok()) {
      return false;
    }
  }
  return true;
}

/// Returns the milliseconds of a solve by cuBLAS, which takes the systems as dense triangles; 0 if they
/// would take more than 4 GB.
double measure_cublas(const matrix& a, const std::vector<double>& values, const std::vector<double>& b,
                      std::int64_t systems) {
  const auto rows = static_cast<std::size_t>(a.rows);
  const auto count = static_cast<std::size_t>(systems);
  if (8 * rows * rows * count > (std::size_t{1} << 32)) {
    return 0;
  }
  std::vector<double> full(rows * rows * count, 0.0);
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[row]);
           e < static_cast<std::size_t>(a.row_offsets[row + 1]); ++e) {
        full[s * rows * rows + static_cast<std::size_t>(a.column_indices[e]) * rows + row] =
            values[s * a.values.size() + e];
      }
    }
  }
  const auto matrices = sptrsv::to_device(full);
  const auto x = sptrsv::to_device(b);
  std::vector<double*> of_matrices;
  std::vector<double*> of_x;
  for (std::size_t s = 0; s < count; ++s) {
    of_matrices.push_back(matrices.data() + s * rows * rows);
    of_x.push_back(x.data() + s * rows);
  }
  const auto matrix_pointers = sptrsv::to_device(of_matrices);
  const auto x_pointers = sptrsv::to_device(of_x);
  cublasHandle_t handle = nullptr;
  const auto check = [](cublasStatus_t status) {
    SPTRSV_EXPECTS(status == CUBLAS_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                   "cuBLAS failed with status " + std::to_string(static_cast<int>(status)));
  };
  check(cublasCreate(&handle));
  const double one = 1;
  const double time = time_of(3, [&](int) {
    check(cublasDtrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, static_cast<int>(rows), 1, &one, matrix_pointers.data(),
                             static_cast<int>(rows), x_pointers.data(), static_cast<int>(rows),
                             static_cast<int>(systems)));
  });
  check(cublasDestroy(handle));
  return time;
}

/// Returns the milliseconds in which cuSPARSE would solve all systems one after the other: the time of up to
/// 200 of them, by as many solvers, times systems / 200.
double measure_cusparse(const matrix& a, const std::vector<double>& values, const std::vector<double>& b,
                        std::int64_t systems) {
  using solver = decltype(sptrsv::analyze(sptrsv_common::cusparse::policy{}, sptrsv::to_device(a.view())));
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(200, systems));
  const auto rows = static_cast<std::size_t>(a.rows);
  const auto there = sptrsv::to_device(b);
  const auto x = sptrsv::to_device(b);
  std::vector<solver> solvers;
  matrix of_system = a;
  sptrsv_common::cusparse::policy as_given;
  as_given.watch = false;
  for (std::size_t s = 0; s < count; ++s) {
    of_system.values.assign(values.begin() + static_cast<std::ptrdiff_t>(s * a.values.size()),
                            values.begin() + static_cast<std::ptrdiff_t>((s + 1) * a.values.size()));
    solvers.push_back(sptrsv::analyze(as_given, sptrsv::to_device(of_system.view())));
  }
  const double time = time_of(static_cast<int>(count), [&](int k) {
    const std::size_t at = static_cast<std::size_t>(k) * rows;
    solvers[static_cast<std::size_t>(k)].solve(sptrsv::span<const double>(there.data() + at, rows),
                                               sptrsv::span<double>(x.data() + at, rows));
  });
  return time * static_cast<double>(systems);
}

/// The options of the command line.
struct settings {
  std::int64_t systems = 10000;
  bool every_shape = false;
  bool alone = false;  ///< without cuSPARSE and cuBLAS
};

bool measure(const problem& p, const settings& wanted, double bandwidth) {
  using clock = std::chrono::steady_clock;
  constexpr double cold_bytes = 512e6;  // that are used in turn, far more than the L2 cache holds
  const std::int64_t systems = wanted.systems;
  const std::vector<double> values = make_values(p.a, systems);
  std::vector<double> b;
  for (std::int64_t i = 0; i < systems * p.a.rows; ++i) {
    b.push_back(2 * common::uniform(static_cast<std::uint64_t>(i), 4) - 1);
  }
  const double bytes = 8.0 * (static_cast<double>(values.size()) + 2.0 * static_cast<double>(b.size()));
  const double floor = bytes / bandwidth;
  const auto sets = static_cast<int>(std::min(20.0, std::max(1.0, cold_bytes / bytes + 0.5)));
  const auto there = sptrsv::to_device(p.a.view());
  const auto device_values = sptrsv::to_device(values);
  std::vector<sptrsv::buffer<double>> right_hand_sides;
  std::vector<sptrsv::buffer<double>> solutions;
  for (int k = 0; k < sets; ++k) {
    right_hand_sides.push_back(sptrsv::to_device(b));
    solutions.push_back(sptrsv::to_device(b));
  }
  const double cusparse = wanted.alone ? 0 : measure_cusparse(p.a, values, b, systems);
  const double cublas = wanted.alone ? 0 : measure_cublas(p.a, values, b, systems);
  bool right = true;
  std::vector<batch_options> shapes{{systems}};
  for (int lanes = 4; lanes <= 32 && wanted.every_shape; lanes *= 2) {
    shapes.push_back({systems, 0, lanes, 1});
    shapes.push_back({systems, 0, lanes, 2});
  }
  const auto measure_shape = [&](const batch_options& shape) {
    double analysis = 0;
    std::vector<sptrsv::batched_solver<double>> solvers;
    for (int k = 0; k < sets; ++k) {
      SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
      const auto start = clock::now();
      solvers.push_back(sptrsv::analyze_batch(there, device_values, shape));
      SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
      analysis = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    }
    const auto solve = [&](int k) {
      const auto set = static_cast<std::size_t>(k % sets);
      solvers[set].solve(batch_view<double>::contiguous(right_hand_sides[set].data(), systems, p.a.rows),
                         batch_view<double>::contiguous(solutions[set].data(), systems, p.a.rows));
    };
    const double time = time_of(std::max(5, sets), solve);
    const double warm = time_of(5, [&](int) { solve(0); });
    const double update = time_of(std::max(5, sets), [&](int k) {
      solvers[static_cast<std::size_t>(k % sets)].update_values(device_values);
    });
    const bool ok = are_right(p.a, values, b, sptrsv::to_host(solutions[0], cudaStream_t{}), systems);
    right = right && ok;
    std::printf("%-22s %5lld %6zu %4lld | %8.1f %8.1f %5.1f%% %8.1f | %8.1f %8.1f | %10.0f %10.0f | %s%s\n",
                p.name.c_str(), static_cast<long long>(p.a.rows), p.a.values.size(),
                static_cast<long long>(solvers.front().info().levels), 1e3 * floor, 1e3 * time,
                100 * floor / time, 1e3 * warm, 1e3 * update, 1e3 * analysis, 1e3 * cusparse, 1e3 * cublas,
                solvers.front().info().kernels.front().text.c_str(), ok ? "" : ", WRONG");
    std::fflush(stdout);
  };
  for (const batch_options& shape : shapes) {
    try {
      measure_shape(shape);
    } catch (const sptrsv::error& e) {
      if (e.code() != sptrsv::errc::unsupported) {
        throw;
      }
      std::printf("%-22s does not fit with %d lanes for %d systems\n", p.name.c_str(), shape.lanes,
                  shape.together);
    }
  }
  return right;
}

int run(const settings& wanted) {
  if (!common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_batched: this machine has no GPU\n");
    return common::exit_no_gpu;
  }
  common::keep_pool_memory();
  const double bandwidth = common::copy_bandwidth(common::device_placement{});
  std::printf("%s; driver: CUDA %s; runtime: CUDA %s; a copy moves %.0f GB/s; %lld systems\n",
              sptrsv::detail::cuda_executor().device_name().c_str(), driver_version().c_str(),
              runtime_version().c_str(), bandwidth * 1e-6, static_cast<long long>(wanted.systems));
  std::printf(
      "%-22s %5s %6s %4s | %-33s | %-17s | %-21s |\n%-40s | %8s %8s %6s %8s | %8s %8s | %10s %10s |\n",
      "pattern", "rows", "entr.", "lev.", "solve, us", "others, us", "others' solves, us", "", "floor",
      "solve", "share", "warm", "values", "analysis", "cuSPARSE", "cuBLAS");
  bool right = true;
  for (const problem& p :
       {grid(10), grid(45), random_rows(500, 6), random_rows(100, 4), grid(30), dense(100)}) {
    try {
      right = measure(p, wanted, bandwidth) && right;
    } catch (const std::exception& e) {
      std::printf("%-22s FAILED: %s\n", p.name.c_str(), e.what());
      right = false;
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace sptrsv_benchmarks::batched

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_batched",
      "Measures batches of small systems in double precision. The floor is the time in which the values, the "
      "right-hand sides and the solutions pass through memory once, at the bandwidth of a copy. Solves use "
      "several batches in turn, so that nothing is in the L2 cache; `warm` solves one batch again and again. "
      "cuSPARSE solves 200 systems in a loop, and its time is scaled to all systems; cuBLAS solves dense "
      "triangles.");
  sptrsv_benchmarks::batched::settings wanted;
  arguments.add_value("--systems", "N", "Number of systems in a batch (default: 10000).",
                      [&](const std::string& text) { wanted.systems = std::stoll(text); });
  arguments.add_flag("--every-shape", wanted.every_shape,
                     "Also measure each number of lanes, with one system and with two together, not only the "
                     "chosen ones.");
  arguments.add_flag("--alone", wanted.alone, "Measure neither cuSPARSE nor cuBLAS.");
  arguments.add_footer(
      "Exit status: 0 for success, 1 if a solution is wrong or an error occurs, 2 for an error in the "
      "command "
      "line, 77 without a GPU.");
  return arguments.run(argc, argv, [&] { return sptrsv_benchmarks::batched::run(wanted); });
}
