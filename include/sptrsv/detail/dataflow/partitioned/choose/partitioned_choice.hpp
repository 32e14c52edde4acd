// SPDX-License-Identifier: Apache-2.0
// Chooses the partitions and the shape of a partitioned solve. Counts, on the device, what each partition has
// and needs on each level, and predicts the times of solves from these tables (level_tables.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/partitioned_agent.hpp"
#include "sptrsv/detail/simt/simt_executor.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

/// The system of a search, and the plans that may be found.
template <class Index, class Offset>
struct searched_system {
  const device_triangle<Index, Offset>& triangle;
  const row_levels<Index>& levels;
  std::int64_t partitions;  ///< the number that is asked for, or 0
  int shape;                ///< the index that is asked for, or -1
  std::int64_t max_rhs;
  /// For the rest of a hybrid path, the right-hand sides that the first path solves together; otherwise 0.
  std::int64_t together;
  bool may_be_hybrid;  ///< whether the time of a hybrid path is wanted
  work_behind behind;  ///< may be empty
};

/// Searches the shapes of the tuning and several partitionings for the smallest predicted time.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class plan_search {
  using shapes = typename shapes_of<Tuning>::type;
  static_assert(shapes::count <= predict_params::max_shapes,
                "dataflow_tuning: partitioned_shapes has at most 32 shapes");

 public:
  plan_search(const searched_system<Index, Offset>& of, const Executor& on, const analysis_memory& memory)
      : of_(of), on_(on), memory_(memory), shared_limit_(on.shared_limit()) {}

  /// Runs one or two searches. Two share launches, and the host waits once for both. Synchronises.
  static void run(std::vector<plan_search>& searches) {
    std::vector<std::vector<table_batch>> batches;
    std::size_t most = 0;
    for (plan_search& search : searches) {
      batches.push_back(search.batches());
      most = std::max(most, batches.back().size());
    }
    for (std::size_t i = 0; i < most; ++i) {
      std::vector<plan_search*> together;
      std::vector<counting_job<Index, Offset>> tables;
      std::vector<prediction_job> jobs;
      for (std::size_t k = 0; k < searches.size(); ++k) {
        if (i < batches[k].size()) {
          const auto& of = searches[k].of_;
          together.push_back(&searches[k]);
          tables.push_back({batches[k][i], of.triangle, of.levels});
          jobs.push_back({batches[k][i], searches[k].params(), of.may_be_hybrid, of.behind});
        }
      }
      const Executor& on = searches[0].on_;
      memory_resource& scratch = searches[0].memory_.scratch;
      count_level_tables(tables, on, scratch);
      const std::vector<predictions> made = simulate(std::move(jobs), on, scratch);
      for (std::size_t k = 0; k < together.size(); ++k) {
        together[k]->keep_best(tables[k].batch, made[k]);
      }
    }
  }
  /// Returns the best choice; its time is infinite if no shape fits the device or the system is too large.
  [[nodiscard]] search_result& found() { return found_; }

 private:
  [[nodiscard]] std::int64_t resident_blocks() const {
    std::int64_t blocks = 0;
    shapes::for_each([&](auto shape, int) {
      using layout = shared_layout<Scalar, decltype(shape)>;
      if (blocks == 0 && fits<decltype(shape)>()) {
        blocks = on_.template resident_blocks<agent<Scalar, decltype(shape)>>(
            layout::bytes(layout::x_ring_size(Tuning::partitioned_x_ring_size)));
      }
    });
    return blocks;
  }
  template <class Shape>
  [[nodiscard]] bool fits() const {
    using layout = shared_layout<Scalar, Shape>;
    return layout::bytes(layout::x_ring_size(Tuning::partitioned_x_ring_size)) +
               simt::static_shared_bytes<agent<Scalar, Shape>> <=
           shared_limit_;
  }

  [[nodiscard]] bool is_large() const { return of_.triangle.entries() > Tuning::partitioned_small_entries; }
  /// Returns the rows of a partition on a level, on average.
  [[nodiscard]] double width(std::int64_t partitions) const {
    return static_cast<double>(of_.triangle.size) / static_cast<double>(of_.levels.count * partitions);
  }

  /// Returns whether a number of partitions is worth counting: partitions must not be too small, and the
  /// table not much larger than the system. Large systems try fewer, since counting takes time.
  [[nodiscard]] bool is_worth_a_try(std::int64_t partitions, std::int64_t most) const {
    const bool large_table = of_.levels.count * partitions > Tuning::partitioned_small_table;
    const std::int64_t min_rows = of_.levels.count > 100 ? 100 : 200;
    const bool too_many = partitions > 1 && (width(partitions) < (large_table ? 0.7 : 0.2) ||
                                             of_.triangle.size < min_rows * partitions);
    const bool too_few = 2 * partitions <= most && width(partitions) > (is_large() ? 20.0 : 40.0) &&
                         of_.triangle.size >= 400 * partitions;
    return !too_many && !too_few;
  }

  /// Returns whether a shape is worth a prediction: its lanes must suit the length of the rows.
  [[nodiscard]] bool is_worth_a_try(const shape_values& s, const partitioning& p) const {
    if (shapes::count > 1 && s.max_rhs > 1 && of_.max_rhs == 1) {
      return false;
    }
    if (p.are_planes) {
      return s.lanes == 1 && s.polled_pairs > 1 && of_.triangle.entries() > Tuning::partitioned_plane_entries;
    }
    const double length =
        static_cast<double>(of_.triangle.entries()) / static_cast<double>(of_.triangle.size);
    const bool few_lanes = s.shared_entries() * (is_large() ? 1.7 : 2.2) < length && s.lanes < 4;
    const bool many_lanes = s.shared_entries() > (is_large() ? 2.0 : 4.0) * std::max(2.0, length) &&
                            s.lanes > 1 && (s.lanes > 2 || is_large());
    return shapes::count == 1 || !(few_lanes || many_lanes);
  }

  template <class Shape>
  [[nodiscard]] bool is_tried(int index, const partitioning& p) const {
    return fits<Shape>() &&
           (of_.together == 0 || shared_layout<Scalar, Shape>::rhs_together == of_.together) &&
           (of_.shape < 0 ? is_worth_a_try(values_of<Shape>(), p) : index == of_.shape);
  }

  /// Returns the partitionings that are worth a try, from many partitions to few, then boxes.
  std::vector<partitioning> partitionings(std::int64_t blocks) const {
    std::vector<partitioning> found;
    const std::int64_t most = std::min<std::int64_t>(blocks, level_counts::level_stride);
    for (std::int64_t number = most; number > 0; number /= 2) {
      if (is_worth_a_try(number, blocks)) {
        found.push_back({number, {}});
      }
    }
    if (is_large() && of_.together == 0 && most > 0) {
      const detected_grid grid = find_grid(of_.triangle, on_);
      if (grid.boxes.are_used()) {
        const block_partition boxes = boxes_of(grid, most);
        found.push_back({boxes.partitions(), boxes, grid.needs_rows_ahead, Tuning::partitioned_boxes_factor});
      }
    }
    return found;
  }

  /// Returns the tables that are tried; none if no shape fits or the system is too large. May synchronise.
  std::vector<table_batch> batches() {
    // Solve indices have 32 bits, also that of a thread one step past the end.
    constexpr std::int64_t too_many = max_count<std::int32_t>;
    if (of_.levels.count > level_counts::max_levels || of_.triangle.size > too_many ||
        of_.triangle.entries() > too_many) {
      return {};
    }
    blocks_ = resident_blocks();
    if (of_.partitions == 0) {
      return batches_of(partitionings(blocks_));
    }
    if (blocks_ > 0 && of_.partitions <= level_counts::level_stride) {
      return batches_of({{of_.partitions, {}}});
    }
    return {};
  }

  std::vector<table_batch> batches_of(const std::vector<partitioning>& partitionings) const {
    std::vector<level_table> tables;
    for (const partitioning& p : partitionings) {
      shapes::for_each([&](auto shape, int index) {
        if (!is_tried<decltype(shape)>(index, p)) {
          return;
        }
        constexpr shape_values s = values_of<decltype(shape)>();
        auto table =
            std::find_if(tables.begin(), tables.end(), [&](const level_table& t) { return t.serves(p, s); });
        if (table == tables.end()) {
          table = tables.insert(table, {p, s, 0, 0});
        }
        table->shapes |= 1u << index;
      });
    }
    // A cell takes 16 bytes, and 4 for each shape. Tables that are counted together take at most 16 MiB, or
    // 16 bytes for each row; a single table may take more.
    const std::int64_t most_words = std::max<std::int64_t>(std::int64_t{1} << 22, 4 * of_.triangle.size);
    std::vector<table_batch> made;
    std::int64_t words = 0;
    for (level_table& table : tables) {
      const std::int64_t own = table.rows.partitions * of_.levels.count;
      const std::int64_t own_words = own * (4 + simt::bit_count(table.shapes));
      if (made.empty() || made.back().tables.size() == counted_tables::max_count ||
          words + own_words > most_words) {
        made.push_back({});
        words = 0;
      }
      table.begin = made.back().cells;
      made.back().tables.push_back(table);
      made.back().cells += own;
      words += own_words;
    }
    return made;
  }

  [[nodiscard]] predict_params params() const {
    predict_params p{};
    p.size = of_.triangle.size;
    p.entries = of_.triangle.entries();
    p.levels = of_.levels.count;
    p.max_rhs = of_.max_rhs;
    p.resident_blocks = blocks_;
    p.constants = cost_constants::of<Tuning>();
    p.row_per_thread = row_per_thread::solve_costs::of<Tuning>(sizeof(Scalar), sizeof(Index), of_.max_rhs);
    const auto costed = costed_shapes<Tuning, Scalar>();
    std::copy(costed.begin(), costed.end(), p.shapes);
    return p;
  }

  /// Keeps the best prediction, and the cells of its table if they are wanted.
  void keep_best(table_batch& batch, const predictions& made) {
    if (of_.behind) {
      found_.word = made.word;
      of_.behind = {};  // the work is done once
    }
    bool has_best = false;
    auto found = made.of_shapes.begin();
    for (const level_table& table : batch.tables) {
      for (std::uint32_t left = table.shapes; left != 0; left &= left - 1, ++found) {
        const double time = table.rows.factor * found->nanoseconds;
        // Partitions are solved in order: one that needs a later one would wait for ever.
        if (found->needs_later == 0 && time < found_.best.nanoseconds) {
          found_.best = {simt::lowest_bit(left), table.rows.partitions, table.rows.boxes, found->tiles, time};
          found_.hybrid_nanoseconds = found->hybrid_nanoseconds;
          found_.begin = table.begin;
          has_best = true;
        }
      }
    }
    if (has_best && of_.may_be_hybrid) {
      found_.cells = std::move(batch.counted);
    }
    batch.counted = {};
  }

  searched_system<Index, Offset> of_;
  const Executor& on_;
  analysis_memory memory_;
  std::size_t shared_limit_;
  std::int64_t blocks_ = 0;  ///< thread blocks that the device runs at the same time
  search_result found_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
