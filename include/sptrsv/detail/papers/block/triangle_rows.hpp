// SPDX-License-Identifier: Apache-2.0
// The rows of the triangles of a block algorithm, and the sums of the squares.
#pragma once

#include <cstdint>

#include "sptrsv/detail/papers/paper_system.hpp"

namespace sptrsv::detail::block {

/// Parameters of the system, and the sums of the squares.
template <class Scalar, class Index, class Offset>
struct block_params {
  paper_system<Scalar, Index, Offset> whole;  ///< offsets holds the rows of all parts
  /// By solve index; column-major, size x right-hand sides: what the squares have added for a row so far.
  /// Null: there are no squares.
  Scalar* sums;
};

/// The rows of a triangle, as the row-wise kernels see them. When a row's sum of the squares is read it is
/// set back to zero, so every solve starts with zeros.
template <class Scalar, class Index, class Offset>
struct triangle_rows {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;
  using row = typename paper_system<Scalar, Index, Offset>::row;

  const block_params<Scalar, Index, Offset>& p;
  std::int64_t offsets;  ///< index of row 0 in whole.offsets; may be negative
  bool has_sums;         ///< true if squares have added to the rows' sums
  const double_buffer<Scalar>& buffers = p.whole.buffers;
  const Index* columns = p.whole.indices;
  const Scalar* values = p.whole.values;
  const dense_view<Scalar>& x = p.whole.x;

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return p.whole.column(ctx, e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return p.whole.value(ctx, e);
  }

  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    return p.whole.open(ctx, solve_index, p.whole.offsets + offsets + solve_index);
  }

  /// Returns alpha b minus the sum of the squares, and sets the sum to zero. Call it once per row and
  /// right-hand side.
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    const Scalar b = p.whole.alpha * p.whole.load_b(ctx, r, column);
    if (!has_sums) {
      return b;
    }
    Scalar* const sum = p.sums + column * p.whole.size + r.solve_index;
    const Scalar known = ctx.load(sum);
    ctx.store(sum, Scalar{});
    return b - known;
  }

  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar remainder, Scalar sum) const {
    p.whole.publish(ctx, r, half, column, r.pivot(remainder - sum));
  }
};

}  // namespace sptrsv::detail::block
