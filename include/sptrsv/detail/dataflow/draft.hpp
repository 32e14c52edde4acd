// SPDX-License-Identifier: Apache-2.0
// A system on its way from a request to a plan, and the plan, which is the path that solves the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "sptrsv/detail/dataflow/hybrid.hpp"
#include "sptrsv/detail/dataflow/natural_blocks/natural_blocks_schedule.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_path.hpp"
#include "sptrsv/detail/dataflow/path_choice.hpp"
#include "sptrsv/detail/dataflow/prepare.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_path.hpp"
#include "sptrsv/detail/dataflow/scheduled_paths.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// The path that solves a system, and why it was chosen. All types of paths have a name, a type
/// `workspace`, update_values, make_workspace, solve, first_nonfinite_index, is_zero_pivot and describe.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
struct plan {
  using row_per_thread_path = row_per_thread::path<Tuning, Scalar, Index, Offset, Executor>;
  using partitioned_path = partitioned::path<Tuning, Scalar, Executor>;
  using single_block_path = single_block::path<Tuning, Scalar, Offset, Executor>;
  using natural_blocks_path = natural_blocks::path<Tuning, Scalar, Offset, Executor>;
  using hybrid_path = hybrid::path<row_per_thread_path, partitioned_path, Scalar, Executor>;
  using path_type = std::variant<row_per_thread_path, partitioned_path, single_block_path,
                                 natural_blocks_path, hybrid_path>;
  /// The memory of one solve in flight; the path says which kind it needs.
  using workspace = std::variant<double_buffer_storage<Scalar>, single_block::scratch>;

  path_type path;
  std::int64_t levels = 0;         ///< of the system; 0 if the analysis did not count them
  std::int64_t levels_solved = 0;  ///< the same after rows were rewritten
  double nanoseconds = 0;  ///< predicted time of a solve with max_rhs right-hand sides, if one was predicted
  std::vector<predicted_time> predictions{};  ///< of all paths that were considered
  std::string text{};                         ///< which path was chosen and why
  std::int64_t entries = 0;                   ///< of the system, with the pivots that are stored
  std::int64_t longest_row = 0;               ///< of the system; its entries without the pivot

  [[nodiscard]] bool is_row_per_thread() const { return std::holds_alternative<row_per_thread_path>(path); }

  void update_values(const Scalar* values, const Executor& on) {
    std::visit([&](auto& of) { of.update_values(values, on); }, path);
  }
  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return std::visit([&](const auto& of) { return workspace(of.make_workspace(on, resource)); }, path);
  }
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    visit_with(scratch, [&](const auto& of, auto& own) { of.solve(alpha, b, x, own, on); });
  }
  /// Returns whether solve_rewritten() may be called with this number of right-hand sides.
  [[nodiscard]] bool combines_rhs(std::int64_t columns) const { return columns == 1 && is_row_per_thread(); }
  /// Solves with right-hand sides that the kernel combines. b and x do not overlap.
  void solve_rewritten(const row_per_thread::rewritten_rhs<Scalar, Index, Offset>& rhs, Scalar alpha,
                       dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
                       const Executor& on) const {
    std::get<row_per_thread_path>(path).solve_rewritten(
        rhs, alpha, b, x, std::get<typename row_per_thread_path::workspace>(scratch), on);
  }
  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return visit_with(scratch, [&](const auto& of, auto& own) { return of.first_nonfinite_index(own, on); });
  }
  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return visit_with(
        scratch, [&](const auto& of, auto& own) { return of.is_zero_pivot(substitution_index, own, on); });
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries;
    info.levels = levels;
    info.levels_solved = levels_solved;
    info.longest_row = longest_row;
    info.predictions = predictions;
    info.plan = text;
    info.kernels.clear();
    info.solver_bytes = 0;
    std::visit(
        [&](const auto& of) {
          info.path = of.name;
          of.describe(info);
        },
        path);
  }

 private:
  /// Calls visit(path, workspace of the path).
  template <class Workspace, class Visit>
  decltype(auto) visit_with(Workspace& scratch, const Visit& visit) const {
    return std::visit(
        [&](const auto& of) -> decltype(auto) {
          using own = typename std::remove_const_t<std::remove_reference_t<decltype(of)>>::workspace;
          return visit(of, std::get<own>(scratch));
        },
        path);
  }
};

/// A prepared system and what is known of its candidates, all in scratch memory. The steps of predictor fill
/// it in; plan_builder makes a plan of it.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
struct draft {
  using tuning = typename Policy::tuning;
  using path_name = typename Policy::path_type;
  using request_type = request<Policy, Scalar, Index, Offset>;
  using plan_type = plan<tuning, Scalar, Index, Offset, Executor>;
  using row_per_thread_path = typename plan_type::row_per_thread_path;
  using row_order = typename row_per_thread_path::row_order;
  using partitioned_planner = partitioned::planner<Scalar, Index, Offset, Executor>;

  /// The two halves of a hybrid path.
  struct hybrid_halves {
    cut_triangle<Index, Offset> halves;
    row_order first_order;
    partitioned::shape_choice rest;
    std::int64_t first_levels;
    double first_nanoseconds;
  };

  /// A solve on the single_block path is expected to take at most so many times its lower bound.
  static constexpr double single_block_margin = 1.25;

  request_type of;
  prepared_system<Index, Offset> system;
  path_times times{};
  bool is_flat = false;  ///< the row_per_thread path is taken without a prediction of others
  std::optional<single_block::planned_schedule> schedule{};  ///< empty: single_block was not considered
  std::optional<natural_blocks::planned_blocks<Index, Offset>> blocks{};  ///< if they were considered
  partitioned::search_result search{};                                    ///< of the partitioned path
  std::optional<partitioned_planner> layout{};  ///< of the partitioned path, if it is laid out already
  std::optional<row_order> order{};             ///< of the row_per_thread path, if it is known already
  std::optional<hybrid_halves> hybrid{};        ///< empty: there is no hybrid path that is fast enough
  std::optional<path_name> chosen{};            ///< see path_choice

  /// Returns whether no row needs another one, so that nothing is to be chosen.
  [[nodiscard]] bool needs_no_path() const {
    return of.stored.size == 0 || (of.by_time() && system.entries == 0);
  }
  [[nodiscard]] path_choice<path_name> choice() const {
    return {of.is_row_per_thread_only() ? path_name::row_per_thread : of.policy.path,
            of.limits,
            tuning::hybrid_gain,
            tuning::single_block_gain,
            tuning::partitioned_gain,
            tuning::natural_blocks_gain};
  }
  /// Returns the path by what is predicted; see path_choice.
  [[nodiscard]] std::optional<path_name> choose() const {
    return needs_no_path() ? path_name::row_per_thread : choice()(times);
  }
  /// Makes the schedule for the rows of a triangle, unless another path is known to be faster. Calls no CUDA.
  void make_schedule(const host_triangle<Index, Offset>& rows, std::size_t shared_limit) {
    const auto levels = levels_on_host<Index>(rows.row_offsets, rows.columns);
    single_block::planned_schedule& found = schedule.emplace();
    found.levels = levels.count();
    if (of.by_time()) {
      if (!of.is_narrow(found.levels)) {
        return;
      }
      times.one_partition =
          partitioned::narrow_nanoseconds<tuning>(of.stored.size, count_of(rows.columns), found.levels);
    }
    found.chosen = single_block::choose_shape<tuning>(
        rows, levels, of.policy.path == path_name::single_block ? of.policy.shape : -1);
    if (found.chosen.nanoseconds <= choice().single_block_limit(times)) {
      found.made = single_block::make_schedule<tuning, Scalar>(rows, levels, found.chosen, shared_limit,
                                                               of.form.reversed);
    }
    if (found.made) {
      times.single_block = found.chosen.nanoseconds;
    }
  }

  /// Returns a lower bound of the predicted time of the single_block path.
  [[nodiscard]] double least_single_block_nanoseconds() const {
    return single_block::least_nanoseconds<tuning>(of.stored.size, system.entries);
  }
  /// Places the natural blocks of a triangle in the fastest shape, unless another path is expected to be
  /// faster. Calls no CUDA.
  void place_blocks(natural_blocks::block_rows<Index, Offset>&& rows, std::size_t shared_limit) {
    const bool is_wanted = of.policy.path == path_name::natural_blocks;
    double limit = path_times::never;
    if (!is_wanted) {
      limit = times.one_partition =
          partitioned::narrow_nanoseconds<tuning>(of.stored.size, system.entries, system.levels->count);
      if (of.is_narrow(system.levels->count)) {
        limit = std::min(limit, single_block_margin * least_single_block_nanoseconds());
      }
    }
    auto placed = natural_blocks::plan_blocks<tuning, Scalar>(
        std::move(rows), is_wanted ? 0 : system.levels->count, is_wanted ? of.policy.shape : -1, is_wanted,
        limit, shared_limit);
    if (placed.shape_index >= 0) {
      times.natural_blocks = placed.nanoseconds;
      blocks = std::move(placed);
    }
  }
  /// Returns whether a path is chosen whose schedule the host makes, by what is predicted.
  [[nodiscard]] bool has_schedule() const {
    const auto taken = choose();
    return taken == path_name::single_block || taken == path_name::natural_blocks;
  }
  /// Returns the number of entries with the pivots that are stored, before rows were split.
  [[nodiscard]] std::int64_t entries() const { return system.entries + (of.form.unit ? 0 : of.stored.size); }
  /// Returns the number of levels of the system; 0 if they were not counted: those of split rows are more.
  [[nodiscard]] std::int64_t levels() const {
    return schedule ? schedule->levels : system.levels && !system.has_partial_rows ? system.levels->count : 0;
  }
  /// Returns the predicted time of the chosen path; 0 if none was predicted.
  [[nodiscard]] double nanoseconds() const {
    const double time = chosen == path_name::single_block     ? times.single_block
                        : chosen == path_name::natural_blocks ? times.natural_blocks
                        : chosen == path_name::hybrid         ? times.hybrid
                        : chosen == path_name::partitioned    ? times.partitioned
                                                              : times.row_per_thread;
    return time < path_times::never ? time : 0;
  }
  /// Returns the predicted time of the row_per_thread path, by levels that are known.
  [[nodiscard]] double row_per_thread_nanoseconds() const {
    return of.row_per_thread_nanoseconds(system.rows(), system.levels->count);
  }
  /// Returns the bytes that the solver will keep.
  [[nodiscard]] std::size_t kept_bytes() const { return order ? order->kept_bytes() : 0; }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
