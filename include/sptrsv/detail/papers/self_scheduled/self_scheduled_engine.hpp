// SPDX-License-Identifier: Apache-2.0
// The engine of self_scheduled: stores rows or columns in the order in which unknowns are started, and
// chooses the number of lanes per unknown.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/self_scheduled/self_scheduled_agent.hpp"
#include "sptrsv/policy/self_scheduled.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_self_scheduled<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>> {
  using base = paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>>;
  using base::levels_;
  using base::triangle_;

 public:
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
      in_degrees_ = count_in_degrees(columns_, 0, on, resource);
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

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    const self_scheduled::system_params<Scalar, Index, Offset> p{
        this->system(alpha, b, x, scratch.unknowns()), columns_.column_offsets.data(), columns_.rows.data(),
        in_degrees_.total.data()};
    with_constant(by_rows_, [&](auto rows) {
      with_constant(lanes_ == 32, [&](auto wide) {
        with_constant(x.columns == 1, [&](auto one) {
          constexpr int lanes = decltype(wide)::value ? 32 : Tuning::narrow_lanes;
          using agent = self_scheduled::agent<Tuning, Scalar, Index, Offset, lanes, decltype(one)::value,
                                              decltype(rows)::value>;
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
  }

 private:
  bool by_rows_;
  int lanes_ = 32;                         ///< lanes per unknown
  device_columns<Index, Offset> columns_;  ///< SLFR only: the pattern by columns
  in_degrees<Index> in_degrees_;           ///< SLFC only
};

}  // namespace sptrsv::SPTRSV_ABI::detail
