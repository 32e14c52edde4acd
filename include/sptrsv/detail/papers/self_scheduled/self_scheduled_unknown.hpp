// SPDX-License-Identifier: Apache-2.0
// One unknown of a self_scheduled solve, and the parameters of the solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/sync/counted_unknowns.hpp"

namespace sptrsv::SPTRSV_ABI::detail::self_scheduled {

/// Parameters of a solve. Rows, columns and unknowns are numbered in solve order: unknown `wid` here is
/// unknown jlev[wid] of the paper. In SLFR, offsets, indices and values are ia, ja and a, by rows, and the
/// buffers are dp and x. In SLFC they are ib, jb and b, by columns, and the buffers are dp and the sums.
template <class Scalar, class Index, class Offset>
struct system_params : paper_system<Scalar, Index, Offset, counted_unknowns<Scalar, Index>> {
  const Offset* ib;  ///< SLFR: column offsets by solve index, size + 1
  const Index* jb;   ///< SLFR: by entry, column by column: the entry's row
  /// Final value of each counter, by solve index; null in SLFR, where it is the length of the row.
  const Index* in_degree;
};

template <class Offset>
struct span {
  Offset begin;
  Offset end;

  template <class Context>
  SPTRSV_DEVICE span(Context& ctx, const Offset* offsets, std::int64_t at)
      : begin(ctx.load_constant(offsets + at)), end(ctx.load_constant(offsets + at + 1)) {}
};

/// One unknown: its index in the user's arrays, its pivot and, in lane k, its right-hand side first + k. The
/// constructor and load_rhs only issue loads, so that all loads are in flight before one is waited for.
template <class Scalar, class Index, class Offset, int Columns, bool OneRhs>
struct unknown {
  using params = system_params<Scalar, Index, Offset>;

  std::int64_t wid;  ///< solve index
  Index substitution_index;
  Scalar diagonal;
  Scalar b{};
  pivot_divisor<Scalar> pivot{pivot_divisor<Scalar>::one()};  ///< by begin()

  template <class Context>
  SPTRSV_DEVICE unknown(Context& ctx, const params& p, std::int64_t at)
      : wid(at),
        substitution_index(p.substitution_indices != nullptr ? ctx.load_constant(p.substitution_indices + at)
                                                             : static_cast<Index>(at)),
        diagonal(p.pivot(ctx, at)) {}

  SPTRSV_DEVICE static std::int64_t columns(const params& p) { return OneRhs ? 1 : p.x.columns; }
  SPTRSV_DEVICE static bool finishes(const params& p, std::int64_t first, int rank) {
    return rank < Columns && first + rank < columns(p);
  }
  SPTRSV_DEVICE std::int64_t row(const params& p) const {
    return p.mirrored(static_cast<std::int64_t>(substitution_index));
  }
  template <class Context>
  SPTRSV_DEVICE void load_rhs(Context& ctx, const params& p, std::int64_t first, int rank) {
    if (finishes(p, first, rank)) {
      b = ctx.load(p.b.data + row(p) * p.b.row_stride + (first + rank) * p.b.column_stride);
    }
  }
  /// Loads the right-hand sides of the first sweep, and divides by the pivot ahead of the wait.
  template <class Context>
  SPTRSV_DEVICE void begin(Context& ctx, const params& p, int rank) {
    load_rhs(ctx, p, 0, rank);
    pivot = pivot_divisor<Scalar>(diagonal);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::self_scheduled
