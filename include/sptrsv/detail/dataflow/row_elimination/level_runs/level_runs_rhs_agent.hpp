// SPDX-License-Identifier: Apache-2.0
// The kernel that computes the right-hand sides of a system that was rewritten by levels (rows.hpp).
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_rows.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs {

/// Computes c_i = alpha (b_i - sum_j w_ij b_j), by substitution index. Groups of `lanes` lanes of a warp take
/// one row and right-hand side each.
template <class Scalar, class Index, class Offset>
struct rewritten_rhs_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    int lanes;  ///< a power of two, at most 32
    bool reversed;
    const Offset* row_offsets;  ///< of w
    const Index* columns;
    const Scalar* values;
    Scalar alpha;
    dense_view<const Scalar> b;
    Scalar* c;  ///< size x columns, column-major
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t thread =
        static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    const std::int64_t task = thread / p.lanes;
    const auto lane = static_cast<int>(thread % p.lanes);
    const std::int64_t row = task % p.size;
    const std::int64_t column = task / p.size;
    const bool present = column < p.b.columns;
    Scalar products{};
    if (present) {
      const Offset end = ctx.load_constant(p.row_offsets + row + 1);
      for (Offset e = ctx.load_constant(p.row_offsets + row) + static_cast<Offset>(lane); e < end;
           e += static_cast<Offset>(p.lanes)) {
        const auto needs = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
        products = products + ctx.load_constant(p.values + e) * rhs(ctx, p, needs, column);
      }
    }
    products = simt::reduce(warp, products, p.lanes, simt::plus{});
    if (present && lane == 0) {
      ctx.store(p.c + column * p.size + row, p.alpha * (rhs(ctx, p, row, column) - products));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static Scalar rhs(Context& ctx, const params& p, std::int64_t substitution_index,
                                  std::int64_t column) {
    const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
    return ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
  }
};

/// Copies the only column of b.
template <class Scalar>
struct copy_rhs {
  dense_view<const Scalar> b;
  Scalar* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(to + row, ctx.load(b.data + row * b.row_stride));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs
