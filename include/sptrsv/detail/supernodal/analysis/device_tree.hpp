// The supernodes of a plan, cut from the merged supernodes on the device; see cut() for the same on the host.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/detail/supernodal/analysis/symbolic.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::detail::supernodal {

/// The description of a supernode that the host downloads.
template <class Index>
struct cut_supernode {
  Index first;      ///< first column
  Index range_end;  ///< one past the last column of its merged range
  Index rows;       ///< rows below it
  Index parent;     ///< the supernode of the first row below it; -1: none
};

/// The supernodes of a plan on the device.
template <class Index>
struct device_tree {
  std::int64_t count = 0;
  std::int64_t rows = 0;             ///< in all lists of rows
  std::int64_t entries = 0;          ///< of all panels
  buffer<Index> first;               ///< by supernode, count + 1: its first column
  buffer<Index> range_end;           ///< by supernode: one past the last column of its merged range
  buffer<std::int64_t> rows_begin;   ///< by supernode, count + 1: where its list of rows begins
  buffer<std::int64_t> panel_begin;  ///< by supernode, count + 1: where its panel begins

  /// Returns the supernodes, without their lists of rows and without what is known of columns.
  [[nodiscard]] supernodes<Index> view() const {
    return {count,   first.data(), range_end.data(), rows_begin.data(), panel_begin.data(),
            nullptr, nullptr,      nullptr};
  }
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

/// Supernodes on the device, and what download_tree() takes from there.
template <class Index>
struct cut_on_device_result {
  device_tree<Index> tree;
  buffer<cut_supernode<Index>> made;  ///< by supernode
};

/// Cuts merged supernodes of `size` columns into chains of supernodes of at most `max_width` columns.
/// Synchronises.
template <class Index, class Executor>
cut_on_device_result<Index> cut_on_device(const buffer<merged_columns<Index>>& ranges, std::int64_t size,
                                          std::int64_t max_width, simt::scan_words& words, const Executor& on,
                                          memory_resource& resource) {
  const merged_view<Index> merged{ranges.data(), static_cast<std::int64_t>(ranges.size()), size, max_width};
  const auto first_of = make_buffer<Index>(merged.count + 1, on, resource);
  words.scan(on, merged.count + 1, find_first_pieces<Index>{merged, first_of.data()}, nullptr);
  Index count = 0;
  on.download(&count, first_of.data() + merged.count, sizeof(count));

  device_tree<Index> tree;
  tree.count = count;
  auto made = make_buffer<cut_supernode<Index>>(tree.count, on, resource);
  tree.first = make_buffer<Index>(tree.count + 1, on, resource);
  tree.range_end = make_buffer<Index>(tree.count, on, resource);
  tree.rows_begin = make_buffer<std::int64_t>(tree.count + 1, on, resource);
  tree.panel_begin = make_buffer<std::int64_t>(tree.count + 1, on, resource);
  simt::for_each(
      on, merged.count,
      write_pieces<Index>{merged, first_of.data(), made.data(), tree.first.data(), tree.range_end.data()});
  const auto all = make_buffer<std::int64_t>(2, on, resource);
  words.scan(on, tree.count + 1,
             find_rows_begin<Index>{made.data(), tree.count, tree.rows_begin.data(), all.data()}, nullptr);
  words.scan(on, tree.count + 1,
             find_panel_begin<Index>{made.data(), tree.first.data(), tree.count, tree.panel_begin.data(),
                                     all.data() + 1},
             nullptr);
  std::int64_t found[2];
  on.download(found, all.data(), sizeof(found));
  tree.rows = found[0];
  tree.entries = found[1];
  return {std::move(tree), std::move(made)};
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
  return {tree.count(),
          tree.rows_begin.back(),
          tree.panel_begin.back(),
          begin_upload(tree.first, on, resource),
          begin_upload(tree.range_end, on, resource),
          begin_upload(tree.rows_begin, on, resource),
          begin_upload(tree.panel_begin, on, resource)};
}

/// Returns the tree on the host of supernodes of `size` columns, which are nested.
template <class Index>
supernode_tree<Index> tree_of(const std::vector<cut_supernode<Index>>& made, std::int64_t size) {
  supernode_tree<Index> tree;
  const std::size_t count = made.size();
  tree.first.resize(count + 1);
  tree.range_end.resize(count);
  tree.rows_begin.resize(count + 1);
  tree.panel_begin.resize(count + 1);
  tree.parent.resize(count);
  std::int64_t rows = 0;
  std::int64_t entries = 0;
  for (std::size_t s = 0; s < count; ++s) {
    tree.first[s] = made[s].first;
    tree.range_end[s] = made[s].range_end;
    tree.parent[s] = made[s].parent;
    tree.rows_begin[s] = rows;
    tree.panel_begin[s] = entries;
    const std::int64_t columns =
        (s + 1 < count ? std::int64_t{made[s + 1].first} : size) - std::int64_t{made[s].first};
    rows += made[s].rows;
    entries += panel_row(columns + made[s].rows, columns);
  }
  tree.first[count] = static_cast<Index>(size);
  tree.rows_begin[count] = rows;
  tree.panel_begin[count] = entries;
  return tree;
}

}  // namespace sptrsv::detail::supernodal
