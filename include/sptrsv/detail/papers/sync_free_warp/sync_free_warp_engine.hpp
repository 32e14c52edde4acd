// The engine of sync_free_warp: one warp for each row, or for rows of one level that have about the same
// length.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/papers/row_wise/row_wise_engine.hpp"
#include "sptrsv/detail/papers/sync_free_warp/length_groups.hpp"
#include "sptrsv/detail/papers/sync_free_warp/shared_agent.hpp"
#include "sptrsv/detail/papers/sync_free_warp/sync_free_warp_agent.hpp"
#include "sptrsv/policy/sync_free_warp.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_warp<Tuning>, Scalar, Index, Offset, Executor>
    : public row_wise::engine_base<Scalar, Index, Offset, Executor> {
  using base = row_wise::engine_base<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_warp::agent<Tuning, Scalar, Index, Offset, Columns>;
  template <int Columns>
  using shared_agent = sync_free_warp::shared_agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  engine(const policy::basic_sync_free_warp<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource), shares_(policy.form == policy::warp_form::rows_by_length) {
    SPTRSV_EXPECTS(!shares_ || policy.order == policy::row_order::levels, errc::unsupported,
                   "sync_free_warp: only rows in level order can share a warp (row_order::levels)");
    if (shares_) {
      auto rows = sync_free_warp::group_by_length(this->triangle(), Tuning::entries_per_lane, on, resource);
      tasks_ = std::move(rows.tasks);
      this->renumber(std::move(rows.levels), on, resource);
    } else {
      this->renumber(policy.order, on, resource);
    }
    this->launch_with(shares_ ? tasks_.count : a.size, agent<1>::rows_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    if (x.columns == 1) {
      launch<1>(this->system(alpha, b, x, scratch.buffers()), on);
    } else {
      launch<Tuning::rhs_per_sweep>(this->system(alpha, b, x, scratch.buffers()), on);
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.warps = shares_ ? tasks_.count : this->triangle().size;
    kernel.text = shares_ ? std::to_string(kernel.warps) + " warps for rows of one level by their length"
                          : "one warp per row";
    this->describe_rows(info, "sync_free_warp", Tuning::block_threads, std::move(kernel), on);
    info.solver_bytes += tasks_.first_solve_index.bytes();
  }

 private:
  template <int Columns>
  void launch(const row_wise::system_params<Scalar, Index, Offset>& system, const Executor& on) const {
    if (shares_) {
      on.template launch<shared_agent<Columns>>(this->blocks(),
                                                {system, tasks_.count, tasks_.first_solve_index.data()});
    } else {
      on.template launch<agent<Columns>>(this->blocks(), system);
    }
  }

  bool shares_;
  row_wise::warp_tasks<Index> tasks_;  ///< empty if each warp solves one row
};

}  // namespace sptrsv::detail
