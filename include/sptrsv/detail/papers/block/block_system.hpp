// SPDX-License-Identifier: Apache-2.0
// The analysis of the block policies: a triangle cut into parts, in device memory, and the steps of its
// solve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/papers/block/block_plan.hpp"
#include "sptrsv/detail/papers/block/entries.hpp"
#include "sptrsv/detail/papers/block/renumber.hpp"
#include "sptrsv/detail/papers/row_wise/fused_rows.hpp"
#include "sptrsv/detail/papers/row_wise/gates.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// What the kernel needs in addition to the triangle. Rows are solve indices of the final order.
template <class Index>
struct block_plan {
  std::int64_t blocks = 0;
  buffer<Index> numbers;        ///< row of each stored row of the compressed parts
  runs<Index> warps;            ///< the rows of each polling warp
  buffer<Index> gates;          ///< by warp; empty if there are none
  buffer<Index> level_offsets;  ///< levels of the triangles; empty if no step needs them
  buffer<step> steps;
  buffer<std::int32_t> step_of_task;
  step_list host_steps;

  [[nodiscard]] std::size_t bytes() const {
    return numbers.bytes() + warps.first.bytes() + gates.bytes() + level_offsets.bytes() + steps.bytes() +
           step_of_task.bytes();
  }
};

/// The analysed system.
template <class Index, class Offset>
struct block_system {
  device_triangle<Index, Offset> triangle;  ///< part by part; the row offsets of the stored rows
  /// Solve index -> substitution index; `count` counts the levels of the whole triangle.
  device_levels<Index> order;
  block_plan<Index> plan;
};

/// Builds a block_system. All calls synchronise.
template <class Tuning, class Index, class Offset, class Executor>
class system_builder {
 public:
  system_builder(const policy::block_kernels& kernels, std::int64_t resident_blocks, const Executor& on,
                 const analysis_memory& memory)
      : kernels_(kernels), resident_(resident_blocks), on_(on), memory_(memory) {}

  /// Builds the system of `t`, which is in the order of substitution and has at least one row. `blocks` is at
  /// most the number of rows, and a power of two if the cut is recursive.
  block_system<Index, Offset> build(const device_triangle<Index, Offset>& t, policy::block_cut cut,
                                    std::int64_t blocks) const {
    std::vector<std::vector<std::int64_t>> passes;
    for (std::int64_t b = cut == policy::block_cut::recursive ? 2 : blocks; b <= blocks && b > 1; b *= 2) {
      passes.push_back(even_bounds(t.size, b));
    }
    const std::vector<std::int64_t> bounds = even_bounds(t.size, blocks);
    block_order<Index, Offset> order = renumber(t, passes, on_, memory_);
    std::vector<part> parts = parts_of(cut, bounds);
    std::vector<Index> level_offsets;  // of `order`, if a kernel needs them on the host
    block_system<Index, Offset> made;
    made.plan.blocks = blocks;
    if (blocks == 1) {
      part& whole = parts.front();
      whole.triangle = {t.size, order.inside.entries(), order.levels};
      whole.of_triangle = choose_triangle(kernels_, whole.triangle);
      whole.stored_rows = t.size;
      if (whole.of_triangle == policy::triangle_kernel::by_levels) {
        level_offsets = download_array(order.level_offsets, on_);
      }
      plan(made.plan, parts, {nullptr, 1, t.size}, order, level_offsets);
      made.triangle = std::move(order.inside);
    } else {
      order.inside.columns = {};
      const buffer<std::int64_t> there = upload(bounds, on_, memory_.scratch);
      const row_wise::device_bounds on_device{there.data(), blocks, t.size};
      part_entries<Index, Offset, Executor> entries(t, order.substitution_indices, cut, on_device, on_,
                                                    memory_);
      entries.measure(parts, on_, memory_);
      level_offsets = download_array(order.level_offsets, on_);
      const auto [stored_rows, stored_numbers] = choose(parts, level_offsets);
      entries.triangle.row_offsets = make_buffer<Offset>(stored_rows, on_, memory_.kept);
      made.plan.numbers = make_buffer<Index>(stored_numbers, on_, memory_.kept);
      entries.store_rows(parts, made.plan.numbers.data(), on_);
      plan(made.plan, parts, on_device, order, level_offsets);
      made.triangle = std::move(entries.triangle);
    }
    made.order.count = order.levels;
    made.order.rows = std::move(order.substitution_indices);
    return made;
  }

 private:
  /// Chooses the kernel of each part and where its rows are stored. Returns the number of all row offsets and
  /// of all row numbers.
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
        p.is_compressed = is_compressed(p.of_square);
        p.stored_rows = p.is_compressed ? p.square.rows_with_entries : p.rows();
      }
      p.offsets = offsets;
      p.numbers = numbers;
      offsets += p.stored_rows > 0 ? p.stored_rows + 1 : 0;
      numbers += p.is_compressed ? p.stored_rows : 0;
    }
    return {offsets, numbers};
  }

  void plan(block_plan<Index>& made, std::vector<part>& parts, const row_wise::device_bounds& bounds,
            block_order<Index, Offset>& order, const std::vector<Index>& level_offsets) const {
    plan_warps(made, parts, bounds, order);
    step_planner<Tuning> planner(kernels_.selector, resident_);
    for (const part& p : parts) {
      planner.add(p, level_offsets);
    }
    made.host_steps = planner.build();
    made.steps = upload(made.host_steps.steps, on_, memory_.kept);
    made.step_of_task = upload(made.host_steps.step_of_task, on_, memory_.kept);
    if (made.host_steps.has(step_kind::serial)) {
      made.level_offsets = std::move(order.level_offsets);
    }
  }

  /// Divides the rows into polling warps, if a triangle polls.
  void plan_warps(block_plan<Index>& made, std::vector<part>& parts, const row_wise::device_bounds& bounds,
                  const block_order<Index, Offset>& order) const {
    if (std::none_of(parts.begin(), parts.end(),
                     [](const part& p) { return p.of_triangle == policy::triangle_kernel::sync_free; })) {
      return;
    }
    made.warps = make_runs<Index>(
        bounds.size,
        row_wise::starts_task<Offset>{order.inside.row_offsets.data(), bounds, Tuning::entries_for_a_warp},
        on_, memory_);
    const auto levels = static_cast<std::int64_t>(order.level_offsets.size()) - 1;
    // A gate in an earlier block is solved already.
    if (Tuning::gate_levels > 0 && levels > Tuning::gate_levels) {
      made.gates = make_buffer<Index>(made.warps.count, on_, memory_.kept);
      simt::for_each(on_, made.warps.count,
                     row_wise::find_gates<Index>{order.level_offsets.data(), levels, Tuning::gate_levels,
                                                 made.warps.first.data(), made.gates.data()});
    }
    std::vector<std::int64_t> first_warps{0, made.warps.count};  // by block, and for the end
    if (made.blocks > 1) {
      const auto found = make_buffer<std::int64_t>(made.blocks + 1, on_, memory_.kept);
      simt::for_each(on_, made.blocks + 1,
                     count_below_each<Index, array_kernels::element_of<std::int64_t>, std::int64_t>{
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
