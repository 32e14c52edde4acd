// The analysis of the block policies: a triangle cut into parts, in device memory, and the steps of its
// solve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/papers/block/block_plan.hpp"
#include "sptrsv/detail/papers/block/entries.hpp"
#include "sptrsv/detail/papers/block/renumber.hpp"
#include "sptrsv/detail/papers/row_wise/fused_rows.hpp"
#include "sptrsv/detail/papers/row_wise/gates.hpp"
#include "sptrsv/detail/papers/row_wise/warp_tasks.hpp"

namespace sptrsv::detail::block {

/// Says at which solve indices the rows of a warp start. Rows of different blocks do not share a warp.
template <class Offset>
struct starts_in_block {
  const Offset* row_offsets;  ///< offsets of the entries inside diagonal blocks
  device_bounds blocks;
  std::int64_t entries_for_a_warp;

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    const std::int64_t block = blocks.block_of(ctx, solve_index);
    return row_wise::starts_by_average(ctx, row_offsets, blocks.begin_of(ctx, block),
                                       blocks.end_of(ctx, block), solve_index, entries_for_a_warp);
  }
};

/// The analysed system. Rows and columns are solve indices of the final order.
template <class Index, class Offset>
struct block_system {
  std::int64_t size = 0;
  std::int64_t longest_row = 0;
  std::int64_t blocks = 0;
  /// Solve index -> substitution index; `count` counts the levels of the whole triangle.
  device_levels<Index> order;
  buffer<Index> columns;            ///< by entry, part by part
  buffer<Offset> sources;           ///< by entry, part by part
  buffer<Offset> diagonal_sources;  ///< by solve index, size; empty if the diagonal is unit
  buffer<Offset> offsets;           ///< row offsets of the stored rows, part by part
  buffer<Index> numbers;            ///< row of each stored row of the compressed parts
  row_wise::warp_tasks<Index> warps;
  buffer<Index> gates;          ///< by warp; empty if there are none
  buffer<Index> level_offsets;  ///< levels of the triangles; empty if no step needs them
  buffer<step> steps;
  buffer<std::int32_t> step_of_task;
  step_list host_steps;

  [[nodiscard]] std::int64_t entries() const { return static_cast<std::int64_t>(columns.size()); }
  [[nodiscard]] std::size_t bytes() const {
    return order.bytes() + columns.bytes() + sources.bytes() + diagonal_sources.bytes() + offsets.bytes() +
           numbers.bytes() + warps.first_solve_index.bytes() + gates.bytes() + level_offsets.bytes() +
           steps.bytes() + step_of_task.bytes();
  }
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
  block_system<Index, Offset> build(const device_triangle<Index, Offset>& t, scheme cut,
                                    std::int64_t blocks) {
    std::vector<std::vector<std::int64_t>> passes;
    for (std::int64_t b = cut == scheme::recursive ? 2 : blocks; b <= blocks && b > 1; b *= 2) {
      passes.push_back(even_bounds(t.size, b));
    }
    const std::vector<std::int64_t> bounds = even_bounds(t.size, blocks);
    block_order<Index, Offset> order = renumbering<Index, Offset, Executor>(on_, memory_).run(t, passes);
    const std::vector<part> parts = parts_of(cut, bounds);

    block_system<Index, Offset> made;
    made.size = t.size;
    made.longest_row = t.longest_row;
    made.blocks = blocks;
    if (blocks == 1) {
      choose_whole({t.size, order.inside.entries(), order.levels}, order);
      made.columns = std::move(order.inside.columns);
      made.sources = std::move(order.inside.sources);
      made.diagonal_sources = std::move(order.inside.diagonal_sources);
      plan(made, parts, bounds, order);
      made.offsets = std::move(order.inside.row_offsets);
    } else {
      order.inside.columns = {};
      part_entries<Index, Offset, Executor> entries(t, order.substitution_indices, cut, bounds, on_, memory_);
      take_level_offsets(order);
      choose(parts, entries.sizes());
      made.offsets = make_buffer<Offset>(stored_rows_, on_, memory_.kept);
      made.numbers = make_buffer<Index>(stored_numbers_, on_, memory_.kept);
      entries.store_rows(parts, storage_, made.offsets.data(), made.numbers.data(), on_);
      made.columns = entries.take_columns();
      made.sources = entries.take_sources();
      made.diagonal_sources = entries.take_diagonal_sources();
      plan(made, parts, bounds, order);
    }
    made.order.count = order.levels;
    made.order.rows = std::move(order.substitution_indices);
    return made;
  }

 private:
  template <class T>
  buffer<T> upload(const std::vector<T>& values, memory_resource& to) const {
    buffer<T> there(values.size(), to, on_.stream());
    on_.upload(there.data(), values.data(), there.bytes());
    return there;
  }

  void take_level_offsets(const block_order<Index, Offset>& order) {
    level_offsets_.resize(order.level_offsets.size());
    on_.download(level_offsets_.data(), order.level_offsets.data(), order.level_offsets.bytes());
  }

  /// Chooses the kernel of a triangle that is not cut.
  void choose_whole(const triangle_facts& facts, const block_order<Index, Offset>& order) {
    chosen made{};
    made.triangle = facts;
    made.of_triangle = choose_triangle<Tuning>(kernels_, facts);
    if (made.of_triangle == policy::triangle_kernel::by_levels) {
      take_level_offsets(order);
    }
    chosen_.push_back(made);
    storage_.push_back({false, 0, 0, facts.rows});
  }

  /// Chooses the kernel of each part and how its rows are stored.
  void choose(const std::vector<part>& parts, const std::vector<part_size>& sizes) {
    auto level = level_offsets_.begin();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const part& p = parts[i];
      const part_size& size = sizes[i];
      chosen made{};
      row_storage s{false, stored_rows_, 0, p.rows()};
      if (p.is_triangle) {
        const auto end = std::lower_bound(level, level_offsets_.end(), static_cast<Index>(p.last_row));
        made.first_level = level - level_offsets_.begin();
        made.triangle = {p.rows(), size.entries, end - level};
        made.of_triangle = choose_triangle<Tuning>(kernels_, made.triangle);
        level = end;
      } else if (size.entries == 0) {
        s.rows = 0;
      } else {
        made.square = {p.rows(), size.rows, size.entries};
        made.of_square = choose_square<Tuning>(kernels_, made.square);
        if (is_compressed(made.of_square)) {
          s = {true, stored_rows_, stored_numbers_, size.rows};
          stored_numbers_ += s.rows;
        }
      }
      stored_rows_ += s.rows > 0 ? s.rows + 1 : 0;
      chosen_.push_back(made);
      storage_.push_back(s);
    }
  }

  void plan(block_system<Index, Offset>& made, const std::vector<part>& parts,
            const std::vector<std::int64_t>& bounds, block_order<Index, Offset>& order) {
    const std::vector<std::int64_t> first_warps = plan_warps(made, bounds, order);
    step_planner<Tuning, Index> planner(kernels_, resident_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const chosen& c = chosen_[i];
      if (parts[i].is_triangle) {
        const std::size_t block = i / 2;
        planner.add_triangle(
            parts[i],
            triangle_levels<Index>{c.triangle, level_offsets_.data() + c.first_level, c.first_level,
                                   first_warps[block], first_warps[block + 1]},
            c.of_triangle, storage_[i]);
      } else if (c.square.entries > 0) {
        planner.add_square(parts[i], c.square, c.of_square, storage_[i]);
      }
    }
    made.host_steps = planner.build();
    made.steps = upload(made.host_steps.steps, memory_.kept);
    made.step_of_task = upload(made.host_steps.step_of_task, memory_.kept);
    if (made.host_steps.has(step_kind::serial)) {
      made.level_offsets = std::move(order.level_offsets);
    }
  }

  /// Returns, for each block and for the end, the number of polling warps before its rows. All are 0 if no
  /// triangle polls.
  std::vector<std::int64_t> plan_warps(block_system<Index, Offset>& made,
                                       const std::vector<std::int64_t>& bounds,
                                       const block_order<Index, Offset>& order) const {
    std::vector<std::int64_t> first_warps(bounds.size());
    const bool any_polled = std::any_of(chosen_.begin(), chosen_.end(), [](const chosen& c) {
      return c.of_triangle == policy::triangle_kernel::sync_free;
    });
    if (any_polled) {
      const buffer<std::int64_t> on_device =
          made.blocks == 1 ? buffer<std::int64_t>() : upload(bounds, memory_.scratch);
      made.warps =
          row_wise::make_warp_tasks<Index>(made.size,
                                           starts_in_block<Offset>{order.inside.row_offsets.data(),
                                                                   {on_device.data(), made.blocks, made.size},
                                                                   Tuning::entries_for_a_warp},
                                           on_, memory_);
      const auto levels = static_cast<std::int64_t>(order.level_offsets.size()) - 1;
      // A gate in an earlier block is solved already.
      if (Tuning::gate_levels > 0 && levels > Tuning::gate_levels) {
        made.gates = make_buffer<Index>(made.warps.count, on_, memory_.kept);
        simt::for_each(on_, made.warps.count,
                       row_wise::find_gates<Index>{order.level_offsets.data(), levels, Tuning::gate_levels,
                                                   made.warps.first_solve_index.data(), made.gates.data()});
      }
      if (made.blocks == 1) {
        return {0, made.warps.count};
      }
      const auto found =
          make_buffer<std::int64_t>(static_cast<std::int64_t>(bounds.size()), on_, memory_.kept);
      simt::for_each(on_, static_cast<std::int64_t>(bounds.size()),
                     count_below_each<Index, std::int64_t>{made.warps.first_solve_index.data(),
                                                           made.warps.count, on_device.data(), found.data()});
      on_.download(first_warps.data(), found.data(), found.bytes());
    }
    return first_warps;
  }

  struct chosen {
    triangle_facts triangle;
    square_facts square;
    policy::triangle_kernel of_triangle;
    policy::square_kernel of_square;
    std::int64_t first_level;
  };

  policy::block_kernels kernels_;
  std::int64_t resident_;
  const Executor& on_;
  analysis_memory memory_;
  std::vector<chosen> chosen_;
  std::vector<row_storage> storage_;
  /// The level_offsets of block_order, if a kernel needs them on the host.
  std::vector<Index> level_offsets_;
  std::int64_t stored_rows_ = 0;
  std::int64_t stored_numbers_ = 0;
};

}  // namespace sptrsv::detail::block
