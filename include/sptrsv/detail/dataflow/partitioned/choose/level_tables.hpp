// Tables of the partition levels for several ways to divide the rows, counted on the device and read on the
// host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// A way to divide the rows into partitions.
struct partitioning {
  std::int64_t partitions;
  block_partition boxes;    ///< if the partitions are boxes of a grid
  bool are_planes = false;  ///< whole planes of a grid whose rows need most neighbours from the plane before
};

/// The partition levels of one partitioning, for shapes with the same number of shared entries.
struct level_table {
  partitioning rows;
  shape_values shape;  ///< one of the shapes that the table serves
  std::int64_t begin;  ///< its first cell in the cells of all tables

  [[nodiscard]] bool serves(const partitioning& p, const shape_values& s) const {
    return rows.partitions == p.partitions && shape.lanes == s.lanes && shape.entries == s.entries;
  }
};

struct counted_level_tables {
  std::unique_ptr<partition_level[]> levels;   ///< of all tables
  std::vector<level_table_summary> summaries;  ///< by table
};

/// Returns the number of tiles of all partitions: a tile has rows of one partition level.
inline std::int64_t count_tiles(const partition_level* levels, std::size_t count, std::int32_t tile_rows) {
  std::int64_t tiles = 0;
  for (std::size_t i = 0; i < count; ++i) {
    tiles += (levels[i].rows + tile_rows - 1) / tile_rows;
  }
  return tiles;
}

/// Counts the partition levels of at most counted_tables::max_count tables. `size`: cells of all tables.
/// Synchronises.
template <class Index, class Offset, class Executor>
counted_level_tables count_level_tables(const std::vector<level_table>& tables, std::int64_t size,
                                        const device_triangle<Index, Offset>& t,
                                        const row_levels<Index>& levels, const Executor& on,
                                        const analysis_memory& memory) {
  using namespace kernels;
  memory_resource& scratch = memory.scratch;
  // Summaries and partition levels are one array, so that the first ones come to the host in one transfer.
  constexpr std::int64_t levels_at_once = 2048;
  const auto table_count = static_cast<std::int64_t>(tables.size());
  const std::int64_t most_levels = std::min(size, table_count * t.size);
  const std::int64_t first_levels = std::min(levels_at_once, most_levels);
  const auto level_bytes = [](std::int64_t count) {
    return count * static_cast<std::int64_t>(sizeof(partition_level));
  };
  const auto summary_bytes = table_count * static_cast<std::int64_t>(sizeof(level_table_summary));
  const auto list = make_buffer<unsigned char>(summary_bytes + level_bytes(most_levels), on, scratch);
  auto* const summaries = reinterpret_cast<level_table_summary*>(list.data());
  auto* const partition_levels = reinterpret_cast<partition_level*>(list.data() + summary_bytes);
  const std::int64_t first_bytes = summary_bytes + level_bytes(first_levels);
  const auto first_words = first_bytes / static_cast<std::int64_t>(sizeof(std::int32_t));
  const auto counts = make_buffer<level_counts>(size, on, scratch);
  simt::for_each(
      on, std::max(size, first_words),
      start_tables{size, counts.data(), first_words, reinterpret_cast<std::int32_t*>(list.data())});
  using agent = count_levels_agent<Index, Offset>;
  typename agent::params p{};
  p.size = t.size;
  p.table_blocks = simt::ceil_div(t.size, agent::block_threads);
  p.row_offsets = t.row_offsets.data();
  p.columns = t.columns.data();
  p.levels = levels.of_row.data();
  p.entries = t.entries();
  p.counts = counts.data();
  p.summaries = summaries;
  for (const level_table& table : tables) {
    p.tables.tables[p.tables.count++] = {table.rows.partitions,
                                         table.rows.boxes,
                                         table.begin,
                                         table.begin + table.rows.partitions * levels.count,
                                         table.shape.shared_entries(),
                                         2 * table.shape.lanes};
  }
  on.template launch<agent>(simt::block_count(p.tables.count * p.table_blocks, 1), p);
  // Most partitions have no rows on most levels: only cells that have rows come to the host.
  const auto levels_before = make_buffer<std::int32_t>(size + 1, on, scratch);
  scan(on, size, find_partition_levels{size, counts.data(), levels_before.data()}, memory);
  simt::for_each(
      on, size,
      write_partition_levels{p.tables, counts.data(), levels_before.data(), partition_levels, summaries});
  const std::unique_ptr<unsigned char[]> first(new unsigned char[static_cast<std::size_t>(first_bytes)]);
  on.download(first.get(), list.data(), static_cast<std::size_t>(first_bytes));
  counted_level_tables made;
  made.summaries.resize(tables.size());
  std::memcpy(made.summaries.data(), first.get(), static_cast<std::size_t>(summary_bytes));
  const std::int64_t all = made.summaries.back().end;
  made.levels.reset(new partition_level[static_cast<std::size_t>(all)]);
  std::memcpy(made.levels.get(), first.get() + summary_bytes,
              static_cast<std::size_t>(level_bytes(std::min(all, first_levels))));
  if (all > first_levels) {
    on.download(made.levels.get() + first_levels, partition_levels + first_levels,
                static_cast<std::size_t>(level_bytes(all - first_levels)));
  }
  return made;
}

}  // namespace sptrsv::detail::dataflow::partitioned
