// SPDX-License-Identifier: Apache-2.0
// Loops over rows that run on a device as kernels and on the host as loops, from one source.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/host/executor.hpp"

/// Stands before a SPTRSV_HOST_DEVICE template that calls a context: nvcc would warn that the functions of
/// the device's context do not run on the host.
#ifdef __CUDACC__
#define SPTRSV_ANY_CONTEXT _Pragma("nv_exec_check_disable")
#else
#define SPTRSV_ANY_CONTEXT
#endif

namespace sptrsv::detail::factors {

/// Is true if the executor runs kernels.
template <class Executor>
inline constexpr bool has_kernels = !std::is_same_v<Executor, host_executor>;

/// The memory accesses of a context, on the host. Scalars are accessed as load_scalar does.
struct host_context {
  template <class T>
  T load(const T* p) const {
    if constexpr (std::is_class_v<T>) {
      return load_scalar(p);
    } else {
      return *p;
    }
  }
  template <class T>
  T load_constant(const T* p) const {
    return load(p);
  }
  template <class T>
  void store(T* p, T v) const {
    if constexpr (std::is_class_v<T>) {
      store_scalar(p, v);
    } else {
      *p = v;
    }
  }
};

/// Calls `body(ctx, i)` for i in [0, count), where the executor computes. The calls are independent of one
/// another.
template <class Executor, class Body>
void for_each(const Executor& on, std::int64_t count, const Body& body) {
  if constexpr (has_kernels<Executor>) {
    simt::for_each(on, count, body);
  } else {
    host_context ctx;
    for (std::int64_t i = 0; i < count; ++i) {
      body(ctx, i);
    }
  }
}

}  // namespace sptrsv::detail::factors
