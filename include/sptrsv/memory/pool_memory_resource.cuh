// SPDX-License-Identifier: Apache-2.0
// The default memory resource of the GPU policies; the header of every GPU policy includes it in a
// translation unit that nvcc compiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Device memory from stream-ordered pools (cudaMallocFromPoolAsync) that belong to this object: one for each
/// device, created by the first allocation on it. The device's default pool and its attributes are not used.
///
/// A pool keeps memory that is given back, so that the next allocation is fast. When it holds more than the
/// release threshold, it returns unused memory to the system at the next synchronisation of a stream, event
/// or device. Memory that a pool holds is not available to other allocators of the program (cudaMalloc) and
/// to other processes.
///
/// Memory is allocated on the current device, which must be that of the stream. On a device that has no
/// memory pools, each allocation is a cudaMalloc. `cudaDeviceReset` destroys the pool of the device; the
/// object cannot be used there afterwards.
class pool_memory_resource final : public memory_resource {
 public:
  /// Constructs a resource without memory.
  pool_memory_resource() = default;
  /// Returns the memory to the system. Memory whose deallocation is still enqueued follows at the first
  /// synchronisation of a stream, event or device after it.
  ///
  /// The pools themselves stay until the process ends. They are not destroyed, because driver 580.159.04
  /// crashes or hangs in a later cudaStreamSynchronize if a deallocation is enqueued when cudaMemPoolDestroy
  /// is called.
  ~pool_memory_resource() override {
    for_each_pool([threshold = std::uint64_t{0}](cudaMemPool_t pool) mutable {
      detail::forget_failure(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
      detail::forget_failure(cudaMemPoolTrimTo(pool, 0));
    });
  }

  /// Sets the release threshold of the pool of every device: the number of bytes, in use or not, up to which
  /// a pool returns nothing to the system. 0: return unused memory at each synchronisation. The default is a
  /// sixteenth of the memory of the device. Throws `error` with errc::cuda_error.
  void set_release_threshold(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    release_threshold_ = bytes;
    for_each_pool([bytes](cudaMemPool_t pool) { set_threshold(pool, bytes); });
  }

  /// Returns the unused memory of all devices to the system, now. Memory counts as used until the work that
  /// was enqueued before its deallocation is complete. Throws `error` with errc::cuda_error.
  void release_unused() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for_each_pool([](cudaMemPool_t pool) { SPTRSV_CUDA_CHECK(cudaMemPoolTrimTo(pool, 0)); });
  }

  /// Returns the pool of the current device, which is created if need be; null if the device has no memory
  /// pools. Throws `error` with errc::cuda_error.
  [[nodiscard]] cudaMemPool_t pool_handle() {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pools_.size() <= detail::at(device)) {
      pools_.resize(detail::at(device) + 1);
    }
    std::optional<cudaMemPool_t>& pool = pools_[detail::at(device)];
    if (!pool) {
      pool = create(device, release_threshold_);
    }
    return *pool;
  }

 private:
  template <class Use>
  void for_each_pool(Use use) const {
    for (const std::optional<cudaMemPool_t>& pool : pools_) {
      if (pool.value_or(nullptr) != nullptr) {
        use(*pool);
      }
    }
  }

  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    void* p = nullptr;
    const cudaMemPool_t pool = pool_handle();
    if (pool == nullptr) {
      SPTRSV_CUDA_CHECK(cudaMalloc(&p, bytes));
      return p;
    }
    const auto allocate = [&] { return cudaMallocFromPoolAsync(&p, bytes, pool, stream); };
    cudaError_t status = detail::call_apart(allocate);
    if (status == cudaErrorMemoryAllocation) {
      // The pool may hold unused memory in pieces that are too small. Return them and try again.
      SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream));
      SPTRSV_CUDA_CHECK(cudaMemPoolTrimTo(pool, 0));
      status = detail::call_apart(allocate);
    }
    detail::check_status(status, "cudaMallocFromPoolAsync");
    return p;
  }

  void do_deallocate(void* p, std::size_t, stream_handle stream) noexcept override {
    if (detail::forget_failure(cudaFreeAsync(p, stream)) != cudaSuccess) {
      // The memory is that of a device without memory pools, or the process ends and CUDA is gone.
      detail::forget_failure(cudaStreamSynchronize(stream));
      detail::forget_failure(cudaFree(p));
    }
  }

  /// Creates a pool on the device; returns null if the device has no memory pools.
  static cudaMemPool_t create(int device, std::optional<std::size_t> release_threshold) {
    int has_pools = 0;
    SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device));
    if (has_pools == 0) {
      return nullptr;
    }
    if (!release_threshold) {
      std::size_t free_bytes = 0;
      std::size_t all_bytes = 0;
      SPTRSV_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
      release_threshold = all_bytes / 16;
    }
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    cudaMemPool_t pool = nullptr;
    SPTRSV_CUDA_CHECK(cudaMemPoolCreate(&pool, &properties));
    set_threshold(pool, *release_threshold);
    return pool;
  }

  static void set_threshold(cudaMemPool_t pool, std::size_t bytes) {
    std::uint64_t threshold = bytes;
    SPTRSV_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  }

  std::mutex mutex_;
  /// By device: its pool; null if the device has none. Empty: nobody has asked for it yet.
  std::vector<std::optional<cudaMemPool_t>> pools_;
  std::optional<std::size_t> release_threshold_;  ///< empty: the default of each device
};

/// Returns the resource that GPU policies and the matrices and vectors of sptrsv/device_matrix.hpp use if
/// they are given none. It is never destroyed, so that objects of static storage duration may own memory from
/// it.
[[nodiscard]] inline pool_memory_resource& default_device_resource() {
  static auto* const resource = new pool_memory_resource;
  return *resource;
}

}  // namespace sptrsv::SPTRSV_ABI
