// SPDX-License-Identifier: Apache-2.0
// The kernel and the engine of sync_free_thread: one thread solves one row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/row_wise/rows.hpp"
#include "sptrsv/policy/sync_free_thread.hpp"

namespace sptrsv::SPTRSV_ABI::detail::sync_free_thread {

/// One thread solves one row (CapelliniSpTRSV: Su, Zhang, Liu et al., ICPP 2020). One sweep over the row
/// solves `Columns` right-hand sides.
///
///   1. Draw a ticket per block: thread t takes row ticket * block_threads + t, in solve order.
///   2. Solve the 32 rows of the warp, which may depend on one another (papers/row_wise/rows.hpp).
///   3. Reset the row's component in the other half of the double buffer to pending.
///
/// Progress: rows of other warps that a row waits for have smaller solve indices, so their warps have
/// started. Rows of the same warp go on because no lane of the warp waits for them in a loop of its own.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using rows = row_wise::lane_rows<entries_at_once, Columns, paper_system<Scalar, Index, Offset>>;
  using shared_storage = block_start;
  struct params {
    paper_system<Scalar, Index, Offset> system;
    /// True: wait for the rows of earlier warps in a loop first, then for the rows of the same warp.
    bool waits_first;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto warp = ctx.template group<32>();
    start_block(ctx, start, p.system.buffers.state, p.system.x.columns);
    const std::int64_t first_solve_index = start.block * block_threads + warp.index() * 32;
    if (first_solve_index >= p.system.size) {
      return;
    }
    const std::int64_t solve_index = first_solve_index + warp.rank();
    const bool present = solve_index < p.system.size;
    rows::solve(ctx, warp, p.system, start.half, present ? solve_index : first_solve_index, present,
                p.waits_first ? first_solve_index : 0);
    if (present) {
      p.system.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, 0, 1);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::sync_free_thread

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_thread<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_thread::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_thread<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource), waits_first_(policy.form == policy::thread_form::two_phase) {
    this->renumber(policy.order, on, resource);
    this->blocks_ = simt::block_count(a.size, Tuning::block_threads);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.buffers(), on, waits_first_);
  }

  void describe(solver_info& info, const Executor& on) const {
    kernel_info kernel;
    kernel.lanes_per_row = 1;
    kernel.text = waits_first_ ? "one thread per row in two phases" : "one thread per row, writing first";
    base::describe(info, "sync_free_thread", Tuning::block_threads, std::move(kernel), on);
  }

 private:
  bool waits_first_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
