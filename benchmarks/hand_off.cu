// sptrsv_hand_off: measures the time in which one value passes from a producer to a consumer by different
// methods, from the registers of a lane to another GPU. A chain of dependent links measures a method; the
// result is the median time of one link. `--help` lists the options.
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/hand_off/clusters.cuh"
#include "benchmarks/hand_off/inside_sm.cuh"
#include "benchmarks/hand_off/launches.cuh"
#include "benchmarks/hand_off/peers.cuh"
#include "benchmarks/hand_off/routes.cuh"
#include "benchmarks/shared/driver.cuh"
#include "common/command_line/command_line.hpp"
#include "common/measurement/placement.hpp"

namespace {

namespace hand_off = sptrsv_benchmarks::hand_off;
using sptrsv_benchmarks::measure_hop_ns;

/// Returns all methods, from the registers of a lane to another GPU.
std::vector<hand_off::method> methods(int processors) {
  using namespace hand_off;
  return {
      {"registers: fma + mul", [] { return measure_step<multiply_add_and_multiply>(1); }},
      {"registers: fma + warp shuffle", [] { return measure_step<multiply_add_and_shuffle>(32); }},
      {"registers: fp64 subtract + divide", [] { return measure_step<subtract_and_divide>(1); }},
      {"shared memory: store + load by one lane", [] { return measure_step<store_and_load>(1); }},
      {"shared memory: value polled, 8 warps round-robin", [] { return measure_between_warps(8); }},
      {"shared memory: value polled, 32 warps round-robin", [] { return measure_between_warps(32); }},
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
      {"grid.sync: one block of 256 threads per SM", [=] { return measure_grid_barrier(processors); }},
      {"kernel node of a graph", [] { return measure_graph_node(); }},
      {"kernel launch, back to back", [] { return measure_launch(); }},
      {"device memory: a value to one more receiver", [] { return measure_next_receiver(); }},
      {"two devices: remote store, local poll", [] { return measure_between_devices(true); }},
      {"two devices: local store, remote poll", [] { return measure_between_devices(false); }},
      {"two devices: 1 value + signal, not ordered",
       [] { return measure_messages<1, message_parts::values_and_signal>(); }},
      {"two devices: 1 value + fence + signal", [] { return measure_messages<1, message_parts::fenced>(); }},
      {"two devices: 32 values + fence + signal",
       [] { return measure_messages<32, message_parts::fenced>(); }},
      {"two devices: 128 values + fence + signal",
       [] { return measure_messages<128, message_parts::fenced>(); }},
      {"two devices: 128 values, outbox + fence + signal",
       [] { return measure_messages<128, message_parts::fenced_through_outbox>(); }},
  };
}

/// Measures a method and prints its line. Returns false if the measurement failed.
bool print(const hand_off::method& method) {
  std::printf("%-58s ", method.name);
  std::fflush(stdout);
  try {
    const double nanoseconds = method.measure();
    std::printf("%9.1f ns\n", nanoseconds);
    return true;
  } catch (const hand_off::not_available& reason) {
    std::printf("        - (%s)\n", reason.what());
    return true;
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return false;
  }
}

/// `word`: measures the methods whose name contains it.
int run(const std::string& word) {
  if (!sptrsv_common::has_gpu()) {
    std::fprintf(stderr, "sptrsv_hand_off: this machine has no GPU\n");
    return sptrsv_common::exit_no_gpu;
  }
  cudaDeviceProp properties{};
  SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, %d SMs, compute capability %d.%d; driver: CUDA %s; runtime: CUDA %s\n", properties.name,
              properties.multiProcessorCount, properties.major, properties.minor,
              sptrsv_benchmarks::driver_version().c_str(), sptrsv_benchmarks::runtime_version().c_str());
  bool right = true;
  for (const hand_off::method& method : methods(properties.multiProcessorCount)) {
    if (std::string(method.name).find(word) != std::string::npos) {
      right = print(method) && right;
    }
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  sptrsv_common::command_line arguments(
      "sptrsv_hand_off",
      "Measures the time in which one value passes from a producer to a consumer, by different methods.");
  std::string word;
  arguments.add_positional("WORD", word, false, "Measure only the methods whose name contains this text.");
  arguments.add_footer(
      "Exit status: 0 for success, 1 if a measurement fails, 2 for an error in the command line, 77 without "
      "a GPU.");
  return arguments.run(argc, argv, [&] { return run(word); });
}
