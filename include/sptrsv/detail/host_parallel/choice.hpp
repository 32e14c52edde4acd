// The choice of host_parallel among its paths and numbers of workers, by the cost model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/host_parallel/cost_model.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::detail {

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

/// What the analysis decided.
template <class Index>
struct host_plan {
  host_path path = host_path::natural;
  host_schedule<Index> schedule;
  double nanoseconds =
      std::numeric_limits<double>::infinity();  ///< predicted time of a solve, or a limit of it
  std::vector<predicted_time> predictions;      ///< of all that was compared
};

/// Makes the plan of a triangle.
template <class Index, class Offset>
class host_planner {
 public:
  /// Rows of a window, at most. L1 holds x and b of a window, and L2 its entries. Smaller windows have fewer
  /// independent rows: too few on a grid with lines of 1000 points.
  static constexpr std::int64_t window_rows = 4096;
  /// The windows are chosen if they are predicted to take less than this part of the time of natural order.
  /// It is about the error of the predictions.
  static constexpr double windows_gain = 0.85;
  /// Several workers are chosen if they are predicted to take less than this part of the time of one. They
  /// must gain more, because other programs may need the cores, and a worker without a core stops the others.
  static constexpr double workers_gain = 0.7;

  /// `t` must outlive the planner.
  ///
  /// @param levels levels of the triangle.
  host_planner(const host_triangle<Index, Offset>& t, std::int64_t levels) : t_(t), levels_(levels) {}

  /// Returns the plan with the shortest predicted time. May be called once.
  ///
  /// @param asked number of workers; 0: as many as are busy most of the time, but no more than `available`.
  host_plan<Index> plan(int asked, int available) {
    if (asked > 1) {
      consider_workers(host_path::pipeline, asked);
      consider_workers(host_path::levels, asked);
      return std::move(best_);
    }
    consider_one_worker();
    const double one_worker = best_.nanoseconds;
    if (asked == 0 && one_worker - one_worker / available > costs_.start) {
      best_.nanoseconds *= workers_gain;
      // Four windows for each worker, or smaller windows for two.
      consider_busy_workers(
          host_path::pipeline,
          std::min<std::int64_t>(available, std::max<std::int64_t>(2, size() / (4 * window_rows))),
          one_worker);
      // Each level has a wait, which must not take longer than the work of a worker. If the pipeline keeps
      // all workers busy, there is nothing left to gain.
      const double wide_enough = one_worker / (static_cast<double>(levels_) * costs_.wait);
      if (best_.path != host_path::pipeline || best_.nanoseconds > one_worker / (0.9 * available)) {
        consider_busy_workers(host_path::levels,
                              static_cast<std::int64_t>(std::min<double>(available, wide_enough)),
                              one_worker);
      }
    }
    return std::move(best_);
  }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(t_.row_offsets.size()) - 1; }

  void consider_one_worker() {
    host_order<Index> natural = natural_order<Index>(size());
    const double natural_time = one_worker_nanoseconds(natural, t_, costs_);
    order_ = window_order(t_, window_rows, true);
    const double windows_time = one_worker_nanoseconds(order_, t_, costs_);
    best_.predictions = {{name_of(host_path::natural), natural_time},
                         {name_of(host_path::windows), windows_time}};
    const bool windows = windows_time < windows_gain * natural_time;
    best_.path = windows ? host_path::windows : host_path::natural;
    best_.schedule = deal_windows(windows ? order_ : natural, t_, 1);
    best_.nanoseconds = windows ? windows_time : natural_time;
  }

  /// Takes a path with at most `workers` workers as the plan if it is faster than the plan so far. Takes so
  /// few workers that they are busy at least half of the time, compared with the `one_worker` nanoseconds of
  /// one.
  void consider_busy_workers(host_path path, std::int64_t workers, double one_worker) {
    for (; workers > 1; workers /= 2) {
      const double busy = 2 * one_worker / static_cast<double>(workers);
      if (consider_workers(path, static_cast<int>(workers), busy) < busy) {
        return;
      }
    }
  }

  /// Takes a path as the plan if it is predicted to be faster than the plan so far and to take less than
  /// `limit`. Returns the predicted time.
  double consider_workers(host_path path, int workers,
                          double limit = std::numeric_limits<double>::infinity()) {
    const bool pipeline = path == host_path::pipeline;
    const std::int64_t window =
        pipeline ? std::clamp<std::int64_t>(size() / (4 * workers), 16, window_rows) : size();
    if (order_.window != window || order_.by_length != pipeline) {
      order_ = window_order(t_, window, pipeline);
    }
    host_schedule<Index> schedule =
        pipeline ? deal_windows(order_, t_, workers) : share_steps(order_, t_, workers);
    const double time = many_workers_nanoseconds(schedule, order_, t_, costs_);
    best_.predictions.push_back(
        {std::string(name_of(path)) + " with " + std::to_string(workers) + " workers", time});
    if (time < std::min(limit, best_.nanoseconds)) {
      best_.path = path;
      best_.schedule = std::move(schedule);
      best_.nanoseconds = time;
    }
    return time;
  }

  const host_triangle<Index, Offset>& t_;
  std::int64_t levels_;
  host_costs costs_;
  host_order<Index> order_;  ///< level order inside windows, as considered last
  host_plan<Index> best_;
};

}  // namespace sptrsv::detail
