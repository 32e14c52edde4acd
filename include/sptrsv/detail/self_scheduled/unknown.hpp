// The system as the kernels of self_scheduled see it, and one of its unknowns. Names of arrays are those of
// the paper (agent.hpp).
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/sync/counted_unknowns.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::self_scheduled {

/// Unknowns stand in the order in which they are taken up, and so do rows and columns: unknown `wid` here is
/// unknown jlev[wid] of the paper.
template <class Scalar, class Index, class Offset>
struct system_params {
  std::int64_t size;
  bool reversed;
  const Offset* ia;                   ///< row offsets; null by columns
  const Index* ja;                    ///< columns of the entries, by rows; null by columns
  const Offset* ib;                   ///< column offsets
  const Index* jb;                    ///< rows of the entries, by columns
  const Scalar* values;               ///< a, by rows, or b, by columns
  const Scalar* diagonal;             ///< d; null if it is unit
  const Index* in_degree;             ///< what the counters count up to; null by rows: the length of the row
  const Index* substitution_indices;  ///< jlev; null in the order of substitution
  counted_unknowns<Scalar, Index> unknowns;  ///< dp, and x in the order of the unknowns
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// A range of entries.
template <class Offset>
struct span {
  Offset begin;
  Offset end;

  template <class Context>
  SPTRSV_DEVICE span(Context& ctx, const Offset* offsets, std::int64_t at)
      : begin(ctx.load_constant(offsets + at)), end(ctx.load_constant(offsets + at + 1)) {}
};

/// The unknown's place in the user's arrays, and lane k's right-hand side first + k. Construction and
/// load_rhs only load: nobody waits for what they bring before all loads are on their way.
template <class Scalar, class Index, class Offset, int Columns>
struct unknown {
  using params = system_params<Scalar, Index, Offset>;

  std::int64_t wid;
  Index substitution_index;
  Scalar diagonal;
  Scalar b{};

  template <class Context>
  SPTRSV_DEVICE unknown(Context& ctx, const params& p, std::int64_t at)
      : wid(at),
        substitution_index(p.substitution_indices != nullptr ? ctx.load_constant(p.substitution_indices + at)
                                                             : static_cast<Index>(at)),
        diagonal(p.diagonal != nullptr ? ctx.load_constant(p.diagonal + at) : pivot_divisor<Scalar>::one()) {}

  /// Right-hand sides of the solve.
  SPTRSV_DEVICE static std::int64_t columns(const params& p) { return Columns == 1 ? 1 : p.x.columns; }
  SPTRSV_DEVICE static bool finishes(const params& p, std::int64_t first, int rank) {
    return rank < Columns && first + rank < columns(p);
  }
  SPTRSV_DEVICE std::int64_t row(const params& p) const {
    const auto from_start = static_cast<std::int64_t>(substitution_index);
    return p.reversed ? p.size - 1 - from_start : from_start;
  }
  template <class Context>
  SPTRSV_DEVICE void load_rhs(Context& ctx, const params& p, std::int64_t first, int rank) {
    if (finishes(p, first, rank)) {
      b = ctx.load(p.b.data + row(p) * p.b.row_stride + (first + rank) * p.b.column_stride);
    }
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, const params& p, std::int64_t rhs, Scalar x,
                           std::uint32_t half) const {
    ctx.store(p.x.data + row(p) * p.x.row_stride + rhs * p.x.column_stride, x);
    if (!is_finite(x)) {
      p.unknowns.state->record_nonfinite(ctx, half, static_cast<std::int64_t>(substitution_index));
    }
  }
};

}  // namespace sptrsv::detail::self_scheduled
