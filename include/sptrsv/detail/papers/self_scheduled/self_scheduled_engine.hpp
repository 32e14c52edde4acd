// SPDX-License-Identifier: Apache-2.0
// The engine of self_scheduled: stores rows or columns in the order in which unknowns are started, and
// chooses the number of lanes per unknown.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/self_scheduled/self_scheduled_agent.hpp"
#include "sptrsv/policy/orientation.hpp"
#include "sptrsv/policy/self_scheduled.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_self_scheduled<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::levels_;
  using base::triangle_;
  template <int Lanes, bool OneRhs>
  using row_agent =
      self_scheduled::agent<Tuning, Scalar, Index, Offset, Lanes, OneRhs ? 1 : Tuning::rhs_per_sweep, OneRhs,
                            self_scheduled::solve_row>;
  template <int Lanes, bool OneRhs>
  using column_agent =
      self_scheduled::agent<Tuning, Scalar, Index, Offset, Lanes, OneRhs ? 1 : Tuning::rhs_per_sweep, OneRhs,
                            self_scheduled::solve_column>;

 public:
  using workspace = counted_storage<Scalar, Index>;

  engine(const policy::basic_self_scheduled<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource), by_rows_(policy.by == policy::orientation::rows) {
    if (!by_rows_ && policy.order == policy::row_order::natural) {
      columns_ = build_columns_on_device(a, form, on, resource);
    } else {
      triangle_ = build_on_device(a, form, on, resource);
      this->renumber(policy.order, on, resource);
      columns_ = columns_of(triangle_, on, resource);
    }
    if (by_rows_) {
      columns_.sources = {};  // the values are stored by rows
    } else {
      in_degrees_ = count_in_degrees(a.size, columns_.column_offsets.data(), columns_.rows, 0, on, resource);
      this->take_columns(std::move(columns_));
      triangle_.longest_row = in_degrees_.longest;
    }
    this->allocate_values(on, resource);
    lanes_ = levels_.count > 0 && a.size >= levels_.count * Tuning::narrow_unknowns_per_level &&
                     triangle_.entries() <= a.size * Tuning::narrow_entries_per_row
                 ? Tuning::narrow_lanes
                 : 32;
    this->blocks_ = simt::block_count(a.size, Tuning::block_threads / lanes_);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {triangle_.size, this->max_rhs_, on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    self_scheduled::system_params<Scalar, Index, Offset> p{};
    p.size = triangle_.size;
    p.reversed = this->form_.reversed;
    p.ia = by_rows_ ? triangle_.row_offsets.data() : nullptr;
    p.ja = by_rows_ ? triangle_.columns.data() : nullptr;
    p.ib = by_rows_ ? columns_.column_offsets.data() : triangle_.row_offsets.data();
    p.jb = by_rows_ ? columns_.rows.data() : triangle_.columns.data();
    p.values = this->values_.values();
    p.diagonal = this->values_.diagonal();
    p.in_degree = in_degrees_.total.data();
    p.substitution_indices = levels_.rows.data();
    p.unknowns = scratch.unknowns();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    with_constant(by_rows_, [&](auto rows) {
      with_constant(lanes_ == 32, [&](auto wide) {
        with_constant(x.columns == 1, [&](auto one) {
          constexpr int lanes = decltype(wide)::value ? 32 : Tuning::narrow_lanes;
          using agent = std::conditional_t<decltype(rows)::value, row_agent<lanes, decltype(one)::value>,
                                           column_agent<lanes, decltype(one)::value>>;
          on.template launch<agent>(this->blocks_, p);
        });
      });
    });
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.lanes_per_row = lanes_;
    kernel.text = std::to_string(lanes_) + " lanes per unknown";
    base::describe(info, std::string("self_scheduled by ") + (by_rows_ ? "rows" : "columns"),
                   Tuning::block_threads, std::move(kernel), on);
    info.bit_reproducible = by_rows_;
    info.solver_bytes += columns_.bytes() + in_degrees_.bytes();
    info.workspace_bytes = workspace::bytes(triangle_.size, this->max_rhs_);
  }

 private:
  bool by_rows_;
  int lanes_ = 32;                         ///< lanes per unknown
  device_columns<Index, Offset> columns_;  ///< SLFR only: the pattern by columns
  in_degrees<Index> in_degrees_;           ///< SLFC only
};

}  // namespace sptrsv::detail
