// SPDX-License-Identifier: Apache-2.0
// Memory: the stream-ordered resource that it comes from, and the buffer that owns some of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/error.hpp"

struct CUstream_st;  // what cudaStream_t points to

namespace sptrsv::SPTRSV_ABI {

/// The type of cudaStream_t, without CUDA's headers. Null where memory is not stream-ordered.
using stream_handle = CUstream_st*;

/// Source of memory, ordered by streams. Derive from it to provide memory of your own.
///
/// Several host threads may call `allocate` and `deallocate` at the same time. A resource must outlive
/// everything that was allocated from it.
class memory_resource {
 public:
  memory_resource() = default;
  /// Not copyable: what was allocated refers to the object.
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  /// Returns memory of at least `bytes` bytes, aligned to 256 bytes; null for 0 bytes. Work that is enqueued
  /// on `stream` after the call may use it. Throws `error` with errc::out_of_memory.
  [[nodiscard]] void* allocate(std::size_t bytes, stream_handle stream) {
    return bytes == 0 ? nullptr : do_allocate(bytes, stream);
  }
  /// Gives memory back: `p` and `bytes` are those of `allocate`; null is ignored. Work that was enqueued on
  /// `stream` before the call may still use the memory.
  void deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept {
    if (p != nullptr) {
      do_deallocate(p, bytes, stream);
    }
  }

 private:
  /// Implements allocate; `bytes` is not 0.
  virtual void* do_allocate(std::size_t bytes, stream_handle stream) = 0;
  /// Implements deallocate; `p` is not null.
  virtual void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept = 0;
};

/// Owner of uninitialised memory for `size()` elements of a trivially copyable type; move-only. The memory is
/// given back on the stream that it was allocated on, which must still exist then. The resource must outlive
/// the buffer.
template <class T>
class buffer {
 public:
  /// Constructs a buffer without memory.
  buffer() noexcept = default;
  /// Allocates memory for `size` elements from `resource` on `stream`. Throws `error` with
  /// errc::out_of_memory.
  buffer(std::size_t size, memory_resource& resource, stream_handle stream)
      : resource_(&resource), stream_(stream), size_(size), allocated_(size) {
    SPTRSV_EXPECTS(size <= static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T), errc::out_of_memory,
                   "a buffer of ", size, " elements exceeds the address space");
    data_ = static_cast<T*>(resource.allocate(size * sizeof(T), stream));
  }
  /// Takes the memory of `other`, which is empty then.
  buffer(buffer&& other) noexcept { swap(other); }
  /// Gives its memory back and takes that of `other`, which is empty then.
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() {
    if (resource_ != nullptr) {
      resource_->deallocate(data_, allocated_ * sizeof(T), stream_);
    }
  }

  /// Returns the address of the first element; null if there are none.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the size in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  /// Reduces the number of elements to `size`, which is not larger than size(). The memory behind them is
  /// kept.
  void shrink(std::size_t size) noexcept { size_ = size; }

  /// Exchanges the memory of two buffers.
  void swap(buffer& other) noexcept {
    std::swap(resource_, other.resource_);
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(allocated_, other.allocated_);
  }

 private:
  memory_resource* resource_ = nullptr;
  stream_handle stream_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t allocated_ = 0;  ///< elements
};

}  // namespace sptrsv::SPTRSV_ABI
