// SPDX-License-Identifier: Apache-2.0
// Products of sizes, buffers on the stream of an executor, copies between them and host memory, and a
// resource that counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the resource, or the default one for null.
template <class Executor>
memory_resource& resource_or_default(memory_resource* resource, const Executor& on) {
  return resource != nullptr ? *resource : on.default_resource();
}

/// Returns the product of sizes >= 0. Throws errc::out_of_memory above 2^63 - 1: no memory has so many.
template <class... Sizes>
std::int64_t checked_product(Sizes... sizes) {
  std::int64_t product = 1;
  const auto multiply = [&](std::int64_t size) {
    SPTRSV_EXPECTS(
        size <= 0 || product <= std::numeric_limits<std::int64_t>::max() / size, errc::out_of_memory, product,
        " times ", size,
        " elements exceed the address space: a smaller max_rhs, or fewer systems of a batch, need less");
    product *= size;
  };
  (multiply(static_cast<std::int64_t>(sizes)), ...);
  return product;
}

/// Returns an uninitialised buffer of `count` >= 0 elements from `resource`, allocated on the stream of `on`.
template <class T, class Executor>
buffer<T> make_buffer(std::int64_t count, const Executor& on, memory_resource& resource) {
  return buffer<T>(at(count), resource, on.stream());
}

/// Returns a buffer for `count` elements whose bytes are zero.
template <class T, class Executor>
buffer<T> make_zeros(std::int64_t count, const Executor& on, memory_resource& resource) {
  auto made = make_buffer<T>(count, on, resource);
  on.fill_bytes(made.data(), 0, made.bytes());
  return made;
}

/// Returns a copy of an array, a buffer or a span, where the executor computes.
template <class Array, class Executor>
auto copy_of(const Array& from, const Executor& on, memory_resource& resource) {
  buffer<std::decay_t<decltype(*from.data())>> made(from.size(), resource, on.stream());
  on.copy(made.data(), from.data(), made.bytes());
  return made;
}

/// Returns a copy, in the memory of the executor, of `count` elements in host memory.
template <class T, class Executor>
buffer<T> upload_array(const T* host, std::int64_t count, const Executor& on, memory_resource& resource) {
  auto made = make_buffer<T>(count, on, resource);
  on.upload(made.data(), host, made.bytes());
  return made;
}
template <class T, class Executor>
buffer<T> upload(const std::vector<T>& host, const Executor& on, memory_resource& resource) {
  return upload_array(host.data(), static_cast<std::int64_t>(host.size()), on, resource);
}

/// Returns a copy in host memory of `count` elements. Synchronises.
template <class T, class Executor>
std::vector<T> download_array(const T* device, std::int64_t count, const Executor& on) {
  std::vector<T> made(at(count));
  on.download(made.data(), device, made.size() * sizeof(T));
  return made;
}
template <class T, class Executor>
std::vector<T> download_array(const buffer<T>& device, const Executor& on) {
  return download_array(device.data(), static_cast<std::int64_t>(device.size()), on);
}

/// Returns the value at an address in the memory of the executor. Synchronises.
template <class T, class Executor>
T download_value(const T* device, const Executor& on) {
  T value{};
  on.download(&value, device, sizeof(value));
  return value;
}
/// Returns the last element. Synchronises.
template <class T, class Executor>
T last_of(const buffer<T>& values, const Executor& on) {
  return download_value(values.data() + values.size() - 1, on);
}

/// Returns a copy of the vector in device memory. The vector stays as it is until a call synchronises.
template <class T, class Executor>
buffer<T> begin_upload(const std::vector<T>& from, const Executor& on, memory_resource& resource) {
  auto to = make_buffer<T>(static_cast<std::int64_t>(from.size()), on, resource);
  on.begin_upload(to.data(), from.data(), to.bytes());
  return to;
}

/// Owns arrays of any types in device memory, which are given back together.
class device_arrays {
 public:
  /// Returns an uninitialised array of `count` >= 0 elements; null if there are none.
  template <class T, class Executor>
  T* make(std::int64_t count, const Executor& on, memory_resource& resource) {
    const std::size_t bytes = at(count) * sizeof(T);
    if (bytes == 0) {
      return nullptr;
    }
    arrays_.emplace_back(bytes, resource, on.stream());
    return reinterpret_cast<T*>(arrays_.back().data());
  }
  /// Returns a copy of the vector; null if it is empty. Synchronises.
  template <class T, class Executor>
  const T* add(const std::vector<T>& from, const Executor& on, memory_resource& resource) {
    T* const to = make<T>(static_cast<std::int64_t>(from.size()), on, resource);
    on.upload(to, from.data(), from.size() * sizeof(T));
    return to;
  }
  /// The same without waiting. The vector stays as it is until a call synchronises.
  template <class T, class Executor>
  const T* begin_add(const std::vector<T>& from, const Executor& on, memory_resource& resource) {
    T* const to = make<T>(static_cast<std::int64_t>(from.size()), on, resource);
    on.begin_upload(to, from.data(), from.size() * sizeof(T));
    return to;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const buffer<std::byte>& array : arrays_) {
      sum += array.bytes();
    }
    return sum;
  }

 private:
  std::vector<buffer<std::byte>> arrays_;
};

/// Allocates from another resource and keeps the largest number of bytes that were allocated at one time.
class peak_resource : public memory_resource {
 public:
  explicit peak_resource(memory_resource& from) : from_(from) {}

  [[nodiscard]] std::size_t peak_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return peak_;
  }
  /// Returns the peak, and counts a new one from what is allocated now.
  std::size_t take_peak() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(peak_, live_);
  }

 private:
  void* do_allocate(std::size_t bytes, stream_handle stream) override {
    void* const p = from_.allocate(bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    live_ += bytes;
    peak_ = live_ > peak_ ? live_ : peak_;
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, stream_handle stream) noexcept override {
    from_.deallocate(p, bytes, stream);
    const std::lock_guard<std::mutex> lock(mutex_);
    live_ -= bytes;
  }

  memory_resource& from_;
  mutable std::mutex mutex_;
  std::size_t live_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
