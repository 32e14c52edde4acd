// The engine of sync_free_thread: one thread for each row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/row_wise/row_wise_engine.hpp"
#include "sptrsv/detail/papers/sync_free_thread/sync_free_thread_agent.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_thread<Tuning>, Scalar, Index, Offset, Executor>
    : public row_wise::engine_base<Scalar, Index, Offset, Executor> {
  using base = row_wise::engine_base<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_thread::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  engine(const policy::basic_sync_free_thread<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource), waits_first_(policy.form == policy::thread_form::two_phase) {
    this->renumber(policy.order, on, resource);
    this->launch_with(a.size, Tuning::block_threads);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    const auto system = this->system(alpha, b, x, scratch.buffers());
    if (x.columns == 1) {
      on.template launch<agent<1>>(this->blocks(), {system, waits_first_});
    } else {
      on.template launch<agent<Tuning::rhs_per_sweep>>(this->blocks(), {system, waits_first_});
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.lanes_per_row = 1;
    kernel.text = waits_first_ ? "one thread per row in two phases" : "one thread per row, writing first";
    this->describe_rows(info, "sync_free_thread", Tuning::block_threads, std::move(kernel), on);
  }

 private:
  bool waits_first_;
};

}  // namespace sptrsv::detail
