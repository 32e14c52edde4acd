// The engine of host_parallel: keeps the triangle in the order in which rows are solved, and runs the tasks
// of the schedule.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "sptrsv/detail/base/plan_text.hpp"
#include "sptrsv/detail/host_parallel/choice.hpp"
#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Scalar, class Index, class Offset>
class engine<policy::host_parallel, Scalar, Index, Offset, host_executor> {
 public:
  struct workspace {
    std::unique_ptr<host_progress[]> progress;  ///< by worker
    std::int64_t first_nonfinite = -1;

    void reset(const host_executor&) {}
  };

  engine(const policy::host_parallel& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t, const host_executor&, memory_resource&)
      : form_(form) {
    SPTRSV_EXPECTS(policy.workers >= 0, errc::invalid_argument,
                   "host_parallel: a negative number of workers");
    validate_on_host(a, form);
    const host_triangle<Index, Offset> t = build_in_serial_order(a, form);
    std::vector<Index> level_of_row;
    levels_ = find_levels(t.row_offsets, t.columns, level_of_row);
    longest_row_ = t.longest_row();
    plan_ = host_planner<Index, Offset>(t, levels_).plan(policy.workers, available_workers());
    store_in_solve_order(t);
  }

  void update_values(const Scalar* values, const host_executor&) {
    const auto gather = [&](const std::vector<Offset>& sources, std::vector<Scalar>& to) {
      for (std::size_t e = 0; e < sources.size(); ++e) {
        const Scalar v = load_scalar(values + sources[e]);
        to[e] = form_.conjugated ? conjugate(v) : v;
      }
    };
    gather(sources_, values_);
    gather(diagonal_sources_, diagonal_);
  }

  workspace make_workspace(const host_executor&, memory_resource&) const {
    return {std::make_unique<host_progress[]>(static_cast<std::size_t>(schedule().workers)), -1};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const host_executor&) const {
    for (int w = 0; w < schedule().workers; ++w) {
      scratch.progress[w].tasks.store(0, std::memory_order_relaxed);
    }
    std::atomic<std::int64_t> first_nonfinite{no_row};
    const auto run = [&](int thread, int threads) {
      run_tasks(schedule(), scratch.progress.get(), thread, threads, [&](Index first, Index end) {
        const std::int64_t seen = solve_rows(first, end, alpha, b, x);
        std::int64_t before = first_nonfinite.load(std::memory_order_relaxed);
        while (seen < before && !first_nonfinite.compare_exchange_weak(before, seen)) {
        }
      });
    };
#ifdef _OPENMP
    if (schedule().workers > 1) {
      // OpenMP may start fewer threads than requested.
#pragma omp parallel num_threads(schedule().workers)
      run(omp_get_thread_num(), omp_get_num_threads());
    } else {
      run(0, 1);
    }
#else
    run(0, 1);
#endif
    const std::int64_t first = first_nonfinite.load();
    scratch.first_nonfinite = first == no_row ? -1 : first;
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const host_executor&) const {
    return scratch.first_nonfinite;
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace&, const host_executor&) const {
    if (form_.unit) {
      return false;
    }
    const auto row = static_cast<Index>(stored_row(substitution_index));
    return diagonal_[static_cast<std::size_t>(std::find(rows_.begin(), rows_.end(), row) - rows_.begin())] ==
           Scalar{};
  }

  void describe(solver_info& info, const host_executor& on) const {
    const std::string waits = std::to_string(schedule().waits.size()) + " point-to-point waits";
    switch (plan_.path) {
      case host_path::natural:
        info.kernels = {kernel_info{"substitution by rows in natural order"}};
        break;
      case host_path::windows:
        info.kernels = {kernel_info{"substitution by rows in level order inside windows"}};
        break;
      case host_path::pipeline:
        info.kernels = {kernel_info{"substitution by rows in level order inside windows, " + waits}};
        break;
      case host_path::levels:
        info.kernels = {kernel_info{"level-scheduled substitution by rows, " + waits}};
        break;
    }
    info.device = on.device_name() + ", " + std::to_string(schedule().workers) +
                  (schedule().workers == 1 ? " worker" : " workers");
    info.path = name_of(plan_.path);
    info.predictions = plan_.predictions;
    info.plan = info.path + ", by the predicted time of a solve: " + to_text(plan_.predictions);
    info.entries = static_cast<std::int64_t>(values_.size() + diagonal_.size());
    info.levels = levels_;
    info.longest_row = longest_row_;
    info.solver_bytes = bytes(rows_) + bytes(row_offsets_) + bytes(columns_) + bytes(sources_) +
                        bytes(diagonal_sources_) + bytes(values_) + bytes(diagonal_) +
                        bytes(schedule().task_offsets) + bytes(schedule().task_workers) +
                        bytes(schedule().wait_offsets) + bytes(schedule().waits);
    info.workspace_bytes = static_cast<std::size_t>(schedule().workers) * sizeof(host_progress);
  }

 private:
  static constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

  template <class T>
  static std::size_t bytes(const std::vector<T>& v) {
    return v.size() * sizeof(T);
  }

  /// Returns how many threads OpenMP would start.
  static int available_workers() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
  }

  [[nodiscard]] const host_schedule<Index>& schedule() const { return plan_.schedule; }

  /// Returns the row (column) of the stored matrix with a substitution index, and the other way round.
  [[nodiscard]] std::int64_t stored_row(std::int64_t substitution_index) const {
    return form_.reversed ? size_ - 1 - substitution_index : substitution_index;
  }

  void store_in_solve_order(const host_triangle<Index, Offset>& t) {
    rows_ = std::move(plan_.schedule.rows);
    size_ = static_cast<std::int64_t>(rows_.size());
    row_offsets_.resize(rows_.size() + 1);
    columns_.resize(t.columns.size());
    sources_.resize(t.sources.size());
    diagonal_sources_.resize(t.diagonal_sources.size());
    std::size_t next = 0;
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const auto row = static_cast<std::size_t>(rows_[p]);
      for (auto e = static_cast<std::size_t>(t.row_offsets[row]);
           e < static_cast<std::size_t>(t.row_offsets[row + 1]); ++e, ++next) {
        columns_[next] = static_cast<Index>(stored_row(t.columns[e]));
        sources_[next] = t.sources[e];
      }
      row_offsets_[p + 1] = static_cast<Offset>(next);
      if (!form_.unit) {
        diagonal_sources_[p] = t.diagonal_sources[row];
      }
      rows_[p] = static_cast<Index>(stored_row(rows_[p]));
    }
    values_.resize(columns_.size());
    diagonal_.resize(diagonal_sources_.size());
  }

  /// Calls the solve_rows for these strides and diagonal.
  std::int64_t solve_rows(Index first, Index end, Scalar alpha, const dense_view<const Scalar>& b,
                          const dense_view<Scalar>& x) const {
    const bool unit_stride = b.row_stride == 1 && x.row_stride == 1;
    if (form_.unit) {
      return unit_stride ? solve_rows<true, true>(first, end, alpha, b, x)
                         : solve_rows<false, true>(first, end, alpha, b, x);
    }
    return unit_stride ? solve_rows<true, false>(first, end, alpha, b, x)
                       : solve_rows<false, false>(first, end, alpha, b, x);
  }

  /// Solves the rows with solve indices first ... end - 1 for all right-hand sides, four at a time. Returns
  /// the smallest substitution index of a row whose component is not finite, or no_row.
  template <bool UnitStride, bool UnitDiagonal>
  std::int64_t solve_rows(Index first, Index end, Scalar alpha, const dense_view<const Scalar>& b,
                          const dense_view<Scalar>& x) const {
    bool is_finite_so_far = true;
    std::int64_t column = 0;
    for (; column + 4 <= x.columns; column += 4) {
      is_finite_so_far &= solve_columns<UnitStride, UnitDiagonal, 4>(first, end, column, alpha, b, x);
    }
    for (; column < x.columns; ++column) {
      is_finite_so_far &= solve_columns<UnitStride, UnitDiagonal, 1>(first, end, column, alpha, b, x);
    }
    return is_finite_so_far ? no_row : first_nonfinite(first, end, x);
  }

  /// Does the same for right-hand sides column ... column + Columns - 1. Returns whether all components are
  /// finite. The loop over the rows is short, so that a core works on many rows at once.
  template <bool UnitStride, bool UnitDiagonal, int Columns>
  bool solve_columns(Index first, Index end, std::int64_t column, Scalar alpha,
                     const dense_view<const Scalar>& b, const dense_view<Scalar>& x) const {
    const Index* const rows = rows_.data();
    const Offset* const row_offsets = row_offsets_.data();
    const Index* const columns = columns_.data();
    const Scalar* const values = values_.data();
    const Scalar* const diagonal = diagonal_.data();
    const std::int64_t b_stride = UnitStride ? 1 : b.row_stride;
    const std::int64_t x_stride = UnitStride ? 1 : x.row_stride;
    const std::int64_t b_column_stride = b.column_stride;
    const std::int64_t x_column_stride = x.column_stride;
    const Scalar* const from = b.data + column * b_column_stride;
    Scalar* const to = x.data + column * x_column_stride;
    bool is_finite_so_far = true;
    auto e = static_cast<std::int64_t>(row_offsets[first]);
    for (auto p = static_cast<std::int64_t>(first); p < static_cast<std::int64_t>(end); ++p) {
      const auto row = static_cast<std::int64_t>(rows[p]);
      std::array<Scalar, Columns> sum;
      for (int k = 0; k < Columns; ++k) {
        sum[k] = alpha * load_scalar(from + row * b_stride + k * b_column_stride);
      }
      for (const auto row_end = static_cast<std::int64_t>(row_offsets[p + 1]); e < row_end; ++e) {
        const Scalar value = values[e];
        const Scalar* const solved = to + columns[e] * x_stride;
        for (int k = 0; k < Columns; ++k) {
          sum[k] = sum[k] - value * load_scalar(solved + k * x_column_stride);
        }
      }
      for (int k = 0; k < Columns; ++k) {
        const Scalar solved = UnitDiagonal ? sum[k] : divide(sum[k], diagonal[p]);
        store_scalar(to + row * x_stride + k * x_column_stride, solved);
        if (!is_finite(solved)) {
          is_finite_so_far = false;
        }
      }
    }
    return is_finite_so_far;
  }

  /// Returns the smallest substitution index of the rows with solve indices first ... end - 1 that have a
  /// component which is not finite, or no_row.
  std::int64_t first_nonfinite(Index first, Index end, const dense_view<Scalar>& x) const {
    std::int64_t found = no_row;
    for (Index p = first; p < end; ++p) {
      const auto row = static_cast<std::int64_t>(rows_[static_cast<std::size_t>(p)]);
      for (std::int64_t k = 0; k < x.columns; ++k) {
        if (!is_finite(load_scalar(x.data + row * x.row_stride + k * x.column_stride))) {
          found = std::min(found, stored_row(row));
        }
      }
    }
    return found;
  }

  triangle_form form_;
  std::int64_t size_ = 0;
  std::int64_t levels_ = 0;
  std::int64_t longest_row_ = 0;
  host_plan<Index> plan_;                 ///< its rows are moved to rows_
  std::vector<Index> rows_;               ///< by solve index: the row of x
  std::vector<Offset> row_offsets_;       ///< by solve index, size + 1
  std::vector<Index> columns_;            ///< by entry: the row of x that it multiplies
  std::vector<Offset> sources_;           ///< by entry: its index in the stored matrix
  std::vector<Offset> diagonal_sources_;  ///< by solve index; empty if the diagonal is unit
  std::vector<Scalar> values_;            ///< by entry
  std::vector<Scalar> diagonal_;          ///< by solve index; empty if the diagonal is unit
};

}  // namespace sptrsv::detail
