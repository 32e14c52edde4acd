// Rows of a level that are about as long, side by side: several of them share a warp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/row_wise/warp_tasks.hpp"

namespace sptrsv::detail::sync_free_warp {

/// Lanes for a row of `length` entries, as a power of two: 0 (one lane) to 5 (a warp).
SPTRSV_HOST_DEVICE int lanes_exponent(std::int64_t length, int entries_per_lane) {
  int exponent = 0;
  while (exponent < 5 && (static_cast<std::int64_t>(entries_per_lane) << exponent) < length) {
    ++exponent;
  }
  return exponent;
}

/// Ascending from rows of many lanes to rows of few: 5 less the exponent.
struct key_of_lanes {
  static constexpr int bits = 3;
  int entries_per_lane;

  SPTRSV_HOST_DEVICE std::uint64_t operator()(std::int64_t length) const {
    return static_cast<std::uint64_t>(5 - lanes_exponent(length, entries_per_lane));
  }
};

/// A warp takes as many rows of one key as its lanes serve.
struct starts_by_length {
  const std::uint64_t* keys;  ///< ascending: level, and key_of_lanes

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::uint64_t key = ctx.load_constant(keys + solve_index);
    std::int64_t first = 0;  // the first place with this key lies in [first, last]
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

/// Reorders the rows within their levels, and says which warp solves which. Synchronises.
template <class Index, class Offset, class Executor>
row_wise::warp_tasks<Index> group_by_length(const device_triangle<Index, Offset>& t,
                                            device_levels<Index>& levels, int entries_per_lane,
                                            const Executor& on, memory_resource& resource) {
  const buffer<std::uint64_t> keys = sort_within_levels(t, levels, t.size + 1, key_of_lanes{entries_per_lane},
                                                        on, analysis_memory(resource));
  return row_wise::make_warp_tasks<Index>(t.size, starts_by_length{keys.data()}, on, resource);
}

}  // namespace sptrsv::detail::sync_free_warp
