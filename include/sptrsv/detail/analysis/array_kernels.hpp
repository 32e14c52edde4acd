// SPDX-License-Identifier: Apache-2.0
// Kernels on arrays: bodies of simt::for_each. Elements that a predicate marks: how many there are before
// each element, and the runs that begin with them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

namespace array_kernels {

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

}  // namespace array_kernels

/// The body of a scan over the elements and the end: the sums of value(ctx, i) over the elements before each.
template <class Sum, class Value>
struct sum_values {
  Value value;
  std::int64_t size;
  Sum* before;  ///< output by element, size + 1

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t i) const {
    return {i < size ? static_cast<std::int64_t>(value(ctx, i)) : 0};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const simt::counted&, std::int64_t sum) const {
    ctx.store(before + i, static_cast<Sum>(sum));
  }
};

/// Returns how many elements are marked before each element, and in all; in scratch memory. An element i is
/// marked if `is_marked(ctx, i)` returns true.
template <class Count, class Marked, class Executor>
buffer<Count> count_marked(std::int64_t size, const Marked& is_marked, const Executor& on,
                           const analysis_memory& memory) {
  auto before = make_buffer<Count>(size + 1, on, memory.scratch);
  scan(on, size + 1, sum_values<Count, Marked>{is_marked, size, before.data()}, memory);
  return before;
}

/// Run k holds the elements first[k] ... first[k + 1] - 1.
template <class Index>
struct runs {
  std::int64_t count = 0;
  buffer<Index> first;  ///< count + 1; empty if there are no elements
};

/// Marks the first element of each run, and the end of the last one.
template <class Starts>
struct starts_or_end {
  Starts starts;
  std::int64_t size;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t i) const {
    return i == size || starts(ctx, i);
  }
};

/// Finds the runs. `starts(ctx, i)`: whether a run starts at element i; true for element 0. Synchronises.
template <class Index, class Starts, class Executor>
runs<Index> make_runs(std::int64_t size, const Starts& starts, const Executor& on,
                      const analysis_memory& memory) {
  runs<Index> made;
  if (size == 0) {
    return made;
  }
  const auto before = count_marked<Index>(size + 1, starts_or_end<Starts>{starts, size}, on, memory);
  made.count = last_of(before, on) - 1;
  made.first = make_buffer<Index>(made.count + 1, on, memory.kept);
  simt::for_each(on, size + 1,
                 array_kernels::keep_marked<Index, array_kernels::own_index, Index>{
                     before.data(), {}, made.first.data()});
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
