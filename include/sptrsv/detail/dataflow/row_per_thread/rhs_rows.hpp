// SPDX-License-Identifier: Apache-2.0
// Copies of right-hand sides by rows, and of solutions back.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::dataflow::row_per_thread {

/// Copies a dense matrix. Neighbouring threads have neighbouring columns of a row, and a warp has rows enough
/// to fill the memory sectors of a matrix that is stored by columns, too.
template <class Scalar>
struct copy_rows {
  static constexpr int max_column_bits = 3;
  dense_view<const Scalar> from;
  dense_view<Scalar> to;
  int column_bits;  ///< 2 to this power threads have the same row

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t thread) const {
    const std::int64_t row = thread >> column_bits;
    for (std::int64_t column = thread & ((1 << column_bits) - 1); column < from.columns;
         column += 1 << column_bits) {
      ctx.store(to.data + row * to.row_stride + column * to.column_stride,
                ctx.load(from.data + row * from.row_stride + column * from.column_stride));
    }
  }
};

/// Copies a dense matrix with rows.
template <class Scalar, class Executor>
void copy_by_rows(const dense_view<const Scalar>& from, const dense_view<Scalar>& to, const Executor& on) {
  int bits = 0;
  while (bits < copy_rows<Scalar>::max_column_bits && std::int64_t{1} << bits < from.columns) {
    ++bits;
  }
  simt::for_each(on, from.rows << bits, copy_rows<Scalar>{from, to, bits});
}

}  // namespace sptrsv::detail::dataflow::row_per_thread
