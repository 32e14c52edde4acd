// The host side of the grid path: groups of rows, a warp each, over the whole device.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/dataflow/grid_agent.hpp"

namespace sptrsv::detail::dataflow {

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
  /// Rows are grouped in the order of substitution, or in that of `levels`; each has 1, 4 or 16 lanes.
  grid_path(device_triangle<Index, Offset>&& triangle, device_levels<Index>&& levels, bool by_levels, int lanes,
            const triangle_form& form, const Executor& on, memory_resource& resource)
      : form_(form), numbers_(0, 0, on, resource), long_numbers_(0, 0, on, resource) {
    if (by_levels) {
      order_ = std::move(levels);
      triangle = in_level_order(triangle, order_, on, resource);
    }
    groups_ = pack_groups(triangle, lanes, on, resource);
    if (by_levels && Tuning::gate_levels > 0) {
      gates_ = buffer<Index>(static_cast<std::size_t>(groups_.count), resource, on.stream());
      simt::for_each(on, groups_.count,
                     find_gates<Index>{order_.level_offsets.data(), order_.count, slice_slots / lanes,
                                       Tuning::gate_levels, gates_.data()});
    }
    diagonal_sources_ = std::move(triangle.diagonal_sources);
    numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.columns.size()),
                                               form.unit ? 0 : triangle.size, on, resource);
    long_numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.long_columns.size()), 0,
                                                    on, resource);
  }

  void update_values(const Scalar* values, const Executor& on) {
    numbers_.gather(values, groups_.sources.data(), diagonal_sources_.data(), form_.conjugated, on);
    long_numbers_.gather(values, groups_.long_sources.data(), diagonal_sources_.data(), form_.conjugated, on);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const page_memory<Scalar>& scratch, const Executor& on) const {
    const system_params<Scalar, Index, Offset> p{groups_.size,
                                                 groups_.count,
                                                 form_.reversed,
                                                 gates_.data(),
                                                 groups_.offsets.data(),
                                                 groups_.external_width.data(),
                                                 groups_.columns.data(),
                                                 numbers_.values(),
                                                 groups_.long_offsets.data(),
                                                 groups_.long_columns.data(),
                                                 long_numbers_.values(),
                                                 numbers_.diagonal(),
                                                 order_.rows.data(),
                                                 scratch.pages(),
                                                 alpha,
                                                 b,
                                                 x};
    with_lanes([&](auto lanes) {
      using one = agent<lanes.value, 1>;
      using several = agent<lanes.value, Tuning::columns_per_sweep>;
      const std::size_t shared = groups_.internal_entries == 0 ? 0 : one::internal_bytes;
      if (x.columns == 1) {
        on.template launch<one>(blocks(), p, shared);
      } else {
        on.template launch<several>(blocks(), p, shared);
      }
    });
  }

  /// Of one launch.
  [[nodiscard]] std::uint32_t blocks() const {
    std::uint32_t count = 0;
    with_lanes([&](auto lanes) {
      count = static_cast<std::uint32_t>(simt::ceil_div(groups_.count, agent<lanes.value, 1>::groups_per_block));
    });
    return count;
  }

  /// Synchronises.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return numbers_.is_zero_pivot(order_.place_of(position, on), on);
  }

  [[nodiscard]] std::string describe() const {
    return "dataflow: " + std::to_string(groups_.count) + " groups of " +
           std::to_string(slice_slots / groups_.lanes) + " rows, a warp each, in " + (order_.rows.size() > 0 ? "level order" : "the order of substitution") + ", " +
           std::to_string(groups_.internal_entries) + " entries inside groups, " +
           std::to_string(groups_.long_columns.size()) + " of long rows";
  }

  [[nodiscard]] std::size_t bytes() const {
    return groups_.bytes() + gates_.bytes() + numbers_.bytes() + long_numbers_.bytes() + order_.bytes() +
           diagonal_sources_.bytes();
  }

 private:
  /// Calls use(integral_constant) with the lanes of a row.
  template <class Use>
  void with_lanes(Use use) const {
    switch (groups_.lanes) {
      case 1: return use(std::integral_constant<int, 1>{});
      case 4: return use(std::integral_constant<int, 4>{});
      default: return use(std::integral_constant<int, 16>{});
    }
  }

  triangle_form form_;
  device_levels<Index> order_;  ///< empty where rows keep the order of substitution
  packed_groups<Index, Offset> groups_;
  buffer<Index> gates_;  ///< by group; empty where there is no order by levels
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor> numbers_;
  device_values<Scalar, Executor> long_numbers_;
};

}  // namespace sptrsv::detail::dataflow
