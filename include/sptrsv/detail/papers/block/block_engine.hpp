// SPDX-License-Identifier: Apache-2.0
// The engine of column_block, row_block and recursive_block, and its analysis: a triangle cut into parts, and
// the steps of its solve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/papers/block/block_agent.hpp"
#include "sptrsv/detail/papers/block/block_plan.hpp"
#include "sptrsv/detail/papers/block/entries.hpp"
#include "sptrsv/detail/papers/block/renumber.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/row_wise/tasks.hpp"
#include "sptrsv/policy/block.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// The analysed system. Rows are solve indices of the final order.
template <class Index, class Offset>
struct block_plan {
  device_triangle<Index, Offset> triangle;  ///< part by part; the row offsets of the stored rows
  device_levels<Index> order;               ///< block_order::rows, without level offsets
  // The kernel needs these in addition to the triangle.
  std::int64_t blocks = 0;
  buffer<Index> numbers;        ///< row of each stored row of the compressed parts
  runs<Index> warps;            ///< the rows of each polling warp
  buffer<Index> gates;          ///< by warp; empty if there are none
  buffer<Index> level_offsets;  ///< levels of the triangles; empty if no step needs them
  buffer<step> steps;
  buffer<std::int32_t> step_of_task;
  step_list host_steps;

  /// Returns the bytes of the arrays that the kernel needs in addition to the triangle.
  [[nodiscard]] std::size_t bytes() const {
    return numbers.bytes() + warps.first.bytes() + gates.bytes() + level_offsets.bytes() + steps.bytes() +
           step_of_task.bytes();
  }
};

/// Builds a block_plan. All calls synchronise.
template <class Tuning, class Index, class Offset, class Executor>
class system_builder {
 public:
  system_builder(const policy::block_kernels& kernels, std::int64_t resident_blocks, const Executor& on,
                 const analysis_memory& memory)
      : kernels_(kernels), resident_(resident_blocks), on_(on), memory_(memory) {}

  /// Builds the system of `t`, which is in the order of substitution and has at least one row. `blocks` is at
  /// most the number of rows, and a power of two if the cut is recursive.
  block_plan<Index, Offset> build(const device_triangle<Index, Offset>& t, policy::block_cut cut,
                                  std::int64_t blocks) const {
    const std::vector<std::int64_t> bounds = even_bounds(t.size, blocks);
    block_order<Index, Offset> order = renumber(t, cut, blocks, on_, memory_);
    std::vector<part> parts = parts_of(cut, bounds);
    std::vector<Index> level_offsets;  // of `order`, if a kernel needs them on the host
    block_plan<Index, Offset> made;
    made.blocks = blocks;
    if (blocks == 1) {
      part& whole = parts.front();
      whole.triangle = {t.size, order.inside.entries(), order.rows.count};
      whole.of_triangle = choose_triangle(kernels_, whole.triangle);
      whole.stored_rows = t.size;
      if (whole.of_triangle == policy::triangle_kernel::by_levels) {
        level_offsets = download_array(order.rows.level_offsets, on_);
      }
      plan(made, parts, {nullptr, 1, t.size}, order, level_offsets);
      made.triangle = std::move(order.inside);
    } else {
      order.inside.columns = {};
      const buffer<std::int64_t> there = upload(bounds, on_, memory_.scratch);
      const row_wise::device_bounds on_device{there.data(), blocks, t.size};
      part_entries<Index, Offset, Executor> entries(t, order.rows.rows, cut, on_device, on_, memory_);
      entries.measure(parts, on_, memory_);
      level_offsets = download_array(order.rows.level_offsets, on_);
      const auto [stored_rows, stored_numbers] = choose(parts, level_offsets);
      entries.triangle.row_offsets = make_buffer<Offset>(stored_rows, on_, memory_.kept);
      made.numbers = make_buffer<Index>(stored_numbers, on_, memory_.kept);
      entries.store_rows(parts, made.numbers.data(), on_);
      plan(made, parts, on_device, order, level_offsets);
      made.triangle = std::move(entries.triangle);
    }
    made.order = {order.rows.count, {}, std::move(order.rows.rows), {}};
    return made;
  }

 private:
  /// Chooses kernels, and where rows are stored. Returns the numbers of row offsets and of row numbers.
  std::pair<std::int64_t, std::int64_t> choose(std::vector<part>& parts,
                                               const std::vector<Index>& level_offsets) const {
    std::int64_t offsets = 0;
    std::int64_t numbers = 0;
    auto level = level_offsets.begin();
    for (part& p : parts) {
      if (p.is_triangle) {
        const auto end = std::lower_bound(level, level_offsets.end(), static_cast<Index>(p.last_row));
        p.first_level = level - level_offsets.begin();
        p.triangle.levels = end - level;
        p.of_triangle = choose_triangle(kernels_, p.triangle);
        p.stored_rows = p.rows();
        level = end;
      } else if (p.square.entries > 0) {
        p.of_square = kernels_.square != policy::square_kernel::chosen
                          ? kernels_.square
                          : square_by_thresholds<Tuning>(p.square);
        p.stored_rows = p.is_compressed() ? p.square.rows_with_entries : p.rows();
      }
      p.offsets = offsets;
      p.numbers = numbers;
      offsets += p.stored_rows > 0 ? p.stored_rows + 1 : 0;
      numbers += p.is_compressed() ? p.stored_rows : 0;
    }
    return {offsets, numbers};
  }

  void plan(block_plan<Index, Offset>& made, std::vector<part>& parts, const row_wise::device_bounds& bounds,
            block_order<Index, Offset>& order, const std::vector<Index>& level_offsets) const {
    plan_warps(made, parts, bounds, order);
    step_planner<Tuning> planner{kernels_.selector, resident_, {}};
    for (const part& p : parts) {
      planner.add(p, level_offsets);
    }
    made.host_steps = std::move(planner.made);
    made.steps = upload(made.host_steps.steps, on_, memory_.kept);
    made.step_of_task = upload(made.host_steps.step_of_task, on_, memory_.kept);
    if (made.host_steps.has(step_kind::serial)) {
      made.level_offsets = std::move(order.rows.level_offsets);
    }
  }

  /// Divides the rows into polling warps, if a triangle polls.
  void plan_warps(block_plan<Index, Offset>& made, std::vector<part>& parts,
                  const row_wise::device_bounds& bounds, const block_order<Index, Offset>& order) const {
    if (std::none_of(parts.begin(), parts.end(),
                     [](const part& p) { return p.of_triangle == policy::triangle_kernel::sync_free; })) {
      return;
    }
    made.warps = make_runs<Index>(
        bounds.size,
        row_wise::starts_task<Offset>{order.inside.row_offsets.data(), bounds, Tuning::entries_for_a_warp},
        on_, memory_);
    const auto levels = static_cast<std::int64_t>(order.rows.level_offsets.size()) - 1;
    // A gate in an earlier block is solved already.
    if (Tuning::gate_levels > 0 && levels > Tuning::gate_levels) {
      made.gates = make_buffer<Index>(made.warps.count, on_, memory_.kept);
      simt::for_each(on_, made.warps.count,
                     row_wise::find_gates<Index>{order.rows.level_offsets.data(), levels, Tuning::gate_levels,
                                                 made.warps.first.data(), made.gates.data()});
    }
    std::vector<std::int64_t> first_warps{0, made.warps.count};  // by block, and for the end
    if (made.blocks > 1) {
      const auto found = make_buffer<std::int64_t>(made.blocks + 1, on_, memory_.kept);
      simt::for_each(
          on_, made.blocks + 1,
          triangle_kernels::count_below_each<Index, array_kernels::element_of<std::int64_t>, std::int64_t>{
              made.warps.first.data(), made.warps.count, {bounds.bounds}, found.data()});
      first_warps = download_array(found, on_);
    }
    for (std::size_t block = 0; block + 1 < first_warps.size(); ++block) {
      parts[2 * block].first_warp = first_warps[block];
      parts[2 * block].last_warp = first_warps[block + 1];
    }
  }

  policy::block_kernels kernels_;
  std::int64_t resident_;
  const Executor& on_;
  analysis_memory memory_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::block

namespace sptrsv::SPTRSV_ABI::detail {

template <policy::block_cut Cut, class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_block<Cut, Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor> {
  using base = paper_engine<Scalar, Index, Offset, Executor>;
  using base::triangle_;
  using block_policy = policy::basic_block<Cut, Tuning>;
  template <int Columns>
  using agent = block::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;

 public:
  struct workspace : double_buffer_storage<Scalar> {
    buffer<Scalar> sums;
    buffer<unsigned long long> finished;

    void reset(const Executor& on) {
      double_buffer_storage<Scalar>::reset(on);
      on.fill_bytes(sums.data(), 0, sums.bytes());
      on.fill_bytes(finished.data(), 0, finished.bytes());
    }
  };

  engine(const block_policy& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource) {
    plan_ = analyse(policy, a, form, on, resource);
    triangle_ = std::move(plan_.triangle);
    this->levels_ = std::move(plan_.order);
    this->allocate_values(on, resource);
    this->blocks_ = simt::block_count(plan_.host_steps.tasks(), 1);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {{triangle_.size, this->max_rhs_, on, resource},
            make_zeros<Scalar>(sums(), on, resource),
            make_zeros<unsigned long long>(static_cast<std::int64_t>(plan_.steps.size()), on, resource)};
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
    info.kernels = {kernel_info{text_from(this->launch_text("block", Tuning::block_threads),
                                          plan_.steps.size(), " steps in one launch")},
                    kernel_info{text_from(plan_.blocks, " diagonal blocks, ",
                                          block::describe_steps(plan_.host_steps, triangle_.size))}};
    info.kernels[1].partitions = plan_.blocks;
    info.solver_bytes += plan_.bytes();
    info.workspace_bytes += at(sums()) * sizeof(Scalar) + plan_.steps.size() * sizeof(unsigned long long);
  }

 private:
  static block::block_plan<Index, Offset> analyse(const block_policy& policy,
                                                  const pattern_view<Index, Offset>& a,
                                                  const triangle_form& form, const Executor& on,
                                                  memory_resource& resource) {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    const device_triangle<Index, Offset> t = build_on_device<Index, Offset>(a, form, on, arena);
    if (t.size == 0) {
      return {};
    }
    const std::int64_t resident = on.template resident_blocks<agent<1>>();
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
  [[nodiscard]] std::int64_t sums() const {
    return plan_.blocks > 1 ? checked_product(triangle_.size, this->max_rhs_) : 0;
  }

  block::block_plan<Index, Offset> plan_;  ///< without triangle and order, which the base class holds
};

}  // namespace sptrsv::SPTRSV_ABI::detail
