// SPDX-License-Identifier: Apache-2.0
// One thread for each entry of a compressed matrix, which finds the row that holds its entry.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::triangle_kernels {

/// Returns for how many of the numbers from 0 on, `count` at most, `holds` is true.
template <class Holds>
SPTRSV_DEVICE std::int64_t count_while(std::int64_t count, const Holds& holds) {
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Returns the last number in [low, high) for which `holds` is true: for all numbers up to it, and for none
/// behind it. It is true for `low`, which is not asked.
template <class Holds>
SPTRSV_DEVICE std::int64_t last_that(std::int64_t low, std::int64_t high, const Holds& holds) {
  return low + count_while(high - low - 1, [&](std::int64_t k) { return holds(low + 1 + k); });
}

/// Returns the row (column) of the storage that holds entry `e`: the last one whose offset is at most `e`.
template <class Context, class Offset>
SPTRSV_DEVICE std::int64_t major_of(Context& ctx, const Offset* offsets, std::int64_t size, std::int64_t e) {
  return last_that(0, size, [&](std::int64_t middle) {
    return ctx.load_constant(offsets + middle) <= static_cast<Offset>(e);
  });
}

template <class Context, class Offset>
SPTRSV_DEVICE std::int64_t row_length(Context& ctx, const Offset* offsets, std::int64_t row) {
  return static_cast<std::int64_t>(ctx.load_constant(offsets + row + 1) - ctx.load_constant(offsets + row));
}

/// Finds the rows (columns) of the storage that hold the entries first + rank + 32 k, for each element k of
/// `majors`, as far as they are below `end`, for each lane of a warp; see major_of(). first < end. The lanes
/// first search together for the rows of the first and of the last entry of the warp: each step reads 32
/// offsets at once and divides the range by 32. Then each lane searches between these rows. Offsets that do
/// not ascend give wrong rows, but rows of the storage.
template <class Context, class Warp, class Offset, class Majors>
SPTRSV_DEVICE void majors_of(Context& ctx, const Warp& warp, const Offset* offsets, std::int64_t size,
                             std::int64_t first, std::int64_t end, Majors& majors) {
  constexpr int count = length_of<Majors>;
  const std::int64_t behind = end - first < 32 * count ? end : first + 32 * count;
  const std::int64_t bounds[2] = {first, behind - 1};
  std::int64_t low[2] = {0, 0};
  for (std::int64_t rows = size; rows > 1;) {
    const std::int64_t step = (rows + 31) / 32;
    const std::int64_t ahead = (warp.rank() + 1) * step;
    SPTRSV_UNROLL
    for (int i = 0; i < 2; ++i) {
      const bool is_inside = ahead < rows && low[i] + ahead < size;
      const std::uint32_t later = ~warp.ballot(is_inside && ctx.load_constant(offsets + low[i] + ahead) <=
                                                                static_cast<Offset>(bounds[i]));
      // The last lane is never inside.
      low[i] += simt::lowest_bit(later) * step;
    }
    rows = step;
  }
  const std::int64_t rows = low[1] - low[0] + 1;
  std::int64_t step = 1;
  while (step < rows) {
    step *= 2;
  }
  SPTRSV_UNROLL
  for (int k = 0; k < count; ++k) {
    majors[k] = low[0];
  }
  while ((step /= 2) > 0) {
    SPTRSV_UNROLL
    for (int k = 0; k < count; ++k) {
      const std::int64_t later = majors[k] + step;
      const std::int64_t entry = first + warp.rank() + 32 * k;
      if (later <= low[1] && ctx.load_constant(offsets + later) <= static_cast<Offset>(entry)) {
        majors[k] = later;
      }
    }
  }
}

/// True if `Body` has a function hold(ctx), which says whether there is anything to do.
template <class Body, class Context, class = void>
inline constexpr bool has_condition = false;
template <class Body, class Context>
inline constexpr bool has_condition<
    Body, Context, std::void_t<decltype(std::declval<const Body&>().hold(std::declval<Context&>()))>> = true;

/// Calls `body(ctx, row, e)` for each entry e of `entries` and the row that holds it, see major_of(). Body is
/// trivially copyable. body.hold(ctx), if there is one, says whether there is work, the same to all threads.
template <class Offset, class Body>
struct for_each_entry_agent {
  static constexpr int block_threads = 256;
  static constexpr int thread_items = 4;
  static constexpr int block_items = thread_items * block_threads;
  struct shared_storage {};
  struct params {
    const Offset* offsets;
    std::int64_t size;  ///< rows
    std::int64_t entries;
    Body body;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t first =
        static_cast<std::int64_t>(ctx.block_rank()) * block_items + 32 * thread_items * warp.index();
    if (first >= p.entries) {
      return;
    }
    if constexpr (has_condition<Body, Context>) {
      if (!p.body.hold(ctx)) {
        return;
      }
    }
    std::int64_t rows[thread_items];
    majors_of(ctx, warp, p.offsets, p.size, first, p.entries, rows);
    SPTRSV_UNROLL
    for (int k = 0; k < thread_items; ++k) {
      const std::int64_t e = first + 32 * k + warp.rank();
      if (e < p.entries) {
        p.body(ctx, rows[k], e);
      }
    }
  }
};

/// Runs for_each_entry_agent for `entries` entries. `offsets`: of the `size` rows; on the host they are
/// sound.
template <class Offset, class Executor, class Body>
void for_each_entry([[maybe_unused]] const Executor& on, const Offset* offsets, std::int64_t size,
                    std::int64_t entries, const Body& body) {
  if constexpr (!simt::has_kernels<Executor>) {
    simt::host_context ctx;
    for (std::int64_t m = 0; m < size; ++m) {
      for (std::int64_t e = offsets[m]; e < offsets[m + 1]; ++e) {
        body(ctx, m, e);
      }
    }
  } else if (entries > 0) {
    using agent = for_each_entry_agent<Offset, Body>;
    on.template launch<agent>(simt::block_count(entries, agent::block_items), {offsets, size, entries, body});
  }
}

/// Returns how many elements of the ascending `sorted` are smaller than `key`.
template <class Context, class T, class Key>
SPTRSV_DEVICE std::int64_t count_below(Context& ctx, const T* sorted, std::int64_t count, Key key) {
  return count_while(
      count, [&](std::int64_t middle) { return static_cast<Key>(ctx.load_constant(sorted + middle)) < key; });
}

/// Finds, for each i, how many elements of the ascending `sorted` are below key(ctx, i).
template <class T, class Key, class Count>
struct count_below_each {
  const T* sorted;
  std::int64_t size;
  Key key;
  Count* counts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    ctx.store(counts + i, static_cast<Count>(count_below(ctx, sorted, size, key(ctx, i))));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::triangle_kernels
