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

namespace sptrsv::detail::supernodal {

/// The columns of the strictly lower triangle, rows ascending, as kernels see them. They may be runs of the
/// stored matrix itself.
template <class Index, class Offset>
struct column_view {
  std::int64_t size;
  const Offset* offsets;  ///< by column, size + 1: entries of the columns before
  const Offset* first;    ///< by column: where its first entry stands in `indices`
  const Index* indices;
  int step;   ///< distance of the entries of a column: 1 or -1
  Index top;  ///< an index i stands for row top - i; -1: for row i

  /// Returns where the first entry of a column stands.
  template <class Context>
  SPTRSV_DEVICE std::int64_t begin(Context& ctx, std::int64_t column) const {
    return ctx.load_constant(first + column);
  }
  template <class Context>
  SPTRSV_DEVICE std::int64_t count(Context& ctx, std::int64_t column) const {
    return static_cast<std::int64_t>(ctx.load_constant(offsets + column + 1)) -
           static_cast<std::int64_t>(ctx.load_constant(offsets + column));
  }
  /// Returns the row of entry `t` of the column that begins at `begin`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t row(Context& ctx, std::int64_t begin, std::int64_t t) const {
    const Index index = ctx.load_constant(indices + begin + step * t);
    return static_cast<std::int64_t>(top < 0 ? index : static_cast<Index>(top - index));
  }
  /// Returns how many of the `count` entries of the column that begins at `begin` stand in rows before
  /// `row_end`.
  template <class Context>
  SPTRSV_DEVICE std::int64_t count_before(Context& ctx, std::int64_t begin, std::int64_t count,
                                          std::int64_t row_end) const {
    std::int64_t low = 0;
    std::int64_t high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (row(ctx, begin, middle) < row_end) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
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
                 memory_resource& resource)
      : size_(a.size), step_(1), top_(-1) {
    if (size_ == 0 || (!form.transposed && take_rows(a, form, on, resource))) {
      return;
    }
    const one_triangle_builder<Executor> flipped_rows(a, {flipped(form)}, 0, on, resource);
    auto built = flipped_rows.allocate_rows();
    const auto reports = check_rows(flipped_rows, built, on);
    device_triangle<Index, Offset>& t = built[0];
    const triangle_kernels::report& found = reports[0];
    longest_.column = found.longest_row;
    if (!flipped_rows.ascends(reports, 0)) {
      flipped_rows.complete(built, reports, 0);
      device_columns<Index, Offset> c = columns_of_flipped(t, on, resource);
      entries_ = c.entries();
      lists_ = {std::move(c.column_offsets),   {}, {}, std::move(c.rows), std::move(c.sources),
                std::move(c.diagonal_sources), {}};
      return;
    }
    entries_ = found.entries;
    lists_.offsets = make_buffer<Offset>(size_ + 1, on, resource);
    simt::for_each(on, size_ + 1,
                   reverse_array<Offset>{t.row_offsets.data(), lists_.offsets.data(), size_ + 1, entries_});
    lists_.first = make_buffer<Offset>(size_, on, resource);
    simt::for_each(on, size_, find_runs<Index, Offset>{a, form.reversed, lists_.first.data()});
    stored_indices_ = a.indices;
    step_ = stored_step_ = form.reversed ? -1 : 1;
    top_ = static_cast<Index>(form.reversed ? size_ - 1 : -1);
  }

  /// Builds the columns of a triangle in panels. Throws for the first faulty supernode. Synchronises.
  template <class Executor>
  factor_columns(const panel_pattern<Index, Offset>& a, const Executor& on, memory_resource& resource)
      : size_(a.size) {
    if (size_ == 0) {
      return;
    }
    expect_sound_panels(a, on, resource);
    lists_.offsets = make_buffer<Offset>(size_ + 1, on, resource);
    pattern_first_ = make_buffer<Offset>(size_, on, resource);
    lists_.first = make_buffer<Offset>(size_, on, resource);
    on.fill_bytes(lists_.offsets.data(), 0, lists_.offsets.bytes());
    simt::for_each_by_tile<32>(on, a.supernodes,
                               find_panel_columns<Index, Offset>{a, lists_.offsets.data(),
                                                                 pattern_first_.data(), lists_.first.data()});
    on.exclusive_scan(lists_.offsets.data(), lists_.offsets.data(), size_ + 1, resource);
    Offset entries = 0;
    on.download(&entries, lists_.offsets.data() + size_, sizeof(entries));
    entries_ = entries;
    stored_indices_ = a.row_indices;
  }

  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] const longest_of& longest() const { return longest_; }

  /// Returns the pattern, until end_analysis().
  [[nodiscard]] column_view<Index, Offset> view() const {
    return {size_,
            lists_.offsets.data(),
            pattern_first_.data() != nullptr ? pattern_first_.data() : first(),
            stored_indices_ != nullptr ? stored_indices_ : lists_.rows.data(),
            step_,
            top_};
  }
  /// Returns where the columns have their values in `values`, the values of the stored matrix.
  template <class Scalar>
  [[nodiscard]] stored_values<Scalar, Index, Offset> values(const Scalar* values, bool conjugated) const {
    return {values,
            conjugated,
            has_lists() ? list_first_.data() : first(),
            lists_.sources.data(),
            lists_.pivots.data(),
            stored_step_,
            list_shift_.data()};
  }
  /// Gives away how many fundamental supernodes begin before each column and before the end; empty if this is
  /// not known.
  [[nodiscard]] buffer<Index> take_begun() { return std::exchange(lists_.begun, {}); }
  /// Says which the first columns of the `count` fundamental supernodes are, before values() is called. Only
  /// enqueues.
  template <class Executor>
  void set_fundamental(const buffer<Index>& first_columns, std::int64_t count, const Executor& on,
                       memory_resource& resource) {
    if (lists_.shift.data() != nullptr) {
      list_first_ = make_buffer<Offset>(count, on, resource);
      list_shift_ = make_buffer<Index>(count, on, resource);
      simt::for_each(
          on, count,
          take_first_columns<Index, Offset>{first_columns.data(), lists_.first.data(), lists_.shift.data(),
                                            list_first_.data(), list_shift_.data()});
    }
  }
  /// Gives back what values() does not need.
  void end_analysis() {
    stored_indices_ = nullptr;
    pattern_first_ = {};
    lists_.rows = {};
    lists_.shift = {};
    if (has_first()) {
      lists_.offsets = {};
    }
    if (has_lists()) {
      lists_.first = {};
    }
  }
  [[nodiscard]] std::size_t bytes() const {
    return lists_.bytes() + pattern_first_.bytes() + list_first_.bytes() + list_shift_.bytes();
  }

 private:
  template <class Executor>
  using one_triangle_builder = triangle_builder<1, Index, Offset, Executor>;

  [[nodiscard]] const Offset* first() const {
    return has_first() ? lists_.first.data() : lists_.offsets.data();
  }
  [[nodiscard]] bool has_first() const { return lists_.first.data() != nullptr; }
  [[nodiscard]] bool has_lists() const { return list_first_.data() != nullptr; }

  /// Checks the stored matrix, and counts the entries of the rows that a triangle is built from.
  template <class Executor>
  auto check_rows(const one_triangle_builder<Executor>& builder,
                  const std::array<device_triangle<Index, Offset>, 1>& t, const Executor& on) const {
    simt::for_each(on, size_, builder.start_rows(t, 0));
    builder.measure_rows(t);
    const auto found = builder.read_reports();
    builder.expect_sound(found);
    return found;
  }

  /// Builds the columns if the stored matrix has the rows of C sorted. Returns whether it has.
  template <class Executor>
  bool take_rows(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                 memory_resource& resource) {
    const one_triangle_builder<Executor> rows(a, {form}, 0, on, resource);
    auto built = rows.allocate_rows();
    const auto reports = check_rows(rows, built, on);
    const device_triangle<Index, Offset>& t = built[0];
    const triangle_kernels::report& found = reports[0];
    if (!rows.ascends(reports, 0)) {
      return false;
    }
    lists_ = list_runs<Index, Offset>({size_, t.row_offsets.data(), a.offsets, a.indices, form.reversed}, on,
                                      resource);
    entries_ = found.entries;
    longest_.row = found.longest_row;
    stored_step_ = form.reversed ? -1 : 1;
    return true;
  }

  std::int64_t size_ = 0;
  std::int64_t entries_ = 0;  ///< without the diagonal
  longest_of longest_;
  const Index* stored_indices_ = nullptr;  ///< of the stored matrix, if columns are runs of it
  column_lists<Index, Offset> lists_;      ///< without rows and sources if columns are runs
  buffer<Offset> pattern_first_;           ///< by column, if columns stand in panels: see column_view
  buffer<Offset> list_first_;  ///< by fundamental supernode, if there are runs of columns: see stored_values
  buffer<Index> list_shift_;   ///< by fundamental supernode, if there are runs of columns: see stored_values
  int step_ = 1;               ///< of column_view
  int stored_step_ = 1;        ///< of stored_values
  Index top_ = -1;
};

}  // namespace sptrsv::detail::supernodal
