// Tables of the partition levels for several ways to divide the rows, counted on the device and read on the
// host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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

/// Counts the partition levels of at most counted_tables::max_count tables. `size`: cells of all tables;
/// `level_of_row`: counted from 1. Synchronises.
template <class Index, class Offset, class Executor>
counted_level_tables count_level_tables(const std::vector<level_table>& tables, std::int64_t size,
                                        const device_triangle<Index, Offset>& t,
                                        const buffer<Index>& level_of_row, std::int64_t levels,
                                        const Executor& on, memory_resource& scratch) {
  using namespace kernels;
  const auto counts = make_buffer<level_counts>(size, on, scratch);
  const buffer<level_table_summary> summaries(tables.size(), scratch, on.stream());
  const auto summary_words = static_cast<std::int64_t>(summaries.bytes() / sizeof(std::int32_t));
  simt::for_each(
      on, std::max(size, summary_words),
      start_tables{size, counts.data(), summary_words, reinterpret_cast<std::int32_t*>(summaries.data())});
  using agent = count_levels_agent<Index, Offset>;
  typename agent::params p{};
  p.size = t.size;
  p.table_blocks = simt::ceil_div(t.size, agent::block_threads);
  p.row_offsets = t.row_offsets.data();
  p.columns = t.columns.data();
  p.levels = level_of_row.data();
  p.entries = t.entries();
  p.counts = counts.data();
  p.summaries = summaries.data();
  for (const level_table& table : tables) {
    p.tables.tables[p.tables.count++] = {table.rows.partitions,
                                         table.rows.boxes,
                                         table.begin,
                                         table.begin + table.rows.partitions * levels,
                                         table.shape.shared_entries(),
                                         2 * table.shape.lanes};
  }
  on.template launch<agent>(simt::block_count(p.tables.count * p.table_blocks, 1), p);
  // Most partitions have no rows on most levels: only cells that have rows come to the host.
  const auto levels_before = make_buffer<std::int32_t>(size + 1, on, scratch);
  const auto most_levels = std::min(size, static_cast<std::int64_t>(tables.size()) * t.size);
  const auto partition_levels = make_buffer<partition_level>(most_levels, on, scratch);
  simt::for_each(on, size + 1, mark_levels{size, counts.data(), levels_before.data()});
  on.exclusive_scan(levels_before.data(), levels_before.data(), size + 1, scratch);
  simt::for_each(on, size,
                 write_partition_levels{p.tables, counts.data(), levels_before.data(),
                                        partition_levels.data(), summaries.data()});
  counted_level_tables made;
  made.summaries.resize(summaries.size());
  on.download(made.summaries.data(), summaries.data(), summaries.bytes());
  const auto all = static_cast<std::size_t>(made.summaries.back().end);
  made.levels.reset(new partition_level[all]);
  on.download(made.levels.get(), partition_levels.data(), all * sizeof(partition_level));
  return made;
}

}  // namespace sptrsv::detail::dataflow::partitioned
