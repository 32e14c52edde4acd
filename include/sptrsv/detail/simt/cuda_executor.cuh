// SPDX-License-Identifier: Apache-2.0
// The executor (simt_executor.hpp) for a CUDA stream.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/util_type.cuh>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/simt/cuda_check.cuh"
#include "sptrsv/detail/simt/cuda_kernel.cuh"
#include "sptrsv/detail/simt/simt_executor.hpp"
#include "sptrsv/host/executor.hpp"
#include "sptrsv/memory/pool_memory_resource.cuh"

namespace sptrsv::SPTRSV_ABI::detail {

namespace simt {

/// Writes bytes that are passed as a parameter of the launch. A copy from host memory would have to be waited
/// for, because the caller may reuse that memory.
struct small_upload_agent {
  static constexpr int block_threads = 256;
  static constexpr std::size_t max_bytes = 1024;
  struct shared_storage {};
  struct params {
    unsigned char* to;
    std::uint32_t bytes;  ///< at most max_bytes
    unsigned char content[max_bytes];
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    for (std::uint32_t i = ctx.thread_rank(); i < p.bytes; i += block_threads) {
      ctx.store(p.to + i, p.content[i]);
    }
  }
};

}  // namespace simt

/// Enqueues work on a CUDA stream; see simt_executor.hpp for what each function does.
class cuda_executor {
 public:
  using stream_type = cudaStream_t;
  using graph_type = simt::cuda_graph;
  static constexpr bool has_arenas = true;

  explicit cuda_executor(cudaStream_t stream = nullptr) : stream_(stream) {}

  [[nodiscard]] stream_handle stream() const { return stream_; }
  [[nodiscard]] memory_resource& default_resource() const { return default_device_resource(); }

  /// Returns why kernels may not dereference `p`, which is not null: they take memory of the current device,
  /// managed memory, and host memory that is mapped at the same address.
  [[nodiscard]] static std::string why_unreachable(const void* p) {
    const cudaPointerAttributes found = attributes_of(p);
    int current = 0;
    static_cast<void>(cudaGetDevice(&current));
    return simt::why_unreachable(found.devicePointer == p,
                                 found.type == cudaMemoryTypeDevice ? found.device : -1, current);
  }
  /// Returns whether `p` is device memory, which the host cannot access.
  [[nodiscard]] static bool is_device_only_memory(const void* p) {
    return attributes_of(p).type == cudaMemoryTypeDevice;
  }

  [[nodiscard]] std::string device_name() const {
    int device = 0;
    cudaDeviceProp properties{};
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    SPTRSV_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    return properties.name;
  }

  [[nodiscard]] bool is_capturing() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    SPTRSV_CUDA_CHECK(cudaStreamIsCapturing(stream_, &status));
    return status != cudaStreamCaptureStatusNone;
  }

  template <class Agent>
  void launch(std::uint32_t blocks, const typename Agent::params& p, std::size_t dynamic_shared_bytes = 0,
              int threads = Agent::block_threads) const {
    simt::kernel_of<Agent>().launch(blocks, &p, dynamic_shared_bytes, threads, stream_);
  }

  template <class Agent>
  void launch_together(std::uint32_t blocks, const typename Agent::params& p,
                       std::size_t dynamic_shared_bytes = 0, int threads = Agent::block_threads) const {
    launch<Agent>(blocks, p, dynamic_shared_bytes, threads);
  }

  template <class Agent>
  void run_beside_others() const {
    simt::kernel_of<Agent>().prefer_shared_memory();
  }

  template <class Agent>
  [[nodiscard]] std::uint32_t resident_blocks(std::size_t dynamic_shared_bytes = 0,
                                              int threads = Agent::block_threads) const {
    const std::uint32_t blocks = simt::kernel_of<Agent>().resident_blocks(dynamic_shared_bytes, threads);
    SPTRSV_EXPECTS(blocks > 0, errc::unsupported, dynamic_shared_bytes,
                   " bytes of shared memory exceed what a block may have");
    return blocks;
  }

  [[nodiscard]] std::size_t shared_limit() const {
    int device = 0;
    int bytes = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return static_cast<std::size_t>(bytes);
  }

  void fill_bytes(void* p, unsigned char value, std::size_t bytes) const {
    if (bytes > 0) {
      SPTRSV_CUDA_CHECK(cudaMemsetAsync(p, value, bytes, stream_));
    }
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0) {
      SPTRSV_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
    }
  }
  void upload(void* device, const void* host, std::size_t bytes) const {
    begin_upload(device, host, bytes);
    if (bytes > simt::small_upload_agent::max_bytes) {
      synchronize();
    }
  }
  void begin_upload(void* device, const void* host, std::size_t bytes) const {
    if (bytes == 0) {
      return;
    }
    if (bytes > simt::small_upload_agent::max_bytes) {
      SPTRSV_CUDA_CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_));
      return;
    }
    simt::small_upload_agent::params small_upload;
    small_upload.to = static_cast<unsigned char*>(device);
    small_upload.bytes = static_cast<std::uint32_t>(bytes);
    std::memcpy(small_upload.content, host, bytes);
    launch<simt::small_upload_agent>(1, small_upload);
  }
  void download(void* host, const void* device, std::size_t bytes) const {
    if (bytes > 0) {
      SPTRSV_CUDA_CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_));
    }
    synchronize();
  }
  void synchronize() const { SPTRSV_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

  template <class T>
  void exclusive_scan(const T* in, T* out, std::int64_t count, memory_resource& resource) const {
    with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, count, stream_);
    });
  }

  template <class Key, class T>
  void sort_pairs(const Key* keys_in, Key* keys_out, const T* values_in, T* values_out, std::int64_t count,
                  int key_bits, memory_resource& resource) const {
    using payload = std::make_unsigned_t<T>;  // one instantiation for both signs
    with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(
          scratch, bytes, keys_in, keys_out, reinterpret_cast<const payload*>(values_in),
          reinterpret_cast<payload*>(values_out), count, 0, key_bits, stream_);
    });
  }

  template <class Key, class T>
  void sort_pairs_in_place(buffer<Key>& keys, buffer<Key>& other_keys, buffer<T>& values,
                           buffer<T>& other_values, int key_bits, memory_resource& resource) const {
    using payload = std::make_unsigned_t<T>;
    cub::DoubleBuffer<Key> key_buffers(keys.data(), other_keys.data());
    cub::DoubleBuffer<payload> value_buffers(reinterpret_cast<payload*>(values.data()),
                                             reinterpret_cast<payload*>(other_values.data()));
    with_scratch(resource, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, key_buffers, value_buffers,
                                             static_cast<std::int64_t>(keys.size()), 0, key_bits, stream_);
    });
    if (key_buffers.Current() != keys.data()) {
      keys.swap(other_keys);
    }
    if (reinterpret_cast<T*>(value_buffers.Current()) != values.data()) {
      values.swap(other_values);
    }
  }

  /// Records the launches of `enqueue(launcher)` node by node: a stream capture would disturb other threads.
  template <class Enqueue>
  [[nodiscard]] simt::cuda_graph record(Enqueue&& enqueue) const {
    simt::graph_recorder recorder;
    enqueue(std::as_const(recorder));
    return recorder.instantiate();
  }
  void replay(const simt::cuda_graph& graph) const {
    SPTRSV_CUDA_CHECK(cudaGraphLaunch(graph.get(), stream_));
  }

 private:
  /// Returns the attributes of a pointer; all zero if there is no device.
  static cudaPointerAttributes attributes_of(const void* p) {
    cudaPointerAttributes found = ask_for(p);
    int device = 0;
    // In a thread that has not used the device yet, the runtime recognises the memory but reports no address.
    if (found.devicePointer == nullptr && forget_failure(cudaGetDevice(&device)) == cudaSuccess &&
        forget_failure(cudaSetDevice(device)) == cudaSuccess) {
      found = ask_for(p);
    }
    return found;
  }
  /// Asks the runtime once; returns zeros on an error.
  static cudaPointerAttributes ask_for(const void* p) {
    cudaPointerAttributes found{};
    return forget_failure(cudaPointerGetAttributes(&found, p)) == cudaSuccess ? found
                                                                              : cudaPointerAttributes{};
  }

  /// Makes the two calls of a CUB function: it asks for the size of its scratch memory, then works.
  template <class Call>
  void with_scratch(memory_resource& resource, Call call) const {
    std::size_t bytes = 0;
    check_status(call_apart([&] { return call(nullptr, bytes); }), "CUB");
    const buffer<unsigned char> scratch(bytes == 0 ? 1 : bytes, resource, stream_);
    check_status(call_apart([&] { return call(scratch.data(), bytes); }), "CUB");
  }

  cudaStream_t stream_;
};

template <>
struct executor_for<cudaStream_t> {
  using type = cuda_executor;
};

/// Registers the function by which host policies recognise device memory (host/executor.hpp).
inline const bool host_knows_device_memory = (is_device_only = &cuda_executor::is_device_only_memory, true);

}  // namespace sptrsv::SPTRSV_ABI::detail
