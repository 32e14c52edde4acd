// What the analysis plans for solves: tasks and forests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/supernodal/forest/forest_lists.hpp"
#include "sptrsv/detail/supernodal/pack/pack_backward_agent.hpp"
#include "sptrsv/detail/supernodal/pack/pack_forward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/backward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/forward_agent.hpp"

namespace sptrsv::detail::supernodal {

/// The tasks of a solve, in device memory, and the forests.
template <class Tuning, class Scalar, class Index, class Offset>
struct plan {
  forest_lists<Index, Offset> forests;
  buffer<task> tasks;         ///< see solve_params
  buffer<supernode> small;    ///< see solve_params
  std::int64_t partials = 0;  ///< see task_list
  std::int64_t levels = 0;    ///< of the tree; 0: the pattern has none
  std::uint32_t blocks = 0;
  task_list pack_tasks;  ///< of solves in packs; each workspace has a copy
  std::uint32_t pack_blocks = 0;

  plan() = default;

  /// `of`: the supernodes of the tree. `has_packs`: whether there may be solves in packs.
  template <class Executor>
  plan(const supernode_tree& tree, const supernodes<Index>& of, std::int64_t size, bool backward,
       const panel_space<Tuning, Scalar>& space, const pack_space<Tuning, Scalar>& packs, bool has_packs,
       const Executor& on, memory_resource& resource) {
    constexpr int strip_columns = backward_agent<Tuning, Scalar, Index, Offset, 1>::strip_columns;
    const forest_list found = forest_finder(tree, {sizeof(Scalar), backward}, space.bytes()).find();
    forests = {found, of, size, tree.rows_begin.back(), backward, on, resource};
    const task_list made =
        task_lister(tree, found, backward,
                    {Tuning::block_threads, space.warp_entries(), space.block_entries(),
                     Tuning::block_threads, strip_columns, space.strip_rows(strip_columns)})
            .make();
    tasks = make_buffer<task>(static_cast<std::int64_t>(made.tasks.size()), on, resource);
    on.upload(tasks.data(), made.tasks.data(), tasks.bytes());
    small = make_buffer<supernode>(static_cast<std::int64_t>(made.small.size()), on, resource);
    on.upload(small.data(), made.small.data(), small.bytes());
    blocks = simt::block_count(static_cast<std::int64_t>(made.tasks.size() + found.forests.size()), 1);
    partials = made.partials;
    levels = tree.is_nested ? made.levels : 0;
    if (has_packs) {
      const forest_list no_forests = forest_finder(tree, {sizeof(Scalar), backward}, 0).find();
      pack_tasks = task_lister(tree, no_forests, backward,
                               {Tuning::pack_block_threads, packs.warp_entries(), packs.block_entries(),
                                backward ? pack_backward_agent<Tuning, Scalar, Index, Offset>::sum_columns
                                         : pack_forward_agent<Tuning, Scalar, Index, Offset>::sum_columns})
                       .make();
      pack_blocks = simt::block_count(static_cast<std::int64_t>(pack_tasks.tasks.size()), 1);
    }
  }

  [[nodiscard]] std::size_t bytes() const { return forests.bytes() + tasks.bytes() + small.bytes(); }
};

}  // namespace sptrsv::detail::supernodal
