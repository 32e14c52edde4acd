// Levels on the device: the level of each row, and the rows in level order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/levels_agent.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"

namespace sptrsv::detail {

/// Finds where each level begins. Runs once per row in level order.
template <class Index>
struct find_level_offsets {
  const Index* sorted_levels;  ///< by solve index: the level, counted from 1, ascending
  Index* level_offsets;        ///< by level, count + 1
  std::int64_t size;
  std::int64_t count;  ///< number of levels

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t p) const {
    const Index level = ctx.load_constant(sorted_levels + p);
    if (p == 0 || ctx.load_constant(sorted_levels + p - 1) != level) {
      ctx.store(level_offsets + level - 1, static_cast<Index>(p));
    }
    if (p == 0) {
      ctx.store(level_offsets + count, static_cast<Index>(size));
    }
  }
};

/// Rows in level order, in device memory, ascending within a level. Level l holds
/// rows[level_offsets[l]] ... rows[level_offsets[l + 1] - 1].
template <class Index>
struct device_levels {
  std::int64_t count = 0;
  buffer<Index> level_offsets;  ///< count + 1
  buffer<Index> rows;           ///< by solve index: the row; size elements

  [[nodiscard]] std::size_t bytes() const { return level_offsets.bytes() + rows.bytes(); }
};

/// The level of each row of a triangle, in device memory.
template <class Index>
struct row_levels {
  std::int64_t count = 0;  ///< number of levels
  buffer<Index> of_row;    ///< by row: its level, counted from 1
  buffer<Index> numbers;   ///< 0, 1, 2, ...: the rows before they are sorted
};

/// Sets each row's level to unknown (0) and writes the row indices 0, 1, 2, ...
template <class Index>
struct start_levels {
  Index* levels;
  Index* numbers;
  level_search* search;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(levels + row, Index{0});
    ctx.store(numbers + row, static_cast<Index>(row));
    if (row == 0) {
      ctx.store(search, level_search{0, 0, 0});
    }
  }
};

/// Finds the level of each row: one more than the largest level of the rows that it needs. The arrays are in
/// scratch memory. Synchronises.
template <class Index, class Offset, class Executor>
row_levels<Index> levels_of_rows(const device_triangle<Index, Offset>& t, const Executor& on,
                                 const analysis_memory& memory) {
  row_levels<Index> found;
  if (t.size == 0) {
    return found;
  }
  found.of_row = make_buffer<Index>(t.size, on, memory.scratch);
  found.numbers = make_buffer<Index>(t.size, on, memory.scratch);
  const auto search = make_buffer<level_search>(1, on, memory.scratch);
  simt::for_each(on, t.size, start_levels<Index>{found.of_row.data(), found.numbers.data(), search.data()});
  using agent = levels_agent<Index, Offset>;
  on.template launch<agent>(
      simt::block_count(t.size, agent::block_threads),
      {t.size, t.row_offsets.data(), t.columns.data(), found.of_row.data(), search.data()});
  on.download(&found.count, &search.data()->levels, sizeof(found.count));
  return found;
}

/// Returns the rows in level order.
template <class Index, class Executor>
device_levels<Index> order_by_level(const row_levels<Index>& levels, const Executor& on,
                                    const analysis_memory& memory) {
  const auto size = static_cast<std::int64_t>(levels.of_row.size());
  device_levels<Index> result;
  result.count = levels.count;
  result.rows = make_buffer<Index>(size, on, memory.kept);
  result.level_offsets = make_buffer<Index>(result.count + 1, on, memory.kept);
  if (size == 0) {
    on.fill_bytes(result.level_offsets.data(), 0, result.level_offsets.bytes());
    return result;
  }
  const auto sorted_levels = make_buffer<Index>(size, on, memory.scratch);
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.of_row.data()),
                reinterpret_cast<key*>(sorted_levels.data()), levels.numbers.data(), result.rows.data(), size,
                bits_for(static_cast<std::uint64_t>(result.count) + 1), memory.scratch);
  simt::for_each(
      on, size,
      find_level_offsets<Index>{sorted_levels.data(), result.level_offsets.data(), size, result.count});
  return result;
}

/// Finds the levels of a triangle and returns its rows in level order. Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      const analysis_memory& memory) {
  return order_by_level(levels_of_rows(t, on, memory), on, memory);
}

}  // namespace sptrsv::detail
