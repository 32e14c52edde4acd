// Allocation of buffers on the stream of an executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail {

/// Returns an uninitialised buffer of `count` >= 0 elements from `resource`, allocated on the stream of `on`.
template <class T, class Executor>
buffer<T> make_buffer(std::int64_t count, const Executor& on, memory_resource& resource) {
  return buffer<T>(static_cast<std::size_t>(count), resource, on.stream());
}

}  // namespace sptrsv::detail
