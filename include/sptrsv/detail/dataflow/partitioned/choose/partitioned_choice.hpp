// Chooses the partitions and the shape of a partitioned solve. Counts, on the device, the rows of each
// partition on each level and what they need of other partitions, and predicts the times of solves from these
// tables (level_tables.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/hybrid/hybrid_choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/search_result.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/partitioned_agent.hpp"
#include "sptrsv/detail/simt/simt_executor.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Searches the shapes of the tuning and several partitionings for the smallest predicted time.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class plan_search {
  using shapes = typename shapes_of<Tuning>::type;
  static_assert(shapes::count <= kernels::predict_params::max_shapes,
                "dataflow_tuning: partitioned_shapes has at most 32 shapes");

 public:
  /// `partitions`: the number that the policy asks for, or 0. `shape`: the
  /// index that the policy asks for, or -1. `together`: for the rest of a hybrid path, the right-hand sides
  /// that the first path solves together; 0 otherwise. `may_be_hybrid`: whether cut() may be called.
  plan_search(const device_triangle<Index, Offset>& t, const row_levels<Index>& levels,
              std::int64_t partitions, int shape, std::int64_t max_rhs, std::int64_t together,
              bool may_be_hybrid, const Executor& on, const analysis_memory& memory)
      : triangle_(t),
        level_of_row_(levels),
        levels_(levels.count),
        forced_partitions_(partitions),
        forced_shape_(shape),
        max_rhs_(max_rhs),
        together_(together),
        may_be_hybrid_(may_be_hybrid),
        on_(on),
        memory_(memory),
        shared_limit_(on.shared_limit()) {}

  /// Returns the best choice; its time is infinite if no shape fits the device or the system is too large.
  /// `behind`: work for the device after the predictions, may be empty; word() returns the number that it
  /// stored. Synchronises.
  shape_choice choose(work_behind behind = {}) {
    behind_ = std::move(behind);
    for (const table_batch& batch : batches()) {
      try_batch(batch);
    }
    return found_.best;
  }

  /// Does what choose() does for two systems: their predictions share launches, and the host waits once for
  /// both. Synchronises.
  static void choose_both(plan_search& first, plan_search& second, const work_behind& of_first,
                          const work_behind& of_second) {
    first.behind_ = of_first;
    second.behind_ = of_second;
    const std::vector<table_batch> batches[2] = {first.batches(), second.batches()};
    const std::size_t shared = std::min(batches[0].size(), batches[1].size());
    for (std::size_t i = 0; i < shared; ++i) {
      try_both(first, batches[0][i], second, batches[1][i]);
    }
    for (std::size_t i = shared; i < batches[0].size(); ++i) {
      first.try_batch(batches[0][i]);
    }
    for (std::size_t i = shared; i < batches[1].size(); ++i) {
      second.try_batch(batches[1][i]);
    }
  }

  /// Returns what choose() or choose_both() has found, with the cells if cut() with this limit needs them.
  search_result take_result(double limit) {
    if (found_.hybrid_nanoseconds >= limit) {
      found_.cells = {};
    }
    return std::move(found_);
  }
  /// Takes what another search of the same system has found; then choose() is not called.
  void take(search_result&& found) { found_ = std::move(found); }

  /// Returns the best choice that was found.
  [[nodiscard]] const shape_choice& best() const { return found_.best; }
  /// Returns the number that the work behind the predictions stored; see choose().
  [[nodiscard]] std::int64_t word() const { return found_.word; }

  /// Returns, after choose(), the best cut of the hybrid path (see hybrid::best_cut), or the cut after
  /// `first_levels` levels if that is not 0. Returns no cut if no partitioned path is possible, if the system
  /// has a single level, or if a hybrid path takes about `limit` nanoseconds or more. Synchronises.
  hybrid::level_cut cut(std::int64_t first_levels, double limit) const {
    if (found_.cells.size() == 0 || levels_ < 2 ||
        (first_levels == 0 && found_.hybrid_nanoseconds >= limit)) {
      return {};
    }
    const auto size = static_cast<std::size_t>(levels_ * found_.best.partitions);
    const std::unique_ptr<level_counts[]> cells(new level_counts[size]);
    on_.download(cells.get(), found_.cells.data() + found_.begin, size * sizeof(level_counts));
    hybrid::partitioned_profile profile{};
    profile.cells = cells.get();
    profile.levels = levels_;
    profile.partitions = found_.best.partitions;
    profile.shape = costed_shapes()[at(found_.best.shape_index)];
    profile.shape.rhs_together = 1;
    profile.constants = cost_constants::of<Tuning>();
    profile.nanoseconds = found_.best.nanoseconds;
    const std::vector<std::int64_t> level_offsets = hybrid::level_offsets(profile);
    if (first_levels > 0) {
      const std::int64_t levels = std::min(first_levels, levels_ - 1);
      return {levels, level_offsets[at(levels)], 0};
    }
    return hybrid::best_cut(profile, level_offsets, triangle_.entries(), row_per_thread_costs());
  }

 private:
  /// Tables that are counted together.
  struct table_batch {
    std::vector<level_table> tables;
    std::int64_t cells = 0;
  };

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

  [[nodiscard]] bool is_large() const { return triangle_.entries() > Tuning::partitioned_small_entries; }
  /// Returns the rows of a partition on a level, on average.
  [[nodiscard]] double width(std::int64_t partitions) const {
    return static_cast<double>(triangle_.size) / static_cast<double>(levels_ * partitions);
  }

  /// Returns whether a number of partitions is worth counting: partitions must not be too small, and the
  /// table not much larger than the system. For large systems fewer numbers are tried, because counting takes
  /// time.
  [[nodiscard]] bool is_worth_a_try(std::int64_t partitions, std::int64_t most) const {
    const bool large_table = levels_ * partitions > Tuning::partitioned_small_table;
    const std::int64_t min_rows = levels_ > 100 ? 100 : 200;
    const bool too_many = partitions > 1 && (width(partitions) < (large_table ? 0.7 : 0.2) ||
                                             triangle_.size < min_rows * partitions);
    const bool too_few = 2 * partitions <= most && width(partitions) > (is_large() ? 20.0 : 40.0) &&
                         triangle_.size >= 400 * partitions;
    return !too_many && !too_few;
  }

  /// Returns whether a shape is worth a prediction: its lanes must suit the length of the rows.
  [[nodiscard]] bool is_worth_a_try(const shape_values& s, const partitioning& p) const {
    if (shapes::count > 1 && s.max_rhs > 1 && max_rhs_ == 1) {
      return false;
    }
    if (p.are_planes) {
      return s.lanes == 1 && s.polled_pairs > 1 && triangle_.entries() > Tuning::partitioned_plane_entries;
    }
    const double length = static_cast<double>(triangle_.entries()) / static_cast<double>(triangle_.size);
    const bool few_lanes = s.shared_entries() * (is_large() ? 1.7 : 2.2) < length && s.lanes < 4;
    const bool many_lanes = s.shared_entries() > (is_large() ? 2.0 : 4.0) * std::max(2.0, length) &&
                            s.lanes > 1 && (s.lanes > 2 || is_large());
    return shapes::count == 1 || !(few_lanes || many_lanes);
  }

  template <class Shape>
  [[nodiscard]] bool is_tried(int index, const partitioning& p) const {
    return fits<Shape>() && (together_ == 0 || shared_layout<Scalar, Shape>::rhs_together == together_) &&
           (forced_shape_ < 0 ? is_worth_a_try(values_of<Shape>(), p) : index == forced_shape_);
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
    if (is_large() && together_ == 0 && most > 0) {
      const detected_grid grid = find_grid(triangle_, on_);
      if (grid.boxes.are_used()) {
        const block_partition boxes = boxes_of(grid, most);
        found.push_back({boxes.partitions(), boxes, grid.needs_rows_ahead});
      }
    }
    return found;
  }

  /// Returns the tables of the partitionings that are tried; none if no shape fits the device or the system
  /// is too large. May synchronise.
  std::vector<table_batch> batches() {
    // Solve indices have 32 bits, also that of a thread one step past the end.
    constexpr std::int64_t too_many = max_count<std::int32_t>;
    if (levels_ > level_counts::max_levels || triangle_.size > too_many || triangle_.entries() > too_many) {
      return {};
    }
    blocks_ = resident_blocks();
    if (forced_partitions_ == 0) {
      return batches_of(partitionings(blocks_));
    }
    if (blocks_ > 0 && forced_partitions_ <= level_counts::level_stride) {
      return batches_of({{forced_partitions_, {}}});
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
        auto table = std::find_if(tables.begin(), tables.end(), [&](const level_table& t) {
          return t.serves(p, s) && t.rows.boxes.are_used() == p.boxes.are_used();
        });
        if (table == tables.end()) {
          table = tables.insert(table, {p, s, 0, 0});
        }
        table->shapes |= 1u << index;
      });
    }
    // A cell takes 16 bytes, and 4 for each shape. Tables that are counted together take at most 16 MiB, or
    // 16 bytes for each row; a single table may take more.
    const std::int64_t most_words = std::max<std::int64_t>(std::int64_t{1} << 22, 4 * triangle_.size);
    std::vector<table_batch> made;
    std::int64_t words = 0;
    for (level_table& table : tables) {
      const std::int64_t own = table.rows.partitions * levels_;
      const std::int64_t own_words = own * (4 + simt::bit_count(table.shapes));
      if (made.empty() || made.back().tables.size() == kernels::counted_tables::max_count ||
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

  /// Counts the tables of a batch, and keeps the best prediction.
  void try_batch(const table_batch& batch) {
    counted_cells counted =
        count_level_tables(batch.tables, batch.cells, triangle_, level_of_row_, on_, memory_);
    const predicted_system system = predicted();
    keep_best(batch, counted, predict(batch.tables, counted, system, behind_, on_, memory_.scratch));
  }
  /// Does the same for batches of two systems together.
  static void try_both(plan_search& first, const table_batch& of_first, plan_search& second,
                       const table_batch& of_second) {
    auto counted = count_level_tables_of_both<Index, Offset>(
        {first.tables_of(of_first), second.tables_of(of_second)}, first.on_, first.memory_);
    const predicted_system systems[2] = {first.predicted(), second.predicted()};
    const prediction_job jobs[2] = {{of_first.tables, counted[0], systems[0]},
                                    {of_second.tables, counted[1], systems[1]}};
    const auto made = predict_both(jobs, {first.behind_, second.behind_}, first.on_, first.memory_.scratch);
    first.keep_best(of_first, counted[0], made[0]);
    second.keep_best(of_second, counted[1], made[1]);
  }

  [[nodiscard]] tables_of_triangle<Index, Offset> tables_of(const table_batch& batch) const {
    return {batch.tables, batch.cells, triangle_, level_of_row_};
  }
  [[nodiscard]] predicted_system predicted() const {
    return {triangle_.size,
            triangle_.entries(),
            levels_,
            max_rhs_,
            blocks_,
            may_be_hybrid_,
            cost_constants::of<Tuning>(),
            row_per_thread_costs(),
            costed_shapes(),
            Tuning::partitioned_boxes_factor};
  }

  void keep_best(const table_batch& batch, counted_cells& counted, const predictions& made) {
    if (behind_) {
      found_.word = made.word;
      behind_ = {};  // the work is done once
    }
    bool has_best = false;
    auto found = made.of_shapes.begin();
    for (const level_table& table : batch.tables) {
      const double factor = table.rows.boxes.are_used() ? Tuning::partitioned_boxes_factor : 1.0;
      for (std::uint32_t left = table.shapes; left != 0; left &= left - 1, ++found) {
        const double time = factor * found->nanoseconds;
        // Partitions are solved in order: one that needs a later one would wait for ever.
        if (found->needs_later == 0 && time < found_.best.nanoseconds) {
          found_.best = {simt::lowest_bit(left), table.rows.partitions, table.rows.boxes, found->tiles, time};
          found_.hybrid_nanoseconds = found->hybrid_nanoseconds;
          found_.begin = table.begin;
          has_best = true;
        }
      }
    }
    if (has_best && may_be_hybrid_) {
      found_.cells = std::move(counted.cells);
    }
  }

  static std::vector<costed_shape> costed_shapes() {
    std::vector<costed_shape> costed;
    shapes::for_each([&](auto shape, int index) {
      constexpr shape_values s = values_of<decltype(shape)>();
      costed.push_back({s.tile_rows(), s.polled_pairs, shared_layout<Scalar, decltype(shape)>::rhs_together,
                        static_cast<float>(std::begin(Tuning::partitioned_shapes)[index].tile_ns)});
    });
    return costed;
  }
  [[nodiscard]] row_per_thread::solve_costs row_per_thread_costs() const {
    return row_per_thread::solve_costs::of<Tuning>(sizeof(Scalar), sizeof(Index), max_rhs_);
  }

  const device_triangle<Index, Offset>& triangle_;
  const row_levels<Index>& level_of_row_;
  std::int64_t levels_;
  std::int64_t forced_partitions_;
  int forced_shape_;
  std::int64_t max_rhs_;
  std::int64_t together_;
  bool may_be_hybrid_;
  const Executor& on_;
  analysis_memory memory_;
  std::size_t shared_limit_;
  work_behind behind_;
  std::int64_t blocks_ = 0;  ///< thread blocks that the device runs at the same time
  search_result found_;
};

}  // namespace sptrsv::detail::dataflow::partitioned
