// Takes the path that promises to be fastest: looks at the levels, and makes what the path needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/cut_levels.hpp"
#include "sptrsv/detail/dataflow/grid_cost.hpp"
#include "sptrsv/detail/dataflow/policy.hpp"
#include "sptrsv/detail/dataflow/relay_choice.hpp"
#include "sptrsv/detail/dataflow/solve_paths.hpp"
#include "sptrsv/detail/dataflow/walk_planner.hpp"
#include "sptrsv/detail/plan_text.hpp"

namespace sptrsv::detail::dataflow {

/// A path, and what led to it.
template <class Paths>
struct path_plan {
  Paths paths;          ///< none where that which was asked for cannot be taken
  std::int64_t levels;  ///< 0 where nobody counted
  double nanoseconds;   ///< of a solve with all right-hand sides, where a choice among the paths was made
  std::string text;
};

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class path_planner {
  using own_paths = solve_paths<Tuning, Scalar, Index, Offset, Executor>;
  using path_name = policy::dataflow_path;
  using chooser = relay_chooser<Tuning, Scalar, Index, Offset, Executor>;
  using triangle_type = device_triangle<Index, Offset>;
  using split_type = split_triangle<Index, Offset>;

 public:
  /// `size`, `stored_entries`: of the stored matrix.
  path_planner(const policy::basic_dataflow<Tuning>& policy, const triangle_form& form, std::int64_t size,
               std::int64_t stored_entries, std::int64_t max_rhs, const Executor& on,
               const analysis_memory& memory)
      : policy_(policy),
        form_(form),
        size_(size),
        stored_entries_(stored_entries),
        max_rhs_(max_rhs),
        on_(on),
        memory_(memory),
        made_{own_paths{max_rhs, {}, {}, {}}, 0, 0, {}} {}

  /// Takes the triangle apart, which is in scratch memory.
  path_plan<own_paths> plan(triangle_type&& triangle) {
    if (triangle.size == 0) {
      plan_grid({std::move(triangle), false, {}}, {});
    } else if (policy_.path == path_name::walk) {
      plan_walk(triangle, policy_.shape, std::numeric_limits<double>::infinity());
    } else {
      plan_levels(triangle);
    }
    return std::move(made_);
  }

 private:
  void plan_levels(triangle_type& triangle) {
    const bool is_cut = triangle.longest_row > Tuning::longest_row;
    split_type split;  // partial rows have levels of their own
    if (is_cut) {
      split = split_long_rows(triangle, Tuning::longest_row, on_, memory_.all_scratch());
    }
    std::optional<device_levels<Index>> levels;
    buffer<Index> level_of_row;
    if (policy_.path != path_name::grid) {
      levels = levels_on_device(is_cut ? split.triangle : triangle, on_, memory_, &level_of_row);
      made_.levels = is_cut ? 0 : levels->count;
    }
    if (policy_.path == path_name::automatic && is_narrow(levels->count) &&
        (!is_cut || triangle.entries() <= Tuning::relay_small_system)) {  // levels of long rows cost much
      made_.levels = is_cut ? levels_on_device(triangle, on_, memory_.all_scratch()).count : made_.levels;
      if (is_narrow(made_.levels)) {
        plan_walk(triangle, -1, narrow_relay_nanoseconds(triangle));
      }
      if (made_.paths.walk) {
        made_.text += ", " + predicted_time("relay", narrow_relay_nanoseconds(triangle));
        return;
      }
    }
    if (!is_cut) {
      split.triangle = std::move(triangle);
    }
    if (levels && plan_relay_or_segments(split, *levels, level_of_row)) {
      return;
    }
    if (policy_.path != path_name::relay) {
      plan_grid(split, std::move(levels));
      made_.levels = made_.levels > 0 || is_cut ? made_.levels : made_.paths.grid->levels();
    }
  }

  /// Whether there is one, because it was asked for or promises to be faster than the grid.
  bool plan_relay_or_segments(const split_type& split, const device_levels<Index>& levels,
                              const buffer<Index>& level_of_row) {
    chooser of_all(split.triangle, level_of_row, levels.count, policy_.parts,
                   policy_.path == path_name::relay ? policy_.shape : -1, max_rhs_, 0, on_, memory_.scratch);
    const relay_choice choice = of_all.choose();
    const double on_grid = nanoseconds_on_grid(split.triangle, levels.count);
    if (policy_.path != path_name::relay &&
        plan_segments(of_all, split, levels, level_of_row, std::min(choice.nanoseconds, on_grid))) {
      return true;
    }
    const bool possible = choice.nanoseconds < std::numeric_limits<double>::infinity();
    const bool takes_relay = possible && (policy_.path == path_name::relay || choice.nanoseconds < on_grid);
    made_.nanoseconds = takes_relay ? choice.nanoseconds : on_grid;
    made_.text = named_path(takes_relay ? "relay" : "grid", policy_.path == path_name::automatic) +
                 (possible ? predicted_time("relay", choice.nanoseconds) + ", " : "") +
                 predicted_time("grid", on_grid);
    if (takes_relay && !plan_relay(choice, split, levels)) {
      made_.nanoseconds = on_grid;
      made_.text = named_path("grid", true) + "the records of a relay would be too large";
      return false;
    }
    return takes_relay;
  }

  [[nodiscard]] bool is_narrow(std::int64_t levels) const {
    return static_cast<double>(size_) <= Tuning::walk_rows_per_level * static_cast<double>(levels);
  }

  [[nodiscard]] double nanoseconds_on_grid(const triangle_type& triangle, std::int64_t levels) const {
    return grid_nanoseconds<Tuning>(triangle.size, triangle.entries(), levels, sizeof(Scalar), sizeof(Index),
                                    max_rhs_);
  }

  /// The grid path for the first levels and a relay for the others, if that was asked for or promises to take
  /// much less than `whole` nanoseconds, those of one path.
  bool plan_segments(const chooser& of_all, const split_type& split, const device_levels<Index>& levels,
                     const buffer<Index>& level_of_row, double whole) {
    // Several right-hand sides have not been seen to gain.
    const double limit = policy_.path == path_name::segments ? std::numeric_limits<double>::infinity()
                         : max_rhs_ == 1                     ? Tuning::segments_gain * whole
                                                             : 0;
    if (limit == 0) {
      return false;
    }
    std::vector<Index> level_offsets(levels.level_offsets.size());
    on_.download(level_offsets.data(), levels.level_offsets.data(), levels.level_offsets.bytes());
    const segment_cut cut = of_all.cut(level_offsets, policy_.first_levels);
    if (cut.levels == 0 || cut.nanoseconds >= limit) {
      return false;
    }
    auto halves =
        cut_after_level(split, levels, level_of_row, cut.levels, cut.rows, on_, memory_.all_scratch());
    const relay_choice choice =
        chooser(halves.rest.triangle, halves.rest_level_of_row, halves.rest_levels.count, policy_.parts,
                policy_.path == path_name::segments ? policy_.shape : -1, max_rhs_,
                own_paths::grid_type::columns_of(max_rhs_), on_, memory_.scratch)
            .choose();
    const double on_grid = nanoseconds_on_grid(halves.first.triangle, cut.levels);
    made_.nanoseconds = on_grid + choice.nanoseconds;
    if (made_.nanoseconds >= limit) {
      return false;
    }
    std::optional<device_levels<Index>> first_levels(std::move(halves.first_levels));
    made_.paths.grid.emplace(halves.first, size_, max_rhs_, true, std::move(first_levels), form_, on_,
                             memory_);
    place_first_columns(halves.rest.triangle, first_levels->rows);
    if (!plan_relay(choice, halves.rest, halves.rest_levels)) {
      made_.paths.grid.reset();
      return false;
    }
    made_.paths.share();
    made_.text =
        named_path("segments", policy_.path == path_name::automatic) +
        predicted_time(std::to_string(cut.levels) + " levels on the grid", on_grid) + " and " +
        predicted_time(std::to_string(levels.count - cut.levels) + " by a relay", choice.nanoseconds) + ", " +
        predicted_time("all on one path", whole);
    return true;
  }

  /// `rows`: of the first segment, by place; the columns of the rest become their places, see cut_triangle.
  void place_first_columns(const triangle_type& rest, const buffer<Index>& rows) const {
    const buffer<Index> places(rows.size(), memory_.scratch, on_.stream());
    simt::for_each(on_, static_cast<std::int64_t>(rows.size()),
                   triangle_kernels::invert_order<Index>{rows.data(), places.data()});
    simt::for_each(on_, rest.entries(),
                   renumber_first_columns<Index>{rest.size, places.data(), rest.columns.data()});
  }

  /// Whether its records are not too large.
  bool plan_relay(const relay_choice& choice, const split_type& split, const device_levels<Index>& levels) {
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
                                                               window, on_, memory_)
                    .build(split, levels, size_, stored_entries_, form_.reversed,
                           std::min(Tuning::relay_record_bytes, most_record_bytes<Scalar>));
    if (!plan) {
      return false;
    }
    made_.paths.relay.emplace(std::move(*plan), choice.shape_index, size_, stored_entries_, max_rhs_, form_,
                              on_);
    return true;
  }

  /// Makes the walk if it promises to take less than `limit` nanoseconds. `shape`: its number, or -1.
  void plan_walk(const triangle_type& triangle, int shape, double limit) {
    if (triangle.size >= (std::int64_t{1} << 31) - 2) {
      return;
    }
    const auto rows = download_rows(triangle, on_);
    const auto levels = levels_on_host<Index>(rows.row_offsets, rows.columns);
    made_.levels = levels.count();
    const auto choice = choose_walk<Tuning>(rows, levels, shape);
    if (choice.shape.rows == 0) {
      return;  // none has the number that was asked for
    }
    const std::int64_t window = window_steps<Tuning, Scalar>(choice.shape, on_.shared_limit());
    if (choice.nanoseconds > limit || window < 2 * choice.shape.fetch_distance()) {
      return;
    }
    auto program =
        walk_program_builder<Index, Offset>(rows, choice.shape, window, form_.reversed).build(levels.rows);
    if (program) {
      made_.text = named_path("walk", limit < std::numeric_limits<double>::infinity()) +
                   predicted_time("walk", choice.nanoseconds);
      made_.nanoseconds = choice.nanoseconds;
      made_.paths.walk.emplace(*program, choice.index, copy_of(triangle.sources, on_, memory_.kept),
                               copy_of(triangle.diagonal_sources, on_, memory_.kept), form_, on_,
                               memory_.kept);
    }
  }

  /// `levels`: of the triangle, where they are known.
  void plan_grid(const split_type& split, std::optional<device_levels<Index>>&& levels) {
    const bool by_levels =
        policy_.order == policy::group_order::levels || policy_.path == path_name::automatic;
    made_.paths.grid.emplace(split, size_, max_rhs_, by_levels, std::move(levels), form_, on_, memory_);
  }

  static std::string named_path(const std::string& name, bool by_time) {
    return name + (by_time ? ", by the predicted time of a solve: " : ", as asked for; predicted: ");
  }

  /// Of a relay with one part, whose levels are narrow.
  [[nodiscard]] double narrow_relay_nanoseconds(const triangle_type& triangle) const {
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
    return Tuning::relay_launch_ns + 1.15 * step * static_cast<double>(made_.levels);
  }

  const policy::basic_dataflow<Tuning>& policy_;
  const triangle_form& form_;
  std::int64_t size_;
  std::int64_t stored_entries_;
  std::int64_t max_rhs_;
  const Executor& on_;
  analysis_memory memory_;
  path_plan<own_paths> made_;
};

}  // namespace sptrsv::detail::dataflow
