// SPDX-License-Identifier: Apache-2.0
// Elements that a predicate marks: how many there are before each element, and the runs that begin with them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The body of a scan over the elements and the end, which counts the elements that are marked before each.
template <class Count, class Marked>
struct number_marked {
  Marked is_marked;
  std::int64_t size;
  Count* before;  ///< output by element, size + 1

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t i) const {
    return {i < size && is_marked(ctx, i) ? 1 : 0};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const simt::counted&, std::int64_t sum) const {
    ctx.store(before + i, static_cast<Count>(sum));
  }
};

/// Returns how many elements are marked before each element, and in all; in scratch memory. An element i is
/// marked if `is_marked(ctx, i)` returns true.
template <class Count, class Marked, class Executor>
buffer<Count> count_marked(std::int64_t size, const Marked& is_marked, const Executor& on,
                           const analysis_memory& memory) {
  auto before = make_buffer<Count>(size + 1, on, memory.scratch);
  scan(on, size + 1, number_marked<Count, Marked>{is_marked, size, before.data()}, memory);
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
