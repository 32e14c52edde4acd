// The engine of supernodal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/supernodal/analysis/merge_agent.hpp"
#include "sptrsv/detail/supernodal/pack/solve_storage.hpp"
#include "sptrsv/detail/supernodal/plan.hpp"
#include "sptrsv/detail/supernodal/solve/sources.hpp"
#include "sptrsv/detail/supernodal/values/values.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

/// The system is C x = b or C^T x = b, see supernodal/panels.hpp. The one is taken whose columns of C have
/// the structure of a complete factor: for a lower triangle usually C x = b, for an upper one C^T x = b.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_supernodal<Tuning>, Scalar, Index, Offset, Executor> {
  using real = real_t<Scalar>;
  using structure_type = supernodal::device_structure<Index>;
  using values_type = supernodal::panel_values<Tuning, Scalar, Index, Offset, Executor>;
  using space = supernodal::panel_space<Tuning, Scalar>;
  using pack_space = supernodal::pack_space<Tuning, Scalar>;
  using pack_storage = supernodal::pack_storage<Scalar>;
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

  /// Plans by the values, which are those of the first update_values().
  engine(const policy::basic_supernodal<Tuning>& policy, const valued_pattern<Scalar, Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : engine(policy, a.size, form, max_rhs, on) {
    find_supernodes(a, form, form.reversed, on, resource);
    if (size_ > 0 && !fundamental_.is_nested) {
      try_other_direction(a, form, on, resource);
    }
    analyse(a.values, on, resource);
  }

  /// As the other constructor, for a lower triangle in panels.
  engine(const policy::basic_supernodal<Tuning>& policy, const valued_panels<Scalar, Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : engine(policy, a.size, form, max_rhs, on) {
    backward_ = form.reversed;
    columns_ = {a, on, resource};
    find_fundamental(on, resource);
    analyse(a.values, on, resource);
  }

  void update_values(const Scalar* values, const Executor& on) {
    if (size_ > 0 && !std::exchange(has_first_values_, false)) {
      values_->update(columns_.values(values, conjugated_), structure_->view(),
                      structure_->masks(fundamental_), max_growth_, backward_ ? size_ - 1 : -1, on);
    }
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    if (has_packs()) {
      return {handed_over(plan_.partials),
              swept_rhs(),
              plan_.pack_tasks,
              handed_over(plan_.pack_tasks.partials),
              max_rhs_,
              on,
              resource};
    }
    return {handed_over(plan_.partials), swept_rhs(), on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, const workspace& scratch,
             const Executor& on) const {
    supernodal::pack_params<Scalar, Index, Offset> p{};
    p.of = structure_->view();
    p.panels = values_->panels();
    p.diagonal = values_->diagonal().diagonal();
    p.tasks = plan_.tasks.data();
    p.task_count = static_cast<std::int64_t>(plan_.tasks.size());
    p.forests = plan_.forests.view();
    p.small = plan_.small.data();
    p.size = size_;
    p.warp_bytes = space_.warp_bytes;
    p.mirrored = mirrored_;
    p.named = contributions_.named();
    p.sources = contributions_.sources();
    p.rows = rows_;
    p.buffers = scratch.sweep();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    if (x.columns == 1) {
      launch<forward_agent<1>, backward_agent<1>>(plan_.blocks, p, space_.bytes(), on);
    } else if (x.columns <= Tuning::rhs_per_sweep) {
      launch<forward_agent<Tuning::rhs_per_sweep>, backward_agent<Tuning::rhs_per_sweep>>(plan_.blocks, p,
                                                                                          space_.bytes(), on);
    } else {
      scratch.packs().set(p);
      p.sweep_tickets = &p.buffers.state->tickets;
      p.tile_bytes = pack_space_.tile_bytes;
      launch<pack_forward_agent, pack_backward_agent>(plan_.pack_blocks, p, pack_space_.bytes(), on);
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(plan_.blocks, on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    return values_->diagonal().is_zero_pivot(backward_ ? size_ - 1 - substitution_index : substitution_index,
                                             static_cast<const Index*>(nullptr), scratch.status_flag(), on);
  }

  /// Returns the first row of the first supernode whose growth is too large by the values that were given
  /// last; -1 if there is none. Synchronises.
  std::int64_t first_grown_index(const Executor& on) const { return values_->first_grown_index(on); }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries_ + pivots_;
    info.longest_row = longest_row_;
    info.workspace_bytes = double_buffer_storage<Scalar>::bytes(handed_over(plan_.partials), swept_rhs());
    if (has_packs()) {
      info.workspace_bytes +=
          pack_storage::bytes(plan_.pack_tasks, handed_over(plan_.pack_tasks.partials), max_rhs_);
    }
    if (size_ == 0) {
      return;
    }
    const std::int64_t supernodes = structure_->view().count;
    kernel_info kernel;
    kernel.text =
        std::string("supernodal: ") + (backward_ ? "backward" : "forward") + ", " +
        std::to_string(supernodes) + " supernodes (" + std::to_string(fundamental_.count) +
        " before merging and cutting), " +
        (plan_.levels > 0 ? std::to_string(plan_.levels) + " levels" : "no tree, in the order of columns") +
        ", " + std::to_string(values_->entries()) + " entries in panels, " +
        std::to_string(plan_.forests.view().count) + " forests, " + std::to_string(plan_.blocks) +
        " blocks of " + std::to_string(Tuning::block_threads) + " threads";
    kernel.waiting_launches = 1;
    kernel.levels = plan_.levels;
    kernel.partitions = supernodes;
    info.kernels = {std::move(kernel)};
    info.solver_bytes = columns_.bytes() + fundamental_.first.bytes() + structure_->bytes() +
                        values_->bytes() + contributions_.bytes() + plan_.bytes();
  }

 private:
  engine(const policy::basic_supernodal<Tuning>& policy, std::int64_t size, const triangle_form& form,
         std::int64_t max_rhs, const Executor& on)
      : size_(size),
        pivots_(form.unit ? 0 : size),
        conjugated_(form.conjugated),
        max_rhs_(max_rhs),
        space_(space::of(static_cast<std::int64_t>(on.shared_limit()) -
                         static_shared<forward_agent<1>, forward_agent<Tuning::rhs_per_sweep>,
                                       backward_agent<1>, backward_agent<Tuning::rhs_per_sweep>>)),
        pack_space_(pack_space::of(static_cast<std::int64_t>(on.shared_limit()) -
                                   static_shared<pack_forward_agent, pack_backward_agent>)),
        max_growth_(static_cast<real>(std::min<double>(
            policy.max_growth, static_cast<double>(std::numeric_limits<real>::max()) / 2))) {}

  /// Plans the solves, once the columns of C and their supernodes are known. `values`: those of the stored
  /// matrix.
  void analyse(const Scalar* values, const Executor& on, memory_resource& resource) {
    if (size_ == 0) {
      return;
    }
    longest_row_ = backward_ ? find_longest_column(on, resource)
                             : supernodal::find_longest_row(columns_.view(), fundamental_, on, resource);
    const auto merged = supernodal::merge_supernodes(
        fundamental_, {Tuning::max_padding, Tuning::max_narrow_padding, Tuning::narrow_width}, on, resource);
    supernodal::supernode_tree tree;
    std::vector<std::int64_t> cuts;
    do {
      tree = supernodal::cut(merged.ranges, size_, fundamental_.is_nested, Tuning::max_width, cuts);
      values_.reset();
      structure_.emplace(tree, merged.first_descendant.data(), fundamental_, columns_.view(), on, resource);
      values_.emplace(tree, pivots_, on, resource);
      update_values(values, on);
    } while (cut_grown(tree, cuts, on));
    has_first_values_ = true;
    columns_.end_analysis();
    fundamental_.end_analysis();
    rows_ = tree.rows_begin.back();
    if (!backward_) {
      contributions_ = {structure_->view(), size_, rows_, on, resource};
    }
    plan_ = {tree, structure_->view(), size_, backward_, space_, pack_space_, has_packs(), on, resource};
    structure_->end_analysis();
  }

  /// Builds the columns of C for a direction, and finds their supernodes.
  void find_supernodes(const pattern_view<Index, Offset>& a, triangle_form form, bool backward,
                       const Executor& on, memory_resource& resource) {
    // Backward, the rows of the system, from the last to the first, are the columns of C.
    form.transposed = form.transposed != backward;
    form.reversed = form.reversed != backward;
    backward_ = backward;
    mirrored_ = form.reversed;
    fundamental_ = {};
    columns_ = {};
    columns_ = {a, form, on, resource};
    find_fundamental(on, resource);
  }

  void find_fundamental(const Executor& on, memory_resource& resource) {
    entries_ = columns_.entries();
    if (size_ > 0) {
      fundamental_ = supernodal::find_fundamental(columns_.view(), on, resource);
    }
  }

  /// Takes the other direction if its columns are those of a complete factor, or have fewer supernodes.
  void try_other_direction(const pattern_view<Index, Offset>& a, const triangle_form& form,
                           const Executor& on, memory_resource& resource) {
    const std::int64_t count = fundamental_.count;
    find_supernodes(a, form, !backward_, on, resource);
    if (!fundamental_.is_nested && fundamental_.count >= count) {
      find_supernodes(a, form, !backward_, on, resource);
    }
  }

  /// Returns whether there may be solves with more right-hand sides than one sweep takes.
  [[nodiscard]] bool has_packs() const { return max_rhs_ > Tuning::rhs_per_sweep; }
  /// Returns the largest number of right-hand sides of a solve in one sweep.
  [[nodiscard]] std::int64_t swept_rhs() const {
    return std::min<std::int64_t>(max_rhs_, Tuning::rhs_per_sweep);
  }
  /// Returns how many values blocks hand to each other for one right-hand side; see solve_params::buffers.
  /// `partials`: those of the tasks, see task_list.
  [[nodiscard]] std::int64_t handed_over(std::int64_t partials) const {
    return size_ + (backward_ ? partials : rows_);
  }

  [[nodiscard]] std::int64_t find_longest_column(const Executor& on, memory_resource& resource) const {
    const auto longest = make_buffer<std::int64_t>(1, on, resource);
    on.fill_bytes(longest.data(), 0, longest.bytes());
    simt::find_largest(on, size_, supernodal::column_length<Index, Offset>{columns_.view()}, longest.data());
    std::int64_t found = 0;
    on.download(&found, longest.data(), sizeof(found));
    return found;
  }

  /// Adds a cut to the middle of each supernode whose growth is too large. Returns whether there are any.
  bool cut_grown(const supernodal::supernode_tree& tree, std::vector<std::int64_t>& cuts,
                 const Executor& on) const {
    if (first_grown_index(on) < 0) {
      return false;
    }
    const std::size_t before = cuts.size();
    const auto norms = values_->norms(on);
    for (std::int64_t s = 0; s < tree.count(); ++s) {
      if (!(norms[static_cast<std::size_t>(s)].growth() <= max_growth_) && tree.columns(s) > 1) {
        cuts.push_back(tree.first[static_cast<std::size_t>(s)] + tree.columns(s) / 2);
      }
    }
    const bool found = cuts.size() > before;
    std::sort(cuts.begin(), cuts.end());
    return found;
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

  std::int64_t size_;
  std::int64_t pivots_;    ///< diagonal entries; 0 if the diagonal is unit
  bool backward_ = false;  ///< whether the system is C^T x = b
  bool mirrored_ = false;  ///< see solve_params
  bool conjugated_;
  std::int64_t max_rhs_;
  space space_;
  pack_space pack_space_;
  real max_growth_;
  supernodal::factor_columns<Index, Offset> columns_;
  std::int64_t entries_ = 0;  ///< of C without the diagonal
  std::int64_t longest_row_ = 0;
  std::int64_t rows_ = 0;          ///< rows in the lists of all supernodes
  bool has_first_values_ = false;  ///< whether the values of the first update_values() are in place
  supernodal::device_fundamental<Index> fundamental_;
  std::optional<structure_type> structure_;
  std::optional<values_type> values_;
  supernodal::contribution_lists<Offset> contributions_;
  supernodal::plan<Tuning, Scalar, Index, Offset> plan_;
};

}  // namespace sptrsv::detail
