// Schedule, second hierarchy: groups on warps (Hu et al. 2024, section 4.4). On the host: each group goes
// where those before it have left least to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/scheme/grouping.hpp"

namespace sptrsv::detail::schemes {

/// Per place in the groups: the entries of its node, with diagonals.
template <class Index, class Offset>
struct measure_nodes {
  const Offset* row_offsets;
  const Index* first;
  const Index* rows;
  std::int64_t* loads;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t at) const {
    const Index solve_index = ctx.load_constant(first + at);
    const Index count = ctx.load_constant(rows + at);
    ctx.store(loads + at, static_cast<std::int64_t>(ctx.load_constant(row_offsets + solve_index + count) -
                                                    ctx.load_constant(row_offsets + solve_index)) +
                              static_cast<std::int64_t>(count));
  }
};

/// Per edge of the graph: the parent of a node's group is the last of the groups that its nodes need.
template <class Index, class Offset>
struct find_parents {
  std::int64_t nodes;
  const Offset* offsets;
  const Index* edges;
  const Index* group_of_node;
  Index* parents;  ///< by node; starts at -1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t node = triangle_kernels::major_of(ctx, offsets, nodes, e);
    const Index group = ctx.load_constant(group_of_node + ctx.load_constant(edges + e));
    if (group > ctx.load_relaxed(parents + node)) {  // most need no atomic
      ctx.atomic_max(parents + node, group);
    }
  }
};

/// What the host needs to know of the groups.
template <class Index>
struct group_facts {
  std::vector<std::int64_t> loads;             ///< by group: entries
  std::vector<std::vector<Index>> parents_of;  ///< by group, ws_locality only
};

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
  std::vector<std::int64_t> by_solve_index(loads.size());
  on.download(by_solve_index.data(), loads.data(), loads.bytes());
  facts.loads.assign(count, 0);
  for (std::size_t at = 0; at < by_solve_index.size(); ++at) {
    facts.loads[at / static_cast<std::size_t>(groups.sub_warps)] += by_solve_index[at];
  }
  if (with_parents) {
    const device_triangle<Index, Offset>& edges = graph.nodes_are_rows() ? t : graph.edges;
    const auto parents = make_buffer<Index>(graph.nodes.count, on, resource);
    on.fill_bytes(parents.data(), 0xff, parents.bytes());
    simt::for_each(on, edges.entries(),
                   find_parents<Index, Offset>{edges.size, edges.row_offsets.data(), edges.columns.data(),
                                               groups.group_of_node.data(), parents.data()});
    std::vector<Index> parent(parents.size());
    std::vector<Index> group(parents.size());
    on.download(parent.data(), parents.data(), parents.bytes());
    on.download(group.data(), groups.group_of_node.data(), groups.group_of_node.bytes());
    facts.parents_of.resize(count);
    for (std::size_t node = 0; node < parent.size(); ++node) {
      if (parent[node] >= 0) {
        facts.parents_of[static_cast<std::size_t>(group[node])].push_back(parent[node]);
      }
    }
  }
  return facts;
}

/// Of a launch: queue[first[w]] ... queue[first[w + 1] - 1] are warp w's, counted from the launch's first
/// group and ascending.
template <class Index>
struct warp_queues {
  std::vector<Index> first;
  std::vector<Index> queue;
};

/// Warps by what they have to do: a heap that knows where each warp stands.
class warp_loads {
 public:
  explicit warp_loads(std::size_t warps) : loads_(warps, 0), heap_(warps), place_(warps) {
    std::iota(heap_.begin(), heap_.end(), 0u);
    std::iota(place_.begin(), place_.end(), 0u);
  }

  [[nodiscard]] std::size_t size() const { return loads_.size(); }
  [[nodiscard]] std::int64_t of(std::uint32_t warp) const { return loads_[warp]; }
  /// Of those with the least to do, the first.
  [[nodiscard]] std::uint32_t least() const { return heap_.front(); }

  void add(std::uint32_t warp, std::int64_t load) {
    loads_[warp] += load;
    std::size_t at = place_[warp];
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      child += child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child]) ? 1 : 0;
      if (!is_before(heap_[child], warp)) {
        break;
      }
      put(heap_[child], at);
      at = child;
    }
    put(warp, at);
  }

 private:
  [[nodiscard]] bool is_before(std::uint32_t a, std::uint32_t b) const {
    return loads_[a] < loads_[b] || (loads_[a] == loads_[b] && a < b);
  }
  void put(std::uint32_t warp, std::size_t at) {
    heap_[at] = warp;
    place_[warp] = static_cast<std::uint32_t>(at);
  }

  std::vector<std::int64_t> loads_;   ///< by warp
  std::vector<std::uint32_t> heap_;   ///< warps
  std::vector<std::uint32_t> place_;  ///< by warp, in the heap
};

/// Deals the groups first_group ... first_group + groups - 1 to `blocks` blocks of `warps` warps.
template <class Index>
class queue_maker {
 public:
  queue_maker(const group_facts<Index>& facts, std::int64_t first_group, std::int64_t groups,
              std::int64_t blocks, int warps)
      : facts_(facts),
        first_group_(first_group),
        groups_(groups),
        warps_(static_cast<std::uint32_t>(warps)),
        loads_(static_cast<std::size_t>(blocks * warps)),
        worker_of_(static_cast<std::size_t>(groups)) {}

  warp_queues<Index> make(warp_scheduling how) {
    for (std::int64_t g = 0; g < groups_; ++g) {
      const std::uint32_t worker = how == warp_scheduling::locality ? near_parents(g) : loads_.least();
      loads_.add(worker, facts_.loads[static_cast<std::size_t>(first_group_ + g)]);
      worker_of_[static_cast<std::size_t>(g)] = worker;
    }
    warp_queues<Index> made;
    made.first.assign(loads_.size() + 1, 0);
    for (const std::uint32_t worker : worker_of_) {
      ++made.first[worker + 1];
    }
    for (std::size_t w = 0; w < loads_.size(); ++w) {
      made.first[w + 1] = static_cast<Index>(made.first[w + 1] + made.first[w]);
    }
    made.queue.resize(worker_of_.size());
    std::vector<Index> next(made.first.begin(), made.first.end() - 1);
    for (std::size_t g = 0; g < worker_of_.size(); ++g) {
      made.queue[static_cast<std::size_t>(next[worker_of_[g]]++)] = static_cast<Index>(g);
    }
    return made;
  }

 private:
  /// Of the warps in the blocks of its parents the one with the least to do; of all if it has none here.
  [[nodiscard]] std::uint32_t near_parents(std::int64_t g) const {
    std::uint32_t best = loads_.least();
    bool found = false;
    for (const Index parent : facts_.parents_of[static_cast<std::size_t>(first_group_ + g)]) {
      if (parent < first_group_) {
        continue;  // of an earlier launch
      }
      const std::uint32_t first =
          worker_of_[static_cast<std::size_t>(parent - first_group_)] / warps_ * warps_;
      for (std::uint32_t w = first; w < first + warps_; ++w) {
        best = !found || loads_.of(w) < loads_.of(best) ? w : best;
        found = true;
      }
    }
    return best;
  }

  const group_facts<Index>& facts_;
  std::int64_t first_group_;
  std::int64_t groups_;
  std::uint32_t warps_;  ///< of a block
  warp_loads loads_;
  std::vector<std::uint32_t> worker_of_;  ///< by group
};

}  // namespace sptrsv::detail::schemes
