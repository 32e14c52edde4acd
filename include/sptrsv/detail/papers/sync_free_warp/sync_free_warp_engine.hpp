// SPDX-License-Identifier: Apache-2.0
// The engine of sync_free_warp: one warp for each row, or for rows of one level that have about the same
// length.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/runs.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/row_wise/task_agent.hpp"
#include "sptrsv/detail/papers/sync_free_warp/sync_free_warp_agent.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_warp<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_warp::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;
  template <int Columns>
  using shared_agent =
      row_wise::task_agent<Tuning, Scalar, Index, Offset, Columns, sync_free_warp::shared_rows>;
  using shared_for_one = shared_agent<1>;
  using shared_for_several = shared_agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_warp<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource), shares_(policy.form == policy::warp_form::rows_by_length) {
    SPTRSV_EXPECTS(!shares_ || policy.order == policy::row_order::levels, errc::unsupported,
                   "sync_free_warp: only rows in level order can share a warp (row_order::levels)");
    if (shares_) {
      auto order = order_by_level_and_length(this->triangle_, levels_of_rows(this->triangle_, on, resource),
                                             1, sync_free_warp::key_of_lanes{Tuning::entries_per_lane}, on,
                                             analysis_memory(resource));
      tasks_ = make_runs<Index>(a.size, sync_free_warp::starts_by_length{order.keys.data()}, on,
                                analysis_memory(resource));
      this->renumber(std::move(order.levels), on, resource);
    } else {
      this->renumber(policy.order, on, resource);
    }
    this->blocks_ = simt::block_count(shares_ ? tasks_.count : a.size, agent<1>::rows_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    if (shares_) {
      this->template launch_solve<shared_for_one, shared_for_several>(alpha, b, x, scratch.buffers(), on,
                                                                      tasks_.count, tasks_.first.data());
    } else {
      this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.buffers(), on);
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.warps = shares_ ? tasks_.count : this->triangle_.size;
    kernel.text = shares_ ? std::to_string(kernel.warps) + " warps for rows of one level by their length"
                          : "one warp per row";
    base::describe(info, "sync_free_warp", Tuning::block_threads, std::move(kernel), on);
    info.solver_bytes += tasks_.first.bytes();
  }

 private:
  bool shares_;
  runs<Index> tasks_;  ///< the rows of each warp; empty if each warp solves one row
};

}  // namespace sptrsv::SPTRSV_ABI::detail
