// SPDX-License-Identifier: Apache-2.0
// The fundamental supernodes of a pattern, found on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/analysis/columns.hpp"
#include "sptrsv/detail/supernodal/analysis/tree.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Counts the children of each column: its parent is its first row. Runs once per column.
template <class Index, class Offset>
struct count_children {
  column_view<Index, Offset> c;
  Index* children;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    if (c.count(ctx, column) > 0) {
      ctx.reduce_add(children + c.row(ctx, c.begin(ctx, column), 0), Index{1});
    }
  }
};

/// Marks columns that begin a fundamental supernode: the others have the rows of the column before without
/// its first row, and no other child. Runs once per column and once for the end.
template <class Index, class Offset>
struct mark_fundamental {
  column_view<Index, Offset> c;
  const Index* children;
  Index* begins;  ///< by column, size + 1: 1 if a supernode begins

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t column) const {
    bool continues = false;
    if (column > 0 && column < c.size) {
      const std::int64_t before = c.begin(ctx, column - 1);
      const std::int64_t begin = c.begin(ctx, column);
      const std::int64_t count = c.count(ctx, column);
      continues = c.count(ctx, column - 1) == count + 1 && c.row(ctx, before, 0) == column &&
                  ctx.load_constant(children + column) == 1;
      constexpr int at_once = 2;
      for (std::int64_t first = 0; continues && first < count; first += at_once * Tile::lanes) {
        bool differs = false;
        SPTRSV_UNROLL
        for (int i = 0; i < at_once; ++i) {
          const std::int64_t t = first + i * Tile::lanes + tile.rank();
          differs = (t < count && c.row(ctx, before, t + 1) != c.row(ctx, begin, t)) || differs;
        }
        continues = !tile.any(differs);
      }
    }
    if (tile.rank() == 0) {
      ctx.store(begins + column, static_cast<Index>(column == c.size || continues ? 0 : 1));
    }
  }
};

/// The fundamental supernodes as kernels see them; see fundamental_supernodes.
template <class Index>
struct fundamental_view {
  std::int64_t count;
  Index* begun;           ///< by column, size + 1: how many supernodes begin before it
  Index* first;           ///< by supernode, count + 1
  Index* row_count;       ///< by supernode
  Index* parent;          ///< by supernode; -1: none
  unsigned char* nested;  ///< by supernode
};

/// Writes what the first and last columns of supernodes tell. Runs once per column and for the end.
template <class Index, class Offset>
struct describe_fundamental {
  column_view<Index, Offset> c;
  fundamental_view<Index> f;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const Index before = ctx.load_constant(f.begun + column);
    if (column == c.size) {
      ctx.store(f.first + before, static_cast<Index>(column));
      return;
    }
    const Index after = ctx.load_constant(f.begun + column + 1);
    if (after > before) {
      ctx.store(f.first + before, static_cast<Index>(column));
    }
    if (column + 1 == c.size || ctx.load_constant(f.begun + column + 2) > after) {
      const std::int64_t rows = c.count(ctx, column);
      Index above = -1;
      if (rows > 0) {
        above = static_cast<Index>(ctx.load_constant(f.begun + c.row(ctx, c.begin(ctx, column), 0) + 1) - 1);
      }
      ctx.store(f.row_count + after - 1, static_cast<Index>(rows));
      ctx.store(f.parent + after - 1, above);
    }
  }
};

/// Marks supernodes whose rows their parent has, too. Runs once per fundamental supernode.
template <class Index, class Offset>
struct mark_nested {
  column_view<Index, Offset> c;
  fundamental_view<Index> f;
  std::uint64_t* not_nested;  ///< raised if there is another one

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    bool is_nested = true;
    const std::int64_t above = ctx.load_constant(f.parent + s);
    if (above >= 0) {
      const std::int64_t last = load_index(ctx, f.first + s + 1) - 1;
      const std::int64_t end = ctx.load_constant(f.first + above + 1);
      const std::int64_t begin = c.begin(ctx, last);
      const std::int64_t count = c.count(ctx, last);
      const std::int64_t parent_begin = c.begin(ctx, end - 1);
      const std::int64_t parent_count = c.count(ctx, end - 1);
      const std::int64_t inside = c.count_before(ctx, begin, count, end);
      // If the rows are nested, row t of them is at least the t-th of the parent, and so many more follow as
      // the supernode has.
      const std::int64_t more = parent_count - (count - inside);
      is_nested = more >= 0;
      for (std::int64_t t = 0; is_nested && t < count - inside; t += Tile::lanes) {
        const std::int64_t mine = t + tile.rank();
        is_nested = !tile.any(mine < count - inside && !has(ctx, parent_begin + c.step * mine, more + 1,
                                                            c.row(ctx, begin, inside + mine)));
      }
    }
    if (tile.rank() == 0) {
      ctx.store(f.nested + s, static_cast<unsigned char>(is_nested ? 1 : 0));
      if (!is_nested) {
        ctx.store_relaxed(not_nested, std::uint64_t{1});
      }
    }
  }

 private:
  /// Returns whether one of the `count` entries that begin at `begin` stands in row `row`.
  template <class Context>
  SPTRSV_DEVICE bool has(Context& ctx, std::int64_t begin, std::int64_t count, std::int64_t row) const {
    const std::int64_t found = c.count_before(ctx, begin, count, row);
    return found < count && c.row(ctx, begin, found) == row;
  }
};

/// Counts the entries of the rows of C. Runs once per fundamental supernode, for its columns.
template <class Index, class Offset>
struct count_row_entries {
  column_view<Index, Offset> c;
  fundamental_view<Index> f;
  Index* entries;  ///< by row

  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t s) const {
    const std::int64_t begin = ctx.load_constant(f.first + s);
    const std::int64_t end = ctx.load_constant(f.first + s + 1);
    for (std::int64_t row = begin + 1 + tile.rank(); row < end; row += Tile::lanes) {
      ctx.reduce_add(entries + row, static_cast<Index>(row - begin));
    }
    const std::int64_t below = c.begin(ctx, end - 1);
    const std::int64_t count = c.count(ctx, end - 1);
    for (std::int64_t t = tile.rank(); t < count; t += Tile::lanes) {
      ctx.reduce_add(entries + c.row(ctx, below, t), static_cast<Index>(end - begin));
    }
  }
};

/// The fundamental supernodes on the device; see fundamental_supernodes.
template <class Index>
struct device_fundamental {
  std::int64_t count = 0;
  bool is_nested = true;  ///< whether the pattern is that of a complete factor
  longest_of longest;
  buffer<Index> begun;  ///< these as in fundamental_view
  buffer<Index> first;
  buffer<Index> row_count;
  buffer<Index> parent;
  buffer<unsigned char> nested;

  [[nodiscard]] fundamental_view<Index> view() const {
    return {count, begun.data(), first.data(), row_count.data(), parent.data(), nested.data()};
  }
  /// Gives back all but what values need.
  void end_analysis() {
    begun = {};
    row_count = {};
    parent = {};
    nested = {};
  }
};

/// Finds the fundamental supernodes, and the longest row and column if unknown. Synchronises.
template <class Index, class Offset, class Executor>
device_fundamental<Index> find_fundamental(factor_columns<Index, Offset>& columns, const Executor& on,
                                           memory_resource& resource) {
  const column_view<Index, Offset> c = columns.view();
  const longest_of known = columns.longest();
  device_fundamental<Index> f;
  if (c.size == 0) {
    return f;
  }
  f.begun = columns.take_begun();
  if (f.begun.data() == nullptr) {
    f.begun = make_buffer<Index>(c.size + 1, on, resource);
    const auto children = make_zeros<Index>(c.size, on, resource);
    simt::for_each(on, c.size, count_children<Index, Offset>{c, children.data()});
    simt::for_each_by_tile<lanes_per_list>(
        on, c.size + 1, mark_fundamental<Index, Offset>{c, children.data(), f.begun.data()});
    on.exclusive_scan(f.begun.data(), f.begun.data(), c.size + 1, resource);
  }
  f.count = download_value(f.begun.data() + c.size, on);
  f.first = make_buffer<Index>(f.count + 1, on, resource);
  f.row_count = make_buffer<Index>(f.count, on, resource);
  f.parent = make_buffer<Index>(f.count, on, resource);
  f.nested = make_buffer<unsigned char>(f.count, on, resource);
  // In one array, so that the host waits for them once.
  struct results {
    longest_of longest;
    std::uint64_t not_nested;
  };
  const auto found = make_zeros<results>(1, on, resource);
  simt::for_each(on, c.size + 1, describe_fundamental<Index, Offset>{c, f.view()});
  simt::for_each_by_tile<lanes_per_list>(on, f.count,
                                         mark_nested<Index, Offset>{c, f.view(), &found.data()->not_nested});
  if (known.row < 0) {
    const auto row_entries = make_zeros<Index>(c.size, on, resource);
    simt::for_each_by_tile<lanes_per_list>(on, f.count,
                                           count_row_entries<Index, Offset>{c, f.view(), row_entries.data()});
    simt::find_largest(on, c.size, array_kernels::element_of<Index>{row_entries.data()},
                       &found.data()->longest.row);
  }
  if (known.column < 0) {
    simt::find_largest(on, c.size, c, &found.data()->longest.column);
  }
  columns.set_fundamental(f.first, f.count, on, resource);
  const results host = download_value(found.data(), on);
  f.is_nested = host.not_nested == 0;
  f.longest = {known.row < 0 ? host.longest.row : known.row,
               known.column < 0 ? host.longest.column : known.column};
  return f;
}

/// Returns a copy on the host. Synchronises.
template <class Index, class Executor>
fundamental_supernodes download_fundamental(const device_fundamental<Index>& f, const Executor& on) {
  const auto download = [&](const auto& from) {
    const auto copy = download_array(from, on);
    return std::vector<std::int64_t>(copy.begin(), copy.end());
  };
  const auto nested = download_array(f.nested, on);
  return {download(f.first), download(f.row_count), download(f.parent), {nested.begin(), nested.end()}};
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
