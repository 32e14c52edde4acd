// SPDX-License-Identifier: Apache-2.0
// The columns of C, and where their values stand in the stored matrix.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/supernodal/analysis/panel_columns.hpp"
#include "sptrsv/detail/supernodal/analysis/row_columns.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Where a column of C has its values in the stored matrix; see stored_values.
template <class Index, class Offset>
struct stored_column {
  Offset begin;  ///< its first entry
  Index shift;   ///< what is added to an index in `sources`
};

/// Where the values of the columns of C stand in the stored matrix, as kernels see it. Columns of one
/// fundamental supernode have the same rows.
template <class Scalar, class Index, class Offset>
struct stored_values {
  const Scalar* values;
  bool conjugated;
  /// Where its first entry stands in `sources`, or, without, in `values`: by column, or, with `shift`, by
  /// fundamental supernode for its first column; the next columns begin one element later each.
  const Offset* first;
  /// Indices in the stored matrix: of the entries, or, with `shift`, of those in the same rows that a column
  /// before has, that in the row of the diagonal included; null: each column is a run of the stored matrix.
  const Offset* sources;
  /// By column: index of the diagonal entry; null: it stands before the first entry or source.
  const Offset* pivots;
  int step;  ///< distance of the entries of a run, or, with `shift`, of a row: 1 or -1
  /// By fundamental supernode: from the index in `sources` to that of the entry of its first column in the
  /// same row; null: the indices are those of the entries.
  const Index* shift = nullptr;

  /// `fundamental`: that of the column, which begins with column `fundamental_begin`.
  template <class Context>
  SPTRSV_DEVICE stored_column<Index, Offset> open(Context& ctx, std::int64_t number, std::int64_t fundamental,
                                                  std::int64_t fundamental_begin) const {
    if (shift == nullptr) {
      return {ctx.load_constant(first + number), 0};
    }
    const auto before = static_cast<Index>(number - fundamental_begin);
    return {static_cast<Offset>(ctx.load_constant(first + fundamental) + before),
            static_cast<Index>(ctx.load_constant(shift + fundamental) + static_cast<Index>(step) * before)};
  }
  /// Returns the value of entry `t` of the column.
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, const stored_column<Index, Offset>& of, std::int64_t t) const {
    return at(ctx, sources == nullptr
                       ? of.begin + step * t
                       : std::int64_t{ctx.load_constant(sources + of.begin + t)} + std::int64_t{of.shift});
  }
  /// Returns the diagonal entry of a column, which is stored; `of`: the column, opened.
  template <class Context>
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t number,
                             const stored_column<Index, Offset>& of) const {
    return pivots == nullptr ? value(ctx, of, -1) : at(ctx, ctx.load_constant(pivots + number));
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar at(Context& ctx, std::int64_t index) const {
    return load_value(ctx, values + index, conjugated);
  }
};

/// The parameters of the kernels that write the values of the stored matrix to the panels.
template <class Scalar, class Index, class Offset>
struct stored_panels {
  supernodes<Index> of;
  row_masks<Index> masks;
  stored_values<Scalar, Index, Offset> stored;
  const Scalar* diagonal;  ///< by column; null if the diagonal is unit

  /// Returns an entry in row `column` divided by the pivot. Zeros, perhaps not in the pattern, stay.
  template <class Context>
  SPTRSV_DEVICE Scalar scaled(Context& ctx, Scalar v, std::int64_t column) const {
    return diagonal == nullptr || v == Scalar{} ? v : divide(v, ctx.load_constant(diagonal + column));
  }
};

/// A column of a panel in the stored matrix.
template <class Index, class Offset>
struct panel_column : stored_column<Index, Offset> {
  Index mask;  ///< number of its mask among those of the supernode
  Index rank;  ///< number of its entries before a word of the mask

  /// Returns the entry in the row of one bit of the word; zero if the pattern has none. `bits`: the word.
  template <class Context, class Scalar>
  SPTRSV_DEVICE Scalar entry(Context& ctx, const stored_values<Scalar, Index, Offset>& stored,
                             std::uint32_t bits, int bit) const {
    const std::int64_t t = static_cast<std::int64_t>(rank) + simt::bit_count(bits & ((1u << bit) - 1u));
    return (bits >> bit & 1u) != 0 ? stored.value(ctx, *this, t) : Scalar{};
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
    const std::int64_t count = load_index(ctx, a.offsets + major + 1) - begin;
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
///   - They are runs of the stored matrix, which has them as its sorted columns (rows) or in panels. One
///   number
///     per column says where the values are, and the pattern is that of the stored matrix, which is only
///     there during the analysis.
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
    const triangle_builder<1, Index, Offset, Executor> flipped_rows(a, {flipped(form)}, {}, on, resource);
    auto built = flipped_rows.allocate_rows();
    const auto reports = flipped_rows.check(built);
    longest_.column = reports[0].longest_row;
    entries_ = reports[0].entries;
    if (!flipped_rows.are_runs(reports, 0)) {
      flipped_rows.write(built, reports);
      lists_ = {columns_of_flipped(built[0], on, resource), {}, {}, {}};
      view_ = {a.size, lists_.column_offsets.data(), lists_.column_offsets.data(), lists_.rows.data(), 1, -1};
      return;
    }
    make_runs(a.size, on, resource);
    simt::for_each(on, a.size + 1,
                   reverse_array<Offset>{built[0].row_offsets.data(), lists_.column_offsets.data(),
                                         a.size + 1, entries_});
    simt::for_each(on, a.size, find_runs<Index, Offset>{a, form.reversed, lists_.first.data()});
    view_ = stored_view(a, lists_.column_offsets.data(), lists_.first.data(), form.reversed);
    stored_step_ = view_.step;
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
    on.fill_bytes(lists_.column_offsets.data(), 0, lists_.column_offsets.bytes());
    simt::for_each_by_tile<32>(on, a.supernodes,
                               find_panel_columns<Index, Offset>{a, lists_.column_offsets.data(),
                                                                 pattern_first_.data(), lists_.first.data()});
    on.exclusive_scan(lists_.column_offsets.data(), lists_.column_offsets.data(), a.size + 1, resource);
    entries_ = download_value(lists_.column_offsets.data() + a.size, on);
    view_ = {a.size, lists_.column_offsets.data(), pattern_first_.data(), a.row_indices, 1, -1};
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
            has_first() ? lists_.first.data() : lists_.column_offsets.data(),
            lists_.sources.data(),
            lists_.diagonal_sources.data(),
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
    using array_kernels::take_in_order;
    simt::for_each(on, count,
                   take_in_order<Offset, Index>{lists_.first.data(), first_columns.data(), first.data()});
    simt::for_each(on, count,
                   take_in_order<Index, Index>{lists_.shift.data(), first_columns.data(), shift.data()});
    pattern_first_ = std::exchange(lists_.first, std::move(first));
    lists_.shift = std::move(shift);
  }
  /// Gives back what values() does not need.
  void end_analysis() {
    view_ = {};
    pattern_first_ = {};
    lists_.rows = {};
    if (has_first()) {
      lists_.column_offsets = {};
    }
  }
  [[nodiscard]] std::size_t bytes() const { return lists_.bytes() + pattern_first_.bytes(); }

 private:
  [[nodiscard]] bool has_first() const { return lists_.first.data() != nullptr; }

  static column_view<Index, Offset> stored_view(const pattern_view<Index, Offset>& a, const Offset* offsets,
                                                const Offset* first, bool reversed) {
    return {a.size,    offsets,           first,
            a.indices, reversed ? -1 : 1, static_cast<Index>(reversed ? a.size - 1 : -1)};
  }

  /// Makes room for columns that are runs of the stored matrix.
  template <class Executor>
  void make_runs(std::int64_t size, const Executor& on, memory_resource& resource) {
    lists_.column_offsets = make_buffer<Offset>(size + 1, on, resource);
    lists_.first = make_buffer<Offset>(size, on, resource);
  }

  /// Builds the columns if the stored matrix has the rows of C sorted. Returns whether it has.
  template <class Executor>
  bool take_rows(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                 memory_resource& resource) {
    const triangle_builder<1, Index, Offset, Executor> rows(a, {form}, {}, on, resource);
    const auto built = rows.allocate_rows();
    const auto reports = rows.check(built);
    if (!rows.are_runs(reports, 0)) {
      return false;
    }
    const stored_rows<Index, Offset> stored{
        stored_view(a, built[0].row_offsets.data(), a.offsets, form.reversed)};
    lists_ = list_runs(stored, on, resource);
    view_ = {a.size, lists_.column_offsets.data(), lists_.first.data(), lists_.rows.data(), 1, -1};
    entries_ = reports[0].entries;
    longest_.row = reports[0].longest_row;
    stored_step_ = stored.step;
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
