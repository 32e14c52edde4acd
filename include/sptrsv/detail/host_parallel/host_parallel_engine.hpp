// SPDX-License-Identifier: Apache-2.0
// The engine of host_parallel: chooses a plan, by predictions and by a trial, and runs its tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/engine.hpp"
#include "sptrsv/detail/host_parallel/host_parallel_choice.hpp"
#include "sptrsv/detail/host_parallel/host_rows.hpp"
#include "sptrsv/detail/host_parallel/task_board.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Scalar, class Index, class Offset>
class engine<policy::host_parallel, Scalar, Index, Offset, host_executor> {
 public:
  struct workspace {
    std::unique_ptr<task_board> board;
    worker_record record;
    std::int64_t first_nonfinite = -1;

    void reset(const host_executor&) {}
  };

  engine(const policy::host_parallel& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t, const host_executor&, memory_resource&)
      : are_asked_(policy.workers > 1), rows_(form) {
    SPTRSV_EXPECTS(policy.workers >= 0, errc::invalid_argument,
                   "host_parallel: a negative number of workers");
    SPTRSV_EXPECTS(policy.workers <= max_workers, errc::invalid_argument, "host_parallel: ", policy.workers,
                   " workers; at most ", max_workers, " are possible");
    validate_on_host(a, form);
    const host_triangle<Index, Offset> t = build_in_serial_order(a, form);
    std::vector<Index> level_of_row;
    levels_ = find_levels(t.row_offsets, t.columns, level_of_row);
    longest_row_ = t.longest_row();
    host_planner<Index, Offset> planner(t, levels_);
    plan_ = are_asked_ ? planner.plan_workers(policy.workers) : planner.plan_one_worker();
    std::optional<plan> several;
    if (policy.workers == 0) {
      several = planner.plan_busy_workers(plan_.nanoseconds, host_team::allowed_threads());
    }
    predictions_ = planner.predictions();
    std::optional<rows> theirs;
    if (several && several->rows != plan_.rows) {
      theirs.emplace(form, t, std::move(several->rows));
    }
    rows_ = {form, t, std::move(plan_.rows)};
    if (several) {
      try_workers(std::move(*several), std::move(theirs));
    }
  }

  void update_values(const Scalar* values, const host_executor&) { rows_.update_values(values); }

  workspace make_workspace(const host_executor&, memory_resource&) const {
    workspace made;
    made.board = std::make_unique<task_board>(plan_.workers);
    if (!trial_.empty()) {
      made.record = worker_record(trial_.front().nanoseconds);
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const host_executor&) const {
    const operands with{alpha, b, x};
    std::int64_t first = rows::no_row;
    if (plan_.workers == 1) {
      first = solve_alone(plan_, rows_, with);
    } else {
      const bool several = are_asked_ || scratch.record.takes_several(x.columns);
      const double nanoseconds = time_of([&] {
        first =
            several ? solve_together(plan_, rows_, with, *scratch.board) : solve_alone(plan_, rows_, with);
      });
      scratch.record.add(several, x.columns, nanoseconds);
    }
    scratch.first_nonfinite = first == rows::no_row ? -1 : first;
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const host_executor&) const {
    return scratch.first_nonfinite;
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace&, const host_executor&) const {
    return rows_.is_zero_pivot(substitution_index);
  }

  void describe(solver_info& info, const host_executor& on) const {
    info.path = name_of(plan_.path);
    info.device = on.device_name() + ", " + std::to_string(plan_.workers) +
                  (plan_.workers == 1 ? " worker" : " workers");
    std::string order = "substitution by rows in natural order";
    if (plan_.path == host_path::levels) {
      order = "level-scheduled substitution by rows";
    } else if (plan_.path != host_path::natural) {
      order = "substitution by rows in level order inside windows";
    }
    if (plan_.workers > 1) {
      order += ", " + std::to_string(plan_.waits.size()) + " point-to-point waits";
    }
    info.kernels = {kernel_info{order}};
    info.predictions = predictions_;
    info.plan = info.path + ", by the predicted time of a solve: " + to_text(predictions_);
    if (!trial_.empty()) {
      info.plan += "; in a trial: " + to_text(trial_);
    }
    info.entries = rows_.entries();
    info.levels = levels_;
    info.longest_row = longest_row_;
    info.solver_bytes = rows_.bytes() + plan_.bytes();
    info.workspace_bytes = task_board(plan_.workers).bytes();
  }

 private:
  using rows = host_rows<Scalar, Index, Offset>;
  using operands = host_operands<Scalar>;
  using plan = host_schedule<Index>;

  /// More would need much memory for the waits of each for each.
  static constexpr int max_workers = 1024;
  /// Several workers are taken if they need less than this part of the time of one in the trial,
  static constexpr double trial_gain = 0.9;
  /// and if one worker, which solves when they lose, needs less than this multiple in their order of rows.
  static constexpr double order_loss = 1.15;
  static constexpr int trial_solves = 3;  ///< of each

  /// Returns the time of a call in nanoseconds.
  template <class Call>
  static double time_of(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Solves all rows by this thread. Returns the first substitution index with a component that is not
  /// finite, or no_row.
  static std::int64_t solve_alone(const plan& s, const rows& of, const operands& with) {
    std::int64_t first = rows::no_row;
    for (std::size_t task = 0; task < s.tasks(); ++task) {
      first = std::min(first, of.solve_rows(s.task_offsets[task], s.task_offsets[task + 1], with));
    }
    return first;
  }

  /// Does the same by all workers that come.
  static std::int64_t solve_together(const plan& s, const rows& of, const operands& with, task_board& board) {
    std::atomic<std::int64_t> first{rows::no_row};
    board.reset();
    host_team::instance().run(s.workers, [&](int thread) {
      board.work(s, thread, [&](Index begin, Index end) {
        const std::int64_t seen = of.solve_rows(begin, end, with);
        std::int64_t before = first.load(std::memory_order_relaxed);
        while (seen < before && !first.compare_exchange_weak(before, seen)) {
        }
      });
    });
    return first;
  }

  /// Compares the plan with the plan `several` by solves: by one worker, by one in the order of `several`,
  /// and by several workers. Takes `several` if it gains.
  ///
  /// @param in_their_order the rows in the order of `several`; without a value: it is that of the plan.
  void try_workers(plan several, std::optional<rows> in_their_order) {
    const Scalar one = pivot_divisor<Scalar>::one();
    const std::vector<Scalar> b(at(rows_.size()), one);
    std::vector<Scalar> x(b.size());
    const operands with{one, dense_view<const Scalar>::column_major(b.data(), rows_.size(), 1, rows_.size()),
                        dense_view<Scalar>::column_major(x.data(), rows_.size(), 1, rows_.size())};
    const rows& theirs = in_their_order ? *in_their_order : rows_;
    task_board board(several.workers);
    double one_worker = 0;
    double one_in_their_order = 0;
    double together = 0;
    for (int solve = 0; solve <= trial_solves; ++solve) {
      const double weight = solve == 0 ? 0 : 1.0 / trial_solves;  // the first solves load the caches
      one_worker += weight * time_of([&] { solve_alone(plan_, rows_, with); });
      together += weight * time_of([&] { solve_together(several, theirs, with, board); });
      if (in_their_order) {
        one_in_their_order += weight * time_of([&] { solve_alone(several, theirs, with); });
      }
    }
    trial_ = {{"one worker", one_worker}, {std::to_string(several.workers) + " workers", together}};
    if (together < trial_gain * one_worker && one_in_their_order < order_loss * one_worker) {
      plan_ = std::move(several);
      if (in_their_order) {
        rows_ = std::move(*in_their_order);
      }
    }
  }

  bool are_asked_;  ///< whether the number of workers is the user's
  std::int64_t levels_ = 0;
  std::int64_t longest_row_ = 0;
  plan plan_;  ///< its rows are moved to rows_
  rows rows_;
  std::vector<predicted_time> predictions_;
  std::vector<predicted_time> trial_;  ///< measured times; empty without a trial
};

}  // namespace sptrsv::SPTRSV_ABI::detail
