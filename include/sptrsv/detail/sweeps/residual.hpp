// SPDX-License-Identifier: Apache-2.0
// The right-hand sides of sweeps: b minus the product with one strict triangle of A.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/host_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_builder.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/with_constant.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::sweeps {
SPTRSV_BEGIN_ANY_CONTEXT

/// Computes c = b - T x - factor D x, where T is a strict triangle. A thread, or the lanes of a tile, compute
/// a row; lanes add in a fixed order. Runs once per row of T.
template <class Scalar, class Index, class Offset>
struct compute_residual {
  std::int64_t size;
  bool reversed;              ///< rows and columns of T count from the last row of A
  const Offset* row_offsets;  ///< of T
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;  ///< by row of A
  Scalar factor;
  dense_view<const Scalar> b;
  dense_view<const Scalar> x;
  dense_view<Scalar> c;

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    for (std::int64_t k = 0; k < b.columns; ++k) {
      finish(ctx, r, k, product(ctx, r, k, 0, 1));
    }
  }
  template <class Context, class Tile>
  SPTRSV_DEVICE void operator()(Context& ctx, const Tile& tile, std::int64_t r) const {
    for (std::int64_t k = 0; k < b.columns; ++k) {
      const Scalar own = product(ctx, r, k, tile.rank(), Tile::lanes);
      const Scalar sum = simt::reduce(tile, own, Tile::lanes, simt::plus{});
      if (tile.rank() == 0) {
        finish(ctx, r, k, sum);
      }
    }
  }

 private:
  /// Returns the part of a row's product with x that one of `lanes` threads adds.
  template <class Context>
  SPTRSV_HOST_DEVICE Scalar product(Context& ctx, std::int64_t r, std::int64_t k, int lane, int lanes) const {
    Scalar sum{};
    const auto end = load_index(ctx, row_offsets + r + 1);
    for (auto e = load_index(ctx, row_offsets + r) + lane; e < end; e += lanes) {
      const auto column = load_index(ctx, columns + e);
      const Scalar* const element = x.data + row_of(column) * x.row_stride + k * x.column_stride;
      sum = sum + ctx.load_constant(values + e) * ctx.load(element);
    }
    return sum;
  }
  template <class Context>
  SPTRSV_HOST_DEVICE void finish(Context& ctx, std::int64_t r, std::int64_t k, Scalar sum) const {
    const std::int64_t row = row_of(r);
    const Scalar of_x = ctx.load(x.data + row * x.row_stride + k * x.column_stride);
    const Scalar of_b = ctx.load(b.data + row * b.row_stride + k * b.column_stride);
    const Scalar scaled = factor * (ctx.load_constant(diagonal + row) * of_x);
    ctx.store(c.data + row * c.row_stride + k * c.column_stride, of_b - sum - scaled);
  }
  SPTRSV_HOST_DEVICE std::int64_t row_of(std::int64_t r) const { return reversed ? size - 1 - r : r; }
};

/// A strict triangle by rows, with its values.
template <class Scalar, class Index, class Offset, class Executor>
class strict_triangle {
 public:
  /// Constructs a triangle that is not needed.
  strict_triangle() = default;
  /// Takes the pattern of one triangle of a valid matrix. Synchronises.
  strict_triangle(const pattern_view<Index, Offset>& a, uplo part, const Executor& on,
                  memory_resource& resource)
      : reversed_(part == uplo::upper) {
    const triangle_form form({part, diag::unit}, a.by_columns);
    if constexpr (simt::has_kernels<Executor>) {
      t_ = build_on_device(a, form, on, resource);
    } else {
      const auto t = build_on_host(a, form);
      t_.size = a.size;
      t_.row_offsets = upload(t.row_offsets, on, resource);
      t_.columns = upload(t.columns, on, resource);
      t_.sources = upload(t.sources, on, resource);
    }
    values_ = make_buffer<Scalar>(t_.entries(), on, resource);
  }

  /// Enqueues the copy of the values. `stored`: by stored entry.
  void update_values(const Scalar* stored, const Executor& on) {
    simt::for_each(on, static_cast<std::int64_t>(values_.size()),
                   array_kernels::take_in_order<Scalar, Offset>{stored, t_.sources.data(), values_.data()});
  }

  /// Enqueues c = b - T x - factor D x.
  void residual(const Scalar* diagonal, Scalar factor, dense_view<const Scalar> b, dense_view<const Scalar> x,
                dense_view<Scalar> c, const Executor& on) const {
    const compute_residual<Scalar, Index, Offset> body{
        t_.size, reversed_, t_.row_offsets.data(), t_.columns.data(), values_.data(), diagonal, factor, b,
        x,       c};
    if constexpr (simt::has_kernels<Executor>) {
      // Choose so many lanes that each has about four entries.
      const int wanted = t_.entries() <= 6 * t_.size ? 1 : t_.entries() <= 40 * t_.size ? 4 : 32;
      with_one_of<1, 4, 32>(
          wanted, [&](auto lanes) { simt::for_each_by_tile<decltype(lanes)::value>(on, t_.size, body); });
    } else {
      simt::for_each(on, t_.size, body);
    }
  }

  [[nodiscard]] std::size_t bytes() const { return t_.bytes() + values_.bytes(); }

 private:
  bool reversed_ = false;
  device_triangle<Index, Offset> t_;  ///< where the executor computes
  buffer<Scalar> values_;
};

/// c = b - c + factor D x, or c = factor D x if there is no b. Runs once per row.
template <class Scalar>
struct turn_around {
  const Scalar* diagonal;
  Scalar factor;
  bool has_b;
  dense_view<const Scalar> b;
  dense_view<const Scalar> x;
  dense_view<Scalar> c;

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Scalar scale = factor * ctx.load_constant(diagonal + row);
    for (std::int64_t k = 0; k < c.columns; ++k) {
      Scalar* const to = c.data + row * c.row_stride + k * c.column_stride;
      const Scalar scaled = scale * ctx.load(x.data + row * x.row_stride + k * x.column_stride);
      ctx.store(to, has_b
                        ? ctx.load(b.data + row * b.row_stride + k * b.column_stride) - ctx.load(to) + scaled
                        : scaled);
    }
  }
};

/// Divides the diagonal entries of a stored matrix's values. Runs once per row.
template <class Scalar, class Offset>
struct scale_diagonal {
  const Offset* sources;
  Scalar factor;
  const Scalar* from;
  Scalar* to;

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Offset source = ctx.load_constant(sources + row);
    ctx.store(to + source, factor * ctx.load_constant(from + source));
  }
};

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::sweeps
