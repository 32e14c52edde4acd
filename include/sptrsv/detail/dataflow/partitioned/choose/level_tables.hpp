// Tables of what each part of a relay has to do on each level, for some ways to deal the rows, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_counts.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// How rows are dealt.
struct partitioning {
  std::int64_t partitions;
  block_partition boxes;
  bool are_planes = false;  ///< of a grid whose rows need most of their neighbours from the plane before
};

/// The runs of a division, read by so many lanes a row.
struct level_table {
  partitioning rows;
  shape_values shape;  ///< one of those that it serves
  std::int64_t begin;  ///< in the runs of all tables

  [[nodiscard]] bool serves(const partitioning& d, const shape_values& s) const {
    return rows.partitions == d.partitions && shape.lanes == s.lanes && shape.entries == s.entries;
  }
};

struct counted_level_tables {
  std::unique_ptr<partition_level[]> levels_of_partitions;
  /// By table: the first of its turns, and that after the last; whether a part needs one after it; by part,
  /// entries that come through memory.
  std::vector<std::int32_t> sums;
  static constexpr std::size_t sums_of_table = 3 + level_counts::level_stride;
};

/// `size`: runs of all tables; `level_of_row`: counted from 1. Synchronises.
template <class Index, class Offset, class Executor>
counted_level_tables count_level_tables(const std::vector<level_table>& tables, std::int64_t size,
                                        const device_triangle<Index, Offset>& t,
                                        const buffer<Index>& level_of_row, std::int64_t levels,
                                        const Executor& on, memory_resource& scratch) {
  const auto runs = make_buffer<level_counts>(size, on, scratch);
  simt::for_each(on, size, triangle_kernels::fill_with<level_counts>{{0, -1, 0, 0}, runs.data()});
  constexpr std::size_t per_table = counted_level_tables::sums_of_table;
  const buffer<std::int32_t> sums(tables.size() * per_table, scratch, on.stream());
  on.fill_bytes(sums.data(), 0, sums.bytes());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const level_table& table = tables[i];
    using agent = kernels::count_levels_agent<Index, Offset>;
    on.template launch<agent>(
        static_cast<std::uint32_t>(simt::ceil_div(t.size, agent::block_threads)),
        {t.size,
         {t.row_offsets.data(), t.size, t.entries() + t.size, table.rows.partitions, table.rows.boxes},
         t.columns.data(),
         level_of_row.data(),
         table.shape.shared_entries(),
         2 * table.shape.lanes,
         runs.data() + table.begin,
         sums.data() + i * per_table + 2});
  }
  // Of most parts most levels have no rows: only runs that have come to the host.
  const auto solve_indices = make_buffer<std::int32_t>(size + 1, on, scratch);
  const auto levels_of_partitions = make_buffer<partition_level>(size, on, scratch);
  simt::for_each(on, size + 1, kernels::mark_levels{size, runs.data(), solve_indices.data()});
  on.exclusive_scan(solve_indices.data(), solve_indices.data(), size + 1, scratch);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const level_table& table = tables[i];
    std::int32_t* const own = sums.data() + i * per_table;
    const std::int64_t partitions = table.rows.partitions;
    simt::for_each(on, partitions * levels,
                   kernels::write_partition_levels{table.begin, table.begin + partitions * levels, partitions,
                                                   runs.data(), solve_indices.data(),
                                                   levels_of_partitions.data(), own, own + 3});
  }
  counted_level_tables made;
  made.sums.resize(sums.size());
  on.download(made.sums.data(), sums.data(), sums.bytes());
  const auto all = static_cast<std::size_t>(made.sums[(tables.size() - 1) * per_table + 1]);
  made.levels_of_partitions.reset(new partition_level[all]);
  on.download(made.levels_of_partitions.get(), levels_of_partitions.data(), all * sizeof(partition_level));
  return made;
}

}  // namespace sptrsv::detail::dataflow::partitioned
