// SPDX-License-Identifier: Apache-2.0
// The choice of host_parallel among its paths and numbers of workers, by the cost model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/host_parallel/host_parallel_cost_model.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The ways in which host_parallel solves a system.
enum class host_path {
  natural,   ///< one worker, natural order
  windows,   ///< one worker, level order inside windows
  pipeline,  ///< level order inside windows, which are dealt to the workers
  levels,    ///< level order; all workers share each level
};

/// Returns the name of a path in solver_info.
inline const char* name_of(host_path path) {
  constexpr const char* names[] = {"natural", "windows", "pipeline", "levels"};
  return names[static_cast<int>(path)];
}

/// A way to solve a triangle.
template <class Index>
struct host_plan {
  host_path path = host_path::natural;
  host_schedule<Index> schedule;
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< predicted time of a solve
};

/// Makes plans for a triangle.
template <class Index, class Offset>
class host_planner {
 public:
  /// Rows of a window, at most. L1 holds x and b of a window, and L2 its entries. Smaller windows have fewer
  /// independent rows: too few on a grid with lines of 1000 points.
  static constexpr std::int64_t window_rows = 4096;
  /// The windows are chosen if they are predicted to take less than this part of the time of natural order.
  /// It is about the error of the predictions.
  static constexpr double windows_gain = 0.85;
  /// Several workers are considered if they are predicted to take less than this part of the time of one.
  /// They must gain more than windows, because other programs may need the cores.
  static constexpr double workers_gain = 0.7;

  /// `t` must outlive the planner.
  ///
  /// @param levels levels of the triangle.
  host_planner(const host_triangle<Index, Offset>& t, std::int64_t levels) : t_(t), levels_(levels) {}

  /// Returns the plan of one worker with the shortest predicted time.
  host_plan<Index> plan_one_worker() {
    host_order<Index> natural = natural_order<Index>(size());
    const double natural_time = one_worker_nanoseconds(natural, t_);
    order_ = window_order(t_, window_rows, true);
    const double windows_time = one_worker_nanoseconds(order_, t_);
    predictions_.push_back({name_of(host_path::natural), natural_time});
    predictions_.push_back({name_of(host_path::windows), windows_time});
    return windows_time < windows_gain * natural_time
               ? host_plan<Index>{host_path::windows, deal_windows(order_, t_, 1), windows_time}
               : host_plan<Index>{host_path::natural, deal_windows(natural, t_, 1), natural_time};
  }

  /// Returns the plan of a number of workers with the shortest predicted time.
  host_plan<Index> plan_workers(int workers) {
    host_plan<Index> best;
    consider_workers(host_path::pipeline, workers, best);
    consider_workers(host_path::levels, workers, best);
    return best;
  }

  /// Returns the plan with the shortest predicted time of 2 to `available` workers, or nothing if none is
  /// predicted to be clearly faster than `one_worker`, the time of the best plan of one worker. Takes so few
  /// workers that they are busy most of the time.
  std::optional<host_plan<Index>> plan_busy_workers(double one_worker, int available) {
    if (one_worker - one_worker / available <= host_costs::start) {
      return std::nullopt;
    }
    host_plan<Index> best;
    best.nanoseconds = workers_gain * one_worker;
    // Four windows for each worker, or smaller windows for two.
    consider_busy_workers(
        host_path::pipeline,
        std::min<std::int64_t>(available, std::max<std::int64_t>(2, size() / (4 * window_rows))), one_worker,
        best);
    // Each level has a wait, which must not take longer than the work of a worker. If the pipeline keeps
    // all workers busy, there is nothing left to gain.
    const double wide_enough = one_worker / (static_cast<double>(levels_) * host_costs::wait);
    if (best.path != host_path::pipeline || best.nanoseconds > one_worker / (0.9 * available)) {
      consider_busy_workers(host_path::levels,
                            static_cast<std::int64_t>(std::min<double>(available, wide_enough)), one_worker,
                            best);
    }
    return best.schedule.workers > 1 ? std::optional(std::move(best)) : std::nullopt;
  }

  /// Returns the predicted times of all plans that were compared.
  [[nodiscard]] const std::vector<predicted_time>& predictions() const { return predictions_; }

 private:
  [[nodiscard]] std::int64_t size() const { return t_.size(); }

  /// Makes `best` the plan of a path with at most `workers` workers if it is faster. Takes so few workers
  /// that they are busy at least half of the time, compared with the `one_worker` nanoseconds of one.
  void consider_busy_workers(host_path path, std::int64_t workers, double one_worker,
                             host_plan<Index>& best) {
    for (; workers > 1; workers /= 2) {
      const double busy = 2 * one_worker / static_cast<double>(workers);
      if (consider_workers(path, static_cast<int>(workers), best, busy) < busy) {
        return;
      }
    }
  }

  /// Makes `best` the plan of a path if it is predicted to be faster and to take less than `limit`. Returns
  /// the predicted time.
  double consider_workers(host_path path, int workers, host_plan<Index>& best,
                          double limit = std::numeric_limits<double>::infinity()) {
    const bool pipeline = path == host_path::pipeline;
    const std::int64_t window =
        pipeline ? std::clamp<std::int64_t>(size() / (4 * workers), 16, window_rows) : size();
    if (order_.window != window || order_.by_length != pipeline) {
      order_ = window_order(t_, window, pipeline);
    }
    host_schedule<Index> schedule =
        pipeline ? deal_windows(order_, t_, workers) : share_steps(order_, t_, workers);
    const double time = many_workers_nanoseconds(schedule, order_, t_);
    predictions_.push_back(
        {std::string(name_of(path)) + " with " + std::to_string(workers) + " workers", time});
    if (time < std::min(limit, best.nanoseconds)) {
      best = {path, std::move(schedule), time};
    }
    return time;
  }

  const host_triangle<Index, Offset>& t_;
  std::int64_t levels_;
  host_order<Index> order_;  ///< level order inside windows, as considered last
  std::vector<predicted_time> predictions_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
