// SPDX-License-Identifier: Apache-2.0
// Tables of the partition levels for several ways to divide the rows, and what they predict. Both are made on
// the device; the predictions come to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/solve_simulation.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// A way to divide the rows into partitions.
struct partitioning {
  std::int64_t partitions;
  block_partition boxes;    ///< if the partitions are boxes of a grid
  bool are_planes = false;  ///< whole planes of a grid whose rows need most neighbours from the plane before
  double factor = 1;        ///< of the predicted time of a solve
};

/// The partition levels of one partitioning, for shapes with the same number of shared entries.
struct level_table {
  partitioning rows;
  shape_values shape;    ///< one of the shapes that the table serves
  std::int64_t begin;    ///< its first cell in the cells of all tables
  std::uint32_t shapes;  ///< the shapes that are tried, one bit for each index

  [[nodiscard]] bool serves(const partitioning& p, const shape_values& s) const {
    return rows.partitions == p.partitions && rows.boxes.are_used() == p.boxes.are_used() &&
           shape.lanes == s.lanes && shape.entries == s.entries;
  }
};

/// Tables of one system that one launch counts: at most counted_tables::max_count.
struct table_batch {
  std::vector<level_table> tables;
  std::int64_t cells = 0;  ///< of all tables
  /// By table, then by level, then by partition; then the numbers of rows of the levels. In device memory.
  buffer<level_counts> counted{};

  /// Returns the number of predictions: one for each shape of each table.
  [[nodiscard]] std::int64_t predictions() const {
    std::int64_t count = 0;
    for (const level_table& table : tables) {
      count += simt::bit_count(table.shapes);
    }
    return count;
  }
  /// Returns the number of rows of each level.
  [[nodiscard]] std::int32_t* level_rows() const {
    return reinterpret_cast<std::int32_t*>(counted.data() + cells);
  }
};

/// The tables of a triangle that are to be counted.
template <class Index, class Offset>
struct counting_job {
  using agent = count_levels_agent<Index, Offset>;

  table_batch& batch;
  const device_triangle<Index, Offset>& triangle;
  const row_levels<Index>& levels;

  [[nodiscard]] std::int64_t blocks_of_table() const {
    return simt::ceil_div(triangle.size, agent::block_threads);
  }
  [[nodiscard]] std::int64_t blocks() const {
    return static_cast<std::int64_t>(batch.tables.size()) * blocks_of_table();
  }
  /// Allocates the cells, all zero; returns the parameters of the kernel.
  template <class Executor>
  typename agent::params begin(const Executor& on, memory_resource& scratch) const {
    constexpr std::int64_t words = sizeof(level_counts) / sizeof(std::int32_t);
    batch.counted = make_zeros<level_counts>(batch.cells + simt::ceil_div(levels.count, words), on, scratch);
    typename agent::params p{triangle.view(),
                             triangle.entries(),
                             blocks_of_table(),
                             levels.of_row.data(),
                             batch.counted.data(),
                             batch.level_rows(),
                             {}};
    for (const level_table& table : batch.tables) {
      p.tables.tables[p.tables.count++] = {table.rows.partitions, table.rows.boxes, table.begin,
                                           table.shape.shared_entries(), 2 * table.shape.lanes};
    }
    return p;
  }
};

/// Counts the tables of one or two triangles in one launch.
template <class Index, class Offset, class Executor>
void count_level_tables(const std::vector<counting_job<Index, Offset>>& of, const Executor& on,
                        memory_resource& scratch) {
  const auto first = of[0].begin(on, scratch);
  if (of.size() == 1) {
    on.template launch<count_levels_agent<Index, Offset>>(simt::block_count(of[0].blocks(), 1), first);
  } else {
    on.template launch<two_systems_agent<count_levels_agent<Index, Offset>>>(
        simt::block_count(of[0].blocks() + of[1].blocks(), 1),
        {{first, of[1].begin(on, scratch)}, of[0].blocks()});
  }
}

/// Work that the device does behind the predictions, so that the host waits once for both: enqueues it. It
/// may store one number to `word`, a word of device memory that comes to the host with the predictions.
using work_behind = std::function<void(std::int64_t* word)>;

/// The predictions for one system that are wanted.
struct prediction_job {
  const table_batch& batch;  ///< counted
  predict_params params;     ///< without tables and arrays, which simulate() fills in
  bool may_be_hybrid;        ///< whether the time of a hybrid path is wanted
  work_behind behind;        ///< may be empty
  buffer<float> ends{};      ///< see predict_params; so is level_ends
  buffer<float> level_ends{};

  template <class Executor>
  void fill_in(prediction* found, const Executor& on, memory_resource& scratch) {
    std::int64_t size = 0;
    for (const level_table& table : batch.tables) {
      const std::int64_t partitions = table.rows.partitions;
      params.tables[params.table_count++] = {table.begin, static_cast<std::int32_t>(partitions), table.shapes,
                                             table.rows.factor};
      size += simt::bit_count(table.shapes) * params.levels * partitions;
    }
    ends = make_buffer<float>(size, on, scratch);
    level_ends = make_buffer<float>(may_be_hybrid ? batch.predictions() * params.levels : 0, on, scratch);
    params.cells = batch.counted.data();
    params.level_rows = batch.level_rows();
    params.ends = ends.data();
    params.level_ends = level_ends.data();
    params.found = found;
  }
};

struct predictions {
  std::vector<prediction> of_shapes;  ///< in the order of the tables, then of the shapes
  std::int64_t word = 0;              ///< what the work behind the predictions stored
};

/// Returns a prediction for each shape of each table of one or two systems. There is one launch. A block
/// simulates one table with one shape, level by level, so two systems take as long as the slower one.
/// Synchronises once.
template <class Executor>
std::vector<predictions> simulate(std::vector<prediction_job> jobs, const Executor& on,
                                  memory_resource& scratch) {
  static_assert(sizeof(prediction) >= 2 * sizeof(std::int64_t), "two words take the place of a prediction");
  std::int64_t count = 0;
  for (const prediction_job& job : jobs) {
    count += job.batch.predictions();
  }
  // Behind the predictions stand the words that the work behind them stores.
  const auto found = make_buffer<prediction>(count + 1, on, scratch);
  prediction* next = found.data();
  for (prediction_job& job : jobs) {
    job.fill_in(next, on, scratch);
    next += job.batch.predictions();
  }
  if (jobs.size() == 1) {
    on.template launch<solve_simulation>(simt::block_count(count, 1), jobs[0].params);
  } else {
    on.template launch<two_systems_agent<solve_simulation>>(
        simt::block_count(count, 1), {{jobs[0].params, jobs[1].params}, jobs[0].batch.predictions()});
  }
  std::size_t words = 0;
  for (const prediction_job& job : jobs) {
    if (job.behind) {
      job.behind(reinterpret_cast<std::int64_t*>(next) + words++);
    }
  }
  std::vector<prediction> on_host(at(count) + 1);
  on.download(on_host.data(), found.data(), at(count) * sizeof(prediction) + words * sizeof(std::int64_t));
  std::int64_t word[2];
  std::memcpy(word, &on_host.back(), sizeof(word));
  words = 0;
  std::vector<predictions> made;
  auto first = on_host.cbegin();
  for (const prediction_job& job : jobs) {
    const auto last = first + job.batch.predictions();
    made.push_back({{first, last}, job.behind ? word[words++] : 0});
    first = last;
  }
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
