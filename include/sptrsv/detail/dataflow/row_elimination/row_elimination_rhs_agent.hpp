// SPDX-License-Identifier: Apache-2.0
// The kernel that computes the right-hand sides of the rewritten system (rows.hpp).
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rows.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// Computes c_k = alpha b_k - sum_j (l_kj / d_j) c_j over the eliminated entries, by substitution index. One
/// warp for each row block and right-hand side.
template <class Scalar, class Offset>
struct eliminated_rhs_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    std::int64_t row_blocks;
    bool reversed;
    const std::uint32_t* eliminated;
    const Offset* factor_offsets;
    const Scalar* factors;
    Scalar alpha;
    dense_view<const Scalar> b;
    Scalar* c;  ///< size x columns, column-major
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t task =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    const std::int64_t row_block = task % p.row_blocks;
    const std::int64_t column = task / p.row_blocks;
    if (column >= p.b.columns) {
      return;
    }
    const std::int64_t substitution_index = row_block * row_block_rows + warp.rank();
    const bool present = substitution_index < p.size;
    const std::uint32_t needs = present ? ctx.load_constant(p.eliminated + substitution_index) : 0u;
    Scalar c{};
    if (present) {
      const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
      c = p.alpha * ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
    }
    const int count = simt::bit_count(needs);
    Offset next = ctx.load_constant(p.factor_offsets + row_block) +
                  static_cast<Offset>(simt::exclusive_sum(warp, count));
    std::uint32_t needed = simt::reduce(warp, needs, 32, simt::bit_or{});
    for (; needed != 0; needed &= needed - 1) {
      const int k = simt::lowest_bit(needed);
      const Scalar other = warp.shuffle(c, k);
      if ((needs >> k & 1u) != 0) {
        c = c - ctx.load_constant(p.factors + next) * other;
        ++next;
      }
    }
    if (present) {
      ctx.store(p.c + column * p.size + substitution_index, c);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
