// SPDX-License-Identifier: Apache-2.0
// Merging supernodes with their parents on the device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The state of a merge, by fundamental supernode.
template <class Index>
struct merge_state {
  fundamental_view<Index> of;
  Index* children;  ///< how many it has
  Index* arrived;   ///< how many of them are done
  /// The first one of its descendants, as far as they are next to it and merged with it.
  Index* lowest;
  std::int64_t* entries;  ///< of the merged range that it is the root of, in the pattern
  Index* is_root;         ///< 1: it is the last one of a merged range
};

/// Initialises the state; `children` and `arrived` are zero before. Runs once per fundamental supernode.
template <class Index>
struct start_merge {
  merge_state<Index> state;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t f) const {
    const Index above = ctx.load_constant(state.of.parent + f);
    if (above >= 0) {
      ctx.reduce_add(state.children + above, Index{1});
    }
    ctx.store(state.lowest + f, static_cast<Index>(f));
    ctx.store(state.is_root + f, Index{1});
  }
};

/// Does what merge() does, for nested supernodes. There is a thread for each leaf of the tree. The thread
/// that comes last to a parent goes on with it, so no thread waits. For a fundamental supernode p:
///
///   1. Begin with the range of p alone.
///   2. Look at the range just before it, whose root is c. It becomes part of the range of p if the parent q
///      of c is in it, all from there to q are descendants of q, and the share of zeros is small enough.
///   3. If so, c is no root any more, and the range is the lowest descendant of q ... p. Go on with 2.
///
/// A thread that does more than `max_steps` of them would take too long. The merge is given up then.
template <class Index>
struct merge_from_leaf {
  merge_state<Index> state;
  merge_limits limits;
  std::int64_t max_steps;
  Index* given_up;

  /// Runs once per fundamental supernode.
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t node) const {
    if (ctx.load_constant(state.children + node) != 0) {
      return;
    }
    merged_node last{};
    last.node = -1;
    for (std::int64_t steps = 1;; ++steps) {
      // Loaded before the merge, which takes longer.
      const std::int64_t above = ctx.load_constant(state.of.parent + node);
      const Index children = above >= 0 ? ctx.load_constant(state.children + above) : Index{0};
      last = merge(ctx, node, last);
      if (above < 0) {
        return;
      }
      if (steps == max_steps) {
        ctx.store_relaxed(given_up, Index{1});
        return;
      }
      ctx.fence();
      if (ctx.atomic_add(state.arrived + above, Index{1}) + 1 < children) {
        return;
      }
      ctx.fence();
      node = above;
    }
  }

 private:
  /// A merged supernode: the lowest descendant of its range, the first column of this one, and the entries.
  struct merged_node {
    std::int64_t node;
    std::int64_t lowest;
    std::int64_t first;
    std::int64_t entries;
  };

  /// `last`: the child from which the thread came; node -1: none.
  template <class Context>
  SPTRSV_DEVICE merged_node merge(Context& ctx, std::int64_t node, const merged_node& last) const {
    const std::int64_t end = ctx.load_constant(state.of.first + node + 1);
    const std::int64_t rows = ctx.load_constant(state.of.row_count + node);
    const auto panel_entries = [&](std::int64_t columns) { return panel_row(columns + rows, columns); };
    merged_node made{node, node, ctx.load_constant(state.of.first + node), 0};
    made.entries = panel_entries(end - made.first);
    while (made.lowest > 0) {
      merged_node child = last;
      std::int64_t parent = node;
      if (made.lowest - 1 != last.node) {
        child.node = made.lowest - 1;
        parent = ctx.load_constant(state.of.parent + child.node);
        if (parent < made.lowest || parent > node ||
            (parent < node && static_cast<std::int64_t>(ctx.load(state.lowest + parent)) != made.lowest)) {
          break;
        }
        child.lowest = ctx.load(state.lowest + child.node);
        child.entries = ctx.load(state.entries + child.node);
        child.first = ctx.load_constant(state.of.first + child.lowest);
      }
      if (!limits.allow(panel_entries(end - child.first), made.entries + child.entries, end - child.first)) {
        break;
      }
      made.lowest = child.lowest;
      made.first = child.first;
      made.entries += child.entries;
      for (std::int64_t a = parent; a != node; a = ctx.load_constant(state.of.parent + a)) {
        ctx.store(state.lowest + a, static_cast<Index>(made.lowest));
      }
      ctx.store(state.is_root + child.node, Index{0});
    }
    ctx.store(state.lowest + node, static_cast<Index>(made.lowest));
    ctx.store(state.entries + node, made.entries);
    return made;
  }
};

/// Writes the merged ranges. Runs once per fundamental supernode.
template <class Index>
struct write_ranges {
  merge_state<Index> state;
  const Index* roots_before;  ///< by fundamental supernode, count + 1: how many ranges end before it
  Index* first_descendant;    ///< by fundamental supernode: see merged_supernodes
  merged_columns<Index>* ranges;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t f) const {
    const Index number = ctx.load_constant(roots_before + f);
    const Index first = ctx.load_constant(state.of.first + ctx.load_constant(state.lowest + f));
    ctx.store(first_descendant + f, first);
    if (ctx.load_constant(roots_before + f + 1) == number) {
      return;
    }
    const Index above = ctx.load_constant(state.of.parent + f);
    merged_columns<Index> range{first, ctx.load_constant(state.of.row_count + f), -1, -1};
    if (above >= 0) {
      range.parent = ctx.load_constant(roots_before + above);
      range.parent_column = ctx.load_constant(state.of.first + above);
    }
    ctx.store(ranges + number, range);
  }
};

template <class Index>
struct device_merge {
  buffer<merged_columns<Index>> ranges;
  buffer<Index> first_descendant;  ///< by fundamental supernode: see merged_supernodes
};

/// Merges on the device; returns no ranges if the tree is too high. The supernodes are nested. Synchronises.
template <class Index, class Executor>
device_merge<Index> merge_on_device(const device_fundamental<Index>& f, const merge_limits& limits,
                                    std::int64_t max_steps, simt::scan_words& words, const Executor& on,
                                    memory_resource& resource) {
  const auto counts = make_zeros<Index>(2 * f.count, on, resource);
  const auto lowest = make_buffer<Index>(f.count, on, resource);
  const auto entries = make_buffer<std::int64_t>(f.count, on, resource);
  // Behind the roots: their number, and whether the merge is given up, so that the host waits for both once.
  const auto roots = make_buffer<Index>(f.count + 2, on, resource);
  Index* const result = roots.data() + f.count;
  on.fill_bytes(result, 0, 2 * sizeof(Index));
  const merge_state<Index> state{f.view(),      counts.data(),  counts.data() + f.count,
                                 lowest.data(), entries.data(), roots.data()};
  simt::for_each(on, f.count, start_merge<Index>{state});
  simt::for_each_by_tile<1, 32>(on, f.count, merge_from_leaf<Index>{state, limits, max_steps, result + 1});
  words.scan(on, f.count + 1, simt::sum_before<Index>{roots.data(), roots.data()});
  device_merge<Index> merged;
  Index found[2];
  on.download(found, result, sizeof(found));
  const auto [count, is_given_up] = found;
  if (is_given_up != 0) {
    return merged;
  }
  merged.ranges = make_buffer<merged_columns<Index>>(count, on, resource);
  merged.first_descendant = make_buffer<Index>(f.count, on, resource);
  simt::for_each(
      on, f.count,
      write_ranges<Index>{state, roots.data(), merged.first_descendant.data(), merged.ranges.data()});
  return merged;
}

/// Merges supernodes with their parents, on the host if not nested or in a high tree. Synchronises.
template <class Index, class Executor>
device_merge<Index> merge_supernodes(const device_fundamental<Index>& f, const merge_limits& limits,
                                     simt::scan_words& words, const Executor& on, memory_resource& resource) {
  constexpr std::int64_t max_steps = 2000;
  device_merge<Index> merged;
  if (f.is_nested) {
    merged = merge_on_device(f, limits, max_steps, words, on, resource);
  }
  if (merged.ranges.size() == 0) {
    const merged_supernodes<Index> made = merge<Index>(download_fundamental(f, on), limits);
    merged.ranges = upload(made.ranges, on, resource);
    merged.first_descendant = upload(made.first_descendant, on, resource);
  }
  return merged;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
