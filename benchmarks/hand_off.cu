// What it costs to hand one value from a producer to a consumer, from the registers of a lane to another GPU:
// the figures behind the choice of a method. Needs no matrix and no Google Benchmark.
//
//   sptrsv_hand_off [a word of the names of the lines to measure]
//
// A line is a chain of dependent links; nanoseconds of one link, the median of several chains.
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/bench/driver.cuh"
#include "benchmarks/hand_off/clusters.cuh"
#include "benchmarks/hand_off/inside_sm.cuh"
#include "benchmarks/hand_off/launches.cuh"
#include "benchmarks/hand_off/peers.cuh"
#include "benchmarks/hand_off/routes.cuh"

namespace {

namespace hand_off = sptrsv_benchmarks::hand_off;
using sptrsv_benchmarks::measure_hop_ns;

std::vector<hand_off::rung> ladder(int processors) {
  using namespace hand_off;
  return {
      {"registers: fma + mul", [] { return measure_step<multiply_add_and_multiply>(1); }},
      {"registers: fma + warp shuffle", [] { return measure_step<multiply_add_and_shuffle>(32); }},
      {"registers: fp64 subtract + divide", [] { return measure_step<subtract_and_divide>(1); }},
      {"shared memory: store + load by one lane", [] { return measure_step<store_and_load>(1); }},
      {"shared memory: value polled, 8 warps in turn", [] { return measure_between_warps(8); }},
      {"shared memory: value polled, 32 warps in turn", [] { return measure_between_warps(32); }},
      {"__syncthreads: 1 warp", [] { return measure_barrier(1); }},
      {"__syncthreads: 4 warps", [] { return measure_barrier(4); }},
      {"__syncthreads: 16 warps", [] { return measure_barrier(16); }},
      {"__syncthreads: 32 warps", [] { return measure_barrier(32); }},
      {"distributed shared memory: cluster of 2", [] { return measure_in_cluster(2); }},
      {"distributed shared memory: cluster of 8", [] { return measure_in_cluster(8); }},
      {"distributed shared memory: cluster of 16", [] { return measure_in_cluster(16); }},
      {"cluster.sync: 8 blocks of 256 threads", [] { return measure_cluster_barrier(8, 256); }},
      {"device memory: value is its own flag", [=] { return measure_hop_ns(processors, nullptr); }},
      {"device memory: value + flag, release and acquire",
       [=] { return measure_hop_ns<released_flag>(processors, nullptr); }},
      {"device memory: red + fence.release + red, fence.acquire",
       [=] { return measure_hop_ns<reduced_sum>(processors, nullptr); }},
      {"device memory: atomicAdd + __threadfence + atomicSub",
       [=] { return measure_hop_ns<counted_sum>(processors, nullptr); }},
      {"device memory: value + __threadfence + volatile flag",
       [=] { return measure_hop_ns<fenced_flag>(processors, nullptr); }},
      {"grid.sync: a block of 256 threads an SM", [=] { return measure_grid_barrier(processors); }},
      {"kernel node of a graph", [] { return measure_graph_node(); }},
      {"kernel launch, back to back", [] { return measure_launch(); }},
      {"two devices: remote store, local poll", [] { return measure_between_devices(true); }},
      {"two devices: local store, remote poll", [] { return measure_between_devices(false); }},
  };
}

/// Whether the line was measured or had a reason not to be.
bool print(const hand_off::rung& rung) {
  std::printf("%-58s ", rung.name);
  std::fflush(stdout);
  try {
    const double nanoseconds = rung.measure();
    std::printf("%9.1f ns\n", nanoseconds);
    return true;
  } catch (const hand_off::not_here& reason) {
    std::printf("        - (%s)\n", reason.what());
    return true;
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "sptrsv_hand_off: no GPU\n");
    return 77;
  }
  try {
    cudaDeviceProp properties{};
    SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s, %d SMs, compute capability %d.%d; driver: CUDA %s; runtime: CUDA %s\n", properties.name,
                properties.multiProcessorCount, properties.major, properties.minor,
                sptrsv_benchmarks::driver_version().c_str(), sptrsv_benchmarks::runtime_version().c_str());
    const std::string word = argc > 1 ? argv[1] : "";
    bool right = true;
    for (const hand_off::rung& rung : ladder(properties.multiProcessorCount)) {
      if (std::string(rung.name).find(word) != std::string::npos) {
        right = print(rung) && right;
      }
    }
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sptrsv_hand_off: %s\n", e.what());
    return 1;
  }
}
