// SPDX-License-Identifier: Apache-2.0
// The host side of the partitioned path: it owns the plan and the packed slices, and launches the kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/kernel/partitioned_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned {

template <class Tuning, class Scalar, class Executor>
class path {
 public:
  static constexpr const char* name = "partitioned";
  using workspace = double_buffer_storage<Scalar>;

  /// `size`, `stored_entries`: of the stored matrix.
  path(plan&& plan, int shape_index, std::int64_t size, std::int64_t stored_entries, std::int64_t max_rhs,
       const triangle_form& form, const Executor& on)
      : plan_(std::move(plan)),
        shape_index_(shape_index),
        size_(size),
        max_rhs_(max_rhs),
        stored_entries_(stored_entries),
        form_(form) {
    // Further blocks solve groups of right-hand sides at the same time, as far as the device has room.
    with_agent([&](auto agent) {
      using agent_type = decltype(agent);
      rhs_together_ = agent_type::layout::rhs_together;
      warps_of_block_ = agent_type::block_threads / 32;
      const auto resident =
          on.template resident_blocks<agent_type>(agent_type::layout::bytes(plan_.settings.x_ring_size));
      rhs_blocks_ = std::max<std::int64_t>(1, std::min<std::int64_t>(simt::ceil_div(max_rhs, rhs_together_),
                                                                     resident / plan_.settings.partitions));
    });
    share_ = {0, blocks(), 0};
  }

  void share(const launch_share& share) { share_ = share; }

  void update_values(const Scalar* stored, const Executor& on) {
    plan_.update_values(stored, stored_entries_, form_, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return workspace(solve_size(), buffer_columns(), on, resource);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    with_agent([&](auto agent) {
      using agent_type = decltype(agent);
      on.template launch<agent_type>(
          blocks(),
          {static_cast<std::int32_t>(size_), static_cast<std::int32_t>(plan_.settings.partitions),
           static_cast<std::int32_t>(plan_.settings.x_ring_size), form_.reversed,
           plan_.partition_begins.data(), plan_.starts.data(), plan_.packed_slices.data(), share_,
           scratch.buffers(), alpha, b, x},
          agent_type::layout::bytes(plan_.settings.x_ring_size));
    });
  }

  /// Returns the number of blocks of every launch.
  [[nodiscard]] std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(plan_.settings.partitions * rhs_blocks_);
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  [[nodiscard]] bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch,
                                   const Executor& on) const {
    const std::int64_t row = form_.reversed ? size_ - 1 - substitution_index : substitution_index;
    return simt::any_of(on, 32 * static_cast<std::int64_t>(plan_.slice_begins.size()),
                        is_zero_pivot_of_row<Scalar>{plan_.slices<Scalar>(), static_cast<std::int32_t>(row)},
                        scratch.status_flag());
  }

  /// Returns the number of columns of the double buffer.
  [[nodiscard]] std::int64_t buffer_columns() const {
    return simt::ceil_div(max_rhs_, rhs_together_) * rhs_together_;
  }
  /// Returns the number of rows, with the partial rows: the rows of the double buffer.
  [[nodiscard]] std::int64_t solve_size() const { return plan_.solve_size; }

  void describe(solver_info& info) const {
    const plan_settings& of = plan_.settings;
    const shape_values& shape = of.shape;
    const block_partition& boxes = of.boxes;
    kernel_info kernel;
    kernel.warps = of.partitions * rhs_blocks_ * warps_of_block_;
    kernel.lanes_per_row = shape.lanes;
    kernel.partial_rows = share_.is_whole_solve(blocks()) ? plan_.solve_size - size_ : 0;
    kernel.partitions = of.partitions;
    if (boxes.are_used()) {
      kernel.boxes = {boxes.count[0], boxes.count[1], boxes.count[2]};
    }
    kernel.tiles = of.tiles;
    kernel.tile_rows = shape.tile_rows();
    kernel.x_ring_size = of.x_ring_size;
    kernel.rhs_together = rhs_together_;
    const std::string of_grid =
        text_from(" (", boxes.count[0], " x ", boxes.count[1], " x ", boxes.count[2], " boxes of a grid)");
    const std::string together = text_from(", ", rhs_together_, " right-hand sides together");
    kernel.text =
        text_from("dataflow: one block for each of ", of.partitions, " partitions",
                  boxes.are_used() ? of_grid : "", ", ", of.tiles, " tiles of ", shape.tile_rows(), " rows, ",
                  shape.lanes, " lanes per row, x ring buffer of ", of.x_ring_size, " components, ",
                  kernel.partial_rows, " partial rows", rhs_together_ > 1 ? together : "");
    info.kernels.push_back(std::move(kernel));
    info.solver_bytes += bytes();
    info.workspace_bytes = workspace::bytes(solve_size(), buffer_columns());
  }

 private:
  [[nodiscard]] std::size_t bytes() const {
    return plan_.partition_begins.bytes() + plan_.starts.bytes() + plan_.slice_begins.bytes() +
           plan_.packed_slices.bytes() + plan_.sources.arrays.bytes();
  }

  template <class Visit>
  void with_agent(Visit&& visit) const {
    shapes_of<Tuning>::type::with(shape_index_, [&](auto shape) { visit(agent<Scalar, decltype(shape)>{}); });
  }

  plan plan_;
  int shape_index_;
  std::int64_t size_;
  std::int64_t max_rhs_;
  std::int64_t stored_entries_;
  triangle_form form_;
  std::int64_t rhs_together_ = 1;
  std::int64_t rhs_blocks_ = 1;
  std::int64_t warps_of_block_ = 0;
  launch_share share_{};
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::partitioned
