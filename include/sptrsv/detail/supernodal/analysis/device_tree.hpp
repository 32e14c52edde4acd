// SPDX-License-Identifier: Apache-2.0
// The supernodes of a plan, cut from the merged supernodes on the device; see cut() for the same on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::detail::supernodal {

/// Owns the arrays of supernodes in device memory; see supernodes.
template <class Index>
struct supernode_arrays {
  std::int64_t count = 0;
  buffer<Index> first;
  buffer<Index> range_end;
  buffer<std::int64_t> rows_begin;
  buffer<std::int64_t> panel_begin;
  buffer<Index> rows;
  buffer<Index> supernode_of;
  buffer<Index> first_descendant;

  [[nodiscard]] supernodes<Index> view() const {
    return {count,       first.data(),        range_end.data(),       rows_begin.data(), panel_begin.data(),
            rows.data(), supernode_of.data(), first_descendant.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return first.bytes() + range_end.bytes() + rows_begin.bytes() + panel_begin.bytes() + rows.bytes() +
           supernode_of.bytes() + first_descendant.bytes();
  }
};

/// The supernodes of a plan on the device.
template <class Index>
struct device_tree {
  supernode_arrays<Index> of;         ///< without lists of rows, and without what is known of columns
  std::int64_t rows = 0;              ///< in all lists of rows
  std::int64_t entries = 0;           ///< of all panels
  buffer<cut_supernode<Index>> made;  ///< what tree_of() needs; empty if the tree comes from the host
};

/// The merged supernodes, as the kernels below see them.
template <class Index>
struct merged_view {
  const merged_columns<Index>* ranges;
  std::int64_t count;
  std::int64_t size;       ///< columns of all of them
  std::int64_t max_width;  ///< of a supernode

  template <class Context>
  SPTRSV_DEVICE std::int64_t end(Context& ctx, std::int64_t i) const {
    return i + 1 < count ? static_cast<std::int64_t>(ctx.load_constant(&ranges[i + 1].first)) : size;
  }
};

/// Finds the first supernode of each range, in a scan. Runs once per range and once for the end.
template <class Index>
struct find_first_pieces {
  merged_view<Index> merged;
  Index* first_of;

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t i) const {
    const std::int64_t width =
        i < merged.count
            ? merged.end(ctx, i) - static_cast<std::int64_t>(ctx.load_constant(&merged.ranges[i].first))
            : 0;
    return {(width + merged.max_width - 1) / merged.max_width};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const simt::counted&, std::int64_t before) const {
    ctx.store(first_of + i, static_cast<Index>(before));
  }
};

/// Writes the supernodes of a range. Runs once per range.
template <class Index>
struct write_pieces {
  merged_view<Index> merged;
  const Index* first_of;  ///< by range, count + 1
  cut_supernode<Index>* made;
  Index* first;
  Index* range_end;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const merged_columns<Index> range = ctx.load_constant(merged.ranges + i);
    const std::int64_t end = merged.end(ctx, i);
    std::int64_t s = ctx.load_constant(first_of + i);
    for (std::int64_t begin = range.first; begin < end; begin += merged.max_width, ++s) {
      const std::int64_t stop = end - begin > merged.max_width ? begin + merged.max_width : end;
      ctx.store(first + s, static_cast<Index>(begin));
      ctx.store(range_end + s, static_cast<Index>(end));
      ctx.store(made + s, cut_supernode<Index>{static_cast<Index>(begin), static_cast<Index>(end),
                                               static_cast<Index>(end - stop + range.rows),
                                               stop < end ? static_cast<Index>(s + 1) : parent(ctx, range)});
    }
    if (i + 1 == merged.count) {
      ctx.store(first + s, static_cast<Index>(end));
    }
  }

 private:
  /// Returns the supernode that has the first row below the range as a column.
  template <class Context>
  SPTRSV_DEVICE Index parent(Context& ctx, const merged_columns<Index>& range) const {
    if (range.parent < 0) {
      return Index{-1};
    }
    const Index first_column = ctx.load_constant(&merged.ranges[range.parent].first);
    return static_cast<Index>(ctx.load_constant(first_of + range.parent) +
                              (range.parent_column - first_column) / static_cast<Index>(merged.max_width));
  }
};

/// Finds where the lists of rows begin, in a scan. Runs once per supernode and once for the end.
template <class Index>
struct find_rows_begin {
  const cut_supernode<Index>* made;
  std::int64_t count;
  std::int64_t* rows_begin;
  std::int64_t* all;  ///< output: all rows

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t s) const {
    return {s < count ? static_cast<std::int64_t>(ctx.load_constant(&made[s].rows)) : 0};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t s, const simt::counted&, std::int64_t before) const {
    ctx.store(rows_begin + s, before);
    if (s == count) {
      ctx.store(all, before);
    }
  }
};

/// Finds where the panels begin, in a scan. Runs once per supernode and once for the end.
template <class Index>
struct find_panel_begin {
  const cut_supernode<Index>* made;
  const Index* first;
  std::int64_t count;
  std::int64_t* panel_begin;
  std::int64_t* all;  ///< output: all entries

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t s) const {
    if (s >= count) {
      return {0};
    }
    const std::int64_t columns = ctx.load_constant(first + s + 1) - ctx.load_constant(first + s);
    return {panel_row(columns + ctx.load_constant(&made[s].rows), columns)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t s, const simt::counted&, std::int64_t before) const {
    ctx.store(panel_begin + s, before);
    if (s == count) {
      ctx.store(all, before);
    }
  }
};

/// Cuts merged supernodes of `size` columns into chains of supernodes of at most `max_width` columns.
/// Synchronises.
template <class Index, class Executor>
device_tree<Index> cut_on_device(const buffer<merged_columns<Index>>& ranges, std::int64_t size,
                                 std::int64_t max_width, simt::scan_words& words, const Executor& on,
                                 memory_resource& resource) {
  const merged_view<Index> merged{ranges.data(), static_cast<std::int64_t>(ranges.size()), size, max_width};
  const auto first_of = make_buffer<Index>(merged.count + 1, on, resource);
  words.scan(on, merged.count + 1, find_first_pieces<Index>{merged, first_of.data()}, nullptr);
  Index count = 0;
  on.download(&count, first_of.data() + merged.count, sizeof(count));

  device_tree<Index> tree;
  supernode_arrays<Index>& of = tree.of;
  of.count = count;
  tree.made = make_buffer<cut_supernode<Index>>(count, on, resource);
  of.first = make_buffer<Index>(of.count + 1, on, resource);
  of.range_end = make_buffer<Index>(count, on, resource);
  of.rows_begin = make_buffer<std::int64_t>(of.count + 1, on, resource);
  of.panel_begin = make_buffer<std::int64_t>(of.count + 1, on, resource);
  simt::for_each(
      on, merged.count,
      write_pieces<Index>{merged, first_of.data(), tree.made.data(), of.first.data(), of.range_end.data()});
  const auto all = make_buffer<std::int64_t>(2, on, resource);
  words.scan(on, of.count + 1,
             find_rows_begin<Index>{tree.made.data(), of.count, of.rows_begin.data(), all.data()}, nullptr);
  words.scan(on, of.count + 1,
             find_panel_begin<Index>{tree.made.data(), of.first.data(), of.count, of.panel_begin.data(),
                                     all.data() + 1},
             nullptr);
  std::int64_t found[2];
  on.download(found, all.data(), sizeof(found));
  tree.rows = found[0];
  tree.entries = found[1];
  return tree;
}

/// Returns a copy of the tree on the device. `tree` stays as it is until a call synchronises. Throws
/// errc::unsupported if a wide supernode has too many rows for the kernels.
template <class Index, class Executor>
device_tree<Index> upload_tree(const supernode_tree<Index>& tree, const Executor& on,
                               memory_resource& resource) {
  for (std::int64_t s = 0; s < tree.count(); ++s) {
    SPTRSV_EXPECTS(
        tree.columns(s) + tree.rows(s) <= std::numeric_limits<std::int32_t>::max(), errc::unsupported,
        "a supernode of " + std::to_string(tree.columns(s)) + " columns has more than 2^31 - 1 rows");
  }
  return {{tree.count(),
           begin_upload(tree.first, on, resource),
           begin_upload(tree.range_end, on, resource),
           begin_upload(tree.rows_begin, on, resource),
           begin_upload(tree.panel_begin, on, resource),
           {},
           {},
           {}},
          tree.rows_begin.back(),
          tree.panel_begin.back(),
          {}};
}

}  // namespace sptrsv::detail::supernodal
