// SPDX-License-Identifier: Apache-2.0
// Scheduling, second hierarchy: assigns groups to warps (Hu et al. 2024, section 4.4). Runs on the host: each
// group goes to a warp that has the smallest load so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/papers/scheme/grouping.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// Counts the entries of each node, with diagonals. Runs once per slot of the groups.
template <class Index, class Offset>
struct measure_nodes {
  const Offset* row_offsets;  ///< by solve index
  const Index* first;         ///< by slot: solve index of the node's first row
  const Index* rows;          ///< by slot: number of rows
  std::int64_t* loads;        ///< output by slot: entries of the node

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t at) const {
    const Index solve_index = ctx.load_constant(first + at);
    const Index count = ctx.load_constant(rows + at);
    ctx.store(loads + at, static_cast<std::int64_t>(ctx.load_constant(row_offsets + solve_index + count) -
                                                    ctx.load_constant(row_offsets + solve_index)) +
                              static_cast<std::int64_t>(count));
  }
};

/// Finds the parent of each node: the last group that it needs. Runs once per edge of the graph.
template <class Index, class Offset>
struct find_parents {
  std::int64_t nodes;
  const Offset* offsets;       ///< by node: first edge; one more for the end
  const Index* edges;          ///< by edge: the node that is needed
  const Index* group_of_node;  ///< by node
  Index* parents;              ///< output by node: a group; must be -1 before

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t node = triangle_kernels::major_of(ctx, offsets, nodes, e);
    const Index group = ctx.load_constant(group_of_node + ctx.load_constant(edges + e));
    if (group > ctx.load_relaxed(parents + node)) {  // most edges need no atomic
      ctx.atomic_max(parents + node, group);
    }
  }
};

/// The facts about groups that the host needs.
template <class Index>
struct group_facts {
  std::vector<std::int64_t> loads;             ///< by group: number of entries
  std::vector<std::vector<Index>> parents_of;  ///< by group, ws_locality only
};

/// Computes the loads of the groups and, if `with_parents`, their parents. Synchronises.
template <class Index, class Offset, class Executor>
group_facts<Index> facts_of(const device_triangle<Index, Offset>& t, const node_graph<Index, Offset>& graph,
                            const grouped_nodes<Index>& groups, bool with_parents, const Executor& on,
                            memory_resource& resource) {
  const auto count = static_cast<std::size_t>(groups.count);
  const auto solve_indices = static_cast<std::int64_t>(groups.first.size());
  group_facts<Index> facts;
  const buffer<std::int64_t> loads(groups.first.size(), resource, on.stream());
  simt::for_each(on, solve_indices,
                 measure_nodes<Index, Offset>{t.row_offsets.data(), groups.first.data(), groups.rows.data(),
                                              loads.data()});
  const std::vector<std::int64_t> by_slot = download_array(loads, on);
  facts.loads.assign(count, 0);
  for (std::size_t k = 0; k < by_slot.size(); ++k) {
    facts.loads[k / static_cast<std::size_t>(groups.sub_warps)] += by_slot[k];
  }
  if (with_parents) {
    const device_triangle<Index, Offset>& edges = graph.nodes_are_rows() ? t : graph.edges;
    const auto parents = make_buffer<Index>(graph.nodes.count, on, resource);
    on.fill_bytes(parents.data(), 0xff, parents.bytes());
    simt::for_each(on, edges.entries(),
                   find_parents<Index, Offset>{edges.size, edges.row_offsets.data(), edges.columns.data(),
                                               groups.group_of_node.data(), parents.data()});
    const std::vector<Index> parent = download_array(parents, on);
    const std::vector<Index> group = download_array(groups.group_of_node, on);
    facts.parents_of.resize(count);
    for (std::size_t node = 0; node < parent.size(); ++node) {
      if (parent[node] >= 0) {
        facts.parents_of[at(group[node])].push_back(parent[node]);
      }
    }
  }
  return facts;
}

/// Warp w of a launch solves queue[first[w]] ... queue[first[w + 1] - 1], relative to the first group.
template <class Index>
struct warp_queues {
  std::vector<Index> first;
  std::vector<Index> queue;
};

/// The loads of all warps.
class warp_loads {
 public:
  explicit warp_loads(std::size_t warps) : loads_(warps, 0) {
    for (std::size_t warp = 0; warp < warps; ++warp) {
      order_.emplace(0, warp);
    }
  }

  [[nodiscard]] std::int64_t of(std::size_t warp) const { return loads_[warp]; }
  /// Returns the first of the warps with the smallest load.
  [[nodiscard]] std::size_t least() const { return order_.begin()->second; }
  void add(std::size_t warp, std::int64_t load) {
    auto moved = order_.extract({loads_[warp], warp});
    moved.value().first = loads_[warp] += load;
    order_.insert(std::move(moved));
  }

 private:
  std::vector<std::int64_t> loads_;                       ///< by warp
  std::set<std::pair<std::int64_t, std::size_t>> order_;  ///< load and warp
};

/// Assigns the groups first_group ... first_group + groups - 1 to `blocks` blocks of `warps` warps: each to
/// the warp with the smallest load so far, or, for warp_scheduling::locality, to such a warp of the blocks
/// that solve its parents, if a parent is in this launch.
template <class Index>
warp_queues<Index> make_queues(const group_facts<Index>& facts, std::int64_t first_group, std::int64_t groups,
                               std::int64_t blocks, int warps, warp_scheduling how) {
  warp_loads loads(static_cast<std::size_t>(blocks * warps));
  std::vector<Index> worker_of(static_cast<std::size_t>(groups));  // by group of the launch: its warp
  const auto near_parents = [&](std::int64_t group) {
    std::size_t best = loads.least();
    bool found = false;
    for (const Index parent : facts.parents_of[at(group)]) {
      if (parent < first_group) {
        continue;  // parent is solved by an earlier launch
      }
      const auto first = static_cast<std::size_t>(worker_of[at(parent - first_group)] / warps * warps);
      for (std::size_t w = first; w < first + static_cast<std::size_t>(warps); ++w) {
        best = !found || loads.of(w) < loads.of(best) ? w : best;
        found = true;
      }
    }
    return best;
  };
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t group = first_group + g;
    const std::size_t worker = how == warp_scheduling::locality ? near_parents(group) : loads.least();
    loads.add(worker, facts.loads[at(group)]);
    worker_of[at(g)] = static_cast<Index>(worker);
  }
  warp_queues<Index> made;
  made.queue = group_entries<Index>(worker_of.data(), worker_of.size(), blocks * warps, made.first);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
