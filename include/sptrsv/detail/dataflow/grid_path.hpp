// The host side of the grid path: groups of rows, a warp each, over the whole device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/dataflow/grid_agent.hpp"

namespace sptrsv::detail::dataflow {

/// Per place.
template <class Index>
struct gather_positions {
  const Index* rows;
  const Index* positions;
  Index* by_place;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t place) const {
    ctx.store(by_place + place, ctx.load_constant(positions + ctx.load_constant(rows + place)));
  }
};

/// Per group: a place some levels before that of its first row, about as far from the beginning of its level.
template <class Index>
struct find_gates {
  const Index* level_offsets;
  std::int64_t levels;
  int rows;
  int distance;
  Index* gates;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t group) const {
    const std::int64_t place = group * rows;
    const std::int64_t level = triangle_kernels::major_of(ctx, level_offsets, levels, place);
    if (level < distance) {
      ctx.store(gates + group, Index{-1});
      return;
    }
    const auto begin_of = [&](std::int64_t l) {
      return static_cast<std::int64_t>(ctx.load_constant(level_offsets + l));
    };
    const std::int64_t begin = begin_of(level);
    const std::int64_t gate_begin = begin_of(level - distance);
    const std::int64_t gate = gate_begin + (place - begin) * (begin_of(level - distance + 1) - gate_begin) /
                                               (begin_of(level + 1) - begin);
    ctx.store(gates + group, static_cast<Index>(gate));
  }
};

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class grid_path {
  template <int Lanes, int Columns>
  using agent = grid_agent<Tuning, Scalar, Index, Offset, Lanes, Columns>;

 public:
  /// Rows are grouped level by level or in the order of substitution; each has 1, 4 or 16 lanes.
  grid_path(device_triangle<Index, Offset>&& given, bool by_levels, int lanes, const triangle_form& form,
            const Executor& on, memory_resource& resource)
      : form_(form), size_(given.size), numbers_(0, 0, on, resource) {
    split_triangle<Index, Offset> split =
        split_long_rows(std::move(given), Tuning::entries_per_lane * lanes, on, resource);
    device_triangle<Index, Offset>& triangle = split.triangle;
    const auto make = [&](std::int64_t size) {
      return buffer<Index>(static_cast<std::size_t>(size), resource, on.stream());
    };
    positions_ = std::move(split.positions);
    if (by_levels) {
      device_levels<Index> levels = levels_on_device(triangle, on, resource);
      levels_ = levels.count;
      triangle = in_level_order(triangle, levels, on, resource);
      if (positions_.size() > 0) {
        buffer<Index> by_place = make(triangle.size);
        simt::for_each(on, triangle.size,
                       gather_positions<Index>{levels.rows.data(), positions_.data(), by_place.data()});
        positions_ = std::move(by_place);
      } else {
        positions_ = std::move(levels.rows);
      }
      groups_ = pack_groups(triangle, lanes, on, resource);
      if (Tuning::gate_levels > 0) {
        gates_ = make(groups_.count);
        simt::for_each(on, groups_.count,
                       find_gates<Index>{levels.level_offsets.data(), levels.count, groups_.form.rows(),
                                         Tuning::gate_levels, gates_.data()});
      }
    } else {
      groups_ = pack_groups(triangle, lanes, on, resource);
    }
    diagonal_sources_ = std::move(triangle.diagonal_sources);
    numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.columns.size()),
                                               form.unit ? 0 : triangle.size, on, resource);
  }

  void update_values(const Scalar* values, const Executor& on) {
    numbers_.gather(values, groups_.sources.data(), diagonal_sources_.data(), form_.conjugated, on);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const page_memory<Scalar>& scratch, const Executor& on) const {
    const grid_params<Scalar, Index, Offset> p{size_,
                                               groups_.size,
                                               groups_.count,
                                               form_.reversed,
                                               groups_.offsets.data(),
                                               groups_.columns.data(),
                                               numbers_.values(),
                                               numbers_.diagonal(),
                                               positions_.data(),
                                               gates_.data(),
                                               scratch.pages(),
                                               alpha,
                                               b,
                                               x};
    with_lanes([&](auto lanes) {
      using one = agent<lanes.value, 1>;
      using several = agent<lanes.value, Tuning::columns_per_sweep>;
      if (x.columns == 1) {
        on.template launch<one>(blocks(), p);
      } else {
        on.template launch<several>(blocks(), p);
      }
    });
  }

  /// Of one launch.
  [[nodiscard]] std::uint32_t blocks() const {
    std::uint32_t count = 0;
    with_lanes([&](auto lanes) {
      count =
          static_cast<std::uint32_t>(simt::ceil_div(groups_.count, agent<lanes.value, 1>::groups_per_block));
    });
    return count;
  }

  /// Synchronises, linear time.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    std::vector<Index> all(positions_.size());
    on.download(all.data(), positions_.data(), positions_.bytes());
    const auto found = std::find(all.begin(), all.end(), static_cast<Index>(position));
    return numbers_.is_zero_pivot(all.empty() ? position : found - all.begin(), on);
  }

  /// Rows with the partial ones: what a workspace has room for.
  [[nodiscard]] std::int64_t places() const { return groups_.size; }
  /// 0 where they were not asked for; a row that was cut counts more than once.
  [[nodiscard]] std::int64_t levels() const { return levels_; }

  [[nodiscard]] std::string describe() const {
    return "dataflow: " + std::to_string(groups_.count) + " groups of " +
           std::to_string(groups_.form.rows()) + " rows, a warp each, in " +
           (levels_ > 0 ? "level order" : "the order of substitution") + ", " +
           std::to_string(groups_.size - size_) + " partial rows";
  }

  [[nodiscard]] std::size_t bytes() const {
    return groups_.bytes() + gates_.bytes() + numbers_.bytes() + positions_.bytes() +
           diagonal_sources_.bytes();
  }

 private:
  /// Calls use(integral_constant) with the lanes of a row.
  template <class Use>
  void with_lanes(Use use) const {
    switch (groups_.form.lanes) {
      case 1:
        return use(std::integral_constant<int, 1>{});
      case 4:
        return use(std::integral_constant<int, 4>{});
      default:
        return use(std::integral_constant<int, 16>{});
    }
  }

  triangle_form form_;
  std::int64_t size_;
  std::int64_t levels_ = 0;
  packed_groups<Index, Offset> groups_;
  buffer<Index> positions_;  ///< by place, -1 for partial rows; empty where a place is its position
  buffer<Index> gates_;      ///< by group; empty where there are none
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor> numbers_;
};

}  // namespace sptrsv::detail::dataflow
