// Groups the rows of a level by length, so that several rows of similar length share a warp.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/papers/row_wise/warp_tasks.hpp"

namespace sptrsv::detail::sync_free_warp {

/// Returns log2 of the lanes for a row of `length` entries: 0 (one lane) to 5 (a warp).
SPTRSV_HOST_DEVICE int lanes_exponent(std::int64_t length, int entries_per_lane) {
  int exponent = 0;
  while (exponent < 5 && (static_cast<std::int64_t>(entries_per_lane) << exponent) < length) {
    ++exponent;
  }
  return exponent;
}

/// Sort key: rows of many lanes come before rows of few. The key is 5 minus the exponent.
struct key_of_lanes {
  static constexpr int bits = 3;
  int entries_per_lane;

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    return static_cast<std::uint64_t>(5 - lanes_exponent(length, entries_per_lane));
  }
};

/// Says where a warp's rows start: a warp takes as many consecutive rows of one key as its lanes serve.
struct starts_by_length {
  /// By solve index, ascending: (level << key_of_lanes::bits) | key_of_lanes.
  const std::uint64_t* keys;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::uint64_t key = ctx.load_constant(keys + solve_index);
    std::int64_t first = 0;  // the first solve index with this key lies in [first, last]
    std::int64_t last = solve_index;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (ctx.load_constant(keys + middle) < key) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    const int rows_per_warp = 1 << static_cast<int>(key & ((1u << key_of_lanes::bits) - 1u));
    return (solve_index - first) % rows_per_warp == 0;
  }
};

/// Rows in level order, sorted by length within a level, and the rows of each warp.
template <class Index>
struct rows_by_length {
  device_levels<Index> levels;
  row_wise::warp_tasks<Index> tasks;
};

/// Synchronises.
template <class Index, class Offset, class Executor>
rows_by_length<Index> group_by_length(const device_triangle<Index, Offset>& t, int entries_per_lane,
                                      const Executor& on, memory_resource& resource) {
  auto order = order_by_level_and_length(t, levels_of_rows(t, on, resource), 1,
                                         key_of_lanes{entries_per_lane}, on, analysis_memory(resource));
  auto tasks = row_wise::make_warp_tasks<Index>(t.size, starts_by_length{order.keys.data()}, on, resource);
  return {std::move(order.levels), std::move(tasks)};
}

}  // namespace sptrsv::detail::sync_free_warp
