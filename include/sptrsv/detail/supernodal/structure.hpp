// The supernodes of a plan in device memory: their lists of rows, and the maps that bring values into panels.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/supernodal/symbolic.hpp"
#include "sptrsv/detail/supernodal/tree.hpp"

namespace sptrsv::detail::supernodal {

/// Returns a copy of the vector in device memory, as elements of type T.
template <class T, class Executor>
buffer<T> upload_as(const std::vector<std::int64_t>& from, const Executor& on, memory_resource& resource) {
  auto to = make_buffer<T>(static_cast<std::int64_t>(from.size()), on, resource);
  const std::vector<T> converted(from.begin(), from.end());
  on.upload(to.data(), converted.data(), to.bytes());
  return to;
}

/// Writes the list of rows of each supernode: the other columns of its merged range, then the rows below the
/// last one of them. Runs once per row of a list.
template <class Index, class Offset>
struct write_rows {
  column_view<Index, Offset> c;
  supernodes<Index> of;
  Index* rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t s = triangle_kernels::major_of(ctx, of.rows_begin, of.count, e);
    const std::int64_t t = e - ctx.load_constant(of.rows_begin + s);
    const std::int64_t end = ctx.load_constant(of.first + s + 1);
    const std::int64_t all = ctx.load_constant(of.range_end + s);
    ctx.store(rows + e, t < all - end ? static_cast<Index>(end + t)
                                      : ctx.load_constant(c.rows + c.begin(ctx, all - 1) + t - (all - end)));
  }
};

/// Writes the supernode and the first descendant of each column. Runs once per column.
template <class Index>
struct describe_columns {
  const Index* first;  ///< by supernode, count + 1
  std::int64_t count;
  const Index* begun;                   ///< by column: how many fundamental supernodes begin before it
  const Index* fundamental_descendant;  ///< by fundamental supernode
  Index* supernode_of;
  Index* first_descendant;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const Index fundamental = ctx.load_constant(begun + column + 1) - Index{1};
    ctx.store(supernode_of + column,
              static_cast<Index>(triangle_kernels::major_of(ctx, first, count, column)));
    ctx.store(first_descendant + column, ctx.load_constant(fundamental_descendant + fundamental));
  }
};

/// Finds where each row below a fundamental supernode stands in the panel of its supernode, counted from the
/// first row of the panel plus `first column of the supernode`, so that the number is the same for all
/// supernodes that a merged range is cut into. Runs once per row below a fundamental supernode.
template <class Index, class Offset>
struct find_panel_rows {
  column_view<Index, Offset> c;
  supernodes<Index> of;
  const Index* first;        ///< by fundamental supernode
  const Offset* rows_begin;  ///< by fundamental supernode
  std::int64_t count;        ///< of fundamental supernodes
  Index* panel_rows;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const fundamental_row at = fundamental_row_at(ctx, c, first, rows_begin, count, e);
    const std::int64_t s = ctx.load_constant(of.supernode_of + ctx.load_constant(first + at.supernode));
    const std::int64_t end = ctx.load_constant(of.range_end + s);
    std::int64_t found = at.row;
    if (at.row >= end) {
      found = end + triangle_kernels::count_below(ctx, c.rows + c.begin(ctx, end - 1), c.count(ctx, end - 1),
                                                  at.row);
    }
    ctx.store(panel_rows + e, static_cast<Index>(found));
  }
};

/// Owns the supernodes of a plan.
template <class Index, class Offset>
class device_structure {
 public:
  template <class Executor>
  device_structure(const supernode_tree& tree, const merged_supernodes& merged,
                   const device_fundamental<Index, Offset>& f, const column_view<Index, Offset>& c,
                   const Executor& on, memory_resource& resource)
      : count_(tree.count()),
        first_(upload_as<Index>(tree.first, on, resource)),
        range_end_(upload_as<Index>(tree.range_end, on, resource)),
        rows_begin_(upload_as<std::int64_t>(tree.rows_begin, on, resource)),
        panel_begin_(upload_as<std::int64_t>(tree.panel_begin, on, resource)),
        rows_(make_buffer<Index>(tree.rows_begin.back(), on, resource)),
        supernode_of_(make_buffer<Index>(c.size, on, resource)),
        first_descendant_(make_buffer<Index>(c.size, on, resource)),
        panel_rows_(make_buffer<Index>(f.rows, on, resource)) {
    const auto descendants = upload_as<Index>(merged.first_descendant, on, resource);
    simt::for_each(on, c.size,
                   describe_columns<Index>{first_.data(), count_, f.begun.data(), descendants.data(),
                                           supernode_of_.data(), first_descendant_.data()});
    simt::for_each(on, tree.rows_begin.back(), write_rows<Index, Offset>{c, view(), rows_.data()});
    simt::for_each(on, f.rows,
                   find_panel_rows<Index, Offset>{c, view(), f.first.data(), f.rows_begin.data(), f.count,
                                                  panel_rows_.data()});
  }

  [[nodiscard]] supernodes<Index> view() const {
    return {
        count_,       first_.data(),        range_end_.data(),       rows_begin_.data(), panel_begin_.data(),
        rows_.data(), supernode_of_.data(), first_descendant_.data()};
  }
  /// Returns by row below a fundamental supernode: see find_panel_rows.
  [[nodiscard]] const Index* panel_rows() const { return panel_rows_.data(); }
  [[nodiscard]] std::size_t bytes() const {
    return first_.bytes() + range_end_.bytes() + rows_begin_.bytes() + panel_begin_.bytes() + rows_.bytes() +
           supernode_of_.bytes() + first_descendant_.bytes() + panel_rows_.bytes();
  }

 private:
  std::int64_t count_;
  buffer<Index> first_;
  buffer<Index> range_end_;
  buffer<std::int64_t> rows_begin_;
  buffer<std::int64_t> panel_begin_;
  buffer<Index> rows_;
  buffer<Index> supernode_of_;
  buffer<Index> first_descendant_;
  buffer<Index> panel_rows_;
};

}  // namespace sptrsv::detail::supernodal
