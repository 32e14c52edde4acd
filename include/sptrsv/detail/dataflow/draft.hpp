// SPDX-License-Identifier: Apache-2.0
// A system on its way from a request to a plan; the choice among its paths, a pure function of predicted
// times with the words that explain it; and the plan, which is the path that solves the system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "sptrsv/detail/base/engine.hpp"
#include "sptrsv/detail/dataflow/hybrid.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_path.hpp"
#include "sptrsv/detail/dataflow/prepare.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_path.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_path.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// Predicted times of a solve with max_rhs right-hand sides, in nanoseconds. Infinite: the path cannot solve
/// the system, or its time was not predicted.
struct path_times {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double row_per_thread = never;
  double partitioned = never;
  double single_block = never;
  double hybrid = never;
  /// Time of a single partition. If levels are narrow, single_block is compared with it.
  double one_partition = never;

  /// Returns the best time of one path for all levels.
  [[nodiscard]] double single_path(const time_limits& limits) const {
    return std::min({partitioned, row_per_thread, limits.nanoseconds});
  }
};

/// Chooses the path. `Path`: policy::dataflow_path, or another enumeration with the same names.
template <class Path>
struct path_choice {
  Path wanted;  ///< automatic: times decide
  time_limits limits;
  double hybrid_gain;  ///< see dataflow_tuning
  double single_block_gain;
  double partitioned_gain;

  /// Returns the time that a single_block path must not exceed.
  [[nodiscard]] double single_block_limit(const path_times& t) const {
    return wanted == Path::single_block ? path_times::never
                                        : std::min(single_block_gain * t.one_partition, limits.nanoseconds);
  }
  /// Returns the time that a hybrid path must beat: unless asked for, a share of the best single path's.
  [[nodiscard]] double hybrid_limit(const path_times& t) const {
    return wanted == Path::hybrid ? path_times::never : hybrid_gain * t.single_path(limits);
  }
  /// Returns whether neither path meets its limit. A system that must not take the row_per_thread path is not
  /// wanted where this path would be the faster one.
  [[nodiscard]] bool is_too_slow(const path_times& t) const {
    if (!limits.any()) {
      return false;
    }
    return limits.row_per_thread > 0
               ? t.partitioned >= limits.nanoseconds && t.row_per_thread >= limits.row_per_thread
               : t.partitioned >= std::min(limits.nanoseconds, t.row_per_thread);
  }
  [[nodiscard]] bool prefers_partitioned(const path_times& t) const {
    return limits.any() ? t.row_per_thread >= limits.row_per_thread
                        : partitioned_gain * t.partitioned < t.row_per_thread;
  }

  /// Returns the path that is taken; nothing if the wanted path cannot solve the system, or none meets its
  /// limit.
  [[nodiscard]] std::optional<Path> operator()(const path_times& t) const {
    if (wanted == Path::row_per_thread) {
      return Path::row_per_thread;
    }
    if (t.single_block < path_times::never && t.single_block <= single_block_limit(t)) {
      return Path::single_block;
    }
    if (wanted == Path::single_block) {
      return {};
    }
    if (t.hybrid < hybrid_limit(t)) {
      return Path::hybrid;
    }
    if (is_too_slow(t)) {
      return {};
    }
    if (t.partitioned < path_times::never && (wanted == Path::partitioned || prefers_partitioned(t))) {
      return Path::partitioned;
    }
    return wanted == Path::partitioned ? std::nullopt : std::optional<Path>(Path::row_per_thread);
  }

  /// Returns the predictions that led to a path, for solver_info.
  [[nodiscard]] std::vector<predicted_time> predictions(Path taken, const path_times& t) const {
    std::vector<predicted_time> made;
    const auto add = [&](const char* name, double nanoseconds) {
      if (nanoseconds < path_times::never) {
        made.push_back({name, nanoseconds});
      }
    };
    if (taken == Path::single_block) {
      add("single_block", t.single_block);
      if (wanted == Path::automatic) {
        add("partitioned", t.one_partition);
      }
    } else if (taken == Path::hybrid) {
      add("hybrid", t.hybrid);
      made.push_back({"single path", t.single_path(limits)});
    } else {
      add("partitioned", t.partitioned);
      add("row_per_thread", t.row_per_thread);
    }
    return made;
  }
  /// Returns the sentence that explains a path. `reasons`: the predictions, or others.
  [[nodiscard]] std::string text(const std::string& taken, const std::vector<predicted_time>& reasons) const {
    return taken +
           (wanted == Path::automatic ? ", by the predicted time of a solve: "
                                      : ", as asked for; predicted: ") +
           to_text(reasons);
  }
};

/// The path that solves a system, and why it was chosen. All four types of paths have a name, a type
/// `workspace`, update_values, make_workspace, solve, first_nonfinite_index, is_zero_pivot and describe.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
struct plan {
  using row_per_thread_path = row_per_thread::path<Tuning, Scalar, Index, Offset, Executor>;
  using partitioned_path = partitioned::path<Tuning, Scalar, Executor>;
  using single_block_path = single_block::path<Tuning, Scalar, Offset, Executor>;
  using hybrid_path = hybrid::path<row_per_thread_path, partitioned_path, Scalar, Executor>;
  using path_type = std::variant<row_per_thread_path, partitioned_path, single_block_path, hybrid_path>;
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

  request_type of;
  prepared_system<Index, Offset> system;
  path_times times{};
  bool is_flat = false;  ///< the row_per_thread path is taken without a prediction of others
  std::optional<single_block::planned_schedule> schedule{};  ///< empty: single_block was not considered
  partitioned::search_result search{};                       ///< of the partitioned path
  std::optional<partitioned_planner> layout{};  ///< of the partitioned path, if it is laid out already
  std::optional<row_order> order{};             ///< of the row_per_thread path, if it is known already
  std::optional<hybrid_halves> hybrid{};        ///< empty: there is no hybrid path that is fast enough
  std::optional<path_name> chosen{};            ///< see path_choice

  /// Returns whether no row needs another one, so that nothing is to be chosen.
  [[nodiscard]] bool needs_no_path() const {
    return of.stored.size == 0 || (of.by_time() && system.entries == 0);
  }
  [[nodiscard]] path_choice<path_name> choice() const {
    return {of.is_row_per_thread_only() ? path_name::row_per_thread : of.policy.path, of.limits,
            tuning::hybrid_gain, tuning::single_block_gain, tuning::partitioned_gain};
  }
  /// Returns the path by what is predicted; see path_choice.
  [[nodiscard]] std::optional<path_name> choose() const {
    return needs_no_path() ? path_name::row_per_thread : choice()(times);
  }
  /// Returns the number of entries with the pivots that are stored, before rows were split.
  [[nodiscard]] std::int64_t entries() const { return system.entries + (of.form.unit ? 0 : of.stored.size); }
  /// Returns the number of levels of the system; 0 if they were not counted: those of split rows are more.
  [[nodiscard]] std::int64_t levels() const {
    return schedule ? schedule->levels : system.levels && !system.has_partial_rows ? system.levels->count : 0;
  }
  /// Returns the predicted time of the chosen path; 0 if none was predicted.
  [[nodiscard]] double nanoseconds() const {
    const double time = chosen == path_name::single_block  ? times.single_block
                        : chosen == path_name::hybrid      ? times.hybrid
                        : chosen == path_name::partitioned ? times.partitioned
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
