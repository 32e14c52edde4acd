// SPDX-License-Identifier: Apache-2.0
// The choice of host_parallel among its paths and numbers of workers: in the analysis by the cost model, and
// for each solve by the times of those before.
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

/// Decides for each solve whether several workers take part. They do as long as they are faster than one.
/// When they lose time, because other processes use the cores, one worker solves for a multiple of this time
/// before the next attempt. The multiple grows with each loss, so that attempts cost less than 1 % in the
/// end.
class worker_record {
 public:
  /// Solves by several workers until the time of one worker is measured again.
  static constexpr int trusted_solves = 64;

  worker_record() = default;
  /// `one_worker`: time of a solve by one worker with one right-hand side, in nanoseconds.
  explicit worker_record(double one_worker) : columns_(1), one_worker_(one_worker) {}

  /// Returns whether several workers are to solve for `columns` right-hand sides.
  [[nodiscard]] bool takes_several(std::int64_t columns) const {
    return columns == columns_ && debt_ <= 0 && solves_ < trusted_solves;
  }
  /// Takes over the time of a solve in nanoseconds.
  void add(bool by_several, std::int64_t columns, double nanoseconds) {
    if (!by_several) {
      one_worker_ = columns == columns_ ? one_worker_ + (nanoseconds - one_worker_) / 4 : nanoseconds;
      columns_ = columns;
      debt_ -= nanoseconds;
      solves_ = 0;
    } else if (const double lost = nanoseconds - one_worker_; lost > 0) {
      debt_ = rest_ * lost;
      rest_ = std::min(4 * rest_, 128.0);
    } else {
      ++solves_;
      rest_ = std::max(0.9 * rest_, 2.0);
    }
  }

 private:
  std::int64_t columns_ = 0;  ///< of the latest solve by one worker
  double one_worker_ = 0;     ///< its average time, in nanoseconds
  double debt_ = 0;           ///< time of one worker until the next attempt
  double rest_ = 2;           ///< this time as a multiple of the time that is lost next
  int solves_ = 0;            ///< by several workers since the latest solve by one
};

}  // namespace sptrsv::SPTRSV_ABI::detail
