// sptrsv_dataflow_costs: measures the costs of tiles, hops and levels of policy dataflow on this GPU and
// prints the constants of the cost model in the form in which the tuning header of dataflow holds them
// (fp64). Takes no arguments.
//
// Each constant is the difference of the times of systems that differ in one property.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/shared/driver.cuh"
#include "common/gpu/cuda_handles.cuh"
#include "common/measurement/placement.hpp"
#include "sptrsv/policy/dataflow.hpp"

namespace {

using sptrsv::policy::dataflow_path;

/// Returns a matrix with `levels` levels of `rows` rows, one level after the other. A row depends on the
/// `entries` nearest rows of the level before, and on `older` rows that were solved 300 levels before.
sptrsv::csr_matrix<double> layers(std::int32_t levels, std::int32_t rows, std::int32_t entries,
                                  std::int32_t older = 0) {
  constexpr std::int32_t long_ago = 300;  // levels
  sptrsv::csr_matrix<double> made{levels * rows, levels * rows, {0}, {}, {}};
  for (std::int32_t i = 0; i < levels * rows; ++i) {
    const std::int32_t level = i / rows;
    std::vector<std::int32_t> needed;
    for (std::int32_t k = 0; level >= long_ago && k < std::min(older, rows); ++k) {
      needed.push_back((level - long_ago) * rows + (i + k) % rows);
    }
    for (std::int32_t k = 0; level > 0 && k < std::min(entries, rows); ++k) {
      needed.push_back((level - 1) * rows + (i + k) % rows);
    }
    std::sort(needed.begin(), needed.end());
    for (const std::int32_t column : needed) {
      made.column_indices.push_back(column);
      made.values.push_back(-0.5 / (entries + older));
    }
    made.column_indices.push_back(i);
    made.values.push_back(1);
    made.row_offsets.push_back(static_cast<std::int32_t>(made.values.size()));
  }
  return made;
}

/// The time of a solve and the tiles of its kernel.
struct measured {
  double nanoseconds;  ///< median time of a solve
  std::int64_t tiles;
};

/// Solves with the matrix several times.
measured measure(const sptrsv::csr_matrix<double>& matrix, const sptrsv::policy::dataflow& how) {
  using placement = sptrsv_common::device_placement;
  auto solver = sptrsv::analyze(how, placement::put_matrix(matrix), sptrsv::system_options{});
  const auto b = placement::put(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
  auto x = placement::put(std::vector<double>(static_cast<std::size_t>(matrix.rows)));
  constexpr int solves = 10;
  std::vector<double> times;
  for (int round = 0; round < 6; ++round) {
    times.push_back(1e6 * sptrsv_common::device_time([&] {
                      for (int i = 0; i < solves; ++i) {
                        solver.solve(b, x);
                      }
                    }) /
                    solves);
  }
  times.erase(times.begin());  // the first round warms up
  return {sptrsv_common::median(times), solver.info().kernels.at(0).tiles};
}

double time_of(const sptrsv::csr_matrix<double>& matrix, const sptrsv::policy::dataflow& how) {
  return measure(matrix, how).nanoseconds;
}

/// Returns the policy for the partitioned path with a shape and a number of partitions.
sptrsv::policy::dataflow partitioned(int shape, int partitions = 1) {
  sptrsv::policy::dataflow made{dataflow_path::partitioned};
  made.partitions = partitions;
  made.shape = shape;
  return made;
}

/// Returns the nanoseconds that one level adds to a partitioned solve with one partition.
double partitioned_level(int shape, std::int32_t rows, std::int32_t entries, std::int32_t older = 0) {
  constexpr std::int32_t levels = 1000;
  return (time_of(layers(3 * levels, rows, entries, older), partitioned(shape)) -
          time_of(layers(levels, rows, entries, older), partitioned(shape))) /
         (2 * levels);
}

/// Returns the rounded numbers, separated by commas.
std::string joined(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(std::lround(number));
  }
  return text;
}

/// Prints the constants of the partitioned path.
void print_partitioned() {
  std::vector<double> tiles;
  std::vector<double> many_tiles;
  std::vector<double> polls;
  std::vector<double> hops;
  int index = 0;
  for (const sptrsv::experimental::partitioned_shape& s :
       sptrsv::experimental::dataflow_tuning::partitioned_shapes) {
    const std::int32_t tile_rows = s.threads / s.lanes;
    const std::int32_t most_shared = s.lanes * s.entries;
    const std::int32_t shared = std::min(most_shared, tile_rows);
    const double tile = partitioned_level(index, tile_rows, shared);
    tiles.push_back(tile);
    many_tiles.push_back(partitioned_level(index, 4 * tile_rows, shared) / (4 * tile));
    // Global entries are polled two for each lane.
    if (tile_rows >= 8 * s.lanes && shared == most_shared) {
      polls.push_back((partitioned_level(index, tile_rows, shared, 8 * s.lanes) -
                       partitioned_level(index, tile_rows, shared, 2 * s.lanes)) /
                      3);
    }
    constexpr int partitions = 32;
    const auto chain = layers(2048, tile_rows, shared);
    hops.push_back((time_of(chain, partitioned(index, partitions)) - time_of(chain, partitioned(index))) /
                   (partitions - 1));
    ++index;
  }
  using sptrsv_common::median;
  std::printf("  // tile_ns of partitioned_shapes: %s\n", joined(tiles).c_str());
  std::printf("  static constexpr double partitioned_many_tiles_factor = %.2f;\n", median(many_tiles));
  std::printf("  static constexpr double partitioned_hop_ns = %.0f;\n", median(hops));
  std::printf("  static constexpr double partitioned_poll_ns = %.0f;\n", median(polls));
  std::printf("  static constexpr double partitioned_launch_ns = %.0f;\n",
              time_of(layers(1, 32, 1), partitioned(0)) - tiles.front());
}

/// Prints the constants of the single_block path.
void print_single_block() {
  std::vector<double> tiles;
  double launch = 0;
  sptrsv::policy::dataflow policy{dataflow_path::single_block};
  for (const sptrsv::experimental::single_block_shape& s :
       sptrsv::experimental::dataflow_tuning::single_block_shapes) {
    policy.shape = static_cast<int>(tiles.size());
    const auto time = [&](std::int32_t levels) { return measure(layers(levels, 1, 1), policy); };
    const measured few = time(s.rows * 500);
    const measured many = time(s.rows * 1500);
    tiles.push_back((many.nanoseconds - few.nanoseconds) / static_cast<double>(many.tiles - few.tiles));
    launch = few.nanoseconds - tiles.back() * static_cast<double>(few.tiles);
  }
  std::printf("  // tile_ns of single_block_shapes: %s\n", joined(tiles).c_str());
  std::printf("  static constexpr double single_block_launch_ns = %.0f;\n", launch);
}

/// Prints the constants of the row_per_thread path.
void print_row_per_thread() {
  const sptrsv::policy::dataflow policy{dataflow_path::row_per_thread};
  const double few = time_of(layers(50, 4000, 3), policy);
  const double many = time_of(layers(250, 4000, 3), policy);
  const double level = (many - few) / 200;
  const double narrow = time_of(layers(2, 1'000'000, 3), policy);
  const double wide = time_of(layers(2, 4'000'000, 3), policy);
  constexpr double bytes_of_row = 1.5 * (sizeof(double) + sizeof(std::int32_t)) + 4 * sizeof(double);
  std::printf("  static constexpr double row_per_thread_level_ns = %.0f;\n", level);
  std::printf("  static constexpr double row_per_thread_launch_ns = %.0f;\n",
              time_of(layers(1, 32, 1), policy));
  std::printf("  static constexpr double row_per_thread_byte_ns = 1 / %.1f;\n",
              6e6 * bytes_of_row / (wide - narrow));
}

}  // namespace

int main() {
  if (!sptrsv_common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_dataflow_costs: this machine has no GPU\n");
    return 77;  // CTest reports the run as skipped
  }
  try {
    cudaDeviceProp properties{};
    SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("// %s; driver: CUDA %s; runtime: CUDA %s\n", properties.name,
                sptrsv_benchmarks::driver_version().c_str(), sptrsv_benchmarks::runtime_version().c_str());
    print_single_block();
    print_partitioned();
    print_row_per_thread();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_dataflow_costs: %s\n", e.what());
    return 1;
  }
  return 0;
}
