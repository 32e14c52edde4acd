// The base class of the engines of column_block, row_block and recursive_block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/checked_product.hpp"
#include "sptrsv/detail/papers/block/block_agent.hpp"
#include "sptrsv/detail/papers/block/block_system.hpp"
#include "sptrsv/policy/block_tuning.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::block {

/// How to cut a triangle.
struct cutting {
  scheme cut;
  std::int64_t blocks;  ///< number of diagonal blocks; 0: blocks_by_default
  policy::block_kernels kernels;
};

/// Holds the analysed system and launches the kernel. The engines of the three policies differ in the
/// cutting.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine_base {
  template <int Columns>
  using agent_of = agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  struct workspace {
    double_buffer_storage<Scalar> buffers;
    buffer<Scalar> sums;
    buffer<unsigned long long> finished;

    void reset(const Executor& on) {
      buffers.reset(on);
      on.fill_bytes(sums.data(), 0, sums.bytes());
      on.fill_bytes(finished.data(), 0, finished.bytes());
    }
  };

  void update_values(const Scalar* values, const Executor& on) {
    values_.gather(values, system_.sources.data(), system_.diagonal_sources.data(), form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made{double_buffer_storage<Scalar>(system_.size, max_rhs_, on, resource),
                   buffer<Scalar>(sums(), resource, on.stream()),
                   buffer<unsigned long long>(system_.steps.size(), resource, on.stream())};
    on.fill_bytes(made.sums.data(), 0, made.sums.bytes());
    on.fill_bytes(made.finished.data(), 0, made.finished.bytes());
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    x.columns == 1 ? launch<1>(alpha, b, x, scratch, on)
                   : launch<Tuning::rhs_per_sweep>(alpha, b, x, scratch, on);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.buffers.first_nonfinite_index(thread_blocks(), on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return values_.is_zero_pivot(substitution_index, system_.order.rows.data(), scratch.buffers.status_flag(),
                                 on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels = {kernel_info{"block: " + std::to_string(thread_blocks()) + " blocks of " +
                                std::to_string(Tuning::block_threads) + " threads, " +
                                std::to_string(system_.steps.size()) + " steps in one launch"},
                    kernel_info{std::to_string(system_.blocks) + " diagonal blocks, " +
                                describe_steps(system_.host_steps, system_.size)}};
    info.kernels[1].partitions = system_.blocks;
    info.entries = system_.entries() + (form_.unit ? 0 : system_.size);
    info.levels = system_.order.count;
    info.longest_row = system_.longest_row;
    info.solver_bytes = system_.bytes() + values_.bytes();
    info.workspace_bytes = double_buffer_storage<Scalar>::bytes(system_.size, max_rhs_) +
                           sums() * sizeof(Scalar) + system_.steps.size() * sizeof(unsigned long long);
  }

 protected:
  engine_base(const cutting& wanted, const pattern_view<Index, Offset>& a, const triangle_form& form,
              std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form),
        max_rhs_(max_rhs),
        system_(analyse(wanted, a, form, on, resource)),
        values_(system_.entries(), form.unit ? 0 : a.size, on, resource) {}

 private:
  static block_system<Index, Offset> analyse(const cutting& wanted, const pattern_view<Index, Offset>& a,
                                             const triangle_form& form, const Executor& on,
                                             memory_resource& resource) {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    const device_triangle<Index, Offset> t = build_on_device<Index, Offset>(a, form, on, arena);
    if (t.size == 0) {
      return {};
    }
    const std::int64_t resident = on.template resident_blocks<agent_of<1>>();
    std::int64_t blocks =
        wanted.blocks > 0 ? wanted.blocks : blocks_by_default<Tuning>(t.size, t.entries(), resident);
    blocks = std::min(blocks, t.size);
    if (wanted.cut == scheme::recursive) {
      std::int64_t power = 1;
      while (2 * power <= blocks) {
        power *= 2;
      }
      blocks = power;
    }
    return system_builder<Tuning, Index, Offset, Executor>(wanted.kernels, resident, on, {resource, arena})
        .build(t, wanted.cut, blocks);
  }

  [[nodiscard]] std::uint32_t thread_blocks() const {
    return simt::block_count(system_.host_steps.tasks(), 1);
  }
  /// Returns the number of sums in a workspace: 0 if there are no squares.
  [[nodiscard]] std::size_t sums() const {
    return system_.blocks > 1 ? static_cast<std::size_t>(checked_product(system_.size, max_rhs_)) : 0;
  }

  template <int Columns>
  void launch(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
              const Executor& on) const {
    typename agent_of<Columns>::params p{};
    row_wise::system_params<Scalar, Index, Offset>& whole = p.system.whole;
    whole.size = system_.size;
    whole.reversed = form_.reversed;
    whole.row_offsets = system_.offsets.data();
    whole.columns = system_.columns.data();
    whole.values = values_.values();
    whole.diagonal = values_.diagonal();
    whole.substitution_indices = system_.order.rows.data();
    whole.buffers = scratch.buffers.buffers();
    whole.alpha = alpha;
    whole.b = b;
    whole.x = x;
    p.system.sums = scratch.sums.data();
    p.steps = system_.steps.data();
    p.step_of_task = system_.step_of_task.data();
    p.last_step = static_cast<std::int64_t>(system_.steps.size()) - 1;
    p.numbers = system_.numbers.data();
    p.first_solve_index_of_warp = system_.warps.first_solve_index.data();
    p.gates = system_.gates.data();
    p.level_offsets = system_.level_offsets.data();
    p.finished = scratch.finished.data();
    on.template launch<agent_of<Columns>>(thread_blocks(), p);
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  block_system<Index, Offset> system_;
  device_values<Scalar, Executor> values_;
};

}  // namespace sptrsv::detail::block
