// The base class of the engines of the row-wise policies that poll values: the triangle in solve order, its
// values, and the double buffer of a solve.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/papers/row_wise/row_wise_system.hpp"
#include "sptrsv/policy/row_order.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::row_wise {

/// Holds the triangle, its values and its order. The engines derive from it and launch their own kernel.
template <class Scalar, class Index, class Offset, class Executor>
class engine_base {
 public:
  using workspace = double_buffer_storage<Scalar>;

  void update_values(const Scalar* values, const Executor& on) {
    values_.gather(values, triangle_.sources.data(), triangle_.diagonal_sources.data(), form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {triangle_.size, max_rhs_, on, resource};
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks_, on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return values_.is_zero_pivot(substitution_index, levels_.rows.data(), scratch.status_flag(), on);
  }

 protected:
  /// Builds the triangle in the order of substitution; renumber() may change its order.
  engine_base(const pattern_view<Index, Offset>& a, const triangle_form& form, std::int64_t max_rhs,
              const Executor& on, memory_resource& resource)
      : form_(form),
        max_rhs_(max_rhs),
        triangle_(build_on_device(a, form, on, resource)),
        values_(triangle_.entries(), form.unit ? 0 : a.size, on, resource) {}

  void renumber(policy::row_order order, const Executor& on, memory_resource& resource) {
    if (order == policy::row_order::levels) {
      renumber(levels_on_device(triangle_, on, resource), on, resource);
    }
  }
  /// Renumbers the triangle in level order. Rows of one level may have any order in `levels`.
  void renumber(device_levels<Index> levels, const Executor& on, memory_resource& resource) {
    levels_ = std::move(levels);
    triangle_ = in_level_order(triangle_, levels_, on, resource);
  }

  [[nodiscard]] const device_triangle<Index, Offset>& triangle() const { return triangle_; }
  [[nodiscard]] std::int64_t max_rhs() const { return max_rhs_; }

  /// Sets the number of blocks of every solve. Call it once.
  void launch_with(std::int64_t work, int work_per_block) {
    blocks_ = simt::block_count(work, work_per_block);
  }
  [[nodiscard]] std::uint32_t blocks() const { return blocks_; }

  template <class Buffers>
  [[nodiscard]] system_params<Scalar, Index, Offset, Buffers> system(Scalar alpha, dense_view<const Scalar> b,
                                                                     dense_view<Scalar> x,
                                                                     const Buffers& buffers) const {
    system_params<Scalar, Index, Offset, Buffers> p{};
    p.size = triangle_.size;
    p.reversed = form_.reversed;
    p.row_offsets = triangle_.row_offsets.data();
    p.columns = triangle_.columns.data();
    p.values = values_.values();
    p.diagonal = values_.diagonal();
    p.substitution_indices = levels_.rows.data();
    p.buffers = buffers;
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    return p;
  }

  /// Fills in `info`, except for memory that the policy holds in addition to the triangle. `kernel.text` says
  /// what the threads of a block do.
  void describe_rows(solver_info& info, const std::string& name, int block_threads, kernel_info kernel,
                     const Executor& on) const {
    info.device = on.device_name();
    kernel.text = name + ": " + std::to_string(blocks_) + " blocks of " + std::to_string(block_threads) +
                  " threads, " + kernel.text + ", in " +
                  (levels_.rows.size() > 0 ? "level order" : "natural order");
    kernel.levels = levels_.count;
    info.kernels = {std::move(kernel)};
    info.entries = triangle_.entries() + (form_.unit ? 0 : triangle_.size);
    info.levels = levels_.count;
    info.longest_row = triangle_.longest_row;
    info.solver_bytes = triangle_.bytes() + values_.bytes() + levels_.bytes();
    info.workspace_bytes = double_buffer_storage<Scalar>::bytes(triangle_.size, max_rhs_);
  }

 private:
  triangle_form form_;
  std::int64_t max_rhs_;
  std::uint32_t blocks_ = 0;
  device_levels<Index> levels_;  ///< empty if rows keep the order of substitution
  device_triangle<Index, Offset> triangle_;
  device_values<Scalar, Executor> values_;
};

}  // namespace sptrsv::detail::row_wise
