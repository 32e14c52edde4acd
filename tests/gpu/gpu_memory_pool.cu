// The default source of device memory, and resources of other libraries by an adapter.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE  // cuda::mr of CUDA 12 and 13.0

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include <atomic>
#include <cstdint>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "sptrsv/device_matrix.hpp"
#include "sptrsv/interop/memory_resource_adapter.hpp"
#include "sptrsv/memory/pool_memory_resource.cuh"
#include "sptrsv/policy/dataflow.hpp"

namespace sptrsv::testing {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::uint64_t attribute_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  SPTRSV_CUDA_CHECK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}
std::uint64_t reserved_bytes(pool_memory_resource& resource) {
  return attribute_of(resource.pool_handle(), cudaMemPoolAttrReservedMemCurrent);
}
std::uint64_t used_bytes(pool_memory_resource& resource) {
  return attribute_of(resource.pool_handle(), cudaMemPoolAttrUsedMemCurrent);
}

/// Returns the bidiagonal system whose solution for a right-hand side of ones is 1, 0, 1, 0, ...
csr_matrix<double> chain(std::int32_t size) {
  csr_matrix<double> a{size, size, {0}, {}, {}};
  for (std::int32_t i = 0; i < size; ++i) {
    for (const std::int32_t column : {i - 1, i}) {
      if (column >= 0) {
        a.column_indices.push_back(column);
        a.values.push_back(1);
      }
    }
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

/// Analyses and solves a system on the stream; returns whether the solution is right.
bool solves(cudaStream_t stream, memory_resource* resource, std::int32_t size = 100000) {
  const auto a = to_device(chain(size), stream);
  const auto b = to_device(std::vector<double>(static_cast<std::size_t>(size), 1.0), stream);
  const auto x = to_device(std::vector<double>(static_cast<std::size_t>(size)), stream);
  auto solver = analyze(policy::dataflow{}, a, {}, stream, resource);
  solver.solve(b, x, stream);
  const std::vector<double> solved = to_host(x, stream);
  for (std::size_t i = 0; i < solved.size(); ++i) {
    if (solved[i] != (i % 2 == 0 ? 1 : 0)) {
      return false;
    }
  }
  return true;
}

TEST(GpuMemoryPool, KeepsWhatASolverGivesBackUntilItIsReleased) {
  pool_memory_resource pool;
  EXPECT_TRUE(solves(nullptr, &pool));
  SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(used_bytes(pool), 0u);
  const std::uint64_t kept = reserved_bytes(pool);
  EXPECT_GT(kept, 0u);
  EXPECT_TRUE(solves(nullptr, &pool));
  SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(reserved_bytes(pool), kept) << "the second analysis needs no more than the first one left";
  pool.release_unused();
  EXPECT_EQ(reserved_bytes(pool), 0u);
  EXPECT_TRUE(solves(nullptr, &pool));
}

TEST(GpuMemoryPool, KeepsASixteenthOfTheDeviceByDefault) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  SPTRSV_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  pool_memory_resource pool;
  EXPECT_EQ(attribute_of(pool.pool_handle(), cudaMemPoolAttrReleaseThreshold), all_bytes / 16);
}

TEST(GpuMemoryPool, ReturnsMemoryAboveTheReleaseThreshold) {
  pool_memory_resource pool;
  pool.set_release_threshold(0);  // before the pool of the device exists
  const auto use = [&] {
    { const buffer<unsigned char> b(100 * mib, pool, nullptr); }
    SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
    return reserved_bytes(pool);
  };
  EXPECT_EQ(use(), 0u);
  pool.set_release_threshold(200 * mib);
  EXPECT_GE(use(), 100 * mib);
  pool.set_release_threshold(0);
  EXPECT_EQ(use(), 0u);
}

TEST(GpuMemoryPool, LeavesTheDefaultPoolOfTheDeviceAlone) {
  int device = 0;
  cudaMemPool_t before = nullptr;
  cudaMemPool_t after = nullptr;
  cudaMemPool_t of_device = nullptr;
  SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
  SPTRSV_CUDA_CHECK(cudaDeviceGetMemPool(&before, device));
  SPTRSV_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&of_device, device));
  const std::uint64_t threshold = attribute_of(of_device, cudaMemPoolAttrReleaseThreshold);
  const std::uint64_t reserved = attribute_of(of_device, cudaMemPoolAttrReservedMemCurrent);
  EXPECT_TRUE(solves(nullptr, nullptr));
  default_device_resource().release_unused();
  SPTRSV_CUDA_CHECK(cudaDeviceGetMemPool(&after, device));
  EXPECT_EQ(before, after);
  EXPECT_NE(default_device_resource().pool_handle(), of_device);
  EXPECT_EQ(attribute_of(of_device, cudaMemPoolAttrReleaseThreshold), threshold);
  EXPECT_LE(attribute_of(of_device, cudaMemPoolAttrReservedMemCurrent), reserved);
}

TEST(GpuMemoryPool, IsFirstUsedBySeveralThreads) {
  for (int round = 0; round < 20; ++round) {
    pool_memory_resource pool;
    std::atomic<int> waiting{8};
    std::vector<cudaMemPool_t> handles(8);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      threads.emplace_back([&, i] {
        --waiting;
        while (waiting > 0) {
        }
        handles[i] = pool.pool_handle();
        right += solves(cudaStreamPerThread, &pool, 1000) ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(right, 8);
    EXPECT_EQ(handles, std::vector<cudaMemPool_t>(handles.size(), pool.pool_handle()));
  }
}

TEST(GpuMemoryPool, ServesARequestWithTheMemoryThatItKeeps) {
  pool_memory_resource pool;
  pool.set_release_threshold(std::numeric_limits<std::size_t>::max());
  default_device_resource().release_unused();
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  SPTRSV_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  const std::size_t part = free_bytes / 10;
  {
    std::vector<buffer<unsigned char>> parts;
    for (int i = 0; i < 6; ++i) {
      parts.emplace_back(part, pool, nullptr);
    }
  }
  EXPECT_GE(reserved_bytes(pool), 6 * part);
  const buffer<unsigned char> whole(6 * part, pool, nullptr);
  SPTRSV_CUDA_CHECK(cudaMemset(whole.data(), 0, whole.bytes()));
}

TEST(GpuMemoryPool, ReportsThatTheDeviceHasTooLittleMemory) {
  pool_memory_resource pool;
  try {
    const buffer<unsigned char> b(std::size_t{1} << 50, pool, nullptr);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
  }
  EXPECT_TRUE(solves(nullptr, &pool));
}

TEST(GpuMemoryPool, ReturnsItsMemoryWhenItIsDestroyed) {
  cudaMemPool_t handle = nullptr;
  {
    pool_memory_resource pool;
    handle = pool.pool_handle();
    const buffer<unsigned char> b(100 * mib, pool, nullptr);
    SPTRSV_CUDA_CHECK(cudaMemsetAsync(b.data(), 0, b.bytes(), nullptr));
  }
  SPTRSV_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(attribute_of(handle, cudaMemPoolAttrReservedMemCurrent), 0u)
      << "the pool itself is not destroyed";
}

/// The solver is destroyed when the process ends, perhaps after CUDA.
TEST(GpuMemoryPool, ServesSolversOfStaticStorageDuration) {
  const auto a = to_device(chain(1000));
  static auto solver = analyze(policy::dataflow{}, a);
  const auto b = to_device(std::vector<double>(1000, 1.0));
  const auto x = to_device(std::vector<double>(1000));
  solver.solve(b, x);
  EXPECT_EQ(to_host(x)[0], 1);
}

/// A resource with the interface of cuda::mr, in the form of CCCL 2 and 3.0 and in that of newer ones.
class cuda_resource {
 public:
  int live = 0;

  void* allocate(std::size_t bytes, std::size_t) {
    void* p = nullptr;
    SPTRSV_CUDA_CHECK(cudaMalloc(&p, bytes));
    ++live;
    return p;
  }
  void deallocate(void* p, std::size_t, std::size_t) noexcept {
    --live;
    static_cast<void>(cudaFree(p));
  }
  void* allocate_async(std::size_t bytes, std::size_t alignment, cuda::stream_ref stream) {
    return take(bytes, alignment, stream);
  }
  void deallocate_async(void* p, std::size_t, std::size_t, cuda::stream_ref stream) { give(p, stream); }
#if CCCL_MAJOR_VERSION > 3 || (CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 1)
  void* allocate_sync(std::size_t bytes, std::size_t alignment) { return allocate(bytes, alignment); }
  void deallocate_sync(void* p, std::size_t bytes, std::size_t alignment) noexcept {
    deallocate(p, bytes, alignment);
  }
  void* allocate(cuda::stream_ref stream, std::size_t bytes, std::size_t alignment) {
    return take(bytes, alignment, stream);
  }
  void deallocate(cuda::stream_ref stream, void* p, std::size_t, std::size_t) noexcept { give(p, stream); }
#endif

  bool operator==(const cuda_resource& other) const { return this == &other; }
  bool operator!=(const cuda_resource& other) const { return this != &other; }
  friend void get_property(const cuda_resource&, cuda::mr::device_accessible) noexcept {}

 private:
  void* take(std::size_t bytes, std::size_t alignment, cuda::stream_ref stream) {
    EXPECT_EQ(alignment, 256u);
    void* p = nullptr;
    if (cudaMallocAsync(&p, bytes, stream.get()) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      throw std::bad_alloc();
    }
    ++live;
    return p;
  }
  void give(void* p, cuda::stream_ref stream) noexcept {
    --live;
    static_cast<void>(cudaFreeAsync(p, stream.get()));
  }
};

#if CCCL_MAJOR_VERSION > 3 || (CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 1)
using cuda_resource_ref = cuda::mr::resource_ref<cuda::mr::device_accessible>;
#else
static_assert(cuda::mr::async_resource_with<cuda_resource, cuda::mr::device_accessible>);
using cuda_resource_ref = cuda::mr::async_resource_ref<cuda::mr::device_accessible>;
#endif

TEST(GpuMemoryResourceAdapter, TakesResourcesOfLibcudacxx) {
  cuda_resource resource;
  {
    memory_resource_adapter adapter(resource);
    EXPECT_TRUE(solves(nullptr, &adapter));
    const buffer<double> b(10, adapter, nullptr);
    EXPECT_EQ(resource.live, 1);
  }
  EXPECT_EQ(resource.live, 0);
}

TEST(GpuMemoryResourceAdapter, TakesReferencesToResourcesOfLibcudacxx) {
  cuda_resource resource;
  cuda_resource_ref reference(resource);
  memory_resource_adapter adapter(reference);
  EXPECT_TRUE(solves(nullptr, &adapter));
  {
    const buffer<double> b(10, adapter, nullptr);
    EXPECT_EQ(resource.live, 1);
  }
  EXPECT_EQ(resource.live, 0);
  EXPECT_THROW(buffer<unsigned char>(std::size_t{1} << 50, adapter, nullptr), error);
}

}  // namespace
}  // namespace sptrsv::testing
