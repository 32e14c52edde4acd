// Buffers on the stream of an executor, and copies between them and host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail {

/// Returns an uninitialised buffer of `count` >= 0 elements from `resource`, allocated on the stream of `on`.
template <class T, class Executor>
buffer<T> make_buffer(std::int64_t count, const Executor& on, memory_resource& resource) {
  return buffer<T>(static_cast<std::size_t>(count), resource, on.stream());
}

/// Returns a copy, in the memory of the executor, of `count` elements in host memory.
template <class T, class Executor>
buffer<T> upload_array(const T* host, std::int64_t count, const Executor& on, memory_resource& resource) {
  auto made = make_buffer<T>(count, on, resource);
  on.upload(made.data(), host, made.bytes());
  return made;
}
template <class T, class Executor>
buffer<T> upload_array(const std::vector<T>& host, const Executor& on, memory_resource& resource) {
  return upload_array(host.data(), static_cast<std::int64_t>(host.size()), on, resource);
}

/// Returns a copy in host memory of `count` elements. Synchronises.
template <class T, class Executor>
std::vector<T> download_array(const T* device, std::int64_t count, const Executor& on) {
  std::vector<T> made(static_cast<std::size_t>(count));
  on.download(made.data(), device, made.size() * sizeof(T));
  return made;
}
template <class T, class Executor>
std::vector<T> download_array(const buffer<T>& device, const Executor& on) {
  return download_array(device.data(), static_cast<std::int64_t>(device.size()), on);
}

}  // namespace sptrsv::detail
