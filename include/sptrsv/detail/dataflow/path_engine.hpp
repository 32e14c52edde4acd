// A system on one of the paths of dataflow: looks at the levels, takes the path that promises to be fastest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "sptrsv/detail/dataflow/grid_cost.hpp"
#include "sptrsv/detail/dataflow/grid_path.hpp"
#include "sptrsv/detail/dataflow/policy.hpp"
#include "sptrsv/detail/dataflow/relay_choice.hpp"
#include "sptrsv/detail/dataflow/relay_path.hpp"
#include "sptrsv/detail/dataflow/tuning.hpp"
#include "sptrsv/detail/dataflow/walk_path.hpp"
#include "sptrsv/detail/dataflow/walk_planner.hpp"
#include "sptrsv/detail/plan_text.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::dataflow {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class path_engine {
  using own_grid = grid_path<Tuning, Scalar, Index, Offset, Executor>;
  using own_relay = relay_path<typename Tuning::relay_shapes, Scalar, Executor>;
  using own_walk = walk_path<typename Tuning::walk_shapes, Scalar, Offset, Executor>;
  using path_name = policy::dataflow_path;
  static_assert(2 * Tuning::longest_row <= relay_slice::most_early_planes);

 public:
  /// Of the path that is taken.
  struct workspace {
    std::optional<page_memory<Scalar>> pages;
    std::optional<walk_memory> walk;
  };

  path_engine(const policy::basic_dataflow<Tuning>& policy, const pattern_view<Index, Offset>& a,
              const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : max_rhs_(max_rhs) {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    const analysis_memory memory(resource, arena);
    device_triangle<Index, Offset> triangle = build_on_device(a, form, on, memory.all_scratch());
    longest_row_ = triangle.longest_row;
    entries_ = triangle.entries() + (form.unit ? 0 : a.size);
    if (triangle.size > 0) {
      plan(policy, triangle, a.entries, form, on, memory);
    }
    if (triangle.size == 0) {
      plan_grid(policy, {std::move(triangle), {}}, 0, {}, form, on, memory);
    }
  }

  /// Whether the path that was asked for can be taken; if not, nothing else may be called.
  [[nodiscard]] bool is_planned() const { return walk_ || relay_ || grid_; }
  [[nodiscard]] bool is_grid() const { return grid_.has_value(); }
  void expect_planned(const policy::basic_dataflow<Tuning>& policy) const {
    SPTRSV_EXPECTS(
        is_planned() || policy.path != path_name::walk, errc::unsupported,
        "dataflow: this system cannot be walked: too large, the window too short for its rows, or no such "
        "shape");
    SPTRSV_EXPECTS(is_planned() || policy.path != path_name::relay, errc::unsupported,
                   "dataflow: no relay of this system: too large, more than 256 parts, too little shared "
                   "memory, or no such "
                   "shape");
  }

  void update_values(const Scalar* values, const Executor& on) {
    with_path([&](auto& path) { path.update_values(values, on); });
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made;
    if (walk_) {
      made.walk.emplace(max_rhs_, on, resource);
    } else {
      made.pages.emplace(places(), page_columns(), on, resource);
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (walk_) {
      walk_->solve(alpha, b, x, *scratch.walk, on);
    } else if (relay_) {
      relay_->solve(alpha, b, x, *scratch.pages, on);
    } else {
      grid_->solve(alpha, b, x, *scratch.pages, on);
    }
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return walk_ ? scratch.walk->first_bad_position(on)
                 : scratch.pages->first_bad_position(relay_ ? relay_->blocks() : grid_->blocks(), on);
  }

  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    bool zero = false;
    with_path([&](const auto& path) { zero = path.is_zero_pivot(position, on); });
    return zero;
  }

  /// Of a solve with `max_rhs` right-hand sides, where a choice among the paths was made.
  [[nodiscard]] double predicted_nanoseconds() const { return nanoseconds_; }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries_;
    info.levels = levels_;
    info.longest_row = longest_row_;
    info.plan = plan_;
    with_path([&](const auto& path) {
      info.kernels = {path.describe()};
      info.solver_bytes = path.bytes();
    });
    info.workspace_bytes =
        walk_ ? walk_memory::bytes(max_rhs_) : page_memory<Scalar>::bytes(places(), page_columns());
  }

 private:
  template <class Visit>
  void with_path(Visit&& visit) {
    walk_ ? visit(*walk_) : relay_ ? visit(*relay_) : visit(*grid_);
  }
  template <class Visit>
  void with_path(Visit&& visit) const {
    walk_ ? visit(*walk_) : relay_ ? visit(*relay_) : visit(*grid_);
  }

  /// Of the pages of a workspace.
  [[nodiscard]] std::int64_t places() const { return relay_ ? relay_->places() : grid_->places(); }
  [[nodiscard]] std::int64_t page_columns() const {
    const std::int64_t together = relay_ ? relay_->columns() : grid_->columns();
    return simt::ceil_div(max_rhs_, together) * together;
  }

  /// Takes the triangle apart, which is in scratch memory. Leaves nothing planned where the path that is
  /// asked for cannot be taken.
  void plan(const policy::basic_dataflow<Tuning>& policy, device_triangle<Index, Offset>& triangle,
            std::int64_t stored_entries, const triangle_form& form, const Executor& on,
            const analysis_memory& memory) {
    if (policy.path == path_name::walk) {
      plan_walk(triangle, policy.shape, std::numeric_limits<double>::infinity(), form, on, memory);
      return;
    }
    const std::int64_t size = triangle.size;
    const bool is_cut = triangle.longest_row > Tuning::longest_row;
    split_triangle<Index, Offset> split;  // partial rows have levels of their own
    if (is_cut) {
      split = split_long_rows(triangle, Tuning::longest_row, on, memory.all_scratch());
    }
    std::optional<device_levels<Index>> levels;
    buffer<Index> level_of_row;
    if (policy.path != path_name::grid) {
      levels = levels_on_device(is_cut ? split.triangle : triangle, on, memory, &level_of_row);
      levels_ = is_cut ? 0 : levels->count;
    }
    if (policy.path == path_name::automatic && is_narrow(size, levels->count) &&
        (!is_cut || triangle.entries() <= Tuning::relay_small_system)) {  // levels of long rows cost much
      levels_ = is_cut ? levels_on_device(triangle, on, memory.all_scratch()).count : levels_;
      if (is_narrow(size, levels_)) {
        plan_walk(triangle, -1, narrow_relay_nanoseconds(triangle), form, on, memory);
      }
      if (walk_) {
        plan_ += ", " + predicted_time("relay", narrow_relay_nanoseconds(triangle));
        return;
      }
    }
    if (!is_cut) {
      split.triangle = std::move(triangle);
      triangle.size = size;
    }
    if (levels) {
      const relay_choice choice =
          relay_chooser<Tuning, Scalar, Index, Offset, Executor>(
              split.triangle, level_of_row, levels->count, policy.parts,
              policy.path == path_name::relay ? policy.shape : -1, max_rhs_, on, memory.scratch)
              .choose();
      const double on_grid = grid_nanoseconds<Tuning>(split.triangle.size, split.triangle.entries(),
                                                      levels->count, sizeof(Scalar), sizeof(Index), max_rhs_);
      const bool possible = choice.nanoseconds < std::numeric_limits<double>::infinity();
      const bool takes_relay = possible && (policy.path == path_name::relay || choice.nanoseconds < on_grid);
      nanoseconds_ = on_grid;
      plan_ = named_path(takes_relay ? "relay" : "grid", policy.path == path_name::automatic) +
              (possible ? predicted_time("relay", choice.nanoseconds) + ", " : "") +
              predicted_time("grid", on_grid);
      if (takes_relay && plan_relay(choice, split, *levels, size, stored_entries, form, on, memory)) {
        nanoseconds_ = choice.nanoseconds;
        return;
      }
    }
    if (policy.path != path_name::relay) {
      plan_grid(policy, split, size, std::move(levels), form, on, memory);
      levels_ = levels_ > 0 || is_cut ? levels_ : grid_->levels();
    }
  }

  static bool is_narrow(std::int64_t rows, std::int64_t levels) {
    return static_cast<double>(rows) <= Tuning::walk_rows_per_level * static_cast<double>(levels);
  }

  /// Whether its records are not too large.
  bool plan_relay(const relay_choice& choice, const split_triangle<Index, Offset>& split,
                  const device_levels<Index>& levels, std::int64_t size, std::int64_t stored_entries,
                  const triangle_form& form, const Executor& on, const analysis_memory& memory) {
    relay_shape_values shape{};
    int teams = 0;
    std::int64_t window = 0;
    Tuning::relay_shapes::for_each([&](auto s, int index) {
      if (index == choice.shape_index) {
        using layout = relay_layout<Scalar, decltype(s)>;
        shape = values_of_relay<decltype(s)>();
        teams = layout::teams;
        window = layout::window(Tuning::relay_window);
      }
    });
    auto plan = relay_planner<Scalar, Index, Offset, Executor>(shape, teams, choice.parts, choice.boxes,
                                                               window, on, memory)
                    .build(split.triangle, levels, split.positions, size, stored_entries, form.reversed,
                           std::min(Tuning::relay_record_bytes, most_record_bytes<Scalar>));
    if (!plan) {
      plan_ = named_path("grid", true) + "the records of a relay would be too large";
      return false;
    }
    relay_.emplace(std::move(*plan), choice.shape_index, size, stored_entries, max_rhs_, form, on);
    return true;
  }

  /// Makes the walk if it promises to take less than `limit` nanoseconds. `shape`: its number, or -1.
  void plan_walk(device_triangle<Index, Offset>& triangle, int shape, double limit, const triangle_form& form,
                 const Executor& on, const analysis_memory& memory) {
    if (triangle.size >= (std::int64_t{1} << 31) - 2) {
      return;
    }
    const auto rows = download_rows(triangle, on);
    const auto levels = levels_on_host<Index>(rows.row_offsets, rows.columns);
    levels_ = levels.count();
    const auto choice = choose_walk<Tuning>(rows, levels, shape);
    if (choice.shape.rows == 0) {
      return;  // none has the number that was asked for
    }
    const std::int64_t window = window_steps<Tuning, Scalar>(choice.shape, on.shared_limit());
    if (choice.nanoseconds > limit || window < 2 * choice.shape.fetch_distance()) {
      return;
    }
    auto program =
        walk_program_builder<Index, Offset>(rows, choice.shape, window, form.reversed).build(levels.rows);
    if (program) {
      plan_ = named_path("walk", limit < std::numeric_limits<double>::infinity()) +
              predicted_time("walk", choice.nanoseconds);
      nanoseconds_ = choice.nanoseconds;
      walk_.emplace(*program, choice.index, copy_of(triangle.sources, on, memory.kept),
                    copy_of(triangle.diagonal_sources, on, memory.kept), form, on, memory.kept);
    }
  }

  /// `levels`: of the triangle, where they are known.
  void plan_grid(const policy::basic_dataflow<Tuning>& policy, const split_triangle<Index, Offset>& split,
                 std::int64_t size, std::optional<device_levels<Index>>&& levels, const triangle_form& form,
                 const Executor& on, const analysis_memory& memory) {
    const bool by_levels = policy.order == policy::group_order::levels || policy.path == path_name::automatic;
    grid_.emplace(split, size, max_rhs_, by_levels, std::move(levels), form, on, memory);
  }

  static std::string named_path(const std::string& name, bool by_time) {
    return name + (by_time ? ", by the predicted time of a solve: " : ", as asked for; predicted: ");
  }

  /// Of a relay with one part, whose levels are narrow.
  [[nodiscard]] double narrow_relay_nanoseconds(const device_triangle<Index, Offset>& triangle) const {
    const double length = static_cast<double>(triangle.entries()) / static_cast<double>(triangle.size);
    double step = 0;
    int lanes = 0;
    Tuning::relay_shapes::for_each([&](auto s, int index) {
      const auto shape = values_of_relay<decltype(s)>();
      if (step == 0 || (shape.late_entries() < 2 * length && shape.lanes > lanes)) {  // of few threads
        step = Tuning::relay_step_ns[index];
        lanes = shape.lanes;
      }
    });
    return Tuning::relay_launch_ns + 1.15 * step * static_cast<double>(levels_);
  }

  std::int64_t max_rhs_;
  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t levels_ = 0;  ///< 0 where nobody counted
  double nanoseconds_ = 0;
  std::string plan_;
  std::optional<own_walk> walk_;
  std::optional<own_relay> relay_;
  std::optional<own_grid> grid_;
};

}  // namespace sptrsv::detail::dataflow
