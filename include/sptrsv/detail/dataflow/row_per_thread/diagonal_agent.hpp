// The kernel of the row_per_thread path for a system whose rows do not need each other: a diagonal matrix.
// Nothing is handed on, so that no component is published and no block waits. A block draws its ticket beside
// its work, only to tell the solves of a workspace apart.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/base/stored_entry.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/agent.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::detail::dataflow::row_per_thread {

/// One thread for each row; blocks that have the same rows share the right-hand sides.
template <class Tuning, class Scalar, class Index, class Offset>
struct diagonal_agent {
  static constexpr int block_threads = Tuning::block_threads;
  using stored = stored_entry_t<Scalar, Tuning::entries>;
  using params = kernel_params<Scalar, Index, Offset, stored>;
  using shared_storage = block_ticket;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto rhs_blocks = static_cast<std::uint32_t>(p.rhs_blocks);
    const std::uint32_t block = ctx.block_rank();
    const std::int64_t substitution_index =
        std::int64_t{block / rhs_blocks} * block_threads + ctx.thread_rank();
    const bool present = substitution_index < p.size;
    const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
    const pivot_divisor<Scalar> pivot(
        p.diagonal == nullptr || !present
            ? pivot_divisor<Scalar>::one()
            : entry_cast<Scalar>(ctx.load_constant(p.diagonal + substitution_index)));
    bool finite = true;
    if (present) {
      for (std::int64_t column = block % rhs_blocks; column < p.x.columns; column += rhs_blocks) {
        const Scalar b = ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
        const Scalar x = pivot(p.alpha * b);
        ctx.store(p.x.data + row * p.x.row_stride + column * p.x.column_stride, x);
        finite = finite && is_finite(x);
      }
    }
    start_block(ctx, start, p.buffers.state);
    if (!finite) {
      p.buffers.record_nonfinite(ctx, start.half, substitution_index);
    }
  }
};

}  // namespace sptrsv::detail::dataflow::row_per_thread
