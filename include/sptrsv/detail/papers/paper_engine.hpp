// SPDX-License-Identifier: Apache-2.0
// The base class of the engines of the published methods. It holds a triangle, its order and its values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/policy/shared_options.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The base of the engines. They fill in the members, launch their own kernels, and describe them.
/// `Workspace` holds what the kernels hand on; an engine that needs more has a workspace of its own.
template <class Scalar, class Index, class Offset, class Executor,
          class Workspace = double_buffer_storage<Scalar>>
class paper_engine {
 public:
  using workspace = Workspace;

  void update_values(const Scalar* values, const Executor& on) {
    values_.gather(values, triangle_.sources.data(), triangle_.diagonal_sources.data(), form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {triangle_.size, max_rhs_, on, resource};
  }

  template <class Scratch>
  std::int64_t first_nonfinite_index(const Scratch& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks_, on);
  }

  template <class Scratch>
  bool is_zero_pivot(std::int64_t substitution_index, const Scratch& scratch, const Executor& on) const {
    return values_.is_zero_pivot(substitution_index, levels_.rows.data(), scratch.status_flag(), on);
  }

 protected:
  /// An engine with the values of no triangle.
  paper_engine(const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form), max_rhs_(max_rhs), values_(0, 0, on, resource) {}
  /// Builds the triangle in the order of substitution.
  paper_engine(const pattern_view<Index, Offset>& a, const triangle_form& form, std::int64_t max_rhs,
               const Executor& on, memory_resource& resource)
      : paper_engine(form, max_rhs, on, resource) {
    triangle_ = build_on_device(a, form, on, resource);
    allocate_values(on, resource);
  }

  void allocate_values(const Executor& on, memory_resource& resource) {
    values_ = {triangle_.entries(), form_.unit ? 0 : triangle_.size, on, resource};
  }

  /// Keeps columns, and their rows, in place of rows and their columns.
  void take_columns(device_columns<Index, Offset>&& columns) {
    triangle_.size = columns.size;
    triangle_.row_offsets = std::move(columns.column_offsets);
    triangle_.columns = std::move(columns.rows);
    triangle_.sources = std::move(columns.sources);
    if (columns.diagonal_sources.size() > 0) {
      triangle_.diagonal_sources = std::move(columns.diagonal_sources);
    }
  }

  /// Renumbers the triangle in level order, if `order` says so.
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

  template <class Buffers>
  [[nodiscard]] paper_system<Scalar, Index, Offset, Buffers> system(Scalar alpha, dense_view<const Scalar> b,
                                                                    dense_view<Scalar> x,
                                                                    const Buffers& buffers) const {
    paper_system<Scalar, Index, Offset, Buffers> p{};
    p.size = triangle_.size;
    p.reversed = form_.reversed;
    p.offsets = triangle_.row_offsets.data();
    p.indices = triangle_.columns.data();
    p.values = values_.values();
    p.diagonal = values_.diagonal();
    p.substitution_indices = levels_.rows.data();
    p.buffers = buffers;
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    return p;
  }

  /// Enqueues the agent for one right-hand side or that for several ones, with the system and `more`. Callers
  /// name agents by aliases: g++ does not parse what nvcc makes of agent<1>.
  template <class OneRhs, class SeveralRhs, class Buffers, class... More>
  void launch_solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const Buffers& buffers,
                    const Executor& on, const More&... more) const {
    const auto own = system(alpha, b, x, buffers);
    if (x.columns == 1) {
      on.template launch<OneRhs>(blocks_, {own, more...});
    } else {
      on.template launch<SeveralRhs>(blocks_, {own, more...});
    }
  }

  /// Fills in `info`, except for kernels and for memory that the policy holds in addition.
  void describe_system(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = triangle_.entries() + (form_.unit ? 0 : triangle_.size);
    info.levels = levels_.count;
    info.longest_row = triangle_.longest_row;
    info.solver_bytes = triangle_.bytes() + values_.bytes() + levels_.bytes() + tasks_.first.bytes();
    info.workspace_bytes = workspace::bytes(triangle_.size, max_rhs_);
  }
  /// Does the same and describes the only kernel. `kernel.text` says what the threads of a block do.
  void describe(solver_info& info, const std::string& name, int block_threads, kernel_info kernel,
                const Executor& on) const {
    describe_system(info, on);
    kernel.text = launch_text(name, block_threads) + kernel.text + ", in " +
                  (levels_.rows.size() > 0 ? "level order" : "natural order");
    kernel.levels = levels_.count;
    info.kernels = {std::move(kernel)};
  }
  [[nodiscard]] std::string launch_text(const std::string& name, int block_threads) const {
    return text_from(name, ": ", blocks_, " blocks of ", block_threads, " threads, ");
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  std::uint32_t blocks_ = 0;                 ///< thread blocks of a solve
  device_levels<Index> levels_;              ///< empty if rows keep the order of substitution
  device_triangle<Index, Offset> triangle_;  ///< in the order of solving; see take_columns()
  runs<Index> tasks_;                        ///< the rows of each warp, if the analysis has divided them
  device_values<Scalar, Executor> values_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
