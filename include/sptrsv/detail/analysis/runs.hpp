// SPDX-License-Identifier: Apache-2.0
// Elements that are marked: how many there are before each element, and runs that begin with a marked one.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scratch_arena.hpp"

namespace sptrsv::detail {

/// Run k holds the elements first[k] ... first[k + 1] - 1.
template <class Index>
struct runs {
  std::int64_t count = 0;
  buffer<Index> first;  ///< count + 1; empty if there are no elements
};

/// Writes 1 for the elements that are marked, and 0 for the others. Runs once per element and once for the
/// end.
template <class Count, class Marked>
struct write_marks {
  Marked is_marked;
  std::int64_t size;
  Count* marks;  ///< output by element, size + 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const bool marked = i < size && is_marked(ctx, i);
    ctx.store(marks + i, marked ? Count{1} : Count{0});
  }
};

/// Returns how many elements are marked before each element, and in all. An element i is marked if
/// `is_marked(ctx, i)` returns true.
template <class Count, class Marked, class Executor>
buffer<Count> count_marked(std::int64_t size, const Marked& is_marked, const Executor& on,
                           memory_resource& resource) {
  auto before = make_buffer<Count>(size + 1, on, resource);
  simt::for_each(on, size + 1, write_marks<Count, Marked>{is_marked, size, before.data()});
  on.exclusive_scan(before.data(), before.data(), size + 1, resource);
  return before;
}

/// Returns the last element. Synchronises.
template <class T, class Executor>
T last_of(const buffer<T>& values, const Executor& on) {
  T last{};
  on.download(&last, values.data() + values.size() - 1, sizeof(last));
  return last;
}

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
  const auto numbers = count_marked<Index>(size, starts, on, memory.scratch);
  made.count = last_of(numbers, on);
  made.first = make_buffer<Index>(made.count + 1, on, memory.kept);
  simt::for_each(on, size, row_starts<Index>{size, numbers.data(), made.first.data()});
  return made;
}

}  // namespace sptrsv::detail
