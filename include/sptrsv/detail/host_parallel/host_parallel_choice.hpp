// SPDX-License-Identifier: Apache-2.0
// The choice of host_parallel among its paths and numbers of workers: in the analysis by predicted times, and
// for each solve by the times of those before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/host_parallel/host_parallel_schedule.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// What a core spends on the parts of a solve, in nanoseconds; measured on an AMD EPYC 9005 (Zen 5) with
/// double precision (docs/lab_log/host.md). The choice of a schedule depends on their ratios only.
struct host_costs {
  static constexpr double row = 0.9;          ///< of a row without entries, if nothing is waited for
  static constexpr double entry = 0.4;        ///< of an entry, if nothing is waited for
  static constexpr double misprediction = 3;  ///< of a row whose length is not predicted
  /// From the division that gives a component to the product in a row that needs it: store, load,
  /// multiplication.
  static constexpr double hand_on = 3;
  static constexpr double subtraction = 0.6;     ///< latency
  static constexpr double division = 2.6;        ///< latency
  static constexpr std::int64_t in_flight = 75;  ///< entries at work at once; a row counts as two more
  static constexpr double wait = 300;     ///< from the end of a task to the start of a task of another core
  static constexpr double start = 15000;  ///< of a parallel region
  /// Of a row of a level whose line of x and line of b come from L3 or memory: it is far from the row before
  /// it, in a system with many rows.
  static constexpr double scattered = 2.2;
  static constexpr std::int64_t line_rows = 8;
  static constexpr std::int64_t many_rows = 32768;
};

/// Predicts times of solves of a triangle and makes the schedules that are predicted to be fastest.
template <class Index, class Offset>
class host_planner {
 public:
  using schedule = host_schedule<Index>;

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
  host_planner(const host_triangle<Index, Offset>& t, std::int64_t levels)
      : t_(t),
        waits_(host_costs::wait * static_cast<double>(levels)),
        windows_(window_order(t, window_rows)),
        windows_time_(predict(windows_.rows)) {}

  /// Returns the schedule of one worker with the shortest predicted time.
  schedule plan_one_worker() {
    const host_order<Index> natural = natural_order<Index>(t_.size());
    const double natural_time = predict(natural.rows);
    predictions_ = {{name_of(host_path::natural), natural_time},
                    {name_of(host_path::windows), windows_time_}};
    const bool takes_windows = windows_time_ < windows_gain * natural_time;
    schedule made = deal_windows(takes_windows ? windows_ : natural, t_, 1);
    made.path = takes_windows ? host_path::windows : host_path::natural;
    made.nanoseconds = takes_windows ? windows_time_ : natural_time;
    return made;
  }

  /// Returns the schedule of a number of workers with the shortest predicted time. Levels are considered only
  /// if less than `limit` is possible.
  schedule plan_workers(int workers, double limit = std::numeric_limits<double>::infinity()) {
    const std::int64_t window = std::clamp<std::int64_t>(t_.size() / (4 * workers), 16, window_rows);
    schedule pipeline =
        deal_windows(window == window_rows ? windows_ : window_order(t_, window), t_, workers);
    // Rows of a window wait for each other as in the windows of one worker.
    const double unit = windows_time_ / static_cast<double>(t_.size() + count_of(t_.columns));
    predict(host_path::pipeline, unit, unit, 0, pipeline);
    // There is little to gain if the pipeline keeps all workers busy.
    const double busy = pipeline.nanoseconds < limit ? 0.9 : 1;
    const double best = std::min(limit, pipeline.nanoseconds) - host_costs::start;
    if (windows_time_ / workers + waits_ < busy * best) {
      schedule levels = share_levels(t_, workers);
      predict(host_path::levels, host_costs::row, host_costs::entry,
              t_.size() > host_costs::many_rows ? host_costs::scattered : 0, levels);
      if (levels.nanoseconds < pipeline.nanoseconds) {
        return levels;
      }
    }
    return pipeline;
  }

  /// Returns the schedule of 2 to `available` workers, as many as are busy at least half of the time, or
  /// nothing if they are not predicted to be clearly faster than `one_worker`, the time of one worker.
  std::optional<schedule> plan_busy_workers(double one_worker, int available) {
    if (one_worker - one_worker / available <= host_costs::start) {
      return std::nullopt;
    }
    // Four windows for each worker, or smaller windows for two; or levels with more work than a wait takes.
    const double most =
        std::max({2.0, static_cast<double>(t_.size() / (4 * window_rows)), one_worker / waits_});
    for (int workers = static_cast<int>(std::min<double>(available, most)); workers > 1; workers /= 2) {
      const double limit = std::min(workers_gain, 2.0 / workers) * one_worker;
      schedule made = plan_workers(workers, limit);
      if (made.nanoseconds < limit) {
        return made;
      }
    }
    return std::nullopt;
  }

  /// Returns the predicted times of all schedules that were compared.
  [[nodiscard]] const std::vector<predicted_time>& predictions() const { return predictions_; }

 private:
  /// Returns the predicted time of a solve by one worker, with one right-hand side. A row starts when the
  /// rows are solved that are `in_flight` entries before it. Only 16 pieces of a large system are predicted.
  [[nodiscard]] double predict(const std::vector<Index>& rows) const {
    constexpr std::size_t piece = 4096;
    const std::size_t stride = (rows.size() / piece + 16) / 16 * piece;
    std::vector<double> solved(rows.size(), 0);  // by row
    std::array<std::int64_t, 64>
        next_length{};  // by length of a row: that of the row after it, the last time
    std::int64_t length_before = 0;
    double now = 0;
    double end = 0;
    double units = 0;  // rows and entries that are predicted
    for (std::size_t first = 0; first < rows.size(); first += stride) {
      std::size_t oldest = first;
      std::int64_t at_work = 0;
      for (std::size_t p = first; p < std::min(rows.size(), first + piece); ++p) {
        const std::size_t row = at(rows[p]);
        const std::int64_t length = t_.length(rows[p]);
        for (at_work += length + 2; at_work > host_costs::in_flight && oldest < p; ++oldest) {
          now = std::max(now, solved[at(rows[oldest])]);
          at_work -= t_.length(rows[oldest]) + 2;
        }
        double time = now;
        for (Offset e = t_.row_offsets[row]; e < t_.row_offsets[row + 1]; ++e) {
          time =
              std::max(time, solved[at(t_.columns[at(e)])] + host_costs::hand_on) + host_costs::subtraction;
        }
        solved[row] = time + host_costs::division;
        end = std::max(end, solved[row]);
        const std::int64_t seen = std::min<std::int64_t>(length, 63);
        const bool is_predicted = std::exchange(next_length[at(length_before)], seen) == seen;
        length_before = seen;
        now += host_costs::row + host_costs::entry * static_cast<double>(length) +
               (is_predicted ? 0 : host_costs::misprediction);
        units += static_cast<double>(1 + length);
      }
    }
    return std::max(now, end) * static_cast<double>(rows.size() + t_.columns.size()) / std::max(units, 1.0);
  }

  /// Predicts the time of a solve by several workers, with one right-hand side, from what a worker spends on
  /// a row, on an entry, and on a row that is far from the row before it.
  void predict(host_path path, double row_time, double entry_time, double far_time, schedule& s) {
    // [worker][k]: when its first k tasks are finished.
    std::vector<std::vector<double>> finished(at(s.workers), {host_costs::start});
    Index before = 0;
    for (std::size_t task = 0; task < s.tasks(); ++task) {
      std::vector<double>& own = finished[at(s.task_workers[task])];
      double time = own.back();
      for (std::size_t i = s.wait_offsets[task]; i < s.wait_offsets[task + 1]; ++i) {
        time = std::max(time, finished[at(s.waits[i].worker)][at(s.waits[i].tasks)] + host_costs::wait);
      }
      for (Index p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
        const Index row = s.rows[at(p)];
        time += row_time + entry_time * static_cast<double>(t_.length(row)) +
                (std::abs(row - before) > host_costs::line_rows ? far_time : 0);
        before = row;
      }
      own.push_back(time);
      s.nanoseconds = std::max(s.nanoseconds, time);
    }
    s.path = path;
    predictions_.push_back(
        {std::string(name_of(path)) + " with " + std::to_string(s.workers) + " workers", s.nanoseconds});
  }

  const host_triangle<Index, Offset>& t_;
  double waits_;               ///< time of a wait for each level
  host_order<Index> windows_;  ///< level order inside windows of window_rows
  double windows_time_;        ///< predicted for one worker
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
