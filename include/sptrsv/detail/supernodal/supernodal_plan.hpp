// SPDX-License-Identifier: Apache-2.0
// What the analysis plans for solves: tasks, forests, and where contributions are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/supernodal/forest/list_agent.hpp"
#include "sptrsv/detail/supernodal/pack/pack_backward_agent.hpp"
#include "sptrsv/detail/supernodal/pack/pack_forward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/backward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/forward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/task_lister.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The tasks of a solve and the forests, on the host.
struct host_plan {
  forest_list forests;
  task_list tasks;
  task_list pack_tasks;  ///< of solves in packs

  /// `has_packs`: whether there may be solves in packs.
  template <class Scalar, class Index, class Offset, class Tuning>
  static host_plan of(const supernode_tree<Index>& tree, bool backward,
                      const panel_space<Tuning, Scalar>& space, const pack_space<Tuning, Scalar>& packs,
                      bool has_packs) {
    const std::vector<std::int32_t> level = tree.levels(backward);
    host_plan made;
    made.forests = forest_finder(tree, level, {sizeof(Scalar), backward}, space.bytes()).find();
    task_limits limits = space.limits();
    limits.lookahead = Tuning::lookahead;
    limits.sums_in_forests = has_packs;
    made.tasks = task_lister(tree, level, made.forests, backward, limits).make();
    if (has_packs) {
      const forest_list no_forests = forest_finder(tree, level, {sizeof(Scalar), backward}, 0).find();
      const std::int64_t sum_columns = backward
                                           ? pack_backward_agent<Tuning, Scalar, Index, Offset>::sum_columns
                                           : pack_forward_agent<Tuning, Scalar, Index, Offset>::sum_columns;
      made.pack_tasks = task_lister(tree, level, no_forests, backward, packs.limits(sum_columns)).make();
    }
    return made;
  }
};

template <class Index, class Offset>
struct forest_lists : device_arrays {
  forests_view<Offset> view{};

  forest_lists() = default;

  /// Only enqueues. `list` stays as it is until a call synchronises.
  template <class Executor>
  forest_lists(const forest_list& list, const supernodes<Index>& of, std::int64_t size, bool backward,
               const Executor& on, memory_resource& resource) {
    if (list.forests.empty()) {
      return;
    }
    const auto make = [&](auto element, std::int64_t count) {
      return this->template make<decltype(element)>(count, on, resource);
    };
    view.count = count_of(list.forests);
    view.forests = make(forest{}, view.count);
    on.begin_upload(view.forests, list.forests.data(), list.forests.size() * sizeof(forest));
    const auto places = begin_upload(list.places, on, resource);
    view.outside_rows = make(Offset{}, list.outside_rows);
    view.level_begin = make(std::int32_t{}, list.levels);
    // Bulk copies read up to the next multiple of 16 bytes.
    const auto make_padded = [&](auto element, std::int64_t count) {
      constexpr std::int64_t padding = 16 / std::int64_t{sizeof(element)} - 1;
      auto* const made = make(element, count + padding);
      on.fill_bytes(made + count, 0, padding * sizeof(element));
      return made;
    };
    if (backward) {
      view.columns = make_padded(forest_column{}, list.items);
      view.nodes = make(forest_node{}, list.nodes);
      view.local_rows = make_padded(std::uint16_t{}, list.rows);
    } else {
      view.products = make_padded(forest_product{}, list.items);
    }
    const auto scratch = make_buffer<forest_item>(2 * list.items, on, resource);
    const auto last_level = make_buffer<std::int32_t>(backward ? 0 : size, on, resource);
    with_constant(backward, [&](auto is_backward) {
      using agent = forest_list_agent<Index, Offset, decltype(is_backward)::value>;
      on.template launch<agent>(simt::block_count(view.count, 1),
                                {of, view, places.data(), scratch.data(), last_level.data()});
    });
  }
};

template <class Index, class Offset>
struct plan {
  std::int64_t rows = 0;  ///< in the lists of all supernodes
  forest_lists<Index, Offset> forests;
  contribution_lists<Offset> contributions;  ///< forward
  buffer<task> tasks;                        ///< see solve_params
  buffer<supernode> small;                   ///< see solve_params
  std::int64_t partials = 0;                 ///< see task_list
  std::int64_t levels = 0;                   ///< of the tree; 0: the pattern has none
  std::uint32_t blocks = 0;
  task_list pack_tasks;  ///< of solves in packs; each workspace has a copy
  std::uint32_t pack_blocks = 0;

  plan() = default;

  /// `of`: the supernodes of the tree. `has_packs`: see host_plan. Takes the tasks of packs from `from`; the
  /// rest stays as it is until a call synchronises. Only enqueues.
  template <class Executor>
  plan(host_plan& from, const supernode_tree<Index>& tree, const supernodes<Index>& of, bool backward,
       bool has_packs, const Executor& on, memory_resource& resource)
      : rows(tree.rows_begin.back()),
        forests(from.forests, of, tree.first.back(), backward, on, resource),
        tasks(begin_upload(from.tasks.tasks, on, resource)),
        small(begin_upload(from.tasks.small, on, resource)),
        partials(from.tasks.partials),
        levels(tree.is_nested ? from.tasks.levels : 0),
        blocks(simt::block_count(
            static_cast<std::int64_t>(from.tasks.tasks.size() + from.forests.forests.size()), 1)),
        pack_tasks(std::move(from.pack_tasks)),
        pack_blocks(simt::block_count(pack_tasks.blocks(), 1)) {
    if (!backward) {
      contributions = {
          of,
          sum_numbers<Offset>::of(has_packs ? nullptr : &from.forests, forests.view, tree.first.back(), rows),
          on, resource};
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    return forests.bytes() + contributions.bytes() + tasks.bytes() + small.bytes();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
