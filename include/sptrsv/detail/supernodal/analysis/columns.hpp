// SPDX-License-Identifier: Apache-2.0
// The columns of C, and where their values stand in the stored matrix.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/analysis/panel_columns.hpp"
#include "sptrsv/detail/supernodal/analysis/row_columns.hpp"
#include "sptrsv/detail/supernodal/analysis/stored_values.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The columns of the strictly lower triangle, rows ascending; they may be runs of the stored matrix.
template <class Index, class Offset>
struct column_view {
  std::int64_t size;
  const Offset* offsets;  ///< by column, size + 1: entries of the columns before
  const Offset* first;    ///< by column: where its first entry stands in `indices`
  const Index* indices;
  int step;   ///< distance of the entries of a column: 1 or -1
  Index top;  ///< an index i stands for row top - i; -1: for row i

  template <class Context>
  SPTRSV_DEVICE std::int64_t begin(Context& ctx, std::int64_t column) const {
    return ctx.load_constant(first + column);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t count(Context& ctx, std::int64_t column) const {
    return triangle_kernels::row_length(ctx, offsets, column);
  }
  /// Returns the row of entry `t` of the column that begins at `begin`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t row(Context& ctx, std::int64_t begin, std::int64_t t) const {
    const Index index = ctx.load_constant(indices + begin + step * t);
    return static_cast<std::int64_t>(top < 0 ? index : static_cast<Index>(top - index));
  }
  /// Returns how many of the `count` entries of the column at `begin` stand in rows before `row_end`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t count_before(Context& ctx, std::int64_t begin, std::int64_t count,
                                          std::int64_t row_end) const {
    return triangle_kernels::count_while(count, [&](std::int64_t t) { return row(ctx, begin, t) < row_end; });
  }
  /// Body of simt::find_largest: the number of entries of a column.
  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t column) const {
    return count(ctx, column);
  }
};

/// Finds where the strictly lower entries of each column begin in a stored matrix with sorted rows (columns):
/// behind the diagonal, or, if the system counts from the end, before it. Runs once per column.
template <class Index, class Offset>
struct find_runs {
  pattern_view<Index, Offset> a;
  bool mirrored;
  Offset* first;  ///< by column

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t column) const {
    const std::int64_t major = mirrored ? a.size - 1 - column : column;
    const std::int64_t begin = ctx.load_constant(a.offsets + major);
    const std::int64_t count = static_cast<std::int64_t>(ctx.load_constant(a.offsets + major + 1)) - begin;
    const std::int64_t before = triangle_kernels::count_below(ctx, a.indices + begin, count,
                                                              static_cast<Index>(major + (mirrored ? 0 : 1)));
    ctx.store(first + column, static_cast<Offset>(begin + before - (mirrored ? 1 : 0)));
  }
};

/// The entries of the longest row and of the longest column of C, without the diagonal; -1: not known.
struct longest_of {
  std::int64_t row = -1;
  std::int64_t column = -1;
};

/// Owns the columns of C. There are three kinds:
///
///   - They are runs of the stored matrix, that is, it has them as its sorted columns (rows) or in panels:
///   one
///     number per column says where the values are, and the pattern is that of the stored matrix, which is
///     only there during the analysis.
///   - The stored matrix has the rows of C sorted: each row of a supernode has a number, and each fundamental
///     supernode; see row_columns.hpp.
///   - Otherwise each entry has a number of its own.
template <class Index, class Offset>
class factor_columns {
 public:
  factor_columns() = default;

  /// Builds the columns of the system `form`, with the checks of build_on_device. Synchronises.
  template <class Executor>
  factor_columns(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                 memory_resource& resource) {
    if (a.size == 0 || (!form.transposed && take_rows(a, form, on, resource))) {
      return;
    }
    const one_triangle_builder<Executor> flipped_rows(a, {flipped(form)}, {}, on, resource);
    auto built = flipped_rows.allocate_rows();
    const auto reports = flipped_rows.check(built);
    longest_.column = reports[0].longest_row;
    entries_ = reports[0].entries;
    if (!flipped_rows.ascends(reports, 0)) {
      flipped_rows.complete(built, reports, 0);
      device_columns<Index, Offset> c = columns_of_flipped(built[0], on, resource);
      lists_ = {std::move(c.column_offsets),   {}, {}, std::move(c.rows), std::move(c.sources),
                std::move(c.diagonal_sources), {}};
      view_ = {a.size, lists_.offsets.data(), lists_.offsets.data(), lists_.rows.data(), 1, -1};
      return;
    }
    const int step = form.reversed ? -1 : 1;
    make_runs(a.size, on, resource);
    simt::for_each(
        on, a.size + 1,
        reverse_array<Offset>{built[0].row_offsets.data(), lists_.offsets.data(), a.size + 1, entries_});
    simt::for_each(on, a.size, find_runs<Index, Offset>{a, form.reversed, lists_.first.data()});
    view_ = {a.size,
             lists_.offsets.data(),
             lists_.first.data(),
             a.indices,
             step,
             static_cast<Index>(form.reversed ? a.size - 1 : -1)};
    stored_step_ = step;
  }

  /// Builds the columns of a triangle in panels. Throws for the first faulty supernode. Synchronises.
  template <class Executor>
  factor_columns(const panel_pattern<Index, Offset>& a, const Executor& on, memory_resource& resource) {
    if (a.size == 0) {
      return;
    }
    expect_sound_panels(a, on, resource);
    make_runs(a.size, on, resource);
    pattern_first_ = make_buffer<Offset>(a.size, on, resource);
    on.fill_bytes(lists_.offsets.data(), 0, lists_.offsets.bytes());
    simt::for_each_by_tile<32>(on, a.supernodes,
                               find_panel_columns<Index, Offset>{a, lists_.offsets.data(),
                                                                 pattern_first_.data(), lists_.first.data()});
    on.exclusive_scan(lists_.offsets.data(), lists_.offsets.data(), a.size + 1, resource);
    entries_ = download_value(lists_.offsets.data() + a.size, on);
    view_ = {a.size, lists_.offsets.data(), pattern_first_.data(), a.row_indices, 1, -1};
  }

  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] const longest_of& longest() const { return longest_; }
  /// Returns the pattern, until end_analysis().
  [[nodiscard]] const column_view<Index, Offset>& view() const { return view_; }
  /// Returns where the columns have their values in `values`, the values of the stored matrix.
  template <class Scalar>
  [[nodiscard]] stored_values<Scalar, Index, Offset> values(const Scalar* values, bool conjugated) const {
    return {values,
            conjugated,
            has_first() ? lists_.first.data() : lists_.offsets.data(),
            lists_.sources.data(),
            lists_.pivots.data(),
            stored_step_,
            lists_.shift.data()};
  }
  /// Gives away how many fundamental supernodes begin before each column and the end; empty: unknown.
  [[nodiscard]] buffer<Index> take_begun() { return std::exchange(lists_.begun, {}); }
  /// Keeps the first columns of the `count` fundamental supernodes of runs, for values(). Only enqueues.
  template <class Executor>
  void set_fundamental(const buffer<Index>& first_columns, std::int64_t count, const Executor& on,
                       memory_resource& resource) {
    if (lists_.shift.data() == nullptr) {
      return;
    }
    auto first = make_buffer<Offset>(count, on, resource);
    auto shift = make_buffer<Index>(count, on, resource);
    simt::for_each(on, count,
                   take_first_columns<Index, Offset>{first_columns.data(), lists_.first.data(),
                                                     lists_.shift.data(), first.data(), shift.data()});
    pattern_first_ = std::exchange(lists_.first, std::move(first));
    lists_.shift = std::move(shift);
  }
  /// Gives back what values() does not need.
  void end_analysis() {
    view_ = {};
    pattern_first_ = {};
    lists_.rows = {};
    if (has_first()) {
      lists_.offsets = {};
    }
  }
  [[nodiscard]] std::size_t bytes() const { return lists_.bytes() + pattern_first_.bytes(); }

 private:
  template <class Executor>
  using one_triangle_builder = triangle_builder<1, Index, Offset, Executor>;

  [[nodiscard]] bool has_first() const { return lists_.first.data() != nullptr; }

  /// Makes room for columns that are runs of the stored matrix.
  template <class Executor>
  void make_runs(std::int64_t size, const Executor& on, memory_resource& resource) {
    lists_.offsets = make_buffer<Offset>(size + 1, on, resource);
    lists_.first = make_buffer<Offset>(size, on, resource);
  }

  /// Builds the columns if the stored matrix has the rows of C sorted. Returns whether it has.
  template <class Executor>
  bool take_rows(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                 memory_resource& resource) {
    const one_triangle_builder<Executor> rows(a, {form}, {}, on, resource);
    const auto built = rows.allocate_rows();
    const auto reports = rows.check(built);
    if (!rows.ascends(reports, 0)) {
      return false;
    }
    lists_ = list_runs<Index, Offset>(
        {a.size, built[0].row_offsets.data(), a.offsets, a.indices, form.reversed}, on, resource);
    view_ = {a.size, lists_.offsets.data(), lists_.first.data(), lists_.rows.data(), 1, -1};
    entries_ = reports[0].entries;
    longest_.row = reports[0].longest_row;
    stored_step_ = form.reversed ? -1 : 1;
    return true;
  }

  std::int64_t entries_ = 0;  ///< without the diagonal
  longest_of longest_;
  column_view<Index, Offset> view_{};
  /// If columns are runs of the stored matrix, without rows and sources. From set_fundamental() on, `first`
  /// and `shift` are by fundamental supernode.
  column_lists<Index, Offset> lists_;
  buffer<Offset> pattern_first_;  ///< by column: that of `view_`, if it is not in `lists_`
  int stored_step_ = 1;           ///< of stored_values
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
