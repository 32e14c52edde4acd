// SPDX-License-Identifier: Apache-2.0
// The cost model of host_parallel: the time that a schedule is predicted to take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/host_parallel/host_parallel_schedule.hpp"

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
  static constexpr double subtraction = 0.6;  ///< latency
  static constexpr double division = 2.6;     ///< latency
  /// Of a row in an order without locality: the line of x and the line of b come from L2, or from L3 and
  /// memory.
  static constexpr double from_l2 = 0.5;
  static constexpr double from_l3 = 2.2;
  static constexpr std::int64_t l1_rows = 8192;  ///< rows of a window that stays in L1 and costs nothing more
  static constexpr std::int64_t l2_rows = 65536;  ///< rows of a window that stays in L2
  static constexpr std::int64_t line_rows = 8;    ///< rows at this distance share cache lines
  static constexpr double wait = 300;     ///< from the end of a task to the start of a task of another core
  static constexpr double start = 15000;  ///< of a parallel region
  static constexpr std::int64_t in_flight = 75;  ///< entries at work at once; a row counts as two more
};

/// A core that issues rows in order, and executes and retires them as an out-of-order core does. It starts
/// with an idle core and no knowledge of lengths.
class host_core {
 public:
  /// Starts no row before `time`.
  void wait_until(double time) { issued_ = std::max(issued_, time); }
  /// Returns when all rows are solved.
  [[nodiscard]] double finish() const { return std::max(issued_, retired_); }

  /// Issues the next row. Returns when it starts, if it waits for no component.
  double issue(std::int64_t row, std::int64_t length, double locality) {
    const std::int64_t units = length + 2;
    while (units_ + units > host_costs::in_flight && first_ != last_) {
      const flight& oldest = ring_[first_++ % ring_.size()];
      issued_ = std::max(issued_, oldest.retired);
      units_ -= oldest.units;
    }
    const double start = issued_;
    issued_ += host_costs::row + host_costs::entry * static_cast<double>(length);
    // The length that followed the length before this row the last time is predicted.
    const auto seen = static_cast<std::size_t>(std::min(length, max_length));
    if (next_length_[length_] != seen) {
      issued_ += host_costs::misprediction;
      next_length_[length_] = seen;
    }
    length_ = seen;
    if (std::abs(row - row_) > host_costs::line_rows) {
      issued_ += locality;
    }
    row_ = row;
    return start;
  }

  /// Takes over the time at which the row that was issued last has its component.
  void solve(double time, std::int64_t length) {
    retired_ = std::max(retired_, time);
    ring_[last_++ % ring_.size()] = {retired_, length + 2};
    units_ += length + 2;
  }

 private:
  struct flight {
    double retired;
    std::int64_t units;
  };
  static constexpr std::int64_t max_length = 63;

  double issued_ = 0;
  double retired_ = 0;
  std::array<flight, 128> ring_{};  // more rows than in_flight / 2
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::int64_t units_ = 0;
  std::array<std::size_t, max_length + 1> next_length_{};
  std::size_t length_ = 0;
  std::int64_t row_ = -1;
};

/// The rows that are modelled as one piece, and at most how many pieces of a system are modelled.
inline constexpr std::size_t host_sample_rows = 4096;
inline constexpr std::size_t host_samples = 16;

/// Returns the predicted time of a solve by one worker in nanoseconds, with one right-hand side. Executes
/// rows on a modelled core, in the order in which they are solved, but only some pieces of a large system.
template <class Index, class Offset>
double one_worker_nanoseconds(const host_order<Index>& order, const host_triangle<Index, Offset>& t) {
  const std::size_t size = order.rows.size();
  const std::size_t pieces = (size + host_sample_rows - 1) / host_sample_rows;
  const std::size_t stride = (pieces + host_samples - 1) / host_samples;
  std::vector<double> solved(size, 0);  // by row; rows of other pieces are solved before
  double sum = 0;
  double modelled = 0;  // rows and entries
  for (std::size_t piece = 0; piece < pieces; piece += stride) {
    host_core core;
    const std::size_t first = piece * host_sample_rows;
    const std::size_t end = std::min(size, first + host_sample_rows);
    for (std::size_t p = first; p < end; ++p) {
      const auto row = static_cast<std::size_t>(order.rows[p]);
      const std::int64_t length = t.length(order.rows[p]);
      double time = core.issue(static_cast<std::int64_t>(row), length, 0);
      for (Offset e = t.row_offsets[row]; e < t.row_offsets[row + 1]; ++e) {
        const auto column = static_cast<std::size_t>(t.columns[at(e)]);
        time = std::max(time, solved[column] + host_costs::hand_on) + host_costs::subtraction;
      }
      solved[row] = time + host_costs::division;
      core.solve(solved[row], length);
      modelled += static_cast<double>(1 + length);
    }
    std::for_each(order.rows.begin() + static_cast<std::ptrdiff_t>(first),
                  order.rows.begin() + static_cast<std::ptrdiff_t>(end),
                  [&](Index row) { solved[at(row)] = 0; });
    sum += core.finish();
  }
  return modelled == 0 ? 0 : sum / modelled * static_cast<double>(size + t.columns.size());
}

/// Returns the predicted time of a solve by several workers in nanoseconds, with one right-hand side.
/// Executes the tasks of `s`, which was made of `order`. A task takes at least as long as its steps, one
/// after the other.
template <class Index, class Offset>
double many_workers_nanoseconds(const host_schedule<Index>& s, const host_order<Index>& order,
                                const host_triangle<Index, Offset>& t) {
  double locality = 0;
  if (order.window > host_costs::l1_rows) {
    locality = order.window > host_costs::l2_rows ? host_costs::from_l3 : host_costs::from_l2;
  }
  std::vector<host_core> cores(at(s.workers));
  std::vector<std::vector<double>> finished(cores.size());  // by worker and its tasks
  const double step = host_costs::hand_on + host_costs::subtraction + host_costs::division;
  double end = 0;
  for (std::size_t task = 0; task < s.tasks(); ++task) {
    const auto worker = static_cast<std::size_t>(s.task_workers[task]);
    host_core& core = cores[worker];
    for (std::size_t i = s.wait_offsets[task]; i < s.wait_offsets[task + 1]; ++i) {
      const host_wait& wait = s.waits[i];
      core.wait_until(finished[at(wait.worker)][at(wait.tasks) - 1] + host_costs::wait);
    }
    const auto steps_at = [&](Index p) { return order.steps[at(s.rows[at(p)])]; };
    const Index steps = steps_at(s.task_offsets[task + 1] - 1) - steps_at(s.task_offsets[task]);
    const double last_step = core.finish() + static_cast<double>(steps) * step;
    for (Index p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
      const Index row = s.rows[at(p)];
      core.issue(static_cast<std::int64_t>(row), t.length(row), locality);
    }
    core.wait_until(last_step);
    finished[worker].push_back(core.finish());
    end = std::max(end, core.finish());
  }
  return host_costs::start + end;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
