// SPDX-License-Identifier: Apache-2.0
// The engine of column_block, row_block and recursive_block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/papers/block/block_agent.hpp"
#include "sptrsv/detail/papers/block/block_system.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/policy/block.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Holds the analysed system and launches the kernel.
template <policy::block_cut Cut, class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_block<Cut, Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::triangle_;
  using block_policy = policy::basic_block<Cut, Tuning>;
  using for_one = block::agent<Tuning, Scalar, Index, Offset, 1>;
  using for_several = block::agent<Tuning, Scalar, Index, Offset, Tuning::rhs_per_sweep>;

 public:
  struct workspace : double_buffer_storage<Scalar> {
    buffer<Scalar> sums;
    buffer<unsigned long long> finished;

    void reset(const Executor& on) {
      double_buffer_storage<Scalar>::reset(on);
      reset_sums(on);
    }
    void reset_sums(const Executor& on) {
      on.fill_bytes(sums.data(), 0, sums.bytes());
      on.fill_bytes(finished.data(), 0, finished.bytes());
    }
  };

  engine(const block_policy& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource) {
    block::block_system<Index, Offset> made = analyse(policy, a, form, on, resource);
    triangle_ = std::move(made.triangle);
    this->levels_ = std::move(made.order);
    plan_ = std::move(made.plan);
    this->allocate_values(on, resource);
    this->blocks_ = simt::block_count(plan_.host_steps.tasks(), 1);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made{{triangle_.size, this->max_rhs_, on, resource},
                   buffer<Scalar>(sums(), resource, on.stream()),
                   buffer<unsigned long long>(plan_.steps.size(), resource, on.stream())};
    made.reset_sums(on);
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    this->template launch_solve<for_one, for_several>(
        alpha, b, x, scratch.buffers(), on, scratch.sums.data(), plan_.steps.data(),
        plan_.step_of_task.data(), static_cast<std::int64_t>(plan_.steps.size()) - 1, plan_.numbers.data(),
        plan_.warps.first.data(), plan_.gates.data(), plan_.level_offsets.data(), scratch.finished.data());
  }

  void describe(solver_info& info, const Executor& on) const {
    this->describe_system(info, on);
    info.kernels = {kernel_info{this->launch_text("block", Tuning::block_threads) +
                                std::to_string(plan_.steps.size()) + " steps in one launch"},
                    kernel_info{std::to_string(plan_.blocks) + " diagonal blocks, " +
                                block::describe_steps(plan_.host_steps, triangle_.size)}};
    info.kernels[1].partitions = plan_.blocks;
    info.solver_bytes += plan_.bytes();
    info.workspace_bytes += sums() * sizeof(Scalar) + plan_.steps.size() * sizeof(unsigned long long);
  }

 private:
  static block::block_system<Index, Offset> analyse(const block_policy& policy,
                                                    const pattern_view<Index, Offset>& a,
                                                    const triangle_form& form, const Executor& on,
                                                    memory_resource& resource) {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    const device_triangle<Index, Offset> t = build_on_device<Index, Offset>(a, form, on, arena);
    if (t.size == 0) {
      return {};
    }
    const std::int64_t resident = on.template resident_blocks<for_one>();
    std::int64_t blocks =
        policy.blocks > 0 ? policy.blocks : block::blocks_by_default<Tuning>(t.size, t.entries(), resident);
    blocks = std::min(blocks, t.size);
    if (Cut == policy::block_cut::recursive) {
      while ((blocks & (blocks - 1)) != 0) {  // not a power of two
        blocks &= blocks - 1;
      }
    }
    return block::system_builder<Tuning, Index, Offset, Executor>(policy.kernels, resident, on,
                                                                  {resource, arena})
        .build(t, Cut, blocks);
  }

  /// Returns the number of sums in a workspace: 0 if there are no squares.
  [[nodiscard]] std::size_t sums() const {
    return plan_.blocks > 1 ? static_cast<std::size_t>(checked_product(triangle_.size, this->max_rhs_)) : 0;
  }

  block::block_plan<Index> plan_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
