// What happens to vectors between the solves of sptrsv::factors, on the device and on the host.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::detail::factors {

/// Moves element `row` of each column: to(row) = from(order[row]), or to(order[row]) = from(row) if
/// `scatters`. Runs once per element, row by row.
template <class Scalar, class Index>
struct permute {
  const Index* order;
  bool scatters;
  dense_view<const Scalar> from;
  dense_view<Scalar> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t element) const {
    const std::int64_t row = element / from.columns;
    const std::int64_t column = element % from.columns;
    const auto other = static_cast<std::int64_t>(ctx.load_constant(order + row));
    const std::int64_t read = scatters ? row : other;
    const std::int64_t written = scatters ? other : row;
    ctx.store(to.data + written * to.row_stride + column * to.column_stride,
              ctx.load(from.data + read * from.row_stride + column * from.column_stride));
  }
};

/// Multiplies each row of x by a factor. Runs once per element, row by row.
template <class Scalar>
struct scale {
  const Scalar* factors;
  bool conjugates;
  dense_view<Scalar> x;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t element) const {
    const std::int64_t row = element / x.columns;
    Scalar* const at = x.data + row * x.row_stride + element % x.columns * x.column_stride;
    const Scalar factor = ctx.load_constant(factors + row);
    ctx.store(at, ctx.load(at) * (conjugates ? conjugate(factor) : factor));
  }
};

/// The part of a context (simt/context.hpp) that these kernels need, on the host.
struct host_memory {
  template <class T>
  T load(const T* p) const {
    return get(p);
  }
  template <class T>
  T load_constant(const T* p) const {
    return get(p);
  }
  template <class T>
  void store(T* p, T v) const {
    store_scalar(p, v);
  }

 private:
  template <class T>
  static T get(const T* p) {
    if constexpr (std::is_integral_v<T>) {
      return *p;
    } else {
      return load_scalar(p);
    }
  }
};

/// Calls `body(ctx, i)` for i in [0, count), on the device or on the host.
template <class Executor, class Body>
void for_each(const Executor& on, std::int64_t count, const Body& body) {
  if constexpr (std::is_same_v<Executor, host_executor>) {
    host_memory memory;
    for (std::int64_t i = 0; i < count; ++i) {
      body(memory, i);
    }
  } else {
    simt::for_each(on, count, body);
  }
}

}  // namespace sptrsv::detail::factors
