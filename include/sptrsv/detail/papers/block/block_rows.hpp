// SPDX-License-Identifier: Apache-2.0
// The rows of the triangles of a block algorithm, as row-wise kernels see them, the sums of the squares, and
// the sums of products of rows whose components of x are all known.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::block {

/// The rows of a triangle for row-wise kernels. A sum of the squares that is read is set back to zero.
template <class Scalar, class Index, class Offset>
struct triangle_rows {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;
  using row = typename paper_system<Scalar, Index, Offset>::row;

  const paper_system<Scalar, Index, Offset>& p;  ///< offsets holds the rows of all parts
  /// By solve index; column-major, size x right-hand sides: what the squares have added for a row so far.
  Scalar* sums;
  std::int64_t offsets;  ///< index of row 0 in p.offsets; may be negative
  bool has_sums;         ///< true if squares have added to the rows' sums
  const double_buffer<Scalar>& buffers = p.buffers;
  const dense_view<Scalar>& x = p.x;

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return p.column(ctx, e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return p.value(ctx, e);
  }

  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    return p.open(ctx, solve_index, p.offsets + offsets + solve_index);
  }

  /// Returns alpha b minus the sum of the squares, and clears it. Call it once per row and right-hand side.
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    const Scalar b = p.alpha * p.load_b(ctx, r, column);
    if (!has_sums) {
      return b;
    }
    Scalar* const sum = sums + column * p.size + r.solve_index;
    const Scalar known = ctx.load(sum);
    ctx.store(sum, Scalar{});
    return b - known;
  }

  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar remainder, Scalar sum) const {
    p.publish(ctx, r, r.substitution_index, half, column, r.pivot(remainder - sum));
  }
};

/// Sums the products of a row for `Columns` right-hand sides; a lane loads `Entries` entries together.
/// Components are loaded and not polled: a fence must order the thread after the threads that solved them.
template <int Entries, int Columns, class Scalar, class Index, class Offset>
struct gathered_row {
  using flag = value_flag<Scalar>;

  const paper_system<Scalar, Index, Offset>& p;
  std::uint32_t half;
  std::int64_t first_rhs;

  /// Adds a_e x_e to sums[k], in order, for e = begin + rank, begin + rank + lanes, ... below `end`.
  template <class Context>
  SPTRSV_DEVICE void add(Context& ctx, Offset begin, Offset end, int rank, int lanes,
                         array_of<Scalar, Columns>& sums) const {
    const auto stride = static_cast<Offset>(lanes);
    for (Offset e = begin + static_cast<Offset>(rank); e < end; e += stride * Entries) {
      array_of<std::int64_t, Entries> column;
      array_of<Scalar, Entries> value;
      SPTRSV_UNROLL
      for (int i = 0; i < Entries; ++i) {
        const Offset at = e + stride * static_cast<Offset>(i);
        column[i] = at < end ? static_cast<std::int64_t>(p.column(ctx, at)) : -1;
        value[i] = at < end ? p.value(ctx, at) : Scalar{};
      }
      array_of<Scalar, Entries, Columns> x;
      SPTRSV_UNROLL
      for (int i = 0; i < Entries; ++i) {
        SPTRSV_UNROLL
        for (int k = 0; k < Columns; ++k) {
          const bool is_used = column[i] >= 0 && first_rhs + k < p.x.columns;
          x[i][k] = is_used ? flag::read(ctx, p.buffers.component(half, first_rhs + k, column[i])).value()
                            : Scalar{};
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < Entries; ++i) {
        SPTRSV_UNROLL
        for (int k = 0; k < Columns; ++k) {
          sums[k] = sums[k] + value[i] * x[i][k];
        }
      }
    }
  }

  /// Computes the sums of a row [begin, end) with each aligned group of `lanes` lanes. Each group of the warp
  /// has a row of its own, and all lanes of the warp call it. All lanes of a group receive the sums. If
  /// `lanes` is 1, the whole warp takes the rows that are longer than `shared_row`.
  template <class Context, class Warp>
  SPTRSV_DEVICE void sum(Context& ctx, const Warp& warp, Offset begin, Offset end, int lanes,
                         Offset shared_row, array_of<Scalar, Columns>& sums) const {
    if (lanes > 1) {
      add(ctx, begin, end, warp.rank() % lanes, lanes, sums);
      for (int k = 0; k < Columns; ++k) {
        sums[k] = simt::reduce(warp, sums[k], lanes, simt::plus{});
      }
      return;
    }
    const bool is_shared = end - begin > shared_row;
    add(ctx, begin, is_shared ? begin : end, 0, 1, sums);
    for (std::uint32_t rows = warp.ballot(is_shared); rows != 0; rows &= rows - 1) {
      const int r = simt::lowest_bit(rows);
      array_of<Scalar, Columns> parts = {};
      add(ctx, warp.shuffle(begin, r), warp.shuffle(end, r), warp.rank(), 32, parts);
      for (int k = 0; k < Columns; ++k) {
        const Scalar total = simt::reduce(warp, parts[k], 32, simt::plus{});
        sums[k] = warp.rank() == r ? total : sums[k];
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::block
