// The fundamental supernodes of a pattern, found on the device.
#pragma once

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/tree.hpp"

namespace sptrsv::detail::supernodal {

/// The columns of the strictly lower triangle, rows ascending, as kernels see them.
template <class Index, class Offset>
struct column_view {
  std::int64_t size;
  const Offset* offsets;  ///< by column, size + 1
  const Index* rows;      ///< by entry

  template <class Context>
  SPTRSV_DEVICE std::int64_t begin(Context& ctx, std::int64_t column) const {
    return ctx.load_constant(offsets + column);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t count(Context& ctx, std::int64_t column) const {
    return begin(ctx, column + 1) - begin(ctx, column);
  }
};

/// Returns the number of entries of a column.
template <class Index, class Offset>
struct column_length {
  column_view<Index, Offset> c;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t column) const {
    return c.count(ctx, column);
  }
};

/// Counts the children of each column in the tree: the parent of a column is its first row. Runs once per
/// column.
template <class Index, class Offset>
struct count_children {
  column_view<Index, Offset> c;
  Index* children;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    if (c.count(ctx, column) > 0) {
      ctx.reduce_add(children + ctx.load_constant(c.rows + c.begin(ctx, column)), Index{1});
    }
  }
};

/// Marks columns that begin a fundamental supernode by the numbers of their rows and children. Runs once per
/// column and once for the end.
template <class Index, class Offset>
struct mark_by_counts {
  column_view<Index, Offset> c;
  const Index* children;
  Index* begins;  ///< by column, size + 1: 1 if a supernode begins

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    Index mark = column < c.size ? 1 : 0;
    if (column > 0 && column < c.size) {
      const std::int64_t before = c.begin(ctx, column - 1);
      const std::int64_t begin = c.begin(ctx, column);
      const bool continues = begin - before == c.count(ctx, column) + 1 &&
                             ctx.load_constant(c.rows + before) == static_cast<Index>(column) &&
                             ctx.load_constant(children + column) == 1;
      mark = continues ? 0 : 1;
    }
    ctx.store(begins + column, mark);
  }
};

/// Marks columns whose rows differ from those of the column before. Runs once per entry.
template <class Index, class Offset>
struct mark_by_rows {
  column_view<Index, Offset> c;
  Index* begins;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t column = triangle_kernels::major_of(ctx, c.offsets, c.size, e);
    const std::int64_t t = e - c.begin(ctx, column);
    if (t > 0 && column + 1 < c.size && c.count(ctx, column) == c.count(ctx, column + 1) + 1 &&
        ctx.load_constant(c.rows + e) != ctx.load_constant(c.rows + c.begin(ctx, column + 1) + t - 1)) {
      ctx.store_relaxed(begins + column + 1, Index{1});
    }
  }
};

/// Writes what is known of each fundamental supernode from its first and its last column. Runs once per
/// column and once for the end.
template <class Index, class Offset>
struct describe_fundamental {
  column_view<Index, Offset> c;
  const Index* begun;  ///< by column, size + 1: how many supernodes begin before it
  Index* first;        ///< by supernode, count + 1
  Offset* row_count;   ///< by supernode, count + 1; 0 at the end
  Index* parent;       ///< by supernode; -1: none

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const Index before = ctx.load_constant(begun + column);
    if (column == c.size) {
      ctx.store(first + before, static_cast<Index>(column));
      ctx.store(row_count + before, Offset{0});
      return;
    }
    const Index after = ctx.load_constant(begun + column + 1);
    if (after > before) {
      ctx.store(first + before, static_cast<Index>(column));
    }
    if (column + 1 == c.size || ctx.load_constant(begun + column + 2) > after) {
      const std::int64_t rows = c.count(ctx, column);
      Index above = -1;
      if (rows > 0) {
        above = static_cast<Index>(
            ctx.load_constant(begun + ctx.load_constant(c.rows + c.begin(ctx, column)) + 1) - 1);
      }
      ctx.store(row_count + after - 1, static_cast<Offset>(rows));
      ctx.store(parent + after - 1, above);
    }
  }
};

/// A row below a fundamental supernode.
struct fundamental_row {
  std::int64_t supernode;
  std::int64_t row;
};

/// Returns row number `e` in the lists of rows of all fundamental supernodes.
template <class Context, class Index, class Offset>
SPTRSV_DEVICE fundamental_row fundamental_row_at(Context& ctx, const column_view<Index, Offset>& c,
                                                 const Index* first, const Offset* rows_begin,
                                                 std::int64_t count, std::int64_t e) {
  const std::int64_t f = triangle_kernels::major_of(ctx, rows_begin, count, e);
  const std::int64_t last_column = static_cast<std::int64_t>(ctx.load_constant(first + f + 1)) - 1;
  const std::int64_t t = e - static_cast<std::int64_t>(ctx.load_constant(rows_begin + f));
  return {f, static_cast<std::int64_t>(ctx.load_constant(c.rows + c.begin(ctx, last_column) + t))};
}

/// Clears the mark of a supernode with a row that its parent lacks. Runs once per row below a supernode.
template <class Index, class Offset>
struct find_not_nested {
  column_view<Index, Offset> c;
  const Index* first;
  const Offset* rows_begin;
  const Index* parent;
  std::int64_t count;
  unsigned* nested;  ///< by supernode

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const fundamental_row at = fundamental_row_at(ctx, c, first, rows_begin, count, e);
    const std::int64_t above = ctx.load_constant(parent + at.supernode);
    const std::int64_t end = ctx.load_constant(first + above + 1);
    if (at.row < end) {
      return;
    }
    const Index* const rows = c.rows + c.begin(ctx, end - 1);
    const std::int64_t rows_count = c.count(ctx, end - 1);
    const std::int64_t found = triangle_kernels::count_below(ctx, rows, rows_count, at.row);
    if (found == rows_count || ctx.load_constant(rows + found) != static_cast<Index>(at.row)) {
      ctx.store_relaxed(nested + at.supernode, 0u);
    }
  }
};

/// The fundamental supernodes on the device.
template <class Index, class Offset>
struct device_fundamental {
  std::int64_t count = 0;
  buffer<Index> begun;        ///< by column, size + 1: how many supernodes begin before it
  buffer<Index> first;        ///< by supernode, count + 1
  buffer<Offset> rows_begin;  ///< by supernode, count + 1: where its rows begin in the list of all rows
  std::int64_t rows = 0;      ///< rows below all supernodes

  [[nodiscard]] std::size_t bytes() const { return begun.bytes() + first.bytes() + rows_begin.bytes(); }
};

/// Finds the fundamental supernodes of the columns `c`; `host` receives their description. Synchronises.
template <class Index, class Offset, class Executor>
device_fundamental<Index, Offset> find_fundamental(const column_view<Index, Offset>& c, std::int64_t entries,
                                                   fundamental_supernodes& host, const Executor& on,
                                                   memory_resource& resource) {
  device_fundamental<Index, Offset> f;
  f.begun = make_buffer<Index>(c.size + 1, on, resource);
  {
    const auto children = make_buffer<Index>(c.size, on, resource);
    on.fill_bytes(children.data(), 0, children.bytes());
    simt::for_each(on, c.size, count_children<Index, Offset>{c, children.data()});
    simt::for_each(on, c.size + 1, mark_by_counts<Index, Offset>{c, children.data(), f.begun.data()});
    simt::for_each(on, entries, mark_by_rows<Index, Offset>{c, f.begun.data()});
  }
  on.exclusive_scan(f.begun.data(), f.begun.data(), c.size + 1, resource);
  Index count = 0;
  on.download(&count, f.begun.data() + c.size, sizeof(count));
  f.count = count;

  f.first = make_buffer<Index>(f.count + 1, on, resource);
  f.rows_begin = make_buffer<Offset>(f.count + 1, on, resource);
  const auto parent = make_buffer<Index>(f.count, on, resource);
  simt::for_each(on, c.size + 1,
                 describe_fundamental<Index, Offset>{c, f.begun.data(), f.first.data(), f.rows_begin.data(),
                                                     parent.data()});
  const auto download = [&](const auto& from, std::vector<std::int64_t>& to) {
    std::vector<std::decay_t<decltype(*from.data())>> copy(from.size());
    on.download(copy.data(), from.data(), from.bytes());
    to.assign(copy.begin(), copy.end());
  };
  download(f.first, host.first);
  download(f.rows_begin, host.row_count);
  download(parent, host.parent);
  host.row_count.pop_back();
  f.rows = std::accumulate(host.row_count.begin(), host.row_count.end(), std::int64_t{0});
  on.exclusive_scan(f.rows_begin.data(), f.rows_begin.data(), f.count + 1, resource);

  std::vector<unsigned> nested(static_cast<std::size_t>(f.count), 1);
  const auto marks = make_buffer<unsigned>(f.count, on, resource);
  on.upload(marks.data(), nested.data(), marks.bytes());
  simt::for_each(on, f.rows,
                 find_not_nested<Index, Offset>{c, f.first.data(), f.rows_begin.data(), parent.data(),
                                                f.count, marks.data()});
  on.download(nested.data(), marks.data(), marks.bytes());
  host.nested.assign(nested.begin(), nested.end());
  return f;
}

}  // namespace sptrsv::detail::supernodal
