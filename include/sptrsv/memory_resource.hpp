// Where memory comes from: a stream-ordered resource, and the buffer that owns a piece of it.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "sptrsv/error.hpp"

struct CUstream_st;  // what cudaStream_t points to

namespace sptrsv {

/// `cudaStream_t`, named without CUDA's headers; always null where memory is not stream-ordered.
using stream_handle = CUstream_st*;

/// Source of memory. `allocate` returns at least `bytes` bytes aligned to 256, usable by work enqueued on
/// `stream` after the call; `deallocate` may be called while work enqueued on `stream` still uses the memory.
/// Both may be called from several threads. A resource must outlive everything that was allocated from it.
class memory_resource {
 public:
  virtual ~memory_resource() = default;

  /// Throws `error(errc::out_of_memory)`.
  [[nodiscard]] void* allocate(std::size_t bytes, stream_handle stream) {
    return bytes == 0 ? nullptr : do_allocate(bytes, stream);
  }
  void deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept {
    if (p != nullptr) {
      do_deallocate(p, bytes, stream);
    }
  }

 private:
  virtual void* do_allocate(std::size_t bytes, stream_handle stream) = 0;
  virtual void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept = 0;
};

/// Uninitialised memory for `size()` elements of a trivially copyable type; move-only. It is given back on
/// the stream that it was allocated on, which must still exist then.
template <class T>
class buffer {
 public:
  buffer() noexcept = default;
  buffer(std::size_t size, memory_resource& resource, stream_handle stream)
      : resource_(&resource), stream_(stream), size_(size) {
    SPTRSV_EXPECTS(size <= static_cast<std::size_t>(-1) / sizeof(T), errc::out_of_memory,
                   "a buffer of " + std::to_string(size) + " elements exceeds the address space");
    data_ = static_cast<T*>(resource.allocate(size * sizeof(T), stream));
  }
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() {
    if (resource_ != nullptr) {
      resource_->deallocate(data_, bytes(), stream_);
    }
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  void swap(buffer& other) noexcept {
    std::swap(resource_, other.resource_);
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  memory_resource* resource_ = nullptr;
  stream_handle stream_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sptrsv
