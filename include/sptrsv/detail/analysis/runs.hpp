// SPDX-License-Identifier: Apache-2.0
// Finds where runs of consecutive elements begin.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Run k holds the elements first[k] ... first[k + 1] - 1.
template <class Index>
struct runs {
  std::int64_t count = 0;
  buffer<Index> first;  ///< count + 1; empty if there are no elements
};

/// The body of a scan over the elements, which counts the runs that start before each of them.
template <class Index, class Starts>
struct number_runs {
  Starts starts;
  std::int64_t size;
  Index* numbers;  ///< output by element, size + 1

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t i) const {
    return {starts(ctx, i) ? 1 : 0};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const simt::counted& own,
                           std::int64_t before) const {
    ctx.store(numbers + i, static_cast<Index>(before));
    if (i == size - 1) {
      ctx.store(numbers + size, static_cast<Index>(before + own.count));
    }
  }
};

/// Writes the first element of each run. Runs once per element.
template <class Index>
struct row_starts {
  std::int64_t size;
  const Index* numbers;  ///< by element: number of runs that start before it
  Index* first;          ///< output by run, number of runs + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const Index number = ctx.load_constant(numbers + i);
    const Index next = ctx.load_constant(numbers + i + 1);
    if (next != number) {
      ctx.store(first + number, static_cast<Index>(i));
    }
    if (i == size - 1) {
      ctx.store(first + next, static_cast<Index>(size));
    }
  }
};

/// Finds the runs. `starts(ctx, i)` returns true if a run starts at element i; it must return true for
/// element 0. Synchronises.
template <class Index, class Starts, class Executor>
runs<Index> make_runs(std::int64_t size, const Starts& starts, const Executor& on,
                      const analysis_memory& memory) {
  runs<Index> made;
  if (size == 0) {
    return made;
  }
  const auto numbers = make_buffer<Index>(size + 1, on, memory.scratch);
  scan(on, size, number_runs<Index, Starts>{starts, size, numbers.data()}, memory);
  Index count = 0;
  on.download(&count, numbers.data() + size, sizeof(count));
  made.count = count;
  made.first = make_buffer<Index>(count + 1, on, memory.kept);
  simt::for_each(on, size, row_starts<Index>{size, numbers.data(), made.first.data()});
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
