// The engine of self_scheduled: stores rows or columns in the order in which unknowns are started, and
// chooses the number of lanes per unknown.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/papers/self_scheduled/self_scheduled_agent.hpp"
#include "sptrsv/policy/orientation.hpp"
#include "sptrsv/policy/row_order.hpp"
#include "sptrsv/policy/self_scheduled.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_self_scheduled<Tuning>, Scalar, Index, Offset, Executor> {
  template <int Lanes, bool OneRhs>
  using row_agent =
      self_scheduled::agent<Tuning, Scalar, Index, Offset, Lanes, OneRhs ? 1 : Tuning::rhs_per_sweep, OneRhs,
                            self_scheduled::solve_row>;
  template <int Lanes, bool OneRhs>
  using column_agent =
      self_scheduled::agent<Tuning, Scalar, Index, Offset, Lanes, OneRhs ? 1 : Tuning::rhs_per_sweep, OneRhs,
                            self_scheduled::solve_column>;
  using params = self_scheduled::system_params<Scalar, Index, Offset>;

 public:
  using workspace = counted_storage<Scalar, Index>;

  engine(const policy::basic_self_scheduled<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form),
        max_rhs_(max_rhs),
        size_(a.size),
        by_rows_(policy.by == policy::orientation::rows),
        values_(0, 0, on, resource) {
    if (!by_rows_ && policy.order == policy::row_order::natural) {
      columns_ = build_columns_on_device(a, form, on, resource);
    } else {
      triangle_ = build_on_device(a, form, on, resource);
      if (policy.order == policy::row_order::levels) {
        levels_ = levels_on_device(triangle_, on, resource);
        triangle_ = in_level_order(triangle_, levels_, on, resource);
      }
      columns_ = columns_of(triangle_, on, resource);
    }
    if (by_rows_) {
      columns_.sources = {};  // the values are stored by rows
      longest_row_ = triangle_.longest_row;
    } else {
      if (triangle_.size > 0) {
        columns_.diagonal_sources = std::move(triangle_.diagonal_sources);
        triangle_ = {};
      }
      in_degrees_ = count_in_degrees_on_device(columns_, 0, on, resource);
      longest_row_ = in_degrees_.longest;
    }
    values_ = device_values<Scalar, Executor>(columns_.entries(), form.unit ? 0 : size_, on, resource);
    lanes_ = levels_.count > 0 && size_ >= levels_.count * Tuning::narrow_unknowns_per_level &&
                     columns_.entries() <= size_ * Tuning::narrow_entries_per_row
                 ? Tuning::narrow_lanes
                 : 32;
  }

  void update_values(const Scalar* values, const Executor& on) {
    values_.gather(values, by_rows_ ? triangle_.sources.data() : columns_.sources.data(),
                   by_rows_ ? triangle_.diagonal_sources.data() : columns_.diagonal_sources.data(),
                   form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {size_, max_rhs_, on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    params p{};
    p.size = size_;
    p.reversed = form_.reversed;
    p.ia = triangle_.row_offsets.data();
    p.ja = triangle_.columns.data();
    p.ib = columns_.column_offsets.data();
    p.jb = columns_.rows.data();
    p.values = values_.values();
    p.diagonal = values_.diagonal();
    p.in_degree = in_degrees_.total.data();
    p.substitution_indices = levels_.rows.data();
    p.unknowns = scratch.unknowns();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    if (lanes_ == 32) {
      launch<32>(p, on);
    } else {
      launch<Tuning::narrow_lanes>(p, on);
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return values_.is_zero_pivot(substitution_index, levels_.rows.data(), scratch.status_flag(), on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    kernel_info kernel;
    kernel.levels = levels_.count;
    kernel.lanes_per_row = lanes_;
    kernel.text = std::string("self_scheduled by ") + (by_rows_ ? "rows: " : "columns: ") +
                  std::to_string(blocks()) + " blocks of " + std::to_string(Tuning::block_threads) +
                  " threads, " + std::to_string(lanes_) + " lanes per unknown, in " +
                  (levels_.rows.size() > 0 ? "level order" : "natural order");
    info.kernels = {std::move(kernel)};
    info.bit_reproducible = by_rows_;
    info.entries = columns_.entries() + (form_.unit ? 0 : size_);
    info.levels = levels_.count;
    info.longest_row = longest_row_;
    info.solver_bytes =
        triangle_.bytes() + columns_.bytes() + in_degrees_.bytes() + levels_.bytes() + values_.bytes();
    info.workspace_bytes = workspace::bytes(size_, max_rhs_);
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const {
    return simt::block_count(size_, Tuning::block_threads / lanes_);
  }

  template <int Lanes>
  void launch(const params& p, const Executor& on) const {
    if (by_rows_) {
      launch_one_or_many<row_agent<Lanes, true>, row_agent<Lanes, false>>(p, on);
    } else {
      launch_one_or_many<column_agent<Lanes, true>, column_agent<Lanes, false>>(p, on);
    }
  }
  template <class One, class Many>
  void launch_one_or_many(const params& p, const Executor& on) const {
    if (p.x.columns == 1) {
      on.template launch<One>(blocks(), p);
    } else {
      on.template launch<Many>(blocks(), p);
    }
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  std::int64_t size_;
  bool by_rows_;
  int lanes_ = 32;  ///< lanes per unknown
  std::int64_t longest_row_ = 0;
  device_levels<Index> levels_;              ///< empty if unknowns keep the order of substitution
  device_triangle<Index, Offset> triangle_;  ///< empty in SLFC
  device_columns<Index, Offset> columns_;    ///< in SLFR the pattern only
  in_degrees<Index> in_degrees_;             ///< empty in SLFR
  device_values<Scalar, Executor> values_;
};

}  // namespace sptrsv::detail
