// SPDX-License-Identifier: Apache-2.0
// Row elimination: the parts of the kernels that rewrite rows. runs.hpp has the method. One warp rewrites a
// row. The columns of the rewritten row are the union of sorted lists, one for each lane: its own columns,
// and those of the eliminated rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// The strictly lower triangle by rows, in the order of substitution, with the values of the stored matrix.
template <class Scalar, class Index, class Offset>
struct valued_triangle {
  triangle_view<Index, Offset> of;  ///< sources may be null if rows are stored runs and have pivots
  const Scalar* stored;
  bool conjugated;
  bool reversed;  ///< true if substitution starts at the last row

  /// Returns the value of entry `e`, which is one of `row`.
  template <class Context>
  SPTRSV_DEVICE Scalar entry(Context& ctx, std::int64_t row, Offset e) const {
    if (of.sources != nullptr) {
      return load_value(ctx, stored + ctx.load_constant(of.sources + e), conjugated);
    }
    const stored_run<Offset> run{ctx.load_constant(of.diagonal_sources + row), reversed};
    const auto number = static_cast<std::int64_t>(ctx.load_constant(of.row_offsets + row + 1) - e);
    return load_value(ctx, stored + run.source(number), conjugated);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t row) const {
    return of.diagonal_sources == nullptr
               ? pivot_divisor<Scalar>::one()
               : load_value(ctx, stored + ctx.load_constant(of.diagonal_sources + row), conjugated);
  }
};

/// The effect of the eliminated entries on a row.
template <class Scalar>
struct row_elimination {
  Scalar factor;               ///< l_kj / d_j of the lane's entry
  real_t<Scalar> inverse_sum;  ///< bound of the row sum of |inv(U)|, see basic_dataflow::max_growth
  bool is_finite;              ///< whether all factors are finite

  /// Returns a bound of the row sum of |U| |inv(U)|.
  SPTRSV_DEVICE real_t<Scalar> growth() const { return 2 * inverse_sum - 1; }
};

/// Computes the effect. `r`: a run_row. `inverse_sums`: by row, inverse_sum of the rows that are eliminated:
/// row sums of the inverse of U's comparison matrix (Higham, Accuracy and Stability of Numerical Algorithms,
/// 8.2).
template <class Context, class Warp, class Scalar, class Index, class Offset, class Row>
SPTRSV_DEVICE row_elimination<Scalar> eliminate(Context& ctx, const Warp& warp,
                                                const valued_triangle<Scalar, Index, Offset>& t,
                                                std::int64_t row, const Row& r,
                                                const real_t<Scalar>* inverse_sums) {
  row_elimination<Scalar> made{Scalar{}, 0, true};
  real_t<Scalar> term = 0;
  if (r.has_entry) {
    const Scalar entry = t.entry(ctx, row, r.entry);
    made.factor = divide(entry, t.pivot(ctx, static_cast<std::int64_t>(r.needs)));
    term = magnitude(divide(entry, t.pivot(ctx, row))) * ctx.load(inverse_sums + r.needs);
  }
  made.is_finite = warp.all(is_finite(made.factor));
  made.inverse_sum = 1 + simt::reduce(warp, term, 32, simt::plus{});
  return made;
}

/// Merges the lanes' lists: stores each different column from to[slot] on, ascending, and returns their
/// number. If there are more than `max_count`, it stops. Each lane loads one column ahead. `List`: see
/// part_of_list.
template <class Context, class Warp, class List, class Index, class Offset>
SPTRSV_DEVICE Offset merge(Context& ctx, const Warp& warp, List list, Index* to, Offset slot,
                           Offset max_count) {
  Offset count = 0;
  Index first = list.take(ctx);
  Index second = list.take(ctx);
  for (Offset number = 0;; ++number) {
    const Index least = simt::reduce(warp, first, 32, simt::minimum{});
    if (least == List::none) {
      return count;
    }
    count = number + 1;
    if (warp.rank() == 0 && count <= max_count) {
      ctx.store(to + slot + number, least);
    }
    if (count > max_count) {
      return count;
    }
    if (first == least) {
      first = second;
      second = list.take(ctx);
    }
  }
}

/// Returns the index of the column in columns[begin] ... columns[end - 1], which ascend; otherwise `end`.
template <class Context, class Index, class Offset>
SPTRSV_DEVICE Offset find_column(Context& ctx, const Index* columns, Offset begin, Offset end, Index column) {
  Offset high = end;
  while (begin < high) {
    const Offset middle = begin + (high - begin) / 2;
    const Index found = ctx.load_constant(columns + middle);
    if (found == column) {
      return middle;
    }
    if (found < column) {
      begin = middle + 1;
    } else {
      high = middle;
    }
  }
  return end;
}

/// Where a lane finds an eliminated row, after it was rewritten, and the factor of the row.
template <class Scalar, class Offset>
struct eliminated_row {
  Offset begin;
  Offset end;  ///< of its entries, without the pivot
  Scalar factor;
};

/// Computes the values of the columns from `begin` to `end` - 1 of a rewritten row, one lane for each column;
/// returns whether they are finite. `own(column)`: returns what the row itself has in a column.
/// `eliminated`: lanes 1 ... `count` have a row each. Rows are subtracted in this order.
template <class Context, class Warp, class Scalar, class Index, class Offset, class Own>
SPTRSV_DEVICE bool combine_rows(Context& ctx, const Warp& warp, const Index* columns, Scalar* values,
                                Offset begin, Offset end, const eliminated_row<Scalar, Offset>& eliminated,
                                int count, const Own& own) {
  bool finite = true;
  for (Offset chunk = begin; chunk < end; chunk += 32) {
    const Offset e = chunk + static_cast<Offset>(warp.rank());
    const bool present = e < end;
    const Index column = present ? ctx.load_constant(columns + e) : Index{0};
    Scalar sum = present ? own(column) : Scalar{};
    for (int lane = 1; lane <= count; ++lane) {
      const Offset first = warp.shuffle(eliminated.begin, lane);
      const Offset last = warp.shuffle(eliminated.end, lane);
      const Scalar factor = warp.shuffle(eliminated.factor, lane);
      const Offset found = present ? find_column(ctx, columns, first, last, column) : last;
      if (found < last) {
        sum = sum - factor * ctx.load(values + found);
      }
    }
    if (present) {
      finite = finite && is_finite(sum);
      ctx.store(values + e, sum);
    }
  }
  return warp.all(finite);
}

/// Returns the number of entries of a row with its `pivots` pivots: 0 or 1.
template <class Offset>
struct entries_with_pivots {
  const Offset* counts;  ///< by row: its entries without the pivot
  Offset pivots;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t row) const {
    return static_cast<std::int64_t>(ctx.load(counts + row)) + pivots;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
