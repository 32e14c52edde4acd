// SPDX-License-Identifier: Apache-2.0
// What happens to vectors before, between and after the two solves: permutations, scalings, and the division
// by a diagonal. One thread moves one row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/factors/factors_for_each.hpp"

namespace sptrsv::detail::factors {

/// A permutation and a scaling. Row k of the permuted vector belongs to row order[k] of the other one.
template <class Scalar, class Index>
struct row_map {
  const Index* order;   ///< null: the identity
  const Scalar* scale;  ///< by row of the other vector; null: ones
  bool conjugated;      ///< whether the scaling is conjugated
};

/// Row k: to(k) = scale from(order[k]) if `gathers`, else to(order[k]) = scale from(k).
template <class Scalar, class Index>
struct move_rows {
  row_map<Scalar, Index> map;
  bool gathers;
  dense_view<const Scalar> from;
  dense_view<Scalar> to;

  SPTRSV_ANY_CONTEXT
  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t mapped =
        map.order == nullptr ? k : static_cast<std::int64_t>(ctx.load_constant(map.order + k));
    Scalar scale = pivot_divisor<Scalar>::one();
    if (map.scale != nullptr) {
      scale = ctx.load_constant(map.scale + mapped);
      scale = map.conjugated ? conjugate(scale) : scale;
    }
    const Scalar* const source = from.data + (gathers ? mapped : k) * from.row_stride;
    Scalar* const target = to.data + (gathers ? k : mapped) * to.row_stride;
    for (std::int64_t column = 0; column < to.columns; ++column) {
      const Scalar value = ctx.load(source + column * from.column_stride);
      ctx.store(target + column * to.column_stride, map.scale == nullptr ? value : scale * value);
    }
  }
};

/// Divides row k by entry k of a diagonal.
template <class Scalar>
struct divide_rows {
  const Scalar* diagonal;
  bool conjugated;
  dense_view<Scalar> x;

  SPTRSV_ANY_CONTEXT
  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const Scalar stored = ctx.load_constant(diagonal + k);
    const Scalar pivot = conjugated ? conjugate(stored) : stored;
    Scalar* const row = x.data + k * x.row_stride;
    for (std::int64_t column = 0; column < x.columns; ++column) {
      Scalar* const value = row + column * x.column_stride;
      ctx.store(value, divide(ctx.load(value), pivot));
    }
  }
};

/// Gathers values of the stored matrix: of its diagonal, or of a triangle. Runs once per value.
template <class Scalar, class Offset>
struct gather_values {
  const Scalar* stored;
  const Offset* sources;
  Scalar* to;

  SPTRSV_ANY_CONTEXT
  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    ctx.store(to + k, ctx.load_constant(stored + ctx.load_constant(sources + k)));
  }
};

/// Counts how often a permutation names each row, or finds the first entry that names none. Runs once per
/// entry.
template <class Index>
struct count_rows {
  const Index* order;
  std::int64_t rows;
  std::uint32_t* counts;      ///< by row; starts at 0
  std::int64_t* first_wrong;  ///< the first entry that is out of range

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const auto row = static_cast<std::int64_t>(ctx.load_constant(order + k));
    if (row < 0 || row >= rows) {
      ctx.atomic_min(first_wrong, k);
    } else {
      ctx.atomic_add(counts + row, 1u);
    }
  }
};

/// Finds the first row that is not counted once.
struct find_uncounted {
  const std::uint32_t* counts;
  std::int64_t* first_uncounted;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (ctx.load_constant(counts + row) != 1) {
      ctx.atomic_min(first_uncounted, row);
    }
  }
};

/// Writes where the stored matrix holds its diagonal, and finds the first row whose diagonal entry is stored
/// twice. Runs once per stored entry.
template <class Index, class Offset>
struct find_diagonal {
  pattern_view<Index, Offset> a;
  Offset* sources;  ///< by row; starts at -1
  std::int64_t* first_duplicate;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t major = triangle_kernels::major_of(ctx, a.offsets, a.size, e);
    if (static_cast<std::int64_t>(ctx.load_constant(a.indices + e)) == major &&
        ctx.atomic_exchange(sources + major, static_cast<Offset>(e)) >= 0) {
      ctx.atomic_min(first_duplicate, major);
    }
  }
};

/// Finds the first row without a diagonal entry.
template <class Offset>
struct find_missing {
  const Offset* sources;
  std::int64_t* first_missing;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (ctx.load_constant(sources + row) < 0) {
      ctx.atomic_min(first_missing, row);
    }
  }
};

}  // namespace sptrsv::detail::factors
