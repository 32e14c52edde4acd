// SPDX-License-Identifier: Apache-2.0
// The kernels that write the rows of an incomplete factorisation in level order.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"

namespace sptrsv::detail::incomplete {

/// A triangle of the matrix as kernels see it, see device_triangle.
template <class Index, class Offset>
struct triangle_view {
  const Offset* row_offsets;
  const Index* columns;
  const Offset* sources;

  static triangle_view of(const device_triangle<Index, Offset>& t) {
    return {t.row_offsets.data(), t.columns.data(), t.sources.data()};
  }
  template <class Context>
  SPTRSV_DEVICE Offset begin(Context& ctx, std::int64_t row) const {
    return ctx.load_constant(row_offsets + row);
  }
  template <class Context>
  SPTRSV_DEVICE Offset length(Context& ctx, std::int64_t row) const {
    return begin(ctx, row + 1) - begin(ctx, row);
  }
};

/// The body of a scan over the rows in level order: finds where each row begins.
template <class Index, class Offset>
struct place_eliminated_rows {
  std::int64_t size;
  triangle_view<Index, Offset> lower;
  triangle_view<Index, Offset> upper;  ///< substitution index size - 1 - row; null arrays: there is none
  const Index* rows;                   ///< by solve index: the row
  Offset* row_offsets;
  Index* diagonal_slots;
  Index* solve_index_of_row;

  struct placed {
    std::int64_t count;  ///< entries
    Index row;
    Index below;  ///< entries below the diagonal
  };

  template <class Context>
  SPTRSV_DEVICE placed load(Context& ctx, std::int64_t r) const {
    const Index row = ctx.load_constant(rows + r);
    const Offset below = lower.length(ctx, row);
    const Offset above = upper.row_offsets != nullptr ? upper.length(ctx, size - 1 - row) : Offset{0};
    return {static_cast<std::int64_t>(below) + 1 + static_cast<std::int64_t>(above), row,
            static_cast<Index>(below)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const placed& own, std::int64_t before) const {
    ctx.store(row_offsets + r, static_cast<Offset>(before));
    if (r == size - 1) {
      ctx.store(row_offsets + size, static_cast<Offset>(before + own.count));
    }
    ctx.store(diagonal_slots + r, own.below);
    ctx.store(solve_index_of_row + own.row, static_cast<Index>(r));
  }
};

/// Writes column and source of each entry. Runs once per entry in level order, see for_each_entry().
template <class Index, class Offset>
struct place_entries {
  std::int64_t size;
  triangle_view<Index, Offset> lower;
  const Offset* diagonal_sources;      ///< by row
  triangle_view<Index, Offset> upper;  ///< substitution index size - 1 - row; null arrays: there is none
  const Index* rows;
  const Offset* row_offsets;
  const Index* diagonal_slots;
  Index* columns;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE bool hold(Context&) const {
    return true;
  }
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Index row = ctx.load_constant(rows + r);
    const auto slot = static_cast<Offset>(static_cast<Offset>(e) - ctx.load_constant(row_offsets + r));
    const auto below = static_cast<Offset>(ctx.load_constant(diagonal_slots + r));
    if (slot < below) {
      const Offset from = lower.begin(ctx, row) + slot;
      put(ctx, e, ctx.load_constant(lower.columns + from), ctx.load_constant(lower.sources + from));
    } else if (slot == below) {
      put(ctx, e, row, ctx.load_constant(diagonal_sources + row));
    } else {  // the upper triangle counts rows and columns from the last
      const Offset from = upper.begin(ctx, size - row) - (slot - below);
      put(ctx, e, static_cast<Index>(size - 1 - ctx.load_constant(upper.columns + from)),
          ctx.load_constant(upper.sources + from));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void put(Context& ctx, std::int64_t e, Index column, Offset source) const {
    ctx.store(columns + e, column);
    ctx.store(sources + e, source);
  }
};

/// Returns the number of entries of a row, by solve index.
template <class Offset>
struct length_of_row {
  const Offset* row_offsets;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t r) const {
    return static_cast<std::int64_t>(ctx.load_constant(row_offsets + r + 1) -
                                     ctx.load_constant(row_offsets + r));
  }
};

}  // namespace sptrsv::detail::incomplete
