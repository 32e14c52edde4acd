// SPDX-License-Identifier: Apache-2.0
// The kernels around cuSPARSE, one thread per element.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::detail::cusparse {

/// No substitution index is that large, and a memset by bytes writes it.
inline constexpr unsigned char all_finite_byte = 0x7f;
inline constexpr std::int64_t all_finite = 0x7f7f7f7f7f7f7f7f;

/// Converts a strictly lower triangle in the order of substitution to a CSR matrix with rows in natural
/// order, ascending columns and the diagonal. If substitution starts at the last row, the order of all
/// entries is reversed.
template <class Index, class Offset>
struct row_writer {
  std::int64_t size;
  std::int64_t entries;            ///< number of entries with the diagonal
  bool reversed;                   ///< true if substitution starts at the last row
  const Offset* row_offsets;       ///< by substitution index, size + 1
  const Index* columns;            ///< by entry of the triangle
  const Offset* entry_sources;     ///< by entry of the triangle
  const Offset* diagonal_sources;  ///< by substitution index; null if the diagonal is unit
  Offset* offsets;                 ///< output by row, size + 1
  Index* indices;                  ///< output by slot
  Offset* sources;                 ///< output by slot

  /// Returns the slot of entry `k` of the strict triangle, which has `diagonals` diagonal entries before it.
  SPTRSV_HOST_DEVICE std::int64_t slot(std::int64_t k, std::int64_t diagonals) const {
    const std::int64_t forwards = k + (diagonal_sources != nullptr ? diagonals : 0);
    return reversed ? entries - 1 - forwards : forwards;
  }
};

/// Writes the offset and the diagonal entry of each row. Runs once per row and once for the end.
template <class Index, class Offset>
struct write_rows {
  row_writer<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    // Rows before this row; if reversed, rows from it on.
    const std::int64_t begin = to.reversed ? to.size - row : row;
    const std::int64_t before = ctx.load_constant(to.row_offsets + begin);
    const std::int64_t forwards = to.slot(before, begin);
    ctx.store(to.offsets + row, static_cast<Offset>(to.reversed ? forwards + 1 : forwards));
    if (to.diagonal_sources != nullptr && row < to.size) {
      const std::int64_t substitution_index = to.reversed ? begin - 1 : row;
      const std::int64_t slot =
          to.slot(ctx.load_constant(to.row_offsets + substitution_index + 1), substitution_index);
      ctx.store(to.indices + slot, static_cast<Index>(row));
      ctx.store(to.sources + slot, ctx.load_constant(to.diagonal_sources + substitution_index));
    }
  }
};

/// Writes the entries of the strict triangle. Runs once per entry.
template <class Index, class Offset>
struct write_entries {
  row_writer<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t slot = to.slot(k, triangle_kernels::major_of(ctx, to.row_offsets, to.size, k));
    const Index column = ctx.load_constant(to.columns + k);
    ctx.store(to.indices + slot, to.reversed ? static_cast<Index>(to.size - 1 - column) : column);
    ctx.store(to.sources + slot, ctx.load_constant(to.entry_sources + k));
  }
};

/// Copies the conjugates of the values.
template <class Scalar>
struct write_conjugated {
  const Scalar* from;
  Scalar* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    ctx.store(to + k, conjugate(ctx.load_constant(from + k)));
  }
};

/// Copies a dense matrix, scaled by alpha if `scaled`. Runs once per element; `from` may be `to`.
template <class Scalar>
struct copy_dense {
  dense_view<const Scalar> from;
  dense_view<Scalar> to;
  bool scaled;
  Scalar alpha;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t row = k % from.rows;
    const std::int64_t column = k / from.rows;
    const Scalar v = ctx.load(from.data + row * from.row_stride + column * from.column_stride);
    ctx.store(to.data + row * to.row_stride + column * to.column_stride, scaled ? alpha * v : v);
  }
};

/// Finds the smallest substitution index at which x is not finite. Runs once per element of x.
template <class Scalar>
struct find_nonfinite {
  dense_view<const Scalar> x;
  bool reversed;
  std::int64_t* first_nonfinite;  ///< must be all_finite before

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t k) const {
    const std::int64_t row = k % x.rows;
    if (!is_finite(ctx.load(x.data + row * x.row_stride + k / x.rows * x.column_stride))) {
      ctx.atomic_min(first_nonfinite, reversed ? x.rows - 1 - row : row);
    }
  }
};

}  // namespace sptrsv::detail::cusparse
