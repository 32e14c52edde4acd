// The engine of host_parallel: solves the levels with several workers that wait for one another point to
// point.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "sptrsv/detail/host_parallel/schedule.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Scalar, class Index, class Offset>
class engine<policy::host_parallel, Scalar, Index, Offset, host_executor> {
  /// The number of levels that a worker has finished. Padded, because one core writes it and others poll it.
  struct alignas(64) progress {
    std::atomic<std::int64_t> levels{0};
  };

 public:
  struct workspace {
    std::unique_ptr<progress[]> done;
    std::int64_t first_nonfinite = -1;
  };

  engine(const policy::host_parallel& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t, const host_executor&, memory_resource&)
      : form_(form) {
    SPTRSV_EXPECTS(policy.workers >= 0, errc::invalid_argument,
                   "host_parallel: a negative number of workers");
    validate_on_host(a, form);
    triangle_ = build_on_host(a, form);
    const host_levels<Index> levels = levels_on_host<Index>(triangle_.row_offsets, triangle_.columns);
    schedule_ = make_schedule(levels, triangle_.row_offsets, triangle_.columns,
                              policy.workers > 0 ? policy.workers : useful_workers(levels.count()));
    values_.resize(triangle_.columns.size());
    diagonal_.resize(triangle_.diagonal_sources.size());
  }

  void update_values(const Scalar* values, const host_executor&) {
    const auto gather = [&](const std::vector<Offset>& sources, std::vector<Scalar>& to) {
      for (std::size_t e = 0; e < sources.size(); ++e) {
        const Scalar v = load_scalar(values + sources[e]);
        to[e] = form_.conjugated ? conjugate(v) : v;
      }
    };
    gather(triangle_.sources, values_);
    gather(triangle_.diagonal_sources, diagonal_);
  }

  workspace make_workspace(const host_executor&, memory_resource&) const {
    return {std::make_unique<progress[]>(static_cast<std::size_t>(schedule_.workers)), -1};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const host_executor&) const {
    for (int w = 0; w < schedule_.workers; ++w) {
      scratch.done[w].levels.store(0, std::memory_order_relaxed);
    }
    std::atomic<std::int64_t> first_nonfinite{std::numeric_limits<std::int64_t>::max()};
    const auto run = [&](int thread, int threads) {
      // A thread executes the tasks of its workers level by level and waits for lower levels only. So any
      // number of threads makes progress, also a single one: OpenMP may start fewer threads than requested.
      for (std::int64_t level = 0; level < schedule_.levels; ++level) {
        for (int w = thread; w < schedule_.workers; w += threads) {
          run_task(level, w, alpha, b, x, scratch, first_nonfinite);
        }
      }
    };
#ifdef _OPENMP
    if (schedule_.workers > 1) {
#pragma omp parallel num_threads(schedule_.workers)
      run(omp_get_thread_num(), omp_get_num_threads());
    } else {
      run(0, 1);
    }
#else
    run(0, 1);
#endif
    const std::int64_t first = first_nonfinite.load();
    scratch.first_nonfinite = first == std::numeric_limits<std::int64_t>::max() ? -1 : first;
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const host_executor&) const {
    return scratch.first_nonfinite;
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace&, const host_executor&) const {
    return !form_.unit && diagonal_[static_cast<std::size_t>(substitution_index)] == Scalar{};
  }

  void describe(solver_info& info, const host_executor& on) const {
    info.device = on.device_name() + ", " + std::to_string(schedule_.workers) + " workers";
    info.kernels = {kernel_info{"level-scheduled substitution by rows, " +
                                std::to_string(schedule_.waits.size()) + " point-to-point waits"}};
    info.entries = static_cast<std::int64_t>(values_.size() + diagonal_.size());
    info.levels = schedule_.levels;
    info.longest_row = triangle_.longest_row();
    info.solver_bytes = bytes(triangle_.row_offsets) + bytes(triangle_.columns) + bytes(triangle_.sources) +
                        bytes(triangle_.diagonal_sources) + bytes(values_) + bytes(diagonal_) +
                        bytes(schedule_.rows) + bytes(schedule_.task_offsets) +
                        bytes(schedule_.wait_offsets) + bytes(schedule_.waits);
    info.workspace_bytes = static_cast<std::size_t>(schedule_.workers) * sizeof(progress);
  }

 private:
  template <class T>
  static std::size_t bytes(const std::vector<T>& v) {
    return v.size() * sizeof(T);
  }

  [[nodiscard]] int useful_workers(std::int64_t levels) const {
#ifdef _OPENMP
    const auto work = static_cast<std::int64_t>(triangle_.columns.size() + triangle_.row_offsets.size());
    const std::int64_t useful =
        work / std::max<std::int64_t>(levels, 1) / policy::host_parallel::entries_per_worker;
    return static_cast<int>(std::clamp<std::int64_t>(useful, 1, omp_get_max_threads()));
#else
    static_cast<void>(levels);
    return 1;
#endif
  }

  void run_task(std::int64_t level, int worker, Scalar alpha, const dense_view<const Scalar>& b,
                const dense_view<Scalar>& x, workspace& scratch,
                std::atomic<std::int64_t>& first_nonfinite) const {
    const auto task = static_cast<std::size_t>(level * schedule_.workers + worker);
    for (std::size_t i = schedule_.wait_offsets[task]; i < schedule_.wait_offsets[task + 1]; ++i) {
      const auto& wait = schedule_.waits[i];
      const std::atomic<std::int64_t>& levels = scratch.done[wait.worker].levels;
      for (int polls = 1; levels.load(std::memory_order_acquire) <= wait.level; ++polls) {
        if (polls % 64 == 0) {
          std::this_thread::yield();  // there may be more threads than cores
        }
      }
    }
    for (Index p = schedule_.task_offsets[task]; p < schedule_.task_offsets[task + 1]; ++p) {
      solve_row(schedule_.rows[static_cast<std::size_t>(p)], alpha, b, x, first_nonfinite);
    }
    scratch.done[worker].levels.store(level + 1, std::memory_order_release);
  }

  void solve_row(Index substitution_index, Scalar alpha, const dense_view<const Scalar>& b,
                 const dense_view<Scalar>& x, std::atomic<std::int64_t>& first_nonfinite) const {
    const auto r = static_cast<std::size_t>(substitution_index);
    const std::int64_t last = static_cast<std::int64_t>(triangle_.row_offsets.size()) - 2;
    const auto row_of = [&](std::int64_t p) { return form_.reversed ? last - p : p; };
    const std::int64_t row = row_of(substitution_index);
    for (std::int64_t k = 0; k < x.columns; ++k) {
      Scalar sum = alpha * load_scalar(b.data + row * b.row_stride + k * b.column_stride);
      for (Offset e = triangle_.row_offsets[r]; e < triangle_.row_offsets[r + 1]; ++e) {
        const auto entry = static_cast<std::size_t>(e);
        const Scalar* const needed =
            x.data + row_of(triangle_.columns[entry]) * x.row_stride + k * x.column_stride;
        sum = sum - values_[entry] * load_scalar(needed);
      }
      const Scalar solved = form_.unit ? sum : divide(sum, diagonal_[r]);
      store_scalar(x.data + row * x.row_stride + k * x.column_stride, solved);
      if (!is_finite(solved)) {
        std::int64_t seen = first_nonfinite.load();
        while (substitution_index < seen &&
               !first_nonfinite.compare_exchange_weak(seen, substitution_index)) {
        }
      }
    }
  }

  triangle_form form_;
  host_triangle<Index, Offset> triangle_;
  host_schedule<Index> schedule_;
  std::vector<Scalar> values_;
  std::vector<Scalar> diagonal_;
};

}  // namespace sptrsv::detail
