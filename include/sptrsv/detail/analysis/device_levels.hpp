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

/// Sets each row's level to unknown (0) and writes the row indices 0, 1, 2, ...
template <class Index>
struct start_levels {
  Index* levels;
  Index* numbers;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(levels + row, Index{0});
    ctx.store(numbers + row, static_cast<Index>(row));
  }
};

/// Returns the level of each row, counted from 1: one more than the largest level of the rows that it needs.
/// The buffer is in scratch memory. `numbers` receives 0, 1, 2, ...
template <class Index, class Offset, class Executor>
buffer<Index> levels_of_rows(const device_triangle<Index, Offset>& t, const buffer<Index>& numbers,
                             const Executor& on, const analysis_memory& memory) {
  auto levels = make_buffer<Index>(t.size, on, memory.scratch);
  const buffer<std::uint32_t> tickets(1, memory.scratch, on.stream());
  simt::for_each(on, t.size, start_levels<Index>{levels.data(), numbers.data()});
  on.fill_bytes(tickets.data(), 0, tickets.bytes());
  using agent = levels_agent<Index, Offset>;
  if (t.size > 0) {
    on.template launch<agent>(
        simt::block_count(t.size, agent::block_threads),
        {t.size, t.row_offsets.data(), t.columns.data(), levels.data(), tickets.data()});
  }
  return levels;
}

/// Returns the number of levels of at least one row. Synchronises.
template <class Index, class Executor>
std::int64_t count_levels(const buffer<Index>& level_of_row, const Executor& on,
                          const analysis_memory& memory) {
  const buffer<Index> largest(1, memory.scratch, on.stream());
  on.fill_bytes(largest.data(), 0, largest.bytes());
  simt::find_largest(on, static_cast<std::int64_t>(level_of_row.size()),
                     triangle_kernels::element_of<Index>{level_of_row.data()}, largest.data());
  Index found = 0;
  on.download(&found, largest.data(), sizeof(found));
  return found;
}

/// Returns the rows in level order. If `level_of_row` is given, it receives the result of levels_of_rows.
/// Synchronises.
template <class Index, class Offset, class Executor>
device_levels<Index> levels_on_device(const device_triangle<Index, Offset>& t, const Executor& on,
                                      const analysis_memory& memory, buffer<Index>* level_of_row = nullptr) {
  device_levels<Index> result;
  result.rows = make_buffer<Index>(t.size, on, memory.kept);
  if (t.size == 0) {
    result.level_offsets = make_buffer<Index>(1, on, memory.kept);
    on.fill_bytes(result.level_offsets.data(), 0, result.level_offsets.bytes());
    return result;
  }
  const auto numbers = make_buffer<Index>(t.size, on, memory.scratch);
  buffer<Index> levels = levels_of_rows(t, numbers, on, memory);
  // The number of levels saves the sort a pass or two in a large system. In a small system the download costs
  // more.
  const bool is_large = t.size >= std::int64_t{1} << 16;
  result.count = is_large ? count_levels(levels, on, memory) : t.size;
  const auto sorted_levels = make_buffer<Index>(t.size, on, memory.scratch);
  using key = std::make_unsigned_t<Index>;
  on.sort_pairs(reinterpret_cast<const key*>(levels.data()), reinterpret_cast<key*>(sorted_levels.data()),
                numbers.data(), result.rows.data(), t.size,
                bits_for(static_cast<std::uint64_t>(result.count) + 1), memory.scratch);
  if (!is_large) {
    Index last = 0;
    on.download(&last, sorted_levels.data() + t.size - 1, sizeof(last));
    result.count = last;
  }
  result.level_offsets = make_buffer<Index>(result.count + 1, on, memory.kept);
  simt::for_each(
      on, t.size,
      find_level_offsets<Index>{sorted_levels.data(), result.level_offsets.data(), t.size, result.count});
  if (level_of_row != nullptr) {
    *level_of_row = std::move(levels);
  }
  return result;
}

}  // namespace sptrsv::detail
