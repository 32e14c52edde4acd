// SPDX-License-Identifier: Apache-2.0
// The triangular system as the kernels of the published methods see it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/sync/double_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Parameters of a solve. Entries are stored by rows or by columns. `Buffers` holds what rows hand on to each
/// other. Kernels that poll values row by row use the member functions from `row` on.
template <class Scalar, class Index, class Offset, class Buffers = double_buffer<Scalar>>
struct paper_system {
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;

  std::int64_t size;       ///< number of rows
  bool reversed;           ///< true if substitution begins with the last row
  const Offset* offsets;   ///< first entry of each row (column), by solve index; size + 1
  const Index* indices;    ///< by stored entry: the solve index of its column (row)
  const Scalar* values;    ///< by stored entry
  const Scalar* diagonal;  ///< by solve index; null if the diagonal is unit
  /// By solve index; null if rows are solved in the order of substitution.
  const Index* substitution_indices;
  Buffers buffers;  ///< by solve index
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;

  template <class Context>
  SPTRSV_DEVICE Scalar pivot(Context& ctx, std::int64_t solve_index) const {
    return diagonal != nullptr ? ctx.load_constant(diagonal + solve_index) : pivot_divisor<Scalar>::one();
  }
  /// Maps a substitution index to the index of the row in b and x, and back.
  SPTRSV_DEVICE std::int64_t mirrored(std::int64_t at) const { return reversed ? size - 1 - at : at; }

  /// The data of a row that do not depend on x.
  struct row {
    std::int64_t solve_index;
    std::int64_t substitution_index;
    std::int64_t number;  ///< row index in b and x
    Offset begin;         ///< first entry
    Offset end;           ///< one past the last entry
    pivot_divisor<Scalar> pivot;
  };

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return ctx.load_constant(indices + e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return ctx.load_constant(values + e);
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    return open(ctx, solve_index, offsets + solve_index);
  }
  /// Loads the data of a row. `bounds`: where it begins, and behind it where it ends.
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index, const Offset* bounds) const {
    const pivot_divisor<Scalar> divisor(pivot(ctx, solve_index));
    const Offset begin = ctx.load_constant(bounds);
    const Offset end = ctx.load_constant(bounds + 1);
    const std::int64_t substitution_index =
        substitution_indices != nullptr ? load_index(ctx, substitution_indices + solve_index) : solve_index;
    return {solve_index, substitution_index, mirrored(substitution_index), begin, end, divisor};
  }

  /// `Row`: has the members solve_index and number, as `row`.
  template <class Context, class Row>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const Row& r, std::int64_t column) const {
    return ctx.load(b.data + static_cast<std::int64_t>(r.number) * b.row_stride + column * b.column_stride);
  }

  /// Divides alpha b - sum by the pivot and publishes the result. `sum` is the sum of the row's products.
  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar b_value, Scalar sum) const {
    publish(ctx, r, r.substitution_index, half, column, r.pivot(alpha * b_value - sum));
  }

  /// `Row`: as for load_b.
  template <class Context, class Row>
  SPTRSV_DEVICE void publish(Context& ctx, const Row& r, std::int64_t substitution_index, std::uint32_t half,
                             std::int64_t column, Scalar solved) const {
    Buffers::flag::publish(ctx, buffers.component(half, column, static_cast<std::int64_t>(r.solve_index)),
                           solved);
    store_x(ctx, static_cast<std::int64_t>(r.number), substitution_index, half, column, solved);
  }

  /// Stores a component of the user's x, in the row `number`, and records it if it is not finite.
  template <class Context>
  SPTRSV_DEVICE void store_x(Context& ctx, std::int64_t number, std::int64_t substitution_index,
                             std::uint32_t half, std::int64_t column, Scalar solved) const {
    ctx.store(x.data + number * x.row_stride + column * x.column_stride, solved);
    if (!is_finite(solved)) {
      buffers.state->record_nonfinite(ctx, half % 2, substitution_index);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
