// The engine of sync_free_fused: assigns 32 short rows or one long row to each warp.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/papers/row_wise/row_wise_engine.hpp"
#include "sptrsv/detail/papers/row_wise/warp_tasks.hpp"
#include "sptrsv/detail/papers/sync_free_fused/sync_free_fused_agent.hpp"
#include "sptrsv/policy/sync_free_fused.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_fused<Tuning>, Scalar, Index, Offset, Executor>
    : public row_wise::engine_base<Scalar, Index, Offset, Executor> {
  using base = row_wise::engine_base<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_fused::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  engine(const policy::basic_sync_free_fused<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource) {
    this->renumber(policy.order, on, resource);
    tasks_ = row_wise::make_warp_tasks<Index>(
        a.size,
        sync_free_fused::starts_by_average<Offset>{this->triangle().row_offsets.data(), a.size,
                                                   Tuning::entries_for_a_warp},
        on, resource);
    this->launch_with(tasks_.count, agent<1>::warps_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    const auto system = this->system(alpha, b, x, scratch.buffers());
    if (x.columns == 1) {
      on.template launch<agent<1>>(this->blocks(), {system, tasks_.count, tasks_.first_solve_index.data()});
    } else {
      on.template launch<agent<Tuning::rhs_per_sweep>>(
          this->blocks(), {system, tasks_.count, tasks_.first_solve_index.data()});
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.warps = tasks_.count;
    kernel.text = std::to_string(tasks_.count) + " warps for 32 short rows or one long row";
    this->describe_rows(info, "sync_free_fused", Tuning::block_threads, std::move(kernel), on);
    info.solver_bytes += tasks_.first_solve_index.bytes();
  }

 private:
  row_wise::warp_tasks<Index> tasks_;
};

}  // namespace sptrsv::detail
