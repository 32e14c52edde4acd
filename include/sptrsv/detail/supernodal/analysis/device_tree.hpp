// SPDX-License-Identifier: Apache-2.0
// The supernodes of a plan, cut from the merged supernodes on the device; see cut() for the same on the host.
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

template <class Index>
struct device_tree : device_arrays {
  supernodes<Index> of{};             ///< without lists of rows, and without what is known of columns
  std::int64_t rows = 0;              ///< in all lists of rows
  std::int64_t entries = 0;           ///< of all panels
  buffer<cut_supernode<Index>> made;  ///< what tree_of() needs; empty if the tree comes from the host
};

/// The merged supernodes. Each range is cut into supernodes of `max_width` columns; the last has the rest.
template <class Index>
struct merged_view {
  const merged_columns<Index>* ranges;
  std::int64_t count;
  std::int64_t size;  ///< columns of all of them
  std::int64_t max_width;

  /// Calls use(begin, end, rows below, end of the range) for each supernode of a range.
  template <class Context, class Use>
  SPTRSV_DEVICE void for_pieces(Context& ctx, std::int64_t i, const Use& use) const {
    const std::int64_t rows = ctx.load_constant(&ranges[i].rows);
    const std::int64_t range_end = i + 1 < count ? load_index(ctx, &ranges[i + 1].first) : size;
    for (std::int64_t begin = ctx.load_constant(&ranges[i].first); begin < range_end; begin += max_width) {
      const std::int64_t end = range_end - begin > max_width ? begin + max_width : range_end;
      use(begin, end, range_end - end + rows, range_end);
    }
  }
};

/// The quantities of supernodes that are summed up for each range.
enum piece_sum { sum_of_pieces, sum_of_rows, sum_of_entries, piece_sums };

/// Sums up one thing in the ranges before each range, in a scan. Runs once per range and once for the end.
template <class Index>
struct sum_before_ranges {
  merged_view<Index> merged;
  piece_sum what;
  std::int64_t* before;  ///< by range, count + 1: `piece_sums` words

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t i) const {
    std::int64_t sum = 0;
    if (i < merged.count) {
      merged.for_pieces(ctx, i, [&](std::int64_t begin, std::int64_t end, std::int64_t rows, std::int64_t) {
        sum += what == sum_of_pieces ? 1
               : what == sum_of_rows ? rows
                                     : panel_row(end - begin + rows, end - begin);
      });
    }
    return {sum};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const simt::counted&, std::int64_t sum) const {
    ctx.store(before + i * piece_sums + what, sum);
  }
};

/// Writes the supernodes of a range. Runs once per range.
template <class Index>
struct write_pieces {
  merged_view<Index> merged;
  const std::int64_t* before;  ///< of sum_before_ranges
  cut_supernode<Index>* made;
  Index* first;
  Index* range_end;
  std::int64_t* rows_begin;
  std::int64_t* panel_begin;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    std::int64_t sums[piece_sums];
    SPTRSV_UNROLL
    for (int what = 0; what < piece_sums; ++what) {
      sums[what] = ctx.load_constant(before + i * piece_sums + what);
    }
    const auto begin_piece = [&](std::int64_t column) {
      ctx.store(first + sums[sum_of_pieces], static_cast<Index>(column));
      ctx.store(rows_begin + sums[sum_of_pieces], sums[sum_of_rows]);
      ctx.store(panel_begin + sums[sum_of_pieces], sums[sum_of_entries]);
    };
    merged.for_pieces(
        ctx, i, [&](std::int64_t begin, std::int64_t end, std::int64_t rows, std::int64_t end_of_range) {
          begin_piece(begin);
          const std::int64_t s = sums[sum_of_pieces]++;
          ctx.store(range_end + s, static_cast<Index>(end_of_range));
          ctx.store(made + s,
                    cut_supernode<Index>{static_cast<Index>(begin), static_cast<Index>(end_of_range),
                                         static_cast<Index>(rows),
                                         end < end_of_range ? static_cast<Index>(s + 1) : parent(ctx, i)});
          sums[sum_of_rows] += rows;
          sums[sum_of_entries] += panel_row(end - begin + rows, end - begin);
        });
    if (i + 1 == merged.count) {
      begin_piece(merged.size);
    }
  }

 private:
  /// Returns the supernode that has the first row below range `i` as a column.
  template <class Context>
  SPTRSV_DEVICE Index parent(Context& ctx, std::int64_t i) const {
    const merged_columns<Index> range = ctx.load_constant(merged.ranges + i);
    if (range.parent < 0) {
      return Index{-1};
    }
    const Index column = range.parent_column - ctx.load_constant(&merged.ranges[range.parent].first);
    return static_cast<Index>(
        ctx.load_constant(before + std::int64_t{range.parent} * piece_sums + sum_of_pieces) +
        column / merged.max_width);
  }
};

/// Cuts merged supernodes of `size` columns into chains of at most `max_width` columns. Synchronises.
template <class Index, class Executor>
device_tree<Index> cut_on_device(const buffer<merged_columns<Index>>& ranges, std::int64_t size,
                                 std::int64_t max_width, simt::scan_words& words, const Executor& on,
                                 memory_resource& resource) {
  const merged_view<Index> merged{ranges.data(), count_of(ranges), size, max_width};
  const auto before = make_buffer<std::int64_t>((merged.count + 1) * piece_sums, on, resource);
  for (const piece_sum what : {sum_of_pieces, sum_of_rows, sum_of_entries}) {
    words.scan(on, merged.count + 1, sum_before_ranges<Index>{merged, what, before.data()});
  }
  std::int64_t sums[piece_sums];
  on.download(sums, before.data() + merged.count * piece_sums, sizeof(sums));

  const std::int64_t count = sums[sum_of_pieces];
  device_tree<Index> tree{{}, {}, sums[sum_of_rows], sums[sum_of_entries], {}};
  tree.made = make_buffer<cut_supernode<Index>>(count, on, resource);
  auto* const first = tree.template make<Index>(count + 1, on, resource);
  auto* const range_end = tree.template make<Index>(count, on, resource);
  auto* const rows_begin = tree.template make<std::int64_t>(count + 1, on, resource);
  auto* const panel_begin = tree.template make<std::int64_t>(count + 1, on, resource);
  simt::for_each(on, merged.count,
                 write_pieces<Index>{merged, before.data(), tree.made.data(), first, range_end, rows_begin,
                                     panel_begin});
  tree.of = {count, first, range_end, rows_begin, panel_begin, nullptr, nullptr};
  return tree;
}

/// Returns a copy of the tree on the device. `tree` stays as it is until a call synchronises. Throws
/// errc::unsupported if a wide supernode has too many rows for the kernels.
template <class Index, class Executor>
device_tree<Index> upload_tree(const supernode_tree<Index>& tree, const Executor& on,
                               memory_resource& resource) {
  for (std::int64_t s = 0; s < tree.count(); ++s) {
    SPTRSV_EXPECTS(tree.columns(s) + tree.rows(s) <= std::numeric_limits<std::int32_t>::max(),
                   errc::unsupported, "a supernode of ", tree.columns(s),
                   " columns has more than 2^31 - 1 rows");
  }
  device_tree<Index> made{{}, {}, tree.rows_begin.back(), tree.panel_begin.back(), {}};
  const auto add = [&](const auto& from) { return made.begin_add(from, on, resource); };
  made.of = {tree.count(), add(tree.first), add(tree.range_end), add(tree.rows_begin), add(tree.panel_begin),
             nullptr,      nullptr};
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
