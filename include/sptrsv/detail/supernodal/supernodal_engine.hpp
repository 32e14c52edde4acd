// SPDX-License-Identifier: Apache-2.0
// The engine of supernodal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sptrsv/detail/supernodal/factor.hpp"
#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"
#include "sptrsv/detail/supernodal/supernodal_plan.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Solves C x = b or C^T x = b, see supernodal/factor.hpp and supernodal/panels.hpp.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_supernodal<Tuning>, Scalar, Index, Offset, Executor> {
  using factor = supernodal::factor<Tuning, Scalar, Index, Offset, Executor>;
  using supernode_tree = supernodal::supernode_tree<Index>;
  using space = supernodal::panel_space<Tuning, Scalar>;
  using pack_space = supernodal::pack_space<Tuning, Scalar>;
  template <int Columns>
  using forward_agent = supernodal::forward_agent<Tuning, Scalar, Index, Offset, Columns>;
  template <int Columns>
  using backward_agent = supernodal::backward_agent<Tuning, Scalar, Index, Offset, Columns>;
  using pack_forward_agent = supernodal::pack_forward_agent<Tuning, Scalar, Index, Offset>;
  using pack_backward_agent = supernodal::pack_backward_agent<Tuning, Scalar, Index, Offset>;
  /// Static shared memory of any of these kernels.
  template <class... Agents>
  static constexpr std::int64_t static_shared =
      std::max({static_cast<std::int64_t>(simt::static_shared_bytes<Agents>)...});

 public:
  using workspace = supernodal::solve_storage<Scalar>;

  /// Plans by the values, which are those of the first update_values(). `a`: valued pattern or panels.
  template <class Pattern>
  engine(const policy::basic_supernodal<Tuning>& policy, const Pattern& a, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : engine(max_rhs, on) {
    factor_ = std::make_shared<factor>(a, form, policy.max_growth, on, resource);
    backward_ = factor_->backward();
    supernodal::host_plan made;  // until the factor has synchronised
    factor_->make_panels(a.values, on, resource,
                         [&](const supernode_tree& tree, const supernodal::supernodes<Index>& of) {
                           make_plan(made, tree, of, on, resource);
                         });
  }

  /// Solves the (conjugate-)transposed system of `other`, whose factor it shares.
  engine(const engine& other, op operation, const Executor& on, memory_resource& resource)
      : engine(other.max_rhs_, on) {
    factor_ = other.factor_;
    backward_ = !other.backward_;
    conjugates_vectors_ = other.conjugates_vectors_ != (operation == op::conj_transpose);
    if (factor_->size() > 0) {
      supernodal::host_plan made;
      make_plan(made, factor_->tree(), factor_->structure(), on, resource);
      on.synchronize();
    }
  }

  void update_values(const Scalar* values, const Executor& on) { factor_->update_values(values, on); }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made(handed_over(plan_.partials), swept_rhs(), on, resource);
    if (has_packs()) {
      made.add_packs(plan_.pack_tasks, handed_over(plan_.pack_tasks.partials), max_rhs_, on, resource);
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    supernodal::pack_params<Scalar, Index, Offset> p{};
    p.of = factor_->structure();
    p.panels = factor_->values().panels();
    p.diagonal = factor_->values().diagonal().diagonal();
    p.tasks = plan_.tasks.data();
    p.task_count = count_of(plan_.tasks);
    p.forests = plan_.forests.view;
    p.small = plan_.small.data();
    p.size = factor_->size();
    p.warp_bytes = space_.warp_bytes;
    p.mirrored = factor_->mirrored();
    p.conjugated = conjugates_vectors_;
    p.named = plan_.contributions.named.data();
    p.sources = plan_.contributions.sources.data();
    p.rows = plan_.rows;
    p.buffers = scratch.sweep();
    p.alpha = conjugates_vectors_ ? conjugate(alpha) : alpha;
    p.b = b;
    p.x = x;
    if (x.columns == 1) {
      launch<forward_agent<1>, backward_agent<1>>(plan_.blocks, p, space_.bytes(), on);
    } else if (x.columns <= Tuning::rhs_per_sweep) {
      launch<forward_agent<Tuning::rhs_per_sweep>, backward_agent<Tuning::rhs_per_sweep>>(plan_.blocks, p,
                                                                                          space_.bytes(), on);
    } else {
      scratch.set_packs(p);
      p.tile_bytes = pack_space_.tile_bytes;
      launch<pack_forward_agent, pack_backward_agent>(plan_.pack_blocks, p, pack_space_.bytes(), on);
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(plan_.blocks, on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return factor_->values().diagonal().is_zero_pivot(
        other_direction(substitution_index), static_cast<const Index*>(nullptr), scratch.status_flag(), on);
  }

  /// Returns a row of a supernode whose growth is too large by the latest values; -1: none. It is the first
  /// such row, unless another solver shares the factor. Synchronises.
  std::int64_t first_grown_index(const Executor& on) const {
    const std::int64_t column = factor_->first_grown_column(on);
    return column < 0 ? -1 : other_direction(column);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = factor_->entries();
    info.longest_row = factor_->longest(backward_);
    info.workspace_bytes = double_buffer_storage<Scalar>::bytes(handed_over(plan_.partials), swept_rhs());
    if (has_packs()) {
      info.workspace_bytes +=
          workspace::pack_bytes(plan_.pack_tasks, handed_over(plan_.pack_tasks.partials), max_rhs_);
    }
    if (factor_->size() == 0) {
      return;
    }
    const std::int64_t supernodes = factor_->structure().count;
    kernel_info kernel;
    const std::string levels =
        plan_.levels > 0 ? text_from(plan_.levels, " levels") : "no tree, in the order of columns";
    kernel.text =
        text_from("supernodal: ", backward_ ? "backward, " : "forward, ", supernodes, " supernodes (",
                  factor_->fundamental_count(), " before merging and cutting), ", levels, ", ",
                  factor_->values().entries(), " entries in panels, ", plan_.forests.view.count, " forests, ",
                  plan_.blocks, " blocks of ", Tuning::block_threads, " threads");
    kernel.waiting_launches = 1;
    kernel.levels = plan_.levels;
    kernel.partitions = supernodes;
    info.kernels = {std::move(kernel)};
    info.solver_bytes = factor_->bytes() + plan_.bytes();
  }

 private:
  engine(std::int64_t max_rhs, const Executor& on)
      : max_rhs_(max_rhs),
        space_(space::of(static_cast<std::int64_t>(on.shared_limit()) -
                         static_shared<forward_agent<1>, forward_agent<Tuning::rhs_per_sweep>,
                                       backward_agent<1>, backward_agent<Tuning::rhs_per_sweep>>)),
        pack_space_(pack_space::of(static_cast<std::int64_t>(on.shared_limit()) -
                                   static_shared<pack_forward_agent, pack_backward_agent>)) {}

  /// Plans for a tree of at least one supernode; the supernodes are `of`. `made` gets the plan on the host,
  /// and stays as it is until a call synchronises. Only enqueues.
  void make_plan(supernodal::host_plan& made, const supernode_tree& tree,
                 const supernodal::supernodes<Index>& of, const Executor& on, memory_resource& resource) {
    made =
        supernodal::host_plan::of<Scalar, Index, Offset>(tree, backward_, space_, pack_space_, has_packs());
    if (has_packs()) {
      made.pack_tasks.sharers = find_sharers(count_of(made.pack_tasks.tasks), on);
    }
    plan_ = {};  // gives its memory back first
    plan_ = {made, tree, of, backward_, has_packs(), on, resource};
  }

  /// Returns how many blocks share the packs of each of `tasks` tasks. A small tree has fewer tasks than the
  /// GPU has room for blocks; the blocks of a task read its panel from the L2 cache.
  [[nodiscard]] std::uint32_t find_sharers(std::int64_t tasks, const Executor& on) const {
    const auto shared = static_cast<std::size_t>(pack_space_.bytes());
    const std::int64_t resident = backward_ ? on.template resident_blocks<pack_backward_agent>(shared)
                                            : on.template resident_blocks<pack_forward_agent>(shared);
    return static_cast<std::uint32_t>(std::clamp(Tuning::pack_sharing * resident / tasks, std::int64_t{1},
                                                 supernodal::pack_count(max_rhs_)));
  }

  /// Returns the column of C for a substitution index, or the reverse.
  [[nodiscard]] std::int64_t other_direction(std::int64_t index) const {
    return backward_ ? factor_->size() - 1 - index : index;
  }

  /// Returns whether there may be solves with more right-hand sides than one sweep takes.
  [[nodiscard]] bool has_packs() const { return max_rhs_ > Tuning::rhs_per_sweep; }
  /// Returns the largest number of right-hand sides of a solve in one sweep.
  [[nodiscard]] std::int64_t swept_rhs() const {
    return std::min<std::int64_t>(max_rhs_, Tuning::rhs_per_sweep);
  }
  /// Returns how many values blocks hand over for one right-hand side. `partials`: see task_list.
  [[nodiscard]] std::int64_t handed_over(std::int64_t partials) const {
    return factor_->size() + (backward_ ? partials : plan_.rows);
  }

  template <class Forward, class Backward>
  void launch(std::uint32_t blocks, const supernodal::pack_params<Scalar, Index, Offset>& p,
              std::int64_t shared_bytes, const Executor& on) const {
    if (backward_) {
      on.template launch<Backward>(blocks, p, static_cast<std::size_t>(shared_bytes));
    } else {
      on.template launch<Forward>(blocks, p, static_cast<std::size_t>(shared_bytes));
    }
  }

  bool backward_ = false;            ///< whether the system is C^T x = b
  bool conjugates_vectors_ = false;  ///< whether solves conjugate b and x
  std::int64_t max_rhs_;
  space space_;
  pack_space pack_space_;
  std::shared_ptr<factor> factor_;
  supernodal::plan<Index, Offset> plan_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
