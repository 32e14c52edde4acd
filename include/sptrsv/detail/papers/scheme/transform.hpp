// SPDX-License-Identifier: Apache-2.0
// Graph transformation: merges rows into nodes of the computation graph, runs of consecutive solve indices
// (Hu et al. 2024, section 4.3). Runs on the device.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/device_levels.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// Says at which solve indices a node starts. Entries include the diagonal.
template <class Index, class Offset>
struct starts_node {
  node_merging merge;
  int max_rows;
  int max_entries;
  std::int64_t size;
  const Offset* row_offsets;  ///< by solve index
  const Index* long_before;   ///< merge_thresh, by solve index and for the end: long rows before it

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    if (merge == node_merging::none) {
      return true;
    }
    if (merge == node_merging::threshold) {
      const Index long_rows = ctx.load_constant(long_before + solve_index);
      if (ctx.load_constant(long_before + solve_index + 1) != long_rows) {
        return true;  // a long row
      }
      // The run of short rows begins behind the last long row.
      const std::int64_t run = triangle_kernels::count_below(ctx, long_before, solve_index, long_rows);
      return (solve_index - run) % max_rows == 0;
    }
    const std::int64_t first = solve_index / max_rows * max_rows;
    if (merge == node_merging::fixed) {
      return solve_index == first;
    }
    const std::int64_t end = size - first > max_rows ? first + max_rows : size;
    const auto entries = static_cast<std::int64_t>(ctx.load_constant(row_offsets + end) -
                                                   ctx.load_constant(row_offsets + first)) +
                         (end - first);
    return solve_index == first || entries > max_entries * (end - first);
  }
};

template <class Offset>
struct is_long_row {
  int max_entries;
  const Offset* row_offsets;  ///< by solve index

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    return triangle_kernels::row_length(ctx, row_offsets, solve_index) + 1 > max_entries;
  }
};

/// Writes the node of each row. Runs once per node and row, see for_each_entry().
template <class Index>
struct number_rows_by_node {
  Index* node_of_row;  ///< output by solve index

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t node, std::int64_t solve_index) const {
    ctx.store(node_of_row + solve_index, static_cast<Index>(node));
  }
};

template <class Index>
struct needed_node {
  const Index* columns;      ///< by entry
  const Index* node_of_row;  ///< by solve index

  template <class Context>
  SPTRSV_DEVICE Index operator()(Context& ctx, std::int64_t e) const {
    return ctx.load_constant(node_of_row + ctx.load_constant(columns + e));
  }
};

/// Says whether an entry becomes a dependency edge between nodes: an entry to another node, unless one of the
/// few entries before it needs the same node. Rows of one node mostly need the same nodes, and the search for
/// levels goes through all edges. An entry within a node marks the node in `inner`.
template <class Index, class Offset>
struct is_edge {
  /// Earlier entries compared: somewhat more than the 13 entries of a row of a 27-point stencil.
  static constexpr int entries_compared = 16;

  std::int64_t size;
  const Offset* row_offsets;       ///< by solve index
  const Index* columns;            ///< by entry
  const Index* first_solve_index;  ///< by node
  const Index* node_of_row;        ///< by solve index
  std::int32_t* inner;             ///< output by node: 1 if its rows need each other; must be 0 before

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t e) const {
    const Index node = ctx.load_constant(node_of_row + triangle_kernels::major_of(ctx, row_offsets, size, e));
    const needed_node<Index> node_of{columns, node_of_row};
    const Index needed = node_of(ctx, e);
    bool is_new = needed != node;
    if (!is_new) {
      ctx.store_relaxed(inner + node, std::int32_t{1});
    }
    const auto first = load_index(ctx, row_offsets + ctx.load_constant(first_solve_index + node));
    for (std::int64_t k = e - 1; is_new && k >= first && k >= e - entries_compared; --k) {
      is_new = node_of(ctx, k) != needed;
    }
    return is_new;
  }
};

/// The computation graph, in device memory.
template <class Index, class Offset>
struct node_graph {
  runs<Index> nodes;                     ///< of solve indices
  device_triangle<Index, Offset> edges;  ///< dependency edges by node; empty if nodes are rows
  /// By node: 1 if its rows need each other; empty if nodes are rows.
  buffer<std::int32_t> inner;
  device_levels<Index> levels;  ///< levels of nodes

  [[nodiscard]] bool nodes_are_rows() const { return inner.size() == 0; }
};

/// Returns the nodes: runs of consecutive rows, merged as the scheme says. Synchronises.
template <class Index, class Offset, class Executor>
runs<Index> merge_rows(const device_triangle<Index, Offset>& t, const scheme& s, const Executor& on,
                       memory_resource& resource) {
  buffer<Index> long_before;
  if (s.merge == node_merging::threshold) {
    long_before =
        count_marked<Index>(t.size, is_long_row<Offset>{s.merge_entries, t.row_offsets.data()}, on, resource);
  }
  const starts_node<Index, Offset> starts{s.merge, s.merge_rows,         s.merge_entries,
                                          t.size,  t.row_offsets.data(), long_before.data()};
  return make_runs<Index>(t.size, starts, on, analysis_memory(resource));
}

/// Finds the edges between the nodes of `graph`, and nodes whose rows need each other. Synchronises.
template <class Index, class Offset, class Executor>
void find_edges(const device_triangle<Index, Offset>& t, node_graph<Index, Offset>& graph, const Executor& on,
                memory_resource& resource) {
  const std::int64_t count = graph.nodes.count;
  const Index* const first_solve_index = graph.nodes.first.data();
  const auto node_of_row = make_buffer<Index>(t.size, on, resource);
  graph.inner = make_zeros<std::int32_t>(count, on, resource);
  triangle_kernels::for_each_entry(on, first_solve_index, count, t.size,
                                   number_rows_by_node<Index>{node_of_row.data()});
  const auto edges_before =
      count_marked<Offset>(t.entries(),
                           is_edge<Index, Offset>{t.size, t.row_offsets.data(), t.columns.data(),
                                                  first_solve_index, node_of_row.data(), graph.inner.data()},
                           on, resource);
  graph.edges.size = count;
  graph.edges.row_offsets = make_buffer<Offset>(count + 1, on, resource);
  graph.edges.columns = make_buffer<Index>(last_of(edges_before, on), on, resource);
  simt::for_each(
      on, t.entries(),
      array_kernels::keep_marked<Offset, needed_node<Index>, Index>{
          edges_before.data(), {t.columns.data(), node_of_row.data()}, graph.edges.columns.data()});
  const auto first_entries = make_buffer<Offset>(count + 1, on, resource);  // by node
  simt::for_each(on, count + 1,
                 array_kernels::take_in_order<Offset, Index>{t.row_offsets.data(), first_solve_index,
                                                             first_entries.data()});
  simt::for_each(on, count + 1,
                 array_kernels::take_in_order<Offset, Offset>{edges_before.data(), first_entries.data(),
                                                              graph.edges.row_offsets.data()});
}

/// Builds the computation graph. `rows`: the levels of the rows of `t`. Synchronises.
template <class Index, class Offset, class Executor>
node_graph<Index, Offset> transform(const device_triangle<Index, Offset>& t, device_levels<Index> rows,
                                    const scheme& s, const Executor& on, memory_resource& resource) {
  node_graph<Index, Offset> graph;
  graph.nodes = merge_rows(t, s, on, resource);
  if (s.merge == node_merging::none) {
    graph.levels = std::move(rows);
  } else {
    find_edges(t, graph, on, resource);
    graph.levels = levels_on_device(graph.edges, on, resource);
  }
  return graph;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
