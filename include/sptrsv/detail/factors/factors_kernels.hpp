// SPDX-License-Identifier: Apache-2.0
// Loops over rows that run on a device as kernels and on the host as loops, from one source; and what happens
// to vectors before, between and after the two solves: permutations, scalings, and the division by a
// diagonal.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::factors {
SPTRSV_BEGIN_ANY_CONTEXT

/// Row k: to(k) = scale from(order[k]) if `gathers`, else to(order[k]) = scale from(k).
template <class Scalar, class Index>
struct move_rows {
  const Index* order;   ///< null: the identity
  const Scalar* scale;  ///< by row of the vector that is not permuted; null: ones
  bool conjugated;      ///< whether the scaling is conjugated
  bool gathers;
  dense_view<const Scalar> from;
  dense_view<Scalar> to;

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t mapped = order == nullptr ? k : load_index(ctx, order + k);
    Scalar factor = pivot_divisor<Scalar>::one();
    if (scale != nullptr) {
      factor = ctx.load_constant(scale + mapped);
      factor = conjugated ? conjugate(factor) : factor;
    }
    const Scalar* const source = from.data + (gathers ? mapped : k) * from.row_stride;
    Scalar* const target = to.data + (gathers ? k : mapped) * to.row_stride;
    for (std::int64_t column = 0; column < to.columns; ++column) {
      const Scalar value = ctx.load(source + column * from.column_stride);
      ctx.store(target + column * to.column_stride, scale == nullptr ? value : factor * value);
    }
  }
};

/// Divides row k by entry k of a diagonal.
template <class Scalar>
struct divide_rows {
  const Scalar* diagonal;
  bool conjugated;
  dense_view<Scalar> x;

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

/// Marks the rows that a permutation names, and finds the first entry that names none, and the first row that
/// is named twice. Runs once per entry.
template <class Index>
struct mark_rows {
  const Index* order;
  std::int64_t rows;
  Index* named;               ///< by row: an entry that names it; starts at -1
  std::int64_t* first_wrong;  ///< the first entry that is out of range
  std::int64_t* first_duplicate;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const auto row = load_index(ctx, order + k);
    if (row < 0 || row >= rows) {
      ctx.atomic_min(first_wrong, k);
    } else if (ctx.atomic_exchange(named + row, static_cast<Index>(k)) >= 0) {
      ctx.atomic_min(first_duplicate, row);
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
    if (load_index(ctx, a.indices + e) == major &&
        ctx.atomic_exchange(sources + major, a.value_index(ctx, major, e)) >= 0) {
      ctx.atomic_min(first_duplicate, major);
    }
  }
};

/// Finds the first row without a diagonal entry, or that a permutation does not name.
template <class Offset>
struct find_missing {
  const Offset* sources;  ///< by row; -1: there is none
  std::int64_t* first_missing;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    if (ctx.load_constant(sources + row) < 0) {
      ctx.atomic_min(first_missing, row);
    }
  }
};

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::factors
