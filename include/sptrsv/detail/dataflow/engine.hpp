// The engine of dataflow.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/dataflow/agent.hpp"
#include "sptrsv/detail/dataflow/tuning.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv {
namespace policy {

/// The order in which dataflow cuts rows into groups.
enum class group_order {
  automatic,  ///< by the average number of rows per level
  natural,    ///< that of substitution: neighbouring rows that depend on each other share a warp
  levels      ///< level by level: rows that can be solved together share a warp
};

/// This library's own method. A warp solves 32 consecutive rows, a lane each: values from other warps are
/// polled, each value being its own flag; among the 32 rows they are handed on by shuffles, some ten
/// nanoseconds a row instead of a trip through memory. So a chain of rows costs one hop per group. Any order
/// of rows will do in which each comes after those it needs. The order of additions is fixed: the result is
/// the same in every bit from solve to solve.
template <class Tuning = dataflow_tuning>
struct basic_dataflow {
  static constexpr const char* name = "dataflow";
  using default_stream = stream_handle;
  using tuning = Tuning;

  group_order order = group_order::automatic;
};
using dataflow = basic_dataflow<>;

}  // namespace policy

namespace detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_dataflow<Tuning>, Scalar, Index, Offset, Executor> {
  template <int Columns>
  using agent = dataflow::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  using workspace = page_memory<Scalar>;

  engine(const policy::basic_dataflow<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form), max_rhs_(max_rhs), numbers_(0, 0, on, resource), long_numbers_(0, 0, on, resource) {
    device_triangle<Index, Offset> triangle = build_on_device(a, form, on, resource);
    longest_row_ = triangle.longest_row;
    entries_ = triangle.entries() + (form.unit ? 0 : a.size);
    if (policy.order != policy::group_order::natural) {
      order_ = levels_on_device(triangle, on, resource);
      levels_ = order_.count;
      if (policy.order == policy::group_order::automatic &&
          triangle.size <= levels_ * Tuning::natural_rows_per_level) {
        order_ = {};
      } else {
        triangle = in_level_order(triangle, order_, on, resource);
      }
    }
    groups_ = dataflow::pack_groups(triangle, on, resource);
    diagonal_sources_ = std::move(triangle.diagonal_sources);
    numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.columns.size()),
                                               form.unit ? 0 : a.size, on, resource);
    long_numbers_ = device_values<Scalar, Executor>(static_cast<std::int64_t>(groups_.long_columns.size()), 0,
                                                    on, resource);
  }

  void update_values(const Scalar* values, const Executor& on) {
    numbers_.gather(values, groups_.sources.data(), diagonal_sources_.data(), form_.conjugated, on);
    long_numbers_.gather(values, groups_.long_sources.data(), diagonal_sources_.data(), form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {groups_.size, max_rhs_, on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    const dataflow::system_params<Scalar, Index, Offset> p{groups_.size,
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
        groups_.internal_entries == 0 ? 0 : dataflow::internal_bytes<Scalar>(agent<1>::block_threads);
    if (x.columns == 1) {
      on.template launch<agent<1>>(blocks(), p, shared);
    } else {
      on.template launch<agent<Tuning::columns_per_sweep>>(blocks(), p, shared);
    }
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return scratch.first_bad_position(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return numbers_.is_zero_pivot(order_.place_of(position, on), on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels = {"dataflow: " + std::to_string(groups_.count) + " groups of 32 rows, a warp each, in " +
                    (order_.rows.size() > 0 ? "level order" : "the order of substitution") + ", " +
                    std::to_string(groups_.internal_entries) + " entries inside groups, " +
                    std::to_string(groups_.long_columns.size()) + " of long rows"};
    info.entries = entries_;
    info.levels = levels_;
    info.longest_row = longest_row_;
    info.solver_bytes = groups_.bytes() + numbers_.bytes() + long_numbers_.bytes() + order_.bytes() +
                        diagonal_sources_.bytes();
    info.workspace_bytes = page_memory<Scalar>::bytes(groups_.size, max_rhs_);
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(simt::ceil_div(groups_.count, agent<1>::groups_per_block));
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t levels_ = 0;     ///< 0 where they were not asked for
  device_levels<Index> order_;  ///< empty where rows keep the order of substitution
  dataflow::packed_groups<Index, Offset> groups_;
  buffer<Offset> diagonal_sources_;
  device_values<Scalar, Executor> numbers_;
  device_values<Scalar, Executor> long_numbers_;
};

}  // namespace detail
}  // namespace sptrsv
