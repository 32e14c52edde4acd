// SPDX-License-Identifier: Apache-2.0
// Where the values of C, and those of its panels, stand in the stored matrix.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

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

  /// Where a column has its values: its first entry, and what at() adds to an index in `sources`.
  struct column {
    Offset begin;
    Index shift;
  };
  /// `fundamental`: that of the column, which begins with column `fundamental_begin`.
  template <class Context>
  SPTRSV_DEVICE column open(Context& ctx, std::int64_t number, std::int64_t fundamental,
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
  SPTRSV_DEVICE Scalar value(Context& ctx, const column& of, std::int64_t t) const {
    return at(ctx, sources == nullptr
                       ? of.begin + step * t
                       : std::int64_t{ctx.load_constant(sources + of.begin + t)} + std::int64_t{of.shift});
  }
  /// Returns the diagonal entry of a column, which is stored; `of`: the column, opened.
  template <class Context>
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t number, const column& of) const {
    return pivots == nullptr ? value(ctx, of, -1) : at(ctx, ctx.load_constant(pivots + number));
  }

 private:
  template <class Context>
  SPTRSV_DEVICE Scalar at(Context& ctx, std::int64_t index) const {
    const Scalar v = ctx.load_constant(values + index);
    return conjugated ? conjugate(v) : v;
  }
};

/// Takes what stored_values needs of the first columns. Runs once per fundamental supernode.
template <class Index, class Offset>
struct take_first_columns {
  const Index* column;  ///< by fundamental supernode: its first column
  const Offset* first_of_column;
  const Index* shift_of_column;
  Offset* first;
  Index* shift;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t f) const {
    const Index j = ctx.load_constant(column + f);
    ctx.store(first + f, ctx.load_constant(first_of_column + j));
    ctx.store(shift + f, ctx.load_constant(shift_of_column + j));
  }
};

/// What kernels need that bring the values of the stored matrix into panels.
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
struct stored_column {
  Offset begin;  ///< its first entry
  Index shift;   ///< what is added to an index in the sources, see stored_values::column
  Index mask;    ///< number of its mask among those of the supernode
  Index rank;    ///< number of its entries before a word of the mask

  /// Returns the entry in the row of one bit of the word; zero if the pattern has none. `bits`: the word.
  template <class Context, class Scalar>
  SPTRSV_DEVICE Scalar entry(Context& ctx, const stored_values<Scalar, Index, Offset>& stored,
                             std::uint32_t bits, int bit) const {
    const std::int64_t t = static_cast<std::int64_t>(rank) + simt::bit_count(bits & ((1u << bit) - 1u));
    return (bits >> bit & 1u) != 0 ? stored.value(ctx, {begin, shift}, t) : Scalar{};
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
