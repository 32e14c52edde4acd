// SPDX-License-Identifier: Apache-2.0
// The factor C in panels: what the solves with C and with its transpose share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/detail/analysis/panel_pattern.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/analysis/columns.hpp"
#include "sptrsv/detail/supernodal/analysis/device_merge.hpp"
#include "sptrsv/detail/supernodal/analysis/supernodal_structure.hpp"
#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"
#include "sptrsv/detail/supernodal/values/supernodal_values.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Owns the columns of C, their supernodes and the panels. A system op(T) x = b is C x = b or C^T x = b. The
/// one is taken whose columns of C have the structure of a complete factor: for a lower triangle usually
/// C x = b, for an upper one C^T x = b.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class factor {
  using values_type = panel_values<Tuning, Scalar, Index, Offset, Executor>;

 public:
  /// Finds the fundamental supernodes; `a` is a stored matrix or a lower triangle in panels. make_panels()
  /// follows.
  template <class Pattern>
  factor(const Pattern& a, const triangle_form& form, double max_growth, const Executor& on,
         memory_resource& resource)
      : size_(a.size), pivots_(form.unit ? 0 : size_), conjugated_(form.conjugated), max_growth_(max_growth) {
    if constexpr (std::is_base_of_v<panel_pattern<Index, Offset>, Pattern>) {
      backward_ = form.reversed;
      columns_ = {a, on, resource};
      fundamental_ = find_fundamental(columns_, on, resource);
    } else {
      find_supernodes(a, form, form.reversed, on, resource);
      if (!fundamental_.is_nested) {
        try_other_direction(a, form, on, resource);
      }
    }
  }

  /// Merges the supernodes, cuts them where inverses grow too much by the values, and computes the panels.
  /// Calls plan(tree, structure()) while the device computes them, and again if they were cut; not if there
  /// are no rows. plan() may enqueue. Synchronises after the last call of plan().
  template <class Plan>
  void make_panels(const Scalar* values, const Executor& on, memory_resource& resource, const Plan& plan) {
    if (size_ == 0) {
      return;
    }
    simt::scan_words words(resource);
    const auto merged = merge_supernodes(
        fundamental_, {Tuning::max_padding, Tuning::max_narrow_padding, Tuning::narrow_width}, words, on,
        resource);
    std::vector<std::int64_t> cuts;
    do {
      values_.reset();
      const bool on_device = fundamental_.is_nested && cuts.empty() &&
                             size_ <= std::numeric_limits<std::int32_t>::max() &&
                             merged.ranges.size() > static_cast<std::size_t>(Tuning::supernodes_on_host);
      if (!on_device) {
        tree_ =
            cut(download_array(merged.ranges, on), size_, fundamental_.is_nested, Tuning::max_width, cuts);
      }
      device_tree<Index> there =
          on_device ? cut_on_device(merged.ranges, size_, Tuning::max_width, words, on, resource)
                    : upload_tree(tree_, on, resource);
      structure_.emplace(std::move(there), merged.first_descendant.data(), fundamental_, columns_.view(),
                         words, on, resource);
      const supernodes<Index>& of = structure_->of;
      values_.emplace(list_parts(on_device ? nullptr : &tree_, of, values_type::parts, on, resource),
                      of.count, size_, structure_->entries, pivots_, max_growth_, on, resource);
      std::vector<cut_supernode<Index>> made;
      if (on_device) {
        made = download_array(std::exchange(structure_->made, {}), on);
      }
      compute_panels(values, on);  // the host goes on
      if (on_device) {
        tree_ = tree_of(made, size_, true);
      }
      plan(tree_, of);
    } while (cut_grown(cuts, on));
    has_first_values_ = true;
    columns_.end_analysis();
    fundamental_.end_analysis();
  }

  /// Computes the panels; the first call after the analysis has nothing to do. Only enqueues.
  void update_values(const Scalar* values, const Executor& on) {
    if (size_ > 0 && !std::exchange(has_first_values_, false)) {
      compute_panels(values, on);
    }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Returns whether the system that was analysed is C^T x = b.
  [[nodiscard]] bool backward() const { return backward_; }
  /// Returns whether column j of C stands for row size - 1 - j of the system, instead of row j.
  [[nodiscard]] bool mirrored() const { return mirrored_; }
  [[nodiscard]] std::int64_t fundamental_count() const { return fundamental_.count; }
  [[nodiscard]] const supernode_tree<Index>& tree() const { return tree_; }
  /// Returns the number of entries, the diagonal included unless it is unit.
  [[nodiscard]] std::int64_t entries() const { return columns_.entries() + pivots_; }
  /// Returns the length of the longest column (row) of C, without the diagonal.
  [[nodiscard]] std::int64_t longest(bool column) const {
    return column ? fundamental_.longest.column : fundamental_.longest.row;
  }

  // Only if there are rows:

  [[nodiscard]] supernodes<Index> structure() const { return structure_->of; }
  [[nodiscard]] const values_type& values() const { return *values_; }
  /// Returns the first column of C of a supernode whose growth is too large by the values that were given
  /// last, in the order of substitution of the system that was analysed; -1 if there is none. Synchronises.
  [[nodiscard]] std::int64_t first_grown_column(const Executor& on) const {
    const std::int64_t found = values_->first_grown_index(on);
    return found >= 0 && backward_ ? size_ - 1 - found : found;
  }

  [[nodiscard]] std::size_t bytes() const {
    return columns_.bytes() + fundamental_.first.bytes() +
           (structure_.has_value() ? structure_->bytes() + values_->bytes() : 0);
  }

 private:
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
    fundamental_ = find_fundamental(columns_, on, resource);
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

  void compute_panels(const Scalar* values, const Executor& on) {
    values_->update(columns_.values(values, conjugated_), structure_->of, structure_->masks,
                    backward_ ? size_ - 1 : -1, on);
  }

  /// Adds a cut to the middle of each supernode whose growth is too large. Returns whether there are any.
  bool cut_grown(std::vector<std::int64_t>& cuts, const Executor& on) const {
    if (first_grown_column(on) < 0) {
      return false;
    }
    const std::size_t before = cuts.size();
    for (const std::int64_t s : values_->grown(on)) {
      if (tree_.columns(s) > 1) {
        cuts.push_back(tree_.first[at(s)] + tree_.columns(s) / 2);
      }
    }
    const bool found = cuts.size() > before;
    std::sort(cuts.begin(), cuts.end());
    return found;
  }

  std::int64_t size_;
  std::int64_t pivots_;  ///< diagonal entries; 0 if the diagonal is unit
  bool conjugated_;
  double max_growth_;
  bool backward_ = false;
  bool mirrored_ = false;
  factor_columns<Index, Offset> columns_;
  device_fundamental<Index> fundamental_;
  supernode_tree<Index> tree_;
  std::optional<device_structure<Index>> structure_;
  std::optional<values_type> values_;
  bool has_first_values_ = false;  ///< whether the values of the first update_values() are in place
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
