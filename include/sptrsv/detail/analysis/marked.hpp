// SPDX-License-Identifier: Apache-2.0
// Elements that a predicate marks: how many there are before each element.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

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
  return download_one(values.data() + values.size() - 1, on);
}

}  // namespace sptrsv::SPTRSV_ABI::detail
