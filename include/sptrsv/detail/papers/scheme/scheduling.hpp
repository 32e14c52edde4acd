// SPDX-License-Identifier: Apache-2.0
// Scheduling (Hu et al. 2024, section 4.4). It puts nodes of one level into groups, which a warp solves
// together. It assigns the groups to warps and the levels of nodes to launches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/vertex_lists.hpp"
#include "sptrsv/detail/papers/scheme/scheme_agent.hpp"
#include "sptrsv/detail/papers/scheme/transform.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// rg_balance: computes the sort key of each node: ascending by level, and within a level from nodes of many
/// entries to nodes of few. Runs once per level and node in level order, see for_each_entry().
template <class Index, class Offset>
struct find_balance_keys {
  static constexpr int entry_bits = 24;

  const Offset* row_offsets;       ///< by solve index
  const Index* first_solve_index;  ///< by node, nodes + 1
  const Index* nodes;              ///< by index in level order: the node
  std::uint64_t* keys;             ///< output by index in level order

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t level, std::int64_t k) const {
    const Index node = ctx.load_constant(nodes + k);
    const auto entries = static_cast<std::uint64_t>(
        ctx.load_constant(row_offsets + ctx.load_constant(first_solve_index + node + 1)) -
        ctx.load_constant(row_offsets + ctx.load_constant(first_solve_index + node)));
    constexpr std::uint64_t most = (std::uint64_t{1} << entry_bits) - 1;
    ctx.store(keys + k,
              static_cast<std::uint64_t>(level) << entry_bits | (most - (entries < most ? entries : most)));
  }
};

/// Writes each node to its slot in the groups. Runs once per level and node in level order, see
/// for_each_entry().
template <class Index>
struct place_nodes {
  const Index* level_offsets;      ///< by level, levels + 1
  const Index* nodes;              ///< by index in level order: the node
  const Index* first_solve_index;  ///< by node, nodes + 1
  const std::int32_t* inner;       ///< by node: 1 if its rows need each other; null if nodes are rows
  const Index* group_offsets;      ///< by level: its first group
  int sub_warps;
  Index* first;               ///< output by slot: solve index of the node's first row
  Index* rows;                ///< output by slot: number of rows
  std::int32_t* level_inner;  ///< output by level: 1 if a node's rows need each other
  Index* group_of_node;       ///< output by node; null if it is not needed

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t level, std::int64_t k) const {
    const std::int64_t in_level = k - load_index(ctx, level_offsets + level);
    const std::int64_t group = load_index(ctx, group_offsets + level) + in_level / sub_warps;
    const std::int64_t at = group * sub_warps + in_level % sub_warps;
    const Index node = ctx.load_constant(nodes + k);
    const Index solve_index = ctx.load_constant(first_solve_index + node);
    ctx.store(first + at, solve_index);
    ctx.store(rows + at, static_cast<Index>(ctx.load_constant(first_solve_index + node + 1) - solve_index));
    if (inner != nullptr && ctx.load_constant(inner + node) != 0) {
      ctx.store_relaxed(level_inner + level, std::int32_t{1});
    }
    if (group_of_node != nullptr) {
      ctx.store(group_of_node + node, static_cast<Index>(group));
    }
  }
};

template <class Index>
struct grouped_nodes {
  std::int64_t count = 0;
  /// By slot (group * sub_warps + sub-warp): solve index of the node's first row.
  buffer<Index> first;
  buffer<Index> rows;                     ///< by slot: number of rows, 0 if it has no node
  buffer<Index> group_of_node;            ///< by node; empty if it was not asked for
  std::vector<Index> level_offsets;       ///< by level of nodes: its first group; one more for the end
  std::vector<std::int32_t> level_inner;  ///< by level: 1 if a node's rows need each other
};

/// Groups the nodes of each level; may reorder the nodes within the levels of `graph`. Synchronises.
template <class Index, class Offset, class Executor>
grouped_nodes<Index> group_nodes(const device_triangle<Index, Offset>& t, node_graph<Index, Offset>& graph,
                                 const scheme& s, bool with_group_of_node, const Executor& on,
                                 memory_resource& resource) {
  const std::int64_t nodes = graph.nodes.count;
  device_levels<Index>& levels = graph.levels;
  if (s.grouping == node_grouping::balance && s.sub_warps > 1 && nodes > 0) {
    using find_keys = find_balance_keys<Index, Offset>;
    const auto keys = make_buffer<std::uint64_t>(nodes, on, resource);
    const auto sorted_keys = make_buffer<std::uint64_t>(nodes, on, resource);
    auto sorted = make_buffer<Index>(nodes, on, resource);
    triangle_kernels::for_each_entry(
        on, levels.level_offsets.data(), levels.count, nodes,
        find_keys{t.row_offsets.data(), graph.nodes.first.data(), levels.rows.data(), keys.data()});
    on.sort_pairs(keys.data(), sorted_keys.data(), levels.rows.data(), sorted.data(), nodes,
                  bits_for(static_cast<std::uint64_t>(levels.count) << find_keys::entry_bits), resource);
    levels.rows = std::move(sorted);
  }

  grouped_nodes<Index> made;
  const std::vector<Index> first_nodes = download_array(levels.level_offsets, on);
  made.level_offsets.push_back(0);
  for (std::size_t level = 0; level + 1 < first_nodes.size(); ++level) {
    const Index of_level = first_nodes[level + 1] - first_nodes[level];
    made.level_offsets.push_back(
        static_cast<Index>(made.level_offsets[level] + simt::ceil_div(of_level, s.sub_warps)));
  }
  made.count = made.level_offsets.back();
  const buffer<Index> group_offsets = begin_upload(made.level_offsets, on, resource);

  made.first = make_zeros<Index>(made.count * s.sub_warps, on, resource);
  made.rows = make_zeros<Index>(made.count * s.sub_warps, on, resource);
  made.group_of_node = make_buffer<Index>(with_group_of_node ? nodes : 0, on, resource);
  const auto inner = make_zeros<std::int32_t>(levels.count, on, resource);
  triangle_kernels::for_each_entry(
      on, levels.level_offsets.data(), levels.count, nodes,
      place_nodes<Index>{levels.level_offsets.data(), levels.rows.data(), graph.nodes.first.data(),
                         graph.inner.data(), group_offsets.data(), s.sub_warps, made.first.data(),
                         made.rows.data(), inner.data(), made.group_of_node.data()});
  made.level_inner = download_array(inner, on);
  return made;
}

/// A launch: the groups of one or more levels.
struct node_launch {
  std::int64_t first_group;
  std::int64_t groups;
  bool waits;                    ///< true: rows wait for rows of the same launch
  bool signals = false;          ///< true: rows of this or a later launch wait, so values must be signalled
  std::int64_t first_block = 0;  ///< blocks of the launches before
  std::uint32_t blocks = 0;
};

/// Makes the launches. A level of more than `threshold` groups is a launch of its own; consecutive smaller
/// levels share one launch. Rows of one level do not wait for one another unless they are in one node.
template <class Index>
std::vector<node_launch> make_launches(const grouped_nodes<Index>& groups, double threshold) {
  std::vector<node_launch> made;
  bool open = false;  // true: the last launch takes further levels
  for (std::size_t level = 0; level + 1 < groups.level_offsets.size(); ++level) {
    const std::int64_t first = groups.level_offsets[level];
    const std::int64_t count = groups.level_offsets[level + 1] - first;
    const bool alone = static_cast<double>(count) > threshold;
    if (open && !alone) {
      made.back().groups += count;
      made.back().waits = true;
    } else {
      made.push_back({first, count, groups.level_inner[level] != 0});
    }
    open = !alone;
  }
  bool later_waits = false;
  for (auto launch = made.rbegin(); launch != made.rend(); ++launch) {
    later_waits = later_waits || launch->waits;
    launch->signals = later_waits;
  }
  return made;
}

/// The facts about groups that the host needs.
template <class Index>
struct group_facts {
  std::vector<std::int64_t> loads;             ///< by group: number of entries
  std::vector<std::vector<Index>> parents_of;  ///< by group, ws_locality only
};

/// Computes the loads of the groups and, if `with_parents`, their parents: the last group that each of their
/// nodes needs. Synchronises.
template <class Index, class Offset, class Executor>
group_facts<Index> facts_of(const device_triangle<Index, Offset>& t, const node_graph<Index, Offset>& graph,
                            const grouped_nodes<Index>& groups, bool with_parents, const Executor& on) {
  group_facts<Index> facts;
  const std::vector<Offset> row_offsets = download_array(t.row_offsets, on);
  const std::vector<Index> first = download_array(groups.first, on);
  const std::vector<Index> rows = download_array(groups.rows, on);
  facts.loads.assign(at(groups.count), 0);
  const std::size_t group_slots = first.size() / facts.loads.size();
  for (std::size_t slot = 0; slot < first.size(); ++slot) {  // entries and diagonals
    facts.loads[slot / group_slots] +=
        row_offsets[at(first[slot] + rows[slot])] - row_offsets[at(first[slot])] + rows[slot];
  }
  if (with_parents) {
    const device_triangle<Index, Offset>& edges = graph.nodes_are_rows() ? t : graph.edges;
    const std::vector<Offset> edge_offsets = download_array(edges.row_offsets, on);
    const std::vector<Index> needed = download_array(edges.columns, on);
    const std::vector<Index> group = download_array(groups.group_of_node, on);
    facts.parents_of.resize(at(groups.count));
    for (std::size_t node = 0; node < group.size(); ++node) {
      Index parent = -1;
      for (Offset e = edge_offsets[node]; e < edge_offsets[node + 1]; ++e) {
        parent = std::max(parent, group[at(needed[at(e)])]);
      }
      if (parent >= 0) {
        facts.parents_of[at(group[node])].push_back(parent);
      }
    }
  }
  return facts;
}

/// Assigns the groups of each launch to its warps, `warps` in a block: each to the warp with the smallest
/// load so far, or, for warp_scheduling::locality, to such a warp of the blocks that solve its parents, if a
/// parent is in this launch. Returns the groups of each warp of all launches, relative to the first of the
/// launch.
template <class Index>
vertex_lists<Index, Index> make_queues(const group_facts<Index>& facts,
                                       const std::vector<node_launch>& launches, int warps,
                                       warp_scheduling how) {
  std::vector<std::size_t> worker_of(facts.loads.size());  // by group: its warp in the launch
  for (const node_launch& l : launches) {
    std::vector<std::int64_t> loads(at(l.blocks) * at(warps), 0);  // by warp
    std::set<std::pair<std::int64_t, std::size_t>> order;          // load and warp
    for (std::size_t warp = 0; warp < loads.size(); ++warp) {
      order.emplace(0, warp);
    }
    const auto near_parents = [&](std::int64_t group) {
      std::size_t best = order.begin()->second;
      bool found = false;
      for (const Index parent : facts.parents_of[at(group)]) {
        if (parent < l.first_group) {
          continue;  // parent is solved by an earlier launch
        }
        const std::size_t first = worker_of[at(parent)] / at(warps) * at(warps);
        for (std::size_t w = first; w < first + at(warps); ++w) {
          best = !found || loads[w] < loads[best] ? w : best;
          found = true;
        }
      }
      return best;
    };
    for (std::int64_t group = l.first_group; group < l.first_group + l.groups; ++group) {
      const std::size_t worker =
          how == warp_scheduling::locality ? near_parents(group) : order.begin()->second;
      worker_of[at(group)] = worker;
      order.erase({loads[worker], worker});
      loads[worker] += facts.loads[at(group)];
      order.emplace(loads[worker], worker);
    }
  }
  const node_launch& last = launches.back();
  return lists_of<Index, Index>((last.first_block + last.blocks) * warps, [&](const auto& add) {
    for (const node_launch& l : launches) {
      for (std::int64_t g = 0; g < l.groups; ++g) {
        add(at(l.first_block * warps) + worker_of[at(l.first_group + g)], static_cast<Index>(g));
      }
    }
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
