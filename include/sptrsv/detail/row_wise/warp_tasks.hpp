// What each warp does where warps do different things: consecutive places, found by the analysis.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail::row_wise {

/// Warp w solves the rows at the places first_place[w] ... first_place[w + 1] - 1: at most 32.
template <class Index>
struct warp_tasks {
  std::int64_t count = 0;
  buffer<Index> first_place;  ///< count + 1
};

/// Per place, and once for the end: whether a task starts there.
template <class Index, class Starts>
struct mark_starts {
  Starts starts;
  std::int64_t size;
  Index* numbers;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const bool first = place < size && starts(ctx, place);
    ctx.store(numbers + place, first ? Index{1} : Index{0});
  }
};

/// Per place: the tasks that start there.
template <class Index>
struct place_starts {
  std::int64_t size;
  const Index* numbers;  ///< tasks that start before each place
  Index* first_place;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const Index number = ctx.load_constant(numbers + place);
    const Index next = ctx.load_constant(numbers + place + 1);
    if (next != number) {
      ctx.store(first_place + number, static_cast<Index>(place));
    }
    if (place == size - 1) {
      ctx.store(first_place + next, static_cast<Index>(size));
    }
  }
};

/// `starts(ctx, place)` says whether a task starts at the place: it does at the first, and after 32 places
/// without one. Synchronises.
template <class Index, class Starts, class Executor>
warp_tasks<Index> make_warp_tasks(std::int64_t size, const Starts& starts, const Executor& on,
                                  memory_resource& resource) {
  warp_tasks<Index> tasks;
  if (size == 0) {
    return tasks;
  }
  const buffer<Index> numbers(static_cast<std::size_t>(size) + 1, resource, on.stream());
  simt::for_each(on, size + 1, mark_starts<Index, Starts>{starts, size, numbers.data()});
  on.exclusive_scan(numbers.data(), numbers.data(), size + 1, resource);
  Index count = 0;
  on.download(&count, numbers.data() + size, sizeof(count));
  tasks.count = count;
  tasks.first_place = buffer<Index>(static_cast<std::size_t>(count) + 1, resource, on.stream());
  simt::for_each(on, size, place_starts<Index>{size, numbers.data(), tasks.first_place.data()});
  return tasks;
}

}  // namespace sptrsv::detail::row_wise
