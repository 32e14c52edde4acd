// SPDX-License-Identifier: Apache-2.0
// Kernels on arrays: bodies of simt::for_each.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::array_kernels {

template <class T>
struct fill_with {
  T value;
  T* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, value);
  }
};

template <class T>
struct element_of {
  const T* values;

  template <class Context>
  SPTRSV_DEVICE T operator()(Context& ctx, std::int64_t i) const {
    return ctx.load_constant(values + i);
  }
};

SPTRSV_BEGIN_ANY_CONTEXT
/// to[i] = from[order[i]].
template <class T, class Index>
struct take_in_order {
  const T* from;
  const Index* order;
  T* to;

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, ctx.load_constant(from + ctx.load_constant(order + i)));
  }
};
SPTRSV_END_ANY_CONTEXT

/// to[order[i]] = i.
template <class Index>
struct invert_order {
  const Index* order;
  Index* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + ctx.load_constant(order + i), static_cast<Index>(i));
  }
};

/// to[i] = i.
template <class Index>
struct write_iota {
  Index* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(to + i, static_cast<Index>(i));
  }
};

/// to[before[i]] = value(ctx, i) for the elements that are marked: those with before[i + 1] > before[i].
template <class Count, class Value, class T>
struct keep_marked {
  const Count* before;  ///< number of marks before each element, and of all marks
  Value value;
  T* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const Count at = ctx.load_constant(before + i);
    if (ctx.load_constant(before + i + 1) != at) {
      ctx.store(to + at, static_cast<T>(value(ctx, i)));
    }
  }
};

struct own_index {
  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context&, std::int64_t i) const {
    return i;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::array_kernels
