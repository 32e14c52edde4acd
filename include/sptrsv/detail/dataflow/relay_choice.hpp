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

#include "sptrsv/detail/dataflow/relay_agent.hpp"
#include "sptrsv/detail/dataflow/relay_cost.hpp"
#include "sptrsv/detail/dataflow/relay_plan.hpp"
#include "sptrsv/detail/dataflow/relay_tables.hpp"
#include "sptrsv/detail/dataflow/segment_choice.hpp"

namespace sptrsv::detail::dataflow {

struct relay_choice {
  int shape_index = 0;
  std::int64_t parts = 1;
  relay_boxes boxes;
  double nanoseconds = std::numeric_limits<double>::infinity();
};

/// Over the shapes of the tuning and some numbers of parts, or boxes.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class relay_chooser {
  using shapes = typename Tuning::relay_shapes;

 public:
  /// `level_of_row`: counted from 1. `parts`: as many, or 0; `shape`: that one, or -1. `together`: of a
  /// segment, right-hand sides that are solved together; 0 for a system.
  relay_chooser(const device_triangle<Index, Offset>& t, const buffer<Index>& level_of_row,
                std::int64_t levels, std::int64_t parts, int shape, std::int64_t max_rhs,
                std::int64_t together, const Executor& on, memory_resource& scratch)
      : triangle_(t),
        level_of_row_(level_of_row),
        levels_(levels),
        forced_parts_(parts),
        forced_shape_(shape),
        max_rhs_(max_rhs),
        together_(together),
        on_(on),
        scratch_(scratch) {}

  /// Synchronises. Without a promise where no shape fits the device, or the system is too large.
  relay_choice choose() {
    static_assert(std::size(Tuning::relay_step_ns) == shapes::count, "a time for each shape");
    constexpr std::int64_t too_many = (std::int64_t{1} << 31) - 64;
    if (levels_ > relay_run::most_levels || triangle_.size > too_many || triangle_.entries() > too_many) {
      return {};
    }
    const std::int64_t blocks = resident_blocks();
    if (forced_parts_ > 0) {
      if (blocks > 0 && forced_parts_ <= relay_run::level_stride) {
        try_parts({{forced_parts_, {}}}, blocks);
      }
      return best_;
    }
    std::vector<std::int64_t> counts;
    for (std::int64_t parts = std::min<std::int64_t>(blocks, relay_run::level_stride); parts > 0;
         parts /= 2) {
      if (is_worth_a_try(parts, blocks)) {
        counts.push_back(parts);
      }
    }
    // Each other one, and then the neighbours of the best.
    std::vector<relay_division> some;
    for (std::size_t i = 0; i < counts.size(); i += 2) {
      some.push_back({counts[i], {}});
    }
    try_parts(some, blocks);
    some.clear();
    for (const std::int64_t parts : counts) {
      if (parts == best_.parts / 2 || parts / 2 == best_.parts) {
        some.push_back({parts, {}});
      }
    }
    try_parts(some, blocks);
    if (is_large() && together_ == 0) {
      try_boxes(blocks);
    }
    return best_;
  }

  /// After choose(): see best_cut, or after so many levels if these are not 0. None if there is no relay, or
  /// one level.
  segment_cut cut(const std::vector<Index>& level_offsets, std::int64_t first_levels) const {
    if (best_sums_.empty() || levels_ < 2) {
      return {};
    }
    if (first_levels > 0) {
      const std::int64_t levels = std::min(first_levels, levels_ - 1);
      return {levels, static_cast<std::int64_t>(level_offsets[static_cast<std::size_t>(levels)]), 0};
    }
    const std::int32_t* const sums = best_sums_.data();
    relay_shape_values shape{};
    shapes::for_each([&](auto s, int index) {
      shape = index == best_.shape_index ? values_of_relay<decltype(s)>() : shape;
    });
    const counted_relay relay{best_turns_.get() + sums[0],
                              static_cast<std::size_t>(sums[1] - sums[0]),
                              best_.parts,
                              shape,
                              Tuning::relay_step_ns[best_.shape_index],
                              early_nanoseconds<Tuning>(sums + 3, best_.parts, shape),
                              best_.nanoseconds};
    return best_cut<Tuning>(relay, level_offsets, triangle_.entries(), sizeof(Scalar), sizeof(Index),
                            max_rhs_);
  }

 private:
  [[nodiscard]] std::int64_t resident_blocks() const {
    std::int64_t blocks = 0;
    shapes::for_each([&](auto shape, int) {
      using layout = relay_layout<Scalar, decltype(shape)>;
      if (blocks == 0 && fits<decltype(shape)>()) {
        blocks = on_.template resident_blocks<relay_agent<Scalar, decltype(shape)>>(
            layout::bytes(layout::window(Tuning::relay_window)));
      }
    });
    return blocks;
  }
  template <class Shape>
  [[nodiscard]] bool fits() const {
    constexpr std::size_t reserved = 128;  // static shared memory
    using layout = relay_layout<Scalar, Shape>;
    return layout::bytes(layout::window(Tuning::relay_window)) + reserved <= on_.shared_limit();
  }

  [[nodiscard]] bool is_large() const { return triangle_.entries() > Tuning::relay_small_system; }
  /// Rows of a part on a level.
  [[nodiscard]] double width(std::int64_t parts) const {
    return static_cast<double>(triangle_.size) / static_cast<double>(levels_ * parts);
  }

  /// A part should not have few rows at all, and the table not be much larger than the system. Of large
  /// systems only the likely numbers are looked at, because that takes time.
  [[nodiscard]] bool is_worth_a_try(std::int64_t parts, std::int64_t most) const {
    const bool large_table = levels_ * parts > Tuning::relay_small_table;
    const std::int64_t least_rows = levels_ > 100 ? 100 : 200;
    const bool too_many =
        parts > 1 && (width(parts) < (large_table ? 0.7 : 0.2) || triangle_.size < least_rows * parts);
    const bool too_few =
        2 * parts <= most && width(parts) > (is_large() ? 20.0 : 40.0) && triangle_.size >= 400 * parts;
    return !too_many && !too_few;
  }

  /// Lanes to suit the length of rows.
  [[nodiscard]] bool is_worth_a_try(const relay_shape_values& s, const relay_division& d) const {
    if (shapes::count > 1 && s.most_columns > 1 && max_rhs_ == 1) {
      return false;
    }
    if (d.are_planes) {
      return s.lanes == 1 && s.early_pairs > 1 && triangle_.entries() > Tuning::relay_plane_entries;
    }
    const double length = static_cast<double>(triangle_.entries()) / static_cast<double>(triangle_.size);
    const bool few_lanes = s.late_entries() * (is_large() ? 1.7 : 2.2) < length && s.lanes < 4;
    const bool many_lanes = s.late_entries() > (is_large() ? 2.0 : 4.0) * std::max(2.0, length) &&
                            s.lanes > 1 && (s.lanes > 2 || is_large());
    return shapes::count == 1 || !(few_lanes || many_lanes);
  }

  template <class Shape>
  [[nodiscard]] bool is_tried(int index, const relay_division& d) const {
    return fits<Shape>() && (together_ == 0 || relay_layout<Scalar, Shape>::columns == together_) &&
           (forced_shape_ < 0 ? is_worth_a_try(values_of_relay<Shape>(), d) : index == forced_shape_);
  }

  /// Small tables come to the host together: each way there takes about as long as counting.
  void try_parts(const std::vector<relay_division>& divisions, std::int64_t blocks) {
    if (is_large() && divisions.size() > 1) {
      for (const relay_division& d : divisions) {
        try_parts({d}, blocks);
      }
      return;
    }
    std::vector<relay_table> tables;
    std::int64_t end = 0;
    for (const relay_division& d : divisions) {
      shapes::for_each([&](auto shape, int index) {
        constexpr relay_shape_values s = values_of_relay<decltype(shape)>();
        const auto serves_it = [&](const relay_table& t) { return t.serves(d, s); };
        if (is_tried<decltype(shape)>(index, d) && std::none_of(tables.begin(), tables.end(), serves_it)) {
          tables.push_back({d, s, end});
          end += d.parts * levels_;
        }
      });
    }
    if (tables.empty()) {
      return;
    }
    counted_relay_tables counted =
        count_relay_tables(tables, end, triangle_, level_of_row_, levels_, on_, scratch_);
    const std::int32_t* best_sums = nullptr;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const relay_table& t = tables[i];
      const std::int32_t* const sums = counted.sums.data() + i * counted_relay_tables::sums_of_table;
      if (sums[2] != 0) {
        continue;  // a part would wait for one after it
      }
      shapes::for_each([&](auto shape, int index) {
        constexpr relay_shape_values s = values_of_relay<decltype(shape)>();
        if (!is_tried<decltype(shape)>(index, t.rows) || !t.serves(t.rows, s)) {
          return;
        }
        constexpr int columns = relay_layout<Scalar, decltype(shape)>::columns;
        const std::int64_t rounds = simt::ceil_div(simt::ceil_div(max_rhs_, columns),
                                                   std::max<std::int64_t>(1, blocks / t.rows.parts));
        const double factor = t.rows.boxes.are_used() ? Tuning::relay_boxes_factor : 1.0;
        const double time =
            factor * relay_nanoseconds<Tuning>(counted.turns.get() + sums[0],
                                               static_cast<std::size_t>(sums[1] - sums[0]), sums + 3,
                                               t.rows.parts, s, Tuning::relay_step_ns[index], columns, rounds,
                                               best_.nanoseconds / factor);
        if (time < best_.nanoseconds) {
          best_ = {index, t.rows.parts, t.rows.boxes, time};
          best_sums = sums;
        }
      });
    }
    if (best_sums != nullptr) {
      best_sums_.assign(best_sums, best_sums + counted_relay_tables::sums_of_table);
      best_turns_ = std::move(counted.turns);
    }
  }

  /// Boxes, where the system looks like a grid of three dimensions. The longest direction is not cut: parts
  /// would wait for those before them until these are nearly done. Where nothing else may be cut, whole
  /// planes.
  void try_boxes(std::int64_t blocks) {
    const relay_grid found = find_grid(triangle_, on_);
    relay_boxes g = found.boxes;
    if (!g.are_used()) {
      return;
    }
    const std::int64_t most = std::min<std::int64_t>(blocks, relay_run::level_stride);
    if (found.looks_ahead) {
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
    try_parts({{g.parts(), g, found.looks_ahead}}, blocks);
  }

  const device_triangle<Index, Offset>& triangle_;
  const buffer<Index>& level_of_row_;
  std::int64_t levels_;
  std::int64_t forced_parts_;
  int forced_shape_;
  std::int64_t max_rhs_;
  std::int64_t together_;
  const Executor& on_;
  memory_resource& scratch_;
  relay_choice best_;
  // Of the table of the best one:
  std::vector<std::int32_t> best_sums_;
  std::unique_ptr<relay_turn[]> best_turns_;
};

}  // namespace sptrsv::detail::dataflow
