// SPDX-License-Identifier: Apache-2.0
// A system on its way from a request to a plan, and the choice among its paths: a pure function of predicted
// times, with the words that explain it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sptrsv/detail/base/plan_text.hpp"
#include "sptrsv/detail/dataflow/dataflow_plan.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_choice.hpp"
#include "sptrsv/detail/dataflow/prepare.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"

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
