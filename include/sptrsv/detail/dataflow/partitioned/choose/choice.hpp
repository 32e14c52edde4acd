// Chooses the partitions and the shape of a partitioned solve. Counts, on the device, the rows of each
// partition on each level and what they need of other partitions (level_tables.hpp), and predicts the time of
// a solve from that table on the host (cost.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/hybrid/choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/cost.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/agent.hpp"
#include "sptrsv/detail/simt/executor.hpp"

namespace sptrsv::detail::dataflow::partitioned {

struct shape_choice {
  int shape_index = 0;
  std::int64_t partitions = 1;
  block_partition boxes;
  std::int64_t tiles = 0;  ///< of all partitions
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// Searches the shapes of the tuning and several partitionings for the smallest predicted time.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class plan_search {
  using shapes = typename shapes_of<Tuning>::type;

 public:
  /// `partitions`: the number that the policy asks for, or 0. `shape`: the
  /// index that the policy asks for, or -1. `together`: for the rest of a hybrid path, the right-hand sides
  /// that the first path solves together; 0 otherwise.
  plan_search(const device_triangle<Index, Offset>& t, const row_levels<Index>& levels,
              std::int64_t partitions, int shape, std::int64_t max_rhs, std::int64_t together,
              const Executor& on, const analysis_memory& memory)
      : triangle_(t),
        level_of_row_(levels),
        levels_(levels.count),
        forced_partitions_(partitions),
        forced_shape_(shape),
        max_rhs_(max_rhs),
        together_(together),
        on_(on),
        memory_(memory),
        shared_limit_(on.shared_limit()) {}

  /// Returns the best choice; its time is infinite if no shape fits the device or the system is too large.
  /// Synchronises.
  shape_choice choose() {
    // Solve indices have 32 bits, also that of a thread one step past the end.
    constexpr std::int64_t too_many = max_count<std::int32_t>;
    if (levels_ > level_counts::max_levels || triangle_.size > too_many || triangle_.entries() > too_many) {
      return {};
    }
    const std::int64_t blocks = resident_blocks();
    if (forced_partitions_ > 0) {
      if (blocks > 0 && forced_partitions_ <= level_counts::level_stride) {
        count({{forced_partitions_, {}}}, blocks);
      }
    } else if (is_large()) {
      count_some_partitionings(blocks);
    } else {
      count(partitionings(blocks, 1), blocks);
    }
    try_all_shapes(blocks);
    count_tiles_of_best();
    return best_;
  }

  /// Returns, after choose(), the best cut of the hybrid path (see hybrid::best_cut), or the cut after
  /// `first_levels` levels if that is not 0. Returns no cut if no partitioned path is possible or the system
  /// has a single level.
  hybrid::level_cut cut(std::int64_t first_levels) const {
    if (best_table_ == nullptr || levels_ < 2) {
      return {};
    }
    const std::vector<std::int64_t> level_offsets =
        hybrid::level_offsets(best_table_->levels, best_table_->summary->count());
    if (first_levels > 0) {
      const std::int64_t levels = std::min(first_levels, levels_ - 1);
      return {levels, level_offsets[static_cast<std::size_t>(levels)], 0};
    }
    hybrid::partitioned_profile profile{};
    profile.levels = best_table_->levels;
    profile.count = best_table_->summary->count();
    profile.partitions = best_.partitions;
    profile.shape = best_shape();
    profile.tile_ns = Tuning::partitioned_shapes[best_.shape_index].tile_ns;
    profile.global_entries_ns = global_entry_nanoseconds<Tuning>(best_table_->summary->global_entries,
                                                                 best_.partitions, profile.shape);
    profile.nanoseconds = best_.nanoseconds;
    return hybrid::best_cut<Tuning>(profile, level_offsets, triangle_.entries(), sizeof(Scalar),
                                    sizeof(Index), max_rhs_);
  }

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

  /// Returns the partitionings that are worth a try, or every `step`th of them, from many partitions to few.
  std::vector<partitioning> partitionings(std::int64_t blocks, std::size_t step) const {
    std::vector<partitioning> found;
    std::size_t i = 0;
    for (std::int64_t number = std::min<std::int64_t>(blocks, level_counts::level_stride); number > 0;
         number /= 2) {
      if (is_worth_a_try(number, blocks) && i++ % step == 0) {
        found.push_back({number, {}});
      }
    }
    return found;
  }

  /// Counts first every second number of partitions, then the neighbours of the best one, and boxes. One
  /// partitioning at a time, since the tables of a large system are large.
  void count_some_partitionings(std::int64_t blocks) {
    for (const partitioning& p : partitionings(blocks, 2)) {
      count({p}, blocks);
    }
    const std::int64_t best = best_.partitions;
    for (const partitioning& p : partitionings(blocks, 1)) {
      if (p.partitions == best / 2 || p.partitions / 2 == best) {
        count({p}, blocks);
      }
    }
    if (together_ == 0) {
      count_boxes(blocks);
    }
  }

  /// A table that was counted, with the time of its first shape.
  struct tried_table {
    level_table table;
    const level_table_summary* summary;
    const partition_level* levels;
    int first_shape;
    double nanoseconds;
  };

  /// Counts the tables of the partitionings, and predicts the time of the first shape of each table.
  void count(const std::vector<partitioning>& partitionings, std::int64_t blocks) {
    std::vector<level_table> tables;
    for (const partitioning& p : partitionings) {
      shapes::for_each([&](auto shape, int index) {
        constexpr shape_values s = values_of<decltype(shape)>();
        const auto serves_it = [&](const level_table& t) { return t.serves(p, s); };
        if (is_tried<decltype(shape)>(index, p) && std::none_of(tables.begin(), tables.end(), serves_it)) {
          tables.push_back({p, s, 0});
        }
      });
    }
    // A cell takes 20 to 32 bytes. Tables that are counted together take at most 8 MiB, or 16 bytes for each
    // row; a single table may take more.
    const std::int64_t most_cells = std::max<std::int64_t>(std::int64_t{1} << 18, triangle_.size / 2);
    std::vector<level_table> together;
    std::int64_t cells = 0;
    for (level_table& table : tables) {
      const std::int64_t own = table.rows.partitions * levels_;
      if (together.size() == kernels::counted_tables::max_count ||
          (!together.empty() && cells + own > most_cells)) {
        count_and_try(together, cells, blocks);
        together.clear();
        cells = 0;
      }
      table.begin = cells;
      together.push_back(table);
      cells += own;
    }
    if (!together.empty()) {
      count_and_try(together, cells, blocks);
    }
  }

  void count_and_try(const std::vector<level_table>& tables, std::int64_t cells, std::int64_t blocks) {
    counted_.push_back(std::make_unique<counted_level_tables>(
        count_level_tables(tables, cells, triangle_, level_of_row_, on_, memory_)));
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const level_table_summary& summary = counted_.back()->summaries[i];
      if (summary.needs_later_partition != 0) {
        continue;  // partitions are solved in order: this one would wait for ever
      }
      tried_.push_back({tables[i], &summary, counted_.back()->levels.get() + summary.first, -1, 0});
      tried_table& tried = tried_.back();
      for_each_shape_of(tried, [&](auto s, int index) {
        if (tried.first_shape < 0) {
          tried.first_shape = index;
          tried.nanoseconds = try_shape(s, index, tried, blocks, 1.3 * best_.nanoseconds);
        }
      });
    }
  }

  /// Predicts the times of all shapes for the two numbers of partitions that suit the first shapes best.
  void try_all_shapes(std::int64_t blocks) {
    const std::int64_t best = best_.partitions;
    const tried_table* second = nullptr;
    for (const tried_table& tried : tried_) {
      if (tried.table.rows.partitions != best &&
          (second == nullptr || tried.nanoseconds < second->nanoseconds)) {
        second = &tried;
      }
    }
    for (const tried_table& tried : tried_) {
      const std::int64_t partitions = tried.table.rows.partitions;
      if (partitions != best && (second == nullptr || partitions != second->table.rows.partitions)) {
        continue;
      }
      for_each_shape_of(tried, [&](auto s, int index) {
        if (index != tried.first_shape) {
          try_shape(s, index, tried, blocks, best_.nanoseconds);
        }
      });
    }
  }

  [[nodiscard]] shape_values best_shape() const {
    shape_values found{};
    shapes::for_each(
        [&](auto s, int index) { found = index == best_.shape_index ? values_of<decltype(s)>() : found; });
    return found;
  }
  void count_tiles_of_best() {
    if (best_table_ != nullptr) {
      best_.tiles = count_tiles(best_table_->levels, best_table_->summary->count(), best_shape().tile_rows());
    }
  }

  /// Calls `work(shape, index)` for each shape that the table serves.
  template <class Work>
  void for_each_shape_of(const tried_table& tried, const Work& work) {
    shapes::for_each([&](auto s, int index) {
      if (tried.table.serves(tried.table.rows, values_of<decltype(s)>()) &&
          is_tried<decltype(s)>(index, tried.table.rows)) {
        work(s, index);
      }
    });
  }

  /// Returns the predicted time of a shape, or infinity if it exceeds `limit`. Takes the shape if it is the
  /// best one so far.
  template <class Shape>
  double try_shape(Shape, int index, const tried_table& tried, std::int64_t blocks, double limit) {
    constexpr int rhs_together = shared_layout<Scalar, Shape>::rhs_together;
    const partitioning& rows = tried.table.rows;
    const std::int64_t rounds = simt::ceil_div(simt::ceil_div(max_rhs_, rhs_together),
                                               std::max<std::int64_t>(1, blocks / rows.partitions));
    const double factor = rows.boxes.are_used() ? Tuning::partitioned_boxes_factor : 1.0;
    const double time =
        factor * solve_nanoseconds<Tuning>(tried.levels, tried.summary->count(),
                                           tried.summary->global_entries, rows.partitions, values_of<Shape>(),
                                           Tuning::partitioned_shapes[index].tile_ns, rhs_together, rounds,
                                           limit / factor, ends_);
    if (time < best_.nanoseconds) {
      best_ = {index, rows.partitions, rows.boxes, 0, time};
      best_table_ = &tried;
    }
    return time;
  }

  /// Counts boxes, if the system looks like a 3-D grid. The longest direction is not divided: a box would
  /// wait for the box before it until that is nearly finished. If rows need neighbours ahead, only whole
  /// planes are tried.
  void count_boxes(std::int64_t blocks) {
    const detected_grid found = find_grid(triangle_, on_);
    block_partition g = found.boxes;
    if (!g.are_used()) {
      return;
    }
    const std::int64_t most = std::min<std::int64_t>(blocks, level_counts::level_stride);
    if (found.needs_rows_ahead) {
      g.count[2] = static_cast<std::int32_t>(std::min<std::int64_t>(most, g.size[2]));
    } else {
      const auto longest = static_cast<int>(std::max_element(g.size, g.size + 3) - g.size);
      const int a = longest == 0 ? 1 : 0;
      const int b = longest == 2 ? 1 : 2;
      const double even = std::sqrt(static_cast<double>(most) * g.size[a] / g.size[b]);
      std::int32_t across = 1;
      while (2 * across <= 1.2 * even && 2 * across <= g.size[a]) {
        across *= 2;
      }
      g.count[a] = across;
      g.count[b] = static_cast<std::int32_t>(std::min<std::int64_t>(most / across, g.size[b]));
    }
    count({{g.partitions(), g, found.needs_rows_ahead}}, blocks);
  }

  const device_triangle<Index, Offset>& triangle_;
  const row_levels<Index>& level_of_row_;
  std::int64_t levels_;
  std::int64_t forced_partitions_;
  int forced_shape_;
  std::int64_t max_rhs_;
  std::int64_t together_;
  const Executor& on_;
  analysis_memory memory_;
  std::size_t shared_limit_;
  shape_choice best_;
  std::vector<std::unique_ptr<counted_level_tables>> counted_;
  std::deque<tried_table> tried_;            ///< without those in which a partition needs a later one
  const tried_table* best_table_ = nullptr;  ///< of the best choice; null if there is none
  predicted_ends ends_;
};

}  // namespace sptrsv::detail::dataflow::partitioned
