// SPDX-License-Identifier: Apache-2.0
// The product of a matrix in CSR with a vector.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/krylov/block.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI::detail::krylov {
SPTRSV_BEGIN_ANY_CONTEXT

/// Computes y = A x, and with `left` publishes left^H y. A group of lanes has a row; the lanes add in a fixed
/// order.
template <class Scalar, class Index, class Offset>
struct csr_product_agent {
  static constexpr int block_threads = 256;
  using wide = wide_t<Scalar>;
  using shared_storage = block_storage<wide>;
  struct params {
    std::int64_t rows;
    const Offset* row_offsets;
    const Index* columns;
    const Scalar* values;
    const Scalar* x;
    Scalar* y;
    int lanes;           ///< of a row; a power of two, at most 32
    const Scalar* left;  ///< null: none, and `data` is not used
    method_data<wide> data;
  };

  template <class Context>
  static SPTRSV_HOST_DEVICE void run(Context& ctx, shared_storage& shared, const params& p) {
    block_thread<Context, wide> thread(ctx, shared, p.data, p.rows);
    if (p.left != nullptr && thread.has_stopped()) {
      return;
    }
    const auto warp = ctx.template group<32>();
    const int lanes = warp.lanes < p.lanes ? warp.lanes : p.lanes;
    const int lane = warp.rank() & (lanes - 1);
    wide product[1]{};
    for (std::int64_t group = thread.begin; group < thread.end; group += thread.stride / lanes) {
      const std::int64_t row = group + ctx.thread_rank() / lanes;
      Scalar sum{};
      if (row < thread.end) {
        const auto last = static_cast<std::int64_t>(ctx.load_constant(p.row_offsets + row + 1));
        auto e = static_cast<std::int64_t>(ctx.load_constant(p.row_offsets + row)) + lane;
        for (; e < last; e += lanes) {
          const auto column = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
          sum = sum + ctx.load_constant(p.values + e) * ctx.load_constant(p.x + column);
        }
      }
      sum = sum_of_lanes(warp, sum, lanes);
      if (row < thread.end && lane == 0) {
        ctx.store(p.y + row, sum);
        if (p.left != nullptr) {
          product[0] = product[0] + inner(ctx.load_constant(p.left + row), sum);
        }
      }
    }
    if (p.left != nullptr) {
      thread.publish(0, product, 1);
    }
  }
};

/// Enqueues y = A x, and with `left` the sum left^H y as slot 0. Returns the parts of the sum. A has rows.
template <class Value, class Index, class Offset, class Executor>
std::int64_t csr_product(const csr_view<Value, Index, Offset>& a, const scalar_t<Value>* x,
                         scalar_t<Value>* y, const scalar_t<Value>* left,
                         const method_data<wide_t<scalar_t<Value>>>& data, const Executor& on) {
  using agent = csr_product_agent<scalar_t<Value>, Index, Offset>;
  int lanes = 1;  // so many that each has at most two entries of a row of average length
  while (lanes < 32 && 2 * lanes * a.rows < a.entries) {
    lanes *= 2;
  }
  const std::int64_t blocks = std::min(a.rows * lanes / agent::block_threads + 1, max_parts);
  launch<agent>(on, blocks,
                {a.rows, a.row_offsets, a.column_indices, as_scalar(a.values), x, y, lanes, left, data});
  return blocks;
}

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
