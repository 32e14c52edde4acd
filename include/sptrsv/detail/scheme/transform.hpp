// Transform: rows become nodes of the computation graph, runs of consecutive places (Hu et al. 2024, section
// 4.3). All of it on the device.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/row_wise/warp_tasks.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::detail::schemes {

/// Per place: whether a node starts there. Entries are counted with the diagonal.
template <class Index, class Offset>
struct starts_node {
  node_merging merge;
  int max_rows;
  int max_entries;
  std::int64_t size;
  const Offset* row_offsets;
  const Index* long_before;  ///< merge_thresh: long rows before each place
  const Index* long_rows;    ///< merge_thresh: of long rows, ascending

  template <class Context>
  SPTRSV_DEVICE bool operator()(Context& ctx, std::int64_t solve_index) const {
    if (merge == node_merging::none) {
      return true;
    }
    if (merge == node_merging::threshold) {
      const std::int64_t runs = ctx.load_constant(long_before + solve_index);
      if (static_cast<std::int64_t>(ctx.load_constant(long_before + solve_index + 1)) != runs) {
        return true;  // a long row
      }
      const std::int64_t run =
          runs == 0 ? 0 : static_cast<std::int64_t>(ctx.load_constant(long_rows + runs - 1)) + 1;
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

/// Per place, and once for the end: whether the row is long.
template <class Index, class Offset>
struct mark_long_rows {
  std::int64_t size;
  int max_entries;
  const Offset* row_offsets;
  Index* marks;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const bool is_long =
        solve_index<size&& static_cast<std::int64_t>(ctx.load_constant(row_offsets + solve_index + 1) -
                                                     ctx.load_constant(row_offsets + solve_index)) +
                    1>
            max_entries;
    ctx.store(marks + solve_index, is_long ? Index{1} : Index{0});
  }
};

/// Per place: lists it if its row is long.
template <class Index>
struct list_long_rows {
  const Index* long_before;
  Index* long_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t solve_index) const {
    const Index before = ctx.load_constant(long_before + solve_index);
    if (ctx.load_constant(long_before + solve_index + 1) != before) {
      ctx.store(long_rows + before, static_cast<Index>(solve_index));
    }
  }
};

/// Per node: says to its places which it is.
template <class Index>
struct number_rows_by_node {
  const Index* first_solve_index;
  Index* node_of_row;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t node) const {
    const Index end = ctx.load_constant(first_solve_index + node + 1);
    for (Index solve_index = ctx.load_constant(first_solve_index + node); solve_index < end; ++solve_index) {
      ctx.store(node_of_row + solve_index, static_cast<Index>(node));
    }
  }
};

/// Per entry, and once for the end: whether it is a dependency edge between nodes that few entries before it
/// are not. Rows of a node mostly need the same nodes, and the search for levels goes through all edges. A
/// node with an entry that is no edge has rows that need each other.
template <class Index, class Offset>
struct mark_edges {
  static constexpr int looked_back = 16;  ///< entries: a row of a grid's 27-point stencil and some

  std::int64_t size;
  std::int64_t entries;
  const Offset* row_offsets;
  const Index* columns;
  const Index* first_solve_index;
  const Index* node_of_row;
  Offset* marks;
  std::int32_t* inner;  ///< of a node; starts at 0

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    bool is_edge = false;
    if (e < entries) {
      const Index node =
          ctx.load_constant(node_of_row + triangle_kernels::major_of(ctx, row_offsets, size, e));
      const Index needed = node_needed(ctx, e);
      is_edge = needed != node;
      if (!is_edge) {
        ctx.store_relaxed(inner + node, std::int32_t{1});
      }
      const auto first = static_cast<std::int64_t>(
          ctx.load_constant(row_offsets + ctx.load_constant(first_solve_index + node)));
      for (std::int64_t k = e - 1; is_edge && k >= first && k >= e - looked_back; --k) {
        is_edge = node_needed(ctx, k) != needed;
      }
    }
    ctx.store(marks + e, is_edge ? Offset{1} : Offset{0});
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Index node_needed(Context& ctx, std::int64_t e) const {
    return ctx.load_constant(node_of_row + ctx.load_constant(columns + e));
  }
};

/// Per entry: the edge that it is.
template <class Index, class Offset>
struct write_edges {
  const Index* columns;
  const Index* node_of_row;
  const Offset* edges_before;
  Index* edges;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const Offset at = ctx.load_constant(edges_before + e);
    if (ctx.load_constant(edges_before + e + 1) != at) {
      ctx.store(edges + at, ctx.load_constant(node_of_row + ctx.load_constant(columns + e)));
    }
  }
};

/// Per node, and once for the end: its first edge.
template <class Index, class Offset>
struct find_first_edges {
  const Index* first_solve_index;
  const Offset* row_offsets;
  const Offset* edges_before;
  Offset* offsets;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t node) const {
    ctx.store(
        offsets + node,
        ctx.load_constant(edges_before +
                          ctx.load_constant(row_offsets + ctx.load_constant(first_solve_index + node))));
  }
};

/// The computation graph; in device memory.
template <class Index, class Offset>
struct node_graph {
  row_wise::warp_tasks<Index>
      nodes;  ///< node k has the places first_solve_index[k] ... first_solve_index[k + 1] - 1
  device_triangle<Index, Offset> edges;  ///< dependency edges by node; empty where nodes are rows
  buffer<std::int32_t> inner;            ///< by node: whether its rows need each other; likewise
  device_levels<Index> levels;           ///< of nodes

  [[nodiscard]] bool nodes_are_rows() const { return inner.size() == 0; }
};

template <class Index, class Offset, class Executor>
row_wise::warp_tasks<Index> merge_rows(const device_triangle<Index, Offset>& t, const scheme& s,
                                       const Executor& on, memory_resource& resource) {
  starts_node<Index, Offset> starts{s.merge, s.merge_rows, s.merge_entries, t.size, t.row_offsets.data(),
                                    nullptr, nullptr};
  const std::size_t listed = s.merge == node_merging::threshold ? static_cast<std::size_t>(t.size) + 1 : 0;
  const buffer<Index> long_before(listed, resource, on.stream());
  const buffer<Index> long_rows(listed, resource, on.stream());
  if (listed > 0) {
    simt::for_each(
        on, t.size + 1,
        mark_long_rows<Index, Offset>{t.size, s.merge_entries, t.row_offsets.data(), long_before.data()});
    on.exclusive_scan(long_before.data(), long_before.data(), t.size + 1, resource);
    simt::for_each(on, t.size, list_long_rows<Index>{long_before.data(), long_rows.data()});
    starts.long_before = long_before.data();
    starts.long_rows = long_rows.data();
  }
  return row_wise::make_warp_tasks<Index>(t.size, starts, on, resource);
}

template <class Index, class Offset, class Executor>
void find_edges(const device_triangle<Index, Offset>& t, node_graph<Index, Offset>& graph, const Executor& on,
                memory_resource& resource) {
  const std::int64_t count = graph.nodes.count;
  const Index* const first_solve_index = graph.nodes.first_solve_index.data();
  const auto node_of_row = make_buffer<Index>(t.size, on, resource);
  const auto edges_before = make_buffer<Offset>(t.entries() + 1, on, resource);
  graph.inner = make_buffer<std::int32_t>(count, on, resource);
  on.fill_bytes(graph.inner.data(), 0, graph.inner.bytes());
  simt::for_each(on, count, number_rows_by_node<Index>{first_solve_index, node_of_row.data()});
  simt::for_each(on, t.entries() + 1,
                 mark_edges<Index, Offset>{t.size, t.entries(), t.row_offsets.data(), t.columns.data(),
                                           first_solve_index, node_of_row.data(), edges_before.data(),
                                           graph.inner.data()});
  on.exclusive_scan(edges_before.data(), edges_before.data(), t.entries() + 1, resource);
  Offset edges = 0;
  on.download(&edges, edges_before.data() + t.entries(), sizeof(edges));
  graph.edges.size = count;
  graph.edges.row_offsets = make_buffer<Offset>(count + 1, on, resource);
  graph.edges.columns = make_buffer<Index>(static_cast<std::int64_t>(edges), on, resource);
  simt::for_each(on, t.entries(),
                 write_edges<Index, Offset>{t.columns.data(), node_of_row.data(), edges_before.data(),
                                            graph.edges.columns.data()});
  simt::for_each(on, count + 1,
                 find_first_edges<Index, Offset>{first_solve_index, t.row_offsets.data(), edges_before.data(),
                                                 graph.edges.row_offsets.data()});
}

/// The levels of rows that stand in level order.
template <class Index, class Executor>
device_levels<Index> levels_in_order(buffer<Index> level_offsets, std::int64_t count, std::int64_t size,
                                     const Executor& on, memory_resource& resource) {
  device_levels<Index> made{count, std::move(level_offsets), make_buffer<Index>(size, on, resource)};
  simt::for_each(on, size, triangle_kernels::write_iota<Index>{made.rows.data()});
  return made;
}

/// `rows`: the levels of the rows of `t`, which are those of the nodes where nothing is merged. Synchronises.
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

}  // namespace sptrsv::detail::schemes
