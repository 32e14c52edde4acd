// SPDX-License-Identifier: Apache-2.0
// Stream and memory of the host policies.
#pragma once

#include <cstring>
#include <new>
#include <string>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Stream type of the host policies. It has no state: every call is complete when it returns.
struct host_stream {};

/// Memory of the C++ heap, aligned to 256 bytes: the default resource of the host policies. Streams are
/// ignored.
class host_memory_resource final : public memory_resource {
  void* do_allocate(std::size_t bytes, stream_handle) override {
    void* p = ::operator new(bytes, alignment, std::nothrow);
    SPTRSV_EXPECTS(p != nullptr, errc::out_of_memory, "the host has no ", bytes, " bytes of memory left");
    return p;
  }
  void do_deallocate(void* p, std::size_t, stream_handle) noexcept override {
    ::operator delete(p, alignment);
  }

  static constexpr std::align_val_t alignment{256};
};

namespace detail {

/// The executor of a stream type; specialised for each stream type.
template <class Stream>
struct executor_for {
  static_assert(
      sizeof(Stream) == 0,
      "no executor for this stream: the GPU policies need a translation unit compiled by nvcc, or choose "
      "a host policy");
};

/// Returns whether the host cannot access the memory. detail/simt/cuda_executor.cuh sets it, if it is
/// included.
inline bool (*is_device_only)(const void* p) = nullptr;

/// The executor of the host policies: it has no kernels, only memory, where all copies are the same.
class host_executor {
 public:
  using stream_type = host_stream;
  explicit host_executor(stream_type = {}) {}

  [[nodiscard]] stream_handle stream() const { return nullptr; }
  [[nodiscard]] memory_resource& default_resource() const {
    static host_memory_resource resource;
    return resource;
  }
  [[nodiscard]] static std::string why_unreachable(const void* p) {
    return is_device_only != nullptr && is_device_only(p)
               ? "it is device memory, and host policies and functions take host memory"
               : std::string();
  }
  [[nodiscard]] static std::string device_name() { return "host"; }
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) {
      std::memcpy(to, from, bytes);
    }
  }
  static void upload(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes); }
  static void download(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes); }
};

template <>
struct executor_for<host_stream> {
  using type = host_executor;
};

}  // namespace detail
}  // namespace sptrsv::SPTRSV_ABI
