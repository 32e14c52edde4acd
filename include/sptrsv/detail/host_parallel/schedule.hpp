// The schedule of host_parallel: which worker solves which rows of a level, and for which workers it waits
// before.
//
// Park, Smelyanskiy, Sundaram, Dubey: Sparsifying Synchronization for High-Performance Shared-Memory Sparse
// Triangular Solver, ISC 2014. Workers take the levels in order. There is no barrier after a level: a worker
// waits for the workers that it depends on, and only if an earlier wait does not imply this one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/host_triangle.hpp"

namespace sptrsv::detail {

/// A wait: until `worker` has finished its rows of all levels up to and including `level`.
template <class Index>
struct host_wait {
  int worker;
  Index level;
};

/// The tasks and the waits of all workers.
template <class Index>
struct host_schedule {
  int workers = 1;
  std::int64_t levels = 0;
  /// Task (l, w) has the index l * workers + w. It solves
  /// rows[task_offsets[task]] ... rows[task_offsets[task + 1] - 1].
  std::vector<Index> task_offsets;
  std::vector<Index> rows;
  /// Task (l, w) first waits for waits[wait_offsets[task]] ... waits[wait_offsets[task + 1] - 1].
  std::vector<std::size_t> wait_offsets;
  std::vector<host_wait<Index>> waits;
};

/// Cuts each level into `workers` runs of consecutive rows with about equal numbers of entries.
template <class Index, class Offset>
void cut_levels(host_schedule<Index>& s, const host_levels<Index>& levels,
                const std::vector<Offset>& row_offsets) {
  const auto cost = [&](Index row) {
    const auto r = static_cast<std::size_t>(row);
    return static_cast<std::int64_t>(row_offsets[r + 1] - row_offsets[r]) + 1;
  };
  s.task_offsets.reserve(static_cast<std::size_t>(levels.count() * s.workers) + 1);
  for (std::int64_t l = 0; l < levels.count(); ++l) {
    Index next = levels.level_offsets[static_cast<std::size_t>(l)];
    const Index end = levels.level_offsets[static_cast<std::size_t>(l) + 1];
    std::int64_t left = 0;
    for (Index p = next; p < end; ++p) {
      left += cost(levels.rows[static_cast<std::size_t>(p)]);
    }
    for (int w = 0; w < s.workers; ++w) {
      s.task_offsets.push_back(next);
      const std::int64_t share = (left + s.workers - w - 1) / (s.workers - w);
      for (std::int64_t taken = 0; next < end && taken < share; ++next) {
        taken += cost(levels.rows[static_cast<std::size_t>(next)]);
        left -= cost(levels.rows[static_cast<std::size_t>(next)]);
      }
    }
  }
  s.task_offsets.push_back(static_cast<Index>(levels.rows.size()));
}

/// Makes the schedule for a triangle and its levels. A wait is left out if an earlier wait of the same worker
/// implies it.
template <class Index, class Offset>
host_schedule<Index> make_schedule(const host_levels<Index>& levels, const std::vector<Offset>& row_offsets,
                                   const std::vector<Index>& columns, int workers) {
  host_schedule<Index> s;
  s.workers = workers;
  s.levels = levels.count();
  s.rows = levels.rows;
  cut_levels(s, levels, row_offsets);

  const auto n_workers = static_cast<std::size_t>(workers);
  const std::size_t tasks = s.task_offsets.size() - 1;
  std::vector<int> worker_of_row(s.rows.size());
  for (std::size_t task = 0; task < tasks; ++task) {
    for (Index p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
      worker_of_row[static_cast<std::size_t>(s.rows[static_cast<std::size_t>(p)])] =
          static_cast<int>(task % n_workers);
    }
  }
  // [w][other]: the last level of `other` that w has waited for.
  std::vector<Index> waited(n_workers * n_workers, Index{-1});
  std::vector<Index> needed(n_workers);
  for (std::size_t task = 0; task < tasks; ++task) {
    s.wait_offsets.push_back(s.waits.size());
    const std::size_t w = task % n_workers;
    std::fill(needed.begin(), needed.end(), Index{-1});
    for (Index p = s.task_offsets[task]; p < s.task_offsets[task + 1]; ++p) {
      const auto row = static_cast<std::size_t>(s.rows[static_cast<std::size_t>(p)]);
      for (Offset e = row_offsets[row]; e < row_offsets[row + 1]; ++e) {
        const auto column = static_cast<std::size_t>(columns[static_cast<std::size_t>(e)]);
        Index& level = needed[static_cast<std::size_t>(worker_of_row[column])];
        level = std::max(level, levels.level_of_row[column]);
      }
    }
    for (std::size_t other = 0; other < n_workers; ++other) {
      if (other != w && needed[other] > waited[w * n_workers + other]) {
        waited[w * n_workers + other] = needed[other];
        s.waits.push_back({static_cast<int>(other), needed[other]});
      }
    }
  }
  s.wait_offsets.push_back(s.waits.size());
  return s;
}

}  // namespace sptrsv::detail
