// SPDX-License-Identifier: Apache-2.0
// The engine of sync_free_fused: one warp solves either 32 consecutive short rows, one lane per row, or one
// long row (YuenyeungSpTRSV: Zhang, Su, Liu et al., TPDS 2021). The kernel is row_wise::task_agent.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"
#include "sptrsv/policy/sync_free_fused.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_fused<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::tasks_;
  template <int Columns>
  using agent = row_wise::task_agent<Tuning, Scalar, Index, Offset, Columns, row_wise::fused_rows>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_fused<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource) {
    this->renumber(policy.order, on, resource);
    tasks_ = make_runs<Index>(
        a.size,
        row_wise::starts_task<Offset>{
            this->triangle_.row_offsets.data(), {nullptr, 1, a.size}, Tuning::entries_for_a_warp},
        on, analysis_memory(resource));
    this->blocks_ = simt::block_count(tasks_.count, agent<1>::warps_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.buffers(), on, tasks_.count,
                                                      tasks_.first.data());
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.warps = tasks_.count;
    kernel.text = std::to_string(tasks_.count) + " warps for 32 short rows or one long row";
    base::describe(info, "sync_free_fused", Tuning::block_threads, std::move(kernel), on);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
