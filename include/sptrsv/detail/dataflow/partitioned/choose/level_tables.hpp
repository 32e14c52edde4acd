// SPDX-License-Identifier: Apache-2.0
// Tables of the partition levels for several ways to divide the rows, and what they predict. Both are made on
// the device; the predictions come to the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
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
  std::int32_t* level_rows = nullptr;  ///< by level: the number of rows; at the end of `cells`
};

/// The tables of a triangle that one launch counts: at most counted_tables::max_count.
template <class Index, class Offset>
struct tables_of_triangle {
  const std::vector<level_table>& tables;
  std::int64_t size;  ///< cells of all tables
  const device_triangle<Index, Offset>& triangle;
  const row_levels<Index>& levels;

  /// Returns the memory of the cells, all zero.
  template <class Executor>
  [[nodiscard]] counted_cells allocate(const Executor& on, const analysis_memory& memory) const {
    constexpr std::int64_t words = sizeof(level_counts) / sizeof(std::int32_t);
    counted_cells counted{
        make_buffer<level_counts>(size + simt::ceil_div(levels.count, words), on, memory.scratch), nullptr};
    counted.level_rows = reinterpret_cast<std::int32_t*>(counted.cells.data() + size);
    on.fill_bytes(counted.cells.data(), 0, counted.cells.bytes());
    return counted;
  }

  /// Returns the parameters of the kernel that counts.
  [[nodiscard]] typename kernels::count_levels_agent<Index, Offset>::params params(
      const counted_cells& to) const {
    using agent = kernels::count_levels_agent<Index, Offset>;
    typename agent::params p{};
    p.size = triangle.size;
    p.table_blocks = simt::ceil_div(triangle.size, agent::block_threads);
    p.row_offsets = triangle.row_offsets.data();
    p.columns = triangle.columns.data();
    p.levels = levels.of_row.data();
    p.entries = triangle.entries();
    p.counts = to.cells.data();
    p.level_rows = to.level_rows;
    for (const level_table& table : tables) {
      p.tables.tables[p.tables.count++] = {table.rows.partitions, table.rows.boxes, table.begin,
                                           table.shape.shared_entries(), 2 * table.shape.lanes};
    }
    return p;
  }
  [[nodiscard]] std::int64_t blocks() const {
    return static_cast<std::int64_t>(tables.size()) *
           simt::ceil_div(triangle.size, kernels::count_levels_agent<Index, Offset>::block_threads);
  }
};

/// Counts the cells of the tables of N triangles in one launch.
template <std::size_t N, class Index, class Offset, class Executor>
std::array<counted_cells, N> count_level_tables(const std::array<tables_of_triangle<Index, Offset>, N>& of,
                                                const Executor& on, const analysis_memory& memory) {
  std::array<counted_cells, N> counted;
  for (std::size_t k = 0; k < N; ++k) {
    counted[k] = of[k].allocate(on, memory);
  }
  if constexpr (N == 1) {
    on.template launch<kernels::count_levels_agent<Index, Offset>>(simt::block_count(of[0].blocks(), 1),
                                                                   of[0].params(counted[0]));
  } else {
    static_assert(N == 2, "tables of one or two triangles are counted together");
    on.template launch<kernels::count_levels_of_two_agent<Index, Offset>>(
        simt::block_count(of[0].blocks() + of[1].blocks(), 1),
        {{of[0].params(counted[0]), of[1].params(counted[1])}, of[0].blocks()});
  }
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
  double boxes_factor = 1;           ///< of the time of a solve whose partitions are boxes of a grid
};

/// Work that the device does behind the predictions, so that the host waits once for both: enqueues it. It
/// may store one number to `word`, a word of device memory that comes to the host with the predictions.
using work_behind = std::function<void(std::int64_t* word)>;

struct predictions {
  std::vector<prediction> of_shapes;  ///< in the order of the tables, then of the shapes
  std::int64_t word = 0;              ///< what the work behind the predictions stored
};

/// The prediction for one system.
struct prediction_job {
  const std::vector<level_table>& tables;
  const counted_cells& counted;  ///< the cells of the tables
  const predicted_system& system;
};

/// Returns the number of predictions: one for each shape of each table.
inline std::int64_t tasks_of(const std::vector<level_table>& tables) {
  std::int64_t tasks = 0;
  for (const level_table& table : tables) {
    tasks += simt::bit_count(table.shapes);
  }
  return tasks;
}

/// The parameters of the predictions of one system, and the kernel's scratch memory.
struct prediction_launch {
  kernels::predict_params params{};
  buffer<float> ends;
  buffer<float> level_ends;

  /// A task takes one prediction of `found`.
  template <class Executor>
  prediction_launch(const prediction_job& job, prediction* found, const Executor& on,
                    memory_resource& scratch) {
    const predicted_system& system = job.system;
    std::int64_t size = 0;
    for (const level_table& table : job.tables) {
      const std::int64_t partitions = table.rows.partitions;
      params.tables[params.table_count++] = {table.begin, static_cast<std::int32_t>(partitions), table.shapes,
                                             table.rows.boxes.are_used() ? system.boxes_factor : 1.0};
      size += simt::bit_count(table.shapes) * system.levels * partitions;
    }
    ends = make_buffer<float>(size, on, scratch);
    level_ends =
        make_buffer<float>(system.may_be_hybrid ? tasks_of(job.tables) * system.levels : 0, on, scratch);
    params.size = system.rows;
    params.entries = system.entries;
    params.levels = system.levels;
    params.max_rhs = system.max_rhs;
    params.resident_blocks = system.resident_blocks;
    params.cells = job.counted.cells.data();
    params.level_rows = job.counted.level_rows;
    params.ends = ends.data();
    params.level_ends = level_ends.data();
    params.found = found;
    params.constants = system.constants;
    params.row_per_thread = system.row_per_thread;
    std::copy(system.shapes.begin(), system.shapes.end(), params.shapes);
  }
};

/// The predictions of one or two systems in device memory, and behind them the numbers that work_behind
/// stores, at most two.
class prediction_results {
 public:
  template <class Executor>
  prediction_results(std::int64_t tasks, const Executor& on, memory_resource& scratch)
      : tasks_(tasks), found_(make_buffer<prediction>(tasks + 1, on, scratch)) {}

  [[nodiscard]] prediction* begin() const { return found_.data(); }

  /// Enqueues the work, if there is any.
  void enqueue(const work_behind& behind) {
    if (behind) {
      behind(reinterpret_cast<std::int64_t*>(found_.data() + tasks_) + words_++);
    }
  }

  /// Copies all of it to the host. Synchronises.
  template <class Executor>
  void download(const Executor& on) {
    static_assert(sizeof(prediction) >= 2 * sizeof(std::int64_t), "two words take the place of a prediction");
    on_host_.resize(static_cast<std::size_t>(tasks_) + 1);
    on.download(on_host_.data(), found_.data(),
                static_cast<std::size_t>(tasks_) * sizeof(prediction) + words_ * sizeof(std::int64_t));
  }

  /// Returns the next predictions, of this number, and the next word if `behind` stores one; after
  /// download().
  [[nodiscard]] predictions take(std::int64_t tasks, const work_behind& behind) {
    predictions made;
    const auto first = on_host_.begin() + taken_;
    made.of_shapes.assign(first, first + tasks);
    taken_ += tasks;
    if (behind) {
      const auto* const words = reinterpret_cast<const unsigned char*>(&on_host_.back());
      std::memcpy(&made.word, words + taken_words_++ * sizeof(made.word), sizeof(made.word));
    }
    return made;
  }

 private:
  std::int64_t tasks_;
  buffer<prediction> found_;
  std::vector<prediction> on_host_;
  std::size_t words_ = 0;
  std::int64_t taken_ = 0;
  std::size_t taken_words_ = 0;
};

/// Returns, for N systems, a prediction for each shape of each table. The predictions of two systems share a
/// launch. `behind`: of each system, may be empty. Synchronises.
template <std::size_t N, class Executor>
std::array<predictions, N> predict(const std::array<prediction_job, N>& jobs,
                                   const std::array<work_behind, N>& behind, const Executor& on,
                                   memory_resource& scratch) {
  std::array<std::int64_t, N> tasks;
  std::transform(jobs.begin(), jobs.end(), tasks.begin(), [](auto& job) { return tasks_of(job.tables); });
  prediction_results found(std::accumulate(tasks.begin(), tasks.end(), std::int64_t{0}), on, scratch);
  const prediction_launch first(jobs[0], found.begin(), on, scratch);
  if constexpr (N == 1) {
    on.template launch<kernels::predict_agent>(simt::block_count(tasks[0], 1), first.params);
    found.enqueue(behind[0]);
    found.download(on);
  } else {
    static_assert(N == 2, "times of one or two systems are predicted together");
    const prediction_launch second(jobs[1], found.begin() + tasks[0], on, scratch);
    on.template launch<kernels::two_predictions_agent>(simt::block_count(tasks[0] + tasks[1], 1),
                                                       {{first.params, second.params}, tasks[0]});
    found.enqueue(behind[0]);
    found.enqueue(behind[1]);
    found.download(on);
  }
  std::array<predictions, N> made;
  for (std::size_t k = 0; k < N; ++k) {
    made[k] = found.take(tasks[k], behind[k]);
  }
  return made;
}

}  // namespace sptrsv::detail::dataflow::partitioned
