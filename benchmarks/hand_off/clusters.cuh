// Methods to hand a value on between the thread blocks of a cluster, through distributed shared memory
// (compute capability 9.0 and above).
#pragma once

#include <cooperative_groups.h>

#include "benchmarks/shared/hop.cuh"
#include "timing.cuh"

namespace sptrsv_benchmarks::hand_off {

/// The blocks of a cluster take the links round-robin, with one thread each. A block waits until its own slot
/// holds the number of its link and stores the next number into the slot of the next block.
static __global__ void pass_in_cluster([[maybe_unused]] int links, [[maybe_unused]] outcome* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ double slot;
  const auto cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  slot = rank == 0 ? 0 : -1;
  cluster.sync();
  volatile double* const mine = &slot;
  volatile double* const next = cluster.map_shared_rank(&slot, static_cast<unsigned>((rank + 1) % blocks));
  double expected = rank;
  for (int i = rank; i < links; i += blocks) {
    if (!poll_until([&] { return *mine == expected; })) {
      out->broken = 1;
      break;
    }
    *next = expected + 1;
    expected += blocks;
  }
  cluster.sync();  // no block ends while others store into its shared memory
  if (rank == 0) {
    out->last = slot;
  }
#endif
}

static __global__ void repeat_cluster_barrier([[maybe_unused]] int links, [[maybe_unused]] outcome* out) {
#if __CUDA_ARCH__ >= 900
  const auto cluster = cooperative_groups::this_cluster();
  for (int i = 0; i < links; ++i) {
    cluster.sync();
  }
#endif
}

/// Launches one cluster of `blocks` blocks. Throws not_available if the device has no clusters of this size.
class cluster_launch {
 public:
  using kernel = void (*)(int, outcome*);

  cluster_launch(kernel run, int blocks, int threads) : run_(run) {
    int device = 0;
    int major = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 9) {
      throw not_available("the device has no clusters");
    }
    config_.gridDim = dim3(static_cast<unsigned>(blocks));
    config_.blockDim = dim3(static_cast<unsigned>(threads));
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim.x = static_cast<unsigned>(blocks);
    attribute_.val.clusterDim.y = 1;
    attribute_.val.clusterDim.z = 1;
    config_.numAttrs = 1;
    if (blocks > 8) {  // more than the portable size
      SPTRSV_CUDA_CHECK(cudaFuncSetAttribute(run, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    }
    config_.attrs = &attribute_;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, run, &config_) != cudaSuccess || clusters < 1) {
      static_cast<void>(cudaGetLastError());
      throw not_available("the device has no clusters of this size");
    }
  }
  cluster_launch(const cluster_launch&) = delete;  // config_ points to attribute_
  cluster_launch& operator=(const cluster_launch&) = delete;

  void operator()(int links, outcome* out) const {
    SPTRSV_CUDA_CHECK(cudaLaunchKernelEx(&config_, run_, links, out));
  }

 private:
  kernel run_;
  cudaLaunchConfig_t config_{};
  cudaLaunchAttribute attribute_{};
};

inline double measure_in_cluster(int blocks) {
  const outcome_memory out;
  const cluster_launch launch(pass_in_cluster, blocks, 1);
  const double nanoseconds = time_of_link(50000, [&](int links) { launch(links, out.data()); });
  out.check();
  return nanoseconds;
}

inline double measure_cluster_barrier(int blocks, int threads) {
  const outcome_memory out;
  const cluster_launch launch(repeat_cluster_barrier, blocks, threads);
  return time_of_link(50000, [&](int links) { launch(links, out.data()); });
}

}  // namespace sptrsv_benchmarks::hand_off
