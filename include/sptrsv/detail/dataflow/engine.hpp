// The engine of dataflow: looks at the levels, takes the path that promises to be faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv/detail/dataflow/grid_path.hpp"
#include "sptrsv/detail/dataflow/tuning.hpp"
#include "sptrsv/detail/dataflow/walk_path.hpp"
#include "sptrsv/detail/dataflow/walk_planner.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv {
namespace policy {

/// The paths of dataflow.
enum class dataflow_path {
  automatic,  ///< by the time that each promises
  grid,       ///< a thread for each row, over the whole device
  walk        ///< one thread block for each right-hand side, step after step
};
/// The order of the rows on the grid path.
enum class group_order {
  levels,  ///< level by level: rows that can be solved together share a warp
  natural  ///< that of substitution
};

/// This library's own method. What limits most triangles is the hand-off of a value from row to row; dataflow
/// does it as near to the arithmetic as the matrix allows.
///
/// Walk: where levels are narrow, one thread block solves the system step after step with the solved
/// components in shared memory. Grid: elsewhere, a thread solves a row, over the whole device: values are
/// polled, each being its own flag. The order of additions is fixed on both: the result is the same in every
/// bit from solve to solve.
template <class Tuning = dataflow_tuning>
struct basic_dataflow {
  static constexpr const char* name = "dataflow";
  using default_stream = stream_handle;
  using tuning = Tuning;

  dataflow_path path = dataflow_path::automatic;
  group_order order = group_order::levels;
};
using dataflow = basic_dataflow<>;

}  // namespace policy

namespace detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_dataflow<Tuning>, Scalar, Index, Offset, Executor> {
  using grid_path = dataflow::grid_path<Tuning, Scalar, Index, Offset, Executor>;
  using walk_path = dataflow::walk_path<typename Tuning::walk_shapes, Scalar, Offset, Executor>;

 public:
  /// Of the path that is taken.
  struct workspace {
    std::optional<page_memory<Scalar>> pages;
    std::optional<dataflow::walk_memory> walk;
  };

  engine(const policy::basic_dataflow<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : max_rhs_(max_rhs) {
    device_triangle<Index, Offset> triangle = build_on_device(a, form, on, resource);
    longest_row_ = triangle.longest_row;
    entries_ = triangle.entries() + (form.unit ? 0 : a.size);
    const bool may_walk = policy.path != policy::dataflow_path::grid && triangle.size > 0 &&
                          triangle.size < (std::int64_t{1} << 31) - 2;
    const bool forced = policy.path == policy::dataflow_path::walk;
    std::optional<device_levels<Index>> levels;
    if (may_walk && !forced && triangle.entries() > Tuning::host_entries) {
      levels = levels_on_device(triangle, on, resource);
      levels_ = levels->count;
    }
    if (may_walk && (!levels || triangle.size <= levels_ * Tuning::walk_rows_per_level)) {
      plan_walk(policy, triangle, form, on, resource);
    }
    SPTRSV_EXPECTS(walk_.has_value() || triangle.size == 0 || !forced, errc::unsupported,
                   "dataflow: this system cannot be walked: too large, or the window too short for its rows");
    if (!walk_) {
      plan_grid(policy, std::move(triangle), std::move(levels), form, on, resource);
    }
  }

  void update_values(const Scalar* values, const Executor& on) {
    if (walk_) {
      walk_->update_values(values, on);
    } else {
      grid_->update_values(values, on);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made;
    if (walk_) {
      made.walk.emplace(max_rhs_, on, resource);
    } else {
      made.pages.emplace(grid_->places(), max_rhs_, on, resource);
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (walk_) {
      walk_->solve(alpha, b, x, *scratch.walk, on);
    } else {
      grid_->solve(alpha, b, x, *scratch.pages, on);
    }
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return walk_ ? scratch.walk->first_bad_position(on)
                 : scratch.pages->first_bad_position(grid_->blocks(), on);
  }

  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return walk_ ? walk_->is_zero_pivot(position, on) : grid_->is_zero_pivot(position, on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels = {walk_ ? walk_->describe() : grid_->describe()};
    info.entries = entries_;
    info.levels = levels_;
    info.longest_row = longest_row_;
    info.solver_bytes = walk_ ? walk_->bytes() : grid_->bytes();
    info.workspace_bytes = walk_ ? dataflow::walk_memory::bytes(max_rhs_)
                                 : page_memory<Scalar>::bytes(grid_->places(), max_rhs_);
  }

 private:
  /// Makes the walk if it is asked for, or promises to be faster than the grid.
  void plan_walk(const policy::basic_dataflow<Tuning>& policy, device_triangle<Index, Offset>& triangle,
                 const triangle_form& form, const Executor& on, memory_resource& resource) {
    const auto rows = dataflow::download_rows(triangle, on);
    const auto levels = levels_on_host<Index>(rows.row_offsets, rows.columns);
    levels_ = levels.count();
    const bool forced = policy.path == policy::dataflow_path::walk;
    const auto choice = dataflow::choose_walk<Tuning>(rows, levels);
    if (!forced && choice.nanoseconds > grid_nanoseconds(triangle)) {
      return;
    }
    const std::int64_t window = dataflow::window_steps<Tuning, Scalar>(choice.shape, on.shared_limit());
    if (window < 2 * choice.shape.fetch_distance()) {
      return;
    }
    auto program = dataflow::walk_program_builder<Index, Offset>(rows, choice.shape, window, form.reversed)
                       .build(levels.rows);
    if (program) {
      walk_.emplace(*program, choice.index, std::move(triangle.sources), std::move(triangle.diagonal_sources),
                    form, on, resource);
    }
  }

  /// `levels`: of the triangle, where they are known.
  void plan_grid(const policy::basic_dataflow<Tuning>& policy, device_triangle<Index, Offset>&& triangle,
                 std::optional<device_levels<Index>>&& levels, const triangle_form& form, const Executor& on,
                 memory_resource& resource) {
    const bool is_cut = triangle.longest_row > Tuning::longest_row;
    if (is_cut) {
      levels.reset();  // partial rows have levels of their own
    }
    grid_.emplace(std::move(triangle), policy.order == policy::group_order::levels, std::move(levels), form,
                  on, resource);
    levels_ = levels_ > 0 || is_cut ? levels_ : grid_->levels();
  }

  [[nodiscard]] double grid_nanoseconds(const device_triangle<Index, Offset>& triangle) const {
    const double bytes = static_cast<double>(triangle.entries()) * (sizeof(Scalar) + sizeof(Index)) +
                         static_cast<double>(triangle.size) * (4 * sizeof(Scalar));
    return Tuning::grid_launch_ns + static_cast<double>(levels_) * Tuning::grid_level_ns +
           bytes * Tuning::grid_byte_ns;
  }

  std::int64_t max_rhs_;
  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t levels_ = 0;  ///< 0 where nobody counted
  std::optional<walk_path> walk_;
  std::optional<grid_path> grid_;
};

}  // namespace detail
}  // namespace sptrsv
