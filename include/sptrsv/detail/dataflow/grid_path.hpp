// The host side of the grid path: groups of 32 rows, a warp each, over the whole device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/dataflow/grid_agent.hpp"

namespace sptrsv::detail::dataflow {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class grid_path {
  template <int Columns>
  using agent = grid_agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  /// Rows are grouped in the order of substitution, or in that of `levels`.
  grid_path(device_triangle<Index, Offset>&& triangle, device_levels<Index>&& levels, bool by_levels,
            const triangle_form& form, const Executor& on, memory_resource& resource)
      : form_(form), numbers_(0, 0, on, resource), long_numbers_(0, 0, on, resource) {
    if (by_levels) {
      order_ = std::move(levels);
      triangle = in_level_order(triangle, order_, on, resource);
    }
    groups_ = pack_groups(triangle, on, resource);
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
    const std::size_t shared =
        groups_.internal_entries == 0 ? 0 : internal_bytes<Scalar>(agent<1>::block_threads);
    if (x.columns == 1) {
      on.template launch<agent<1>>(blocks(), p, shared);
    } else {
      on.template launch<agent<Tuning::columns_per_sweep>>(blocks(), p, shared);
    }
  }

  /// Of one launch.
  [[nodiscard]] std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(simt::ceil_div(groups_.count, agent<1>::groups_per_block));
  }

  /// Synchronises.
  [[nodiscard]] bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return numbers_.is_zero_pivot(order_.place_of(position, on), on);
  }

  [[nodiscard]] std::string describe() const {
    return "dataflow: " + std::to_string(groups_.count) + " groups of 32 rows, a warp each, in " +
           (order_.rows.size() > 0 ? "level order" : "the order of substitution") + ", " +
           std::to_string(groups_.internal_entries) + " entries inside groups, " +
           std::to_string(groups_.long_columns.size()) + " of long rows";
  }

  [[nodiscard]] std::size_t bytes() const {
    return groups_.bytes() + numbers_.bytes() + long_numbers_.bytes() + order_.bytes() +
           diagonal_sources_.bytes();
  }

 private:
  triangle_form form_;
  device_levels<Index> order_;  ///< empty where rows keep the order of substitution
  packed_groups<Index, Offset> groups_;
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor> numbers_;
  device_values<Scalar, Executor> long_numbers_;
};

}  // namespace sptrsv::detail::dataflow
