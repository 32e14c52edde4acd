// Chooses the parts and the shape of a relay: counts, on the device, the rows of each part on each level and
// what they need of other parts, and goes through that table on the host (relay_cost.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "sptrsv/detail/dataflow/hybrid/choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/cost.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/level_tables.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/agent.hpp"

namespace sptrsv::detail::dataflow::partitioned {

struct shape_choice {
  int shape_index = 0;
  std::int64_t partitions = 1;
  block_partition boxes;
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// Over the shapes of the tuning and some numbers of parts, or boxes.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class plan_search {
  using shapes = typename shapes_of<Tuning>::type;

 public:
  /// `level_of_row`: counted from 1. `parts`: as many, or 0; `shape`: that one, or -1. `together`: of a
  /// segment, right-hand sides that are solved together; 0 for a system.
  plan_search(const device_triangle<Index, Offset>& t, const buffer<Index>& level_of_row, std::int64_t levels,
              std::int64_t partitions, int shape, std::int64_t max_rhs, std::int64_t together,
              const Executor& on, memory_resource& scratch)
      : triangle_(t),
        level_of_row_(level_of_row),
        levels_(levels),
        forced_partitions_(partitions),
        forced_shape_(shape),
        max_rhs_(max_rhs),
        together_(together),
        on_(on),
        scratch_(scratch) {}

  /// Synchronises. Without a promise where no shape fits the device, or the system is too large.
  shape_choice choose() {
    constexpr std::int64_t too_many = (std::int64_t{1} << 31) - 64;
    if (levels_ > level_counts::max_levels || triangle_.size > too_many || triangle_.entries() > too_many) {
      return {};
    }
    const std::int64_t blocks = resident_blocks();
    if (forced_partitions_ > 0) {
      if (blocks > 0 && forced_partitions_ <= level_counts::level_stride) {
        try_partitionings({{forced_partitions_, {}}}, blocks);
      }
      return best_;
    }
    std::vector<std::int64_t> counts;
    for (std::int64_t partitions = std::min<std::int64_t>(blocks, level_counts::level_stride); partitions > 0;
         partitions /= 2) {
      if (is_worth_a_try(partitions, blocks)) {
        counts.push_back(partitions);
      }
    }
    // Each other one, and then the neighbours of the best.
    std::vector<partitioning> some;
    for (std::size_t i = 0; i < counts.size(); i += 2) {
      some.push_back({counts[i], {}});
    }
    try_partitionings(some, blocks);
    some.clear();
    for (const std::int64_t partitions : counts) {
      if (partitions == best_.partitions / 2 || partitions / 2 == best_.partitions) {
        some.push_back({partitions, {}});
      }
    }
    try_partitionings(some, blocks);
    if (is_large() && together_ == 0) {
      try_boxes(blocks);
    }
    return best_;
  }

  /// After choose(): see best_cut, or after so many levels if these are not 0. None if there is no relay, or
  /// one level.
  hybrid::level_cut cut(const std::vector<Index>& level_offsets, std::int64_t first_levels) const {
    if (best_sums_.empty() || levels_ < 2) {
      return {};
    }
    if (first_levels > 0) {
      const std::int64_t levels = std::min(first_levels, levels_ - 1);
      return {levels, static_cast<std::int64_t>(level_offsets[static_cast<std::size_t>(levels)]), 0};
    }
    const std::int32_t* const sums = best_sums_.data();
    shape_values shape{};
    shapes::for_each(
        [&](auto s, int index) { shape = index == best_.shape_index ? values_of<decltype(s)>() : shape; });
    const hybrid::partitioned_profile profile{
        best_levels_.get() + sums[0],
        static_cast<std::size_t>(sums[1] - sums[0]),
        best_.partitions,
        shape,
        Tuning::partitioned_shapes[best_.shape_index].tile_ns,
        global_entry_nanoseconds<Tuning>(sums + 3, best_.partitions, shape),
        best_.nanoseconds};
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
    constexpr std::size_t reserved = 128;  // static shared memory
    using layout = shared_layout<Scalar, Shape>;
    return layout::bytes(layout::x_ring_size(Tuning::partitioned_x_ring_size)) + reserved <=
           on_.shared_limit();
  }

  [[nodiscard]] bool is_large() const { return triangle_.entries() > Tuning::partitioned_small_entries; }
  /// Rows of a part on a level.
  [[nodiscard]] double width(std::int64_t partitions) const {
    return static_cast<double>(triangle_.size) / static_cast<double>(levels_ * partitions);
  }

  /// A part should not have few rows at all, and the table not be much larger than the system. Of large
  /// systems only the likely numbers are looked at, because that takes time.
  [[nodiscard]] bool is_worth_a_try(std::int64_t partitions, std::int64_t most) const {
    const bool large_table = levels_ * partitions > Tuning::partitioned_small_table;
    const std::int64_t min_rows = levels_ > 100 ? 100 : 200;
    const bool too_many = partitions > 1 && (width(partitions) < (large_table ? 0.7 : 0.2) ||
                                             triangle_.size < min_rows * partitions);
    const bool too_few = 2 * partitions <= most && width(partitions) > (is_large() ? 20.0 : 40.0) &&
                         triangle_.size >= 400 * partitions;
    return !too_many && !too_few;
  }

  /// Lanes to suit the length of rows.
  [[nodiscard]] bool is_worth_a_try(const shape_values& s, const partitioning& d) const {
    if (shapes::count > 1 && s.max_rhs > 1 && max_rhs_ == 1) {
      return false;
    }
    if (d.are_planes) {
      return s.lanes == 1 && s.polled_pairs > 1 && triangle_.entries() > Tuning::partitioned_plane_entries;
    }
    const double length = static_cast<double>(triangle_.entries()) / static_cast<double>(triangle_.size);
    const bool few_lanes = s.shared_entries() * (is_large() ? 1.7 : 2.2) < length && s.lanes < 4;
    const bool many_lanes = s.shared_entries() > (is_large() ? 2.0 : 4.0) * std::max(2.0, length) &&
                            s.lanes > 1 && (s.lanes > 2 || is_large());
    return shapes::count == 1 || !(few_lanes || many_lanes);
  }

  template <class Shape>
  [[nodiscard]] bool is_tried(int index, const partitioning& d) const {
    return fits<Shape>() && (together_ == 0 || shared_layout<Scalar, Shape>::rhs_together == together_) &&
           (forced_shape_ < 0 ? is_worth_a_try(values_of<Shape>(), d) : index == forced_shape_);
  }

  /// Small tables come to the host together: each way there takes about as long as counting.
  void try_partitionings(const std::vector<partitioning>& divisions, std::int64_t blocks) {
    if (is_large() && divisions.size() > 1) {
      for (const partitioning& d : divisions) {
        try_partitionings({d}, blocks);
      }
      return;
    }
    std::vector<level_table> tables;
    std::int64_t end = 0;
    for (const partitioning& d : divisions) {
      shapes::for_each([&](auto shape, int index) {
        constexpr shape_values s = values_of<decltype(shape)>();
        const auto serves_it = [&](const level_table& t) { return t.serves(d, s); };
        if (is_tried<decltype(shape)>(index, d) && std::none_of(tables.begin(), tables.end(), serves_it)) {
          tables.push_back({d, s, end});
          end += d.partitions * levels_;
        }
      });
    }
    if (tables.empty()) {
      return;
    }
    counted_level_tables counted =
        count_level_tables(tables, end, triangle_, level_of_row_, levels_, on_, scratch_);
    const std::int32_t* best_sums = nullptr;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const level_table& t = tables[i];
      const std::int32_t* const sums = counted.sums.data() + i * counted_level_tables::sums_of_table;
      if (sums[2] != 0) {
        continue;  // a part would wait for one after it
      }
      shapes::for_each([&](auto shape, int index) {
        constexpr shape_values s = values_of<decltype(shape)>();
        if (!is_tried<decltype(shape)>(index, t.rows) || !t.serves(t.rows, s)) {
          return;
        }
        constexpr int columns = shared_layout<Scalar, decltype(shape)>::rhs_together;
        const std::int64_t rounds = simt::ceil_div(simt::ceil_div(max_rhs_, columns),
                                                   std::max<std::int64_t>(1, blocks / t.rows.partitions));
        const double factor = t.rows.boxes.are_used() ? Tuning::partitioned_boxes_factor : 1.0;
        const double time = factor * solve_nanoseconds<Tuning>(counted.levels_of_partitions.get() + sums[0],
                                                               static_cast<std::size_t>(sums[1] - sums[0]),
                                                               sums + 3, t.rows.partitions, s,
                                                               Tuning::partitioned_shapes[index].tile_ns,
                                                               columns, rounds, best_.nanoseconds / factor);
        if (time < best_.nanoseconds) {
          best_ = {index, t.rows.partitions, t.rows.boxes, time};
          best_sums = sums;
        }
      });
    }
    if (best_sums != nullptr) {
      best_sums_.assign(best_sums, best_sums + counted_level_tables::sums_of_table);
      best_levels_ = std::move(counted.levels_of_partitions);
    }
  }

  /// Boxes, where the system looks like a grid of three dimensions. The longest direction is not cut: parts
  /// would wait for those before them until these are nearly done. Where nothing else may be cut, whole
  /// planes.
  void try_boxes(std::int64_t blocks) {
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
    try_partitionings({{g.partitions(), g, found.needs_rows_ahead}}, blocks);
  }

  const device_triangle<Index, Offset>& triangle_;
  const buffer<Index>& level_of_row_;
  std::int64_t levels_;
  std::int64_t forced_partitions_;
  int forced_shape_;
  std::int64_t max_rhs_;
  std::int64_t together_;
  const Executor& on_;
  memory_resource& scratch_;
  shape_choice best_;
  // Of the table of the best one:
  std::vector<std::int32_t> best_sums_;
  std::unique_ptr<partition_level[]> best_levels_;
};

}  // namespace sptrsv::detail::dataflow::partitioned
