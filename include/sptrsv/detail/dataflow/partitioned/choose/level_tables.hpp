// Tables of the partition levels for several ways to divide the rows, and what they predict. Both are made on
// the device; the predictions come to the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/predict_agent.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

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
  shape_values shape;    ///< one of the shapes that the table serves
  std::int64_t begin;    ///< its first cell in the cells of all tables
  std::uint32_t shapes;  ///< the shapes that are tried, one bit for each index

  [[nodiscard]] bool serves(const partitioning& p, const shape_values& s) const {
    return rows.partitions == p.partitions && shape.lanes == s.lanes && shape.entries == s.entries;
  }
};

/// The cells of several tables, in device memory.
struct counted_cells {
  buffer<level_counts> cells;  ///< by table, then by level, then by partition; then the rows of the levels
  std::int32_t* level_rows;    ///< by level: the number of rows; at the end of `cells`
};

/// Counts the cells of at most counted_tables::max_count tables. `size`: cells of all tables.
template <class Index, class Offset, class Executor>
counted_cells count_level_tables(const std::vector<level_table>& tables, std::int64_t size,
                                 const device_triangle<Index, Offset>& t, const row_levels<Index>& levels,
                                 const Executor& on, const analysis_memory& memory) {
  constexpr std::int64_t words = sizeof(level_counts) / sizeof(std::int32_t);
  counted_cells counted{
      make_buffer<level_counts>(size + simt::ceil_div(levels.count, words), on, memory.scratch), nullptr};
  counted.level_rows = reinterpret_cast<std::int32_t*>(counted.cells.data() + size);
  on.fill_bytes(counted.cells.data(), 0, counted.cells.bytes());
  using agent = kernels::count_levels_agent<Index, Offset>;
  typename agent::params p{};
  p.size = t.size;
  p.table_blocks = simt::ceil_div(t.size, agent::block_threads);
  p.row_offsets = t.row_offsets.data();
  p.columns = t.columns.data();
  p.levels = levels.of_row.data();
  p.entries = t.entries();
  p.counts = counted.cells.data();
  p.level_rows = counted.level_rows;
  for (const level_table& table : tables) {
    p.tables.tables[p.tables.count++] = {table.rows.partitions, table.rows.boxes, table.begin,
                                         table.shape.shared_entries(), 2 * table.shape.lanes};
  }
  on.template launch<agent>(simt::block_count(p.tables.count * p.table_blocks, 1), p);
  return counted;
}

/// The inputs of a prediction other than the tables.
struct predicted_system {
  std::int64_t rows;
  std::int64_t entries;
  std::int64_t levels;
  std::int64_t max_rhs;
  std::int64_t resident_blocks;
  bool may_be_hybrid;  ///< whether the time of a hybrid path is wanted
  cost_constants constants;
  row_per_thread::solve_costs row_per_thread;
  std::vector<costed_shape> shapes;  ///< by index; at most predict_params::max_shapes
};

/// Work that the device does behind the predictions, so that the host waits once for both: enqueues it. It
/// may store one number to `word`, a word of device memory that comes to the host with the predictions.
using work_behind = std::function<void(std::int64_t* word)>;

struct predictions {
  std::vector<prediction> of_shapes;  ///< in the order of the tables, then of the shapes
  std::int64_t word = 0;              ///< see work_behind
};

/// Returns a prediction for each shape of each table. `counted`: the cells of the tables. `behind`: may be
/// empty. Synchronises.
template <class Executor>
predictions predict(const std::vector<level_table>& tables, const counted_cells& counted,
                    const predicted_system& system, const work_behind& behind, const Executor& on,
                    memory_resource& scratch) {
  using agent = kernels::predict_agent;
  agent::params p{};
  std::int64_t tasks = 0;
  std::int64_t ends = 0;
  for (const level_table& table : tables) {
    const std::int64_t partitions = table.rows.partitions;
    p.tables[p.table_count++] = {table.begin, static_cast<std::int32_t>(partitions), table.shapes};
    tasks += simt::bit_count(table.shapes);
    ends += simt::bit_count(table.shapes) * system.levels * partitions;
  }
  const auto ends_of_levels = make_buffer<float>(ends, on, scratch);
  const auto level_ends = make_buffer<float>(system.may_be_hybrid ? tasks * system.levels : 0, on, scratch);
  const auto found = make_buffer<prediction>(tasks + (behind ? 1 : 0), on, scratch);
  p.size = system.rows;
  p.entries = system.entries;
  p.levels = system.levels;
  p.max_rhs = system.max_rhs;
  p.resident_blocks = system.resident_blocks;
  p.cells = counted.cells.data();
  p.level_rows = counted.level_rows;
  p.ends = ends_of_levels.data();
  p.level_ends = level_ends.data();
  p.found = found.data();
  p.constants = system.constants;
  p.row_per_thread = system.row_per_thread;
  std::copy(system.shapes.begin(), system.shapes.end(), p.shapes);
  on.template launch<agent>(simt::block_count(tasks, 1), p);
  predictions made;
  made.of_shapes.resize(found.size());
  if (!behind) {
    on.download(made.of_shapes.data(), found.data(), found.bytes());
    return made;
  }
  // The word takes the place of one more prediction.
  behind(reinterpret_cast<std::int64_t*>(found.data() + tasks));
  on.download(made.of_shapes.data(), found.data(),
              static_cast<std::size_t>(tasks) * sizeof(prediction) + sizeof(made.word));
  std::memcpy(&made.word, &made.of_shapes.back(), sizeof(made.word));
  made.of_shapes.pop_back();
  return made;
}

}  // namespace sptrsv::detail::dataflow::partitioned
