// Rows of a level that are about as long, side by side: several of them share a warp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_levels.hpp"
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

/// Ascending by level, and within a level from rows of many lanes to rows of few: the low three bits are 5
/// less the exponent.
using length_key = std::uint64_t;
inline constexpr int length_bits = 3;

/// Per place in level order: the key of its row.
template <class Index, class Offset>
struct find_length_keys {
  const Offset* row_offsets;  ///< in the order of substitution
  const Index* rows;
  const Index* level_offsets;
  std::int64_t levels;
  int entries_per_lane;
  length_key* keys;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    const Index position = ctx.load_constant(rows + place);
    const auto length = static_cast<std::int64_t>(ctx.load_constant(row_offsets + position + 1) -
                                                  ctx.load_constant(row_offsets + position));
    const auto level = static_cast<length_key>(triangle_kernels::major_of(ctx, level_offsets, levels, place));
    ctx.store(keys + place,
              level << length_bits | static_cast<length_key>(5 - lanes_exponent(length, entries_per_lane)));
  }
};

/// A warp takes as many rows of one key as its lanes serve.
struct starts_by_length {
  const length_key* keys;  ///< ascending

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t place) const {
    const length_key key = ctx.load_constant(keys + place);
    std::int64_t first = 0;  // the first place with this key lies in [first, last]
    std::int64_t last = place;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (ctx.load_constant(keys + middle) < key) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    const int rows_per_warp = 1 << static_cast<int>(key & ((1u << length_bits) - 1u));
    return (place - first) % rows_per_warp == 0;
  }
};

/// Reorders the rows within their levels, and says which warp solves which. Synchronises.
template <class Index, class Offset, class Executor>
row_wise::warp_tasks<Index> group_by_length(const device_triangle<Index, Offset>& t,
                                            device_levels<Index>& levels, int entries_per_lane,
                                            const Executor& on, memory_resource& resource) {
  const auto size = static_cast<std::size_t>(t.size);
  const buffer<length_key> keys(size, resource, on.stream());
  const buffer<length_key> sorted_keys(size, resource, on.stream());
  buffer<Index> rows(size, resource, on.stream());
  simt::for_each(
      on, t.size,
      find_length_keys<Index, Offset>{t.row_offsets.data(), levels.rows.data(), levels.level_offsets.data(),
                                      levels.count, entries_per_lane, keys.data()});
  if (t.size > 0) {
    on.sort_pairs(keys.data(), sorted_keys.data(), levels.rows.data(), rows.data(), t.size,
                  bits_for(static_cast<std::uint64_t>(levels.count) << length_bits), resource);
  }
  levels.rows = std::move(rows);
  return row_wise::make_warp_tasks<Index>(t.size, starts_by_length{sorted_keys.data()}, on, resource);
}

}  // namespace sptrsv::detail::sync_free_warp
