// SPDX-License-Identifier: Apache-2.0
// Rewriting as one more candidate: the rows of a system are rewritten so that fewer hand-offs are left, and
// the rewritten system is one more system, which is planned like any other. The file is long because it is
// one decision: the two ways to rewrite compare the same predictions with the same limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/engine.hpp"
#include "sptrsv/detail/dataflow/build.hpp"
#include "sptrsv/detail/dataflow/row_elimination/rewritten_system.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

/// Rewrites the system of a draft whose path is chosen, if that is predicted to pay or asked for.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class rewriter {
  using draft_type = draft<Policy, Scalar, Index, Offset, Executor>;
  using request_type = typename draft_type::request_type;
  using plan_type = typename draft_type::plan_type;
  using path_name = typename Policy::path_type;
  using tuning = typename Policy::tuning;
  using elimination = row_elimination::rewritten_system<Scalar, Index, Offset, Executor>;

 public:
  /// A way to rewrite that was tried. If it is not taken, there are no rows and no plan.
  struct attempt {
    std::unique_ptr<elimination> rows;  ///< with the present values
    std::optional<plan_type> plan;      ///< of the rewritten system
    std::string text;                   ///< whether rows are rewritten, and why
  };

  /// `values`: of the stored matrix. `memory`: of the draft.
  rewriter(const draft_type& exact, const Scalar* values, const Executor& on, const analysis_memory& memory)
      : exact_(exact),
        of_(exact.of),
        exact_nanoseconds_(exact.nanoseconds()),
        levels_(exact.levels()),
        most_levels_(std::max(levels_, exact.system.levels ? exact.system.levels->count : 0)),
        values_(values),
        on_(on),
        memory_(memory) {}

  /// Tries the ways that may pay, and returns the best one. Synchronises.
  attempt best() const {
    const Policy& policy = of_.policy;
    if (policy.run_levels > 1) {
      return by_levels(nullptr);
    }
    if (!of_.by_time()) {
      return by_rows();
    }
    if (most_levels_ < tuning::least_rewritten_levels) {
      return refused(text_from("there are only ", most_levels_, " levels"));
    }
    if (exact_nanoseconds_ <= least_rewritten_nanoseconds() + tuning::rewritten_payback_ns) {
      return refused("no rewritten system can be solved so much faster that it pays, " +
                     beside_exact("predicted at least", least_rewritten_nanoseconds()));
    }
    const double left = levels_left();
    attempt made;
    if (left > tuning::rewritten_levels) {
      made = refused(text_from("at least ", static_cast<int>(100 * left), " % of the levels would be left"));
    } else if (policy.run_levels == 1 || rows_may_leave_less(left)) {
      made = by_rows();
    }
    return policy.run_levels == 1 ? std::move(made) : by_levels(&made);
  }

  /// Returns the predicted time of the right-hand sides of the rewritten system on its path.
  [[nodiscard]] double rhs_nanoseconds(const elimination& rows, const plan_type& plan) const {
    const outlook of = outlook_of(rows);
    return plan.combines_rhs(of_.max_rhs) ? combine_nanoseconds(of) : transform_nanoseconds(of);
  }

 private:
  /// The sizes from which the time of a rewritten system is predicted before the system has a plan. They are
  /// lower bounds until its rows are chosen.
  struct outlook {
    std::int64_t run_levels;
    std::int64_t entries;
    std::int64_t rhs_entries;
  };
  static outlook outlook_of(const elimination& rows) {
    return {rows.run_levels(), rows.entries(), rows.rhs_entries()};
  }

  static attempt refused(const std::string& why) { return {nullptr, {}, "not rewritten: " + why}; }
  static attempt refused(const elimination& rows) {
    return refused(text_from("only ", rows.rewritten(), " rows could be"));
  }
  /// Returns a predicted time beside that of the system as it is, as text.
  [[nodiscard]] std::string beside_exact(const char* name, double nanoseconds) const {
    return to_text(std::vector<predicted_time>{{name, nanoseconds}, {"as it is", exact_nanoseconds_}});
  }

  /// Chooses the rows that are rewritten in runs of `length` levels.
  [[nodiscard]] std::unique_ptr<elimination> runs_of(const row_levels<Index>& levels,
                                                     std::int64_t length) const {
    const row_elimination::limits limits{of_.policy.max_growth, std::max(1.0, of_.policy.max_fill),
                                         tuning::rewritten_entries, tuning::longest_rewritten_row};
    return std::make_unique<elimination>(exact_.system.whole(), levels, length, values_, of_.form, limits,
                                         on_, memory_);
  }
  /// Returns the share of levels left if the rows of a run of rows did not need each other; 0: not counted.
  [[nodiscard]] double levels_left() const {
    const auto& levels = exact_.system.levels;
    return levels && levels->count_of_blocks > 0
               ? static_cast<double>(levels->count_of_blocks) / static_cast<double>(levels->count)
               : 0;
  }
  /// Returns whether runs of rows are tried before runs of levels, which mostly give the faster system: for
  /// narrow systems and for short rows.
  [[nodiscard]] bool rows_may_leave_less(double left) const {
    return exact_.has_schedule() ||
           (left > 0 && left <= tuning::few_rewritten_levels &&
            static_cast<double>(exact_.system.entries) <=
                tuning::entries_of_short_rows * static_cast<double>(of_.stored.size));
  }

  /// Rewrites in runs of consecutive rows.
  attempt by_rows() const {
    using numbers = row_elimination::number_rows<Index, Offset>;
    const auto& whole = exact_.system.whole();
    row_levels<Index> levels;
    levels.of_row = make_buffer<Index>(whole.size, on_, memory_.scratch);
    levels.count = whole.size;
    simt::for_each_by_tile<numbers::run_rows>(on_,
                                              simt::ceil_div(whole.size, std::int64_t{numbers::run_rows}),
                                              numbers{whole.view(), levels.of_row.data()});
    auto rows = runs_of(levels, numbers::run_rows);
    if (!are_enough(rows->rewritten())) {
      return refused(*rows);
    }
    time_limits times;
    if (of_.by_time()) {
      // On the row_per_thread path the new entries cost more than a level: they all need recent components.
      times.nanoseconds = exact_nanoseconds_ - transform_nanoseconds(outlook_of(*rows));
    }
    return plan(std::move(rows), text_from(" in runs of ", numbers::run_rows, " rows"), times);
  }

  /// Rewrites in runs of levels. `before`: another, slower way; null: the policy asks for runs of levels.
  attempt by_levels(attempt* before) const {
    const bool knows_levels = exact_.system.levels && !exact_.system.has_partial_rows;
    const row_levels<Index> found =
        knows_levels ? row_levels<Index>{} : levels_of_rows(exact_.system.whole(), on_, memory_);
    attempt made = by_levels(knows_levels ? *exact_.system.levels : found, before);
    if (before == nullptr || made.plan || before->text.empty()) {
      return made;
    }
    before->text += before->plan ? "" : "; " + made.text;
    return std::move(*before);
  }
  attempt by_levels(const row_levels<Index>& levels, const attempt* before) const {
    const std::int64_t length =
        of_.policy.run_levels > 1
            ? of_.policy.run_levels
            : length_of_runs(static_cast<double>(of_.stored.size) / static_cast<double>(levels.count));
    // At best no row gets an entry.
    const outlook hoped{length, exact_.system.entries, 0};
    if (before != nullptr && !may_pay(hoped, levels.count, *before)) {
      return refused(text_from("runs of ", length, " levels cannot save so much that it pays"));
    }
    auto rows = runs_of(levels, length);
    if (!are_enough(rows->rewritten())) {
      return refused(*rows);
    }
    const std::string kind = text_from(" in runs of ", rows->run_levels(), " levels");
    time_limits times;
    if (before != nullptr) {
      times = run_limits(outlook_of(*rows), *before);
      if (!may_pay(outlook_of(*rows), levels.count, *before)) {
        return refused(text_from("runs of ", rows->run_levels(), " levels would have ", rows->entries(),
                                 " entries instead of ", rows->triangle().entries()));
      }
    }
    return plan(std::move(rows), kind, times);
  }
  [[nodiscard]] static std::int64_t length_of_runs(double rows_per_level) {
    return rows_per_level <= tuning::rows_of_very_narrow_level ? tuning::very_narrow_run_levels
           : rows_per_level <= tuning::rows_of_narrow_level    ? tuning::narrow_run_levels
                                                               : tuning::run_levels;
  }
  /// Returns the limits of a system that is rewritten by levels: it must be faster than what was tried before
  /// it, and than the system as it is.
  [[nodiscard]] time_limits run_limits(const outlook& of, const attempt& before) const {
    const bool by_rows =
        before.plan ? before.plan->is_row_per_thread() : exact_.chosen == path_name::row_per_thread;
    const double now = before.plan ? before.plan->nanoseconds + rhs_nanoseconds(*before.rows, *before.plan)
                                   : exact_nanoseconds_;
    time_limits times;
    const double gain = by_rows                              ? tuning::rewritten_gain_over_row_per_thread
                        : of.run_levels > tuning::run_levels ? tuning::rewritten_gain
                                                             : tuning::rewritten_gain_of_wide_levels;
    times.nanoseconds = std::min(gain * now, now - tuning::rewritten_saving_ns) - transform_nanoseconds(of);
    if (of.run_levels == tuning::very_narrow_run_levels) {
      return times;  // the model promises too short times for row_per_thread
    }
    times.row_per_thread = std::min((by_rows ? tuning::rewritten_gain_over_row_per_thread
                                             : tuning::rewritten_gain_by_row_per_thread) *
                                        now,
                                    now - tuning::rewritten_row_per_thread_saving_ns) -
                           (of_.max_rhs == 1 ? combine_nanoseconds(of) : transform_nanoseconds(of));
    return times;
  }
  /// Returns whether a system rewritten by levels may be so much under one of its limits that it pays for its
  /// analysis.
  [[nodiscard]] bool may_pay(const outlook& of, std::int64_t levels, const attempt& before) const {
    const time_limits times = run_limits(of, before);
    const auto entries = static_cast<double>(of.entries);
    const std::int64_t least_levels = simt::ceil_div(levels, of.run_levels);
    const bool may_grow = of.run_levels > tuning::run_levels ||
                          exact_.system.longest_row > tuning::longest_row ||
                          entries <= tuning::rewritten_growth * static_cast<double>(exact_.system.entries);
    return (may_grow &&
            least_partitioned_nanoseconds(least_levels) < times.nanoseconds - tuning::rewritten_payback_ns) ||
           row_per_thread::solve_costs::of<tuning>(sizeof(Scalar), sizeof(Index), of_.max_rhs)
                   .template rewritten_nanoseconds<tuning>(static_cast<double>(of_.stored.size), entries,
                                                           static_cast<double>(least_levels)) <
               times.row_per_thread - tuning::rewritten_payback_ns;
  }
  /// Returns a time that the partitioned path of a rewritten system is not expected to fall below: fewer
  /// levels, but what levels take for their rows remains.
  [[nodiscard]] double least_partitioned_nanoseconds(std::int64_t least_levels) const {
    const double least = partitioned::least_nanoseconds<tuning>(least_levels);
    const double now = exact_.times.partitioned;
    return now < path_times::never && exact_.system.levels
               ? least +
                     std::max(0.0, now - partitioned::least_nanoseconds<tuning>(exact_.system.levels->count))
               : least;
  }

  /// Returns whether so many rows are rewritten that it may pay.
  [[nodiscard]] bool are_enough(std::int64_t rewritten) const {
    return rewritten * tuning::rows_per_rewritten >= of_.stored.size && rewritten > 0;
  }

  /// Plans the rewritten system and gives it values. `kind`: of runs, as a part of a sentence. Refuses it if
  /// no plan is within the limits, or if values are not finite.
  attempt plan(std::unique_ptr<elimination> rows, const std::string& kind, const time_limits& times) const {
    rows->make_pattern(on_, memory_);
    request_type request = of_;
    request.policy.exact_order = true;  // nothing more is to be rewritten
    request.stored = rows->pattern();
    request.form = {{uplo::lower, of_.form.unit ? diag::unit : diag::non_unit, op::none, of_.max_rhs}, false};
    request.limits = times;
    request.limits.is_rewritten = true;
    auto plan = plan_of<Policy, Scalar, Index, Offset>(request, on_, memory_.kept);
    std::string text = text_from(rows->rewritten(), " of ", of_.stored.size, " rows rewritten", kind);
    if (!plan) {
      return refused(times.any() ? "a solve with " + text + " is predicted to take longer"
                                 : "the path cannot solve the rewritten system");
    }
    rows->make_values(on_, memory_.kept);
    rows->update_values(values_, on_);
    if (rows->first_grown_index(on_) >= 0) {
      return refused("inverses are not finite");
    }
    if (levels_ > 0 && plan->levels > 0) {
      text += text_from(", levels ", levels_, " to ", plan->levels);
    }
    if (times.any()) {
      text += ", " + beside_exact("predicted", plan->nanoseconds + rhs_nanoseconds(*rows, *plan));
    }
    rows->keep(on_, memory_.kept);
    plan->entries = exact_.entries();
    plan->levels = levels_;
    plan->longest_row = exact_.system.longest_row;
    return {std::move(rows), std::move(plan), std::move(text)};
  }

  /// Returns the predicted time of computing the right-hand sides of the rewritten system.
  [[nodiscard]] double transform_nanoseconds(const outlook& of) const {
    const double bytes = rhs_bytes(of) + static_cast<double>(of_.stored.size + 1) * sizeof(Offset);
    return tuning::transform_launch_ns +
           bytes * static_cast<double>(of_.max_rhs) * tuning::row_per_thread_byte_ns;
  }
  /// Returns the predicted time that a kernel needs to combine a right-hand side itself: the entries of a
  /// row, and where they begin, lie in memory sectors of their own.
  [[nodiscard]] double combine_nanoseconds(const outlook& of) const {
    return (rhs_bytes(of) + static_cast<double>(of.rhs_entries) * (sizeof(Scalar) + sizeof(Index))) *
           tuning::row_per_thread_byte_ns;
  }
  /// Returns the bytes of a right-hand side, before and after it is transformed, and of the entries for it.
  [[nodiscard]] double rhs_bytes(const outlook& of) const {
    return 2.0 * static_cast<double>(of_.stored.size) * sizeof(Scalar) +
           static_cast<double>(of.rhs_entries) * (sizeof(Scalar) + sizeof(Index));
  }
  /// Returns a lower bound of the predicted time of a solve with rewritten rows: two launches, and the
  /// right-hand sides read and written by the first one.
  [[nodiscard]] double least_rewritten_nanoseconds() const {
    const double bytes = rhs_bytes({1, 0, 0}) * static_cast<double>(of_.max_rhs);
    return tuning::transform_launch_ns + bytes * tuning::row_per_thread_byte_ns +
           std::min(tuning::partitioned_launch_ns, tuning::single_block_launch_ns);
  }

  const draft_type& exact_;
  const request_type& of_;
  double exact_nanoseconds_;
  std::int64_t levels_;       ///< of the system; 0 if they were not counted
  std::int64_t most_levels_;  ///< the same, or with the levels of partial rows, if these were counted
  const Scalar* values_;
  const Executor& on_;
  const analysis_memory& memory_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
