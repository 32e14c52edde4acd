// SPDX-License-Identifier: Apache-2.0
// A system on its way from a request to a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sptrsv/detail/dataflow/choose.hpp"
#include "sptrsv/detail/dataflow/dataflow_plan.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_choice.hpp"
#include "sptrsv/detail/dataflow/prepare.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_choice.hpp"
#include "sptrsv/detail/levels/cut_levels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// A system on its way from a request to a plan: prepared, with what is known of its candidates, all in
/// scratch memory. The steps fill it in this order: prepare, predict, decide; build_plan() makes a plan of
/// it.
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
