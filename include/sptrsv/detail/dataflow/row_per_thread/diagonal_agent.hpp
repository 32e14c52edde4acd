// SPDX-License-Identifier: Apache-2.0
// The kernels of the row_per_thread path for a system whose rows do not need each other: a diagonal matrix.
// Nothing is handed on, so that no component is published and no block waits. A block draws its ticket beside
// its work, only to tell the solves of a workspace apart.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

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

/// The same for large systems: `rows_at_once` rows for each thread, because the tickets of many blocks take
/// longer than their work. The first block also draws the tickets of the blocks that other kernels would
/// have, so that every solve of a workspace draws the same number.
template <class Tuning, class Scalar, class Index, class Offset>
struct large_diagonal_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int rows_at_once = 4;
  static constexpr int block_rows = block_threads * rows_at_once;
  using stored = stored_entry_t<Scalar, Tuning::entries>;
  using params = kernel_params<Scalar, Index, Offset, stored>;
  using shared_storage = block_ticket;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const std::uint32_t block = ctx.block_rank();
    unsigned long long ticket = 0;
    if (ctx.thread_rank() == 0) {  // the answer is awaited when all loads are under way
      const std::uint32_t tickets = block == 0 ? p.share.solve_blocks - ctx.grid_blocks() + 1 : 1;
      ticket = ctx.atomic_add(&p.buffers.state->tickets, static_cast<unsigned long long>(tickets));
    }
    const auto rhs_blocks = static_cast<std::uint32_t>(p.rhs_blocks);
    const std::int64_t first = std::int64_t{block / rhs_blocks} * block_rows + ctx.thread_rank();
    Scalar pivots[rows_at_once];
    SPTRSV_UNROLL
    for (int i = 0; i < rows_at_once; ++i) {
      pivots[i] = p.diagonal == nullptr || !is_present(p, first, i)
                      ? pivot_divisor<Scalar>::one()
                      : entry_cast<Scalar>(ctx.load_constant(p.diagonal + index_of(first, i)));
    }
    std::int64_t nonfinite = all_finite;
    for (std::int64_t column = block % rhs_blocks; column < p.x.columns; column += rhs_blocks) {
      Scalar b[rows_at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < rows_at_once; ++i) {
        b[i] = is_present(p, first, i)
                   ? ctx.load(p.b.data + row(p, first, i) * p.b.row_stride + column * p.b.column_stride)
                   : Scalar{};
      }
      SPTRSV_UNROLL
      for (int i = 0; i < rows_at_once; ++i) {
        const Scalar x = pivot_divisor<Scalar>(pivots[i])(p.alpha * b[i]);
        if (is_present(p, first, i)) {
          ctx.store(p.x.data + row(p, first, i) * p.x.row_stride + column * p.x.column_stride, x);
          nonfinite = is_finite(x) || nonfinite < index_of(first, i) ? nonfinite : index_of(first, i);
        }
      }
    }
    if (ctx.thread_rank() == 0) {
      take_block(ctx, start, p.buffers.state, read_solve_ticket(ticket, p.share.solve_blocks));
    }
    ctx.barrier();
    if (nonfinite != all_finite) {
      p.buffers.record_nonfinite(ctx, start.half, nonfinite);
    }
  }

 private:
  /// Returns the substitution index of row `i` of a thread.
  SPTRSV_DEVICE static std::int64_t index_of(std::int64_t first, int i) {
    return first + std::int64_t{block_threads} * i;
  }
  SPTRSV_DEVICE static bool is_present(const params& p, std::int64_t first, int i) {
    return index_of(first, i) < p.size;
  }
  SPTRSV_DEVICE static std::int64_t row(const params& p, std::int64_t first, int i) {
    return p.reversed ? p.size - 1 - index_of(first, i) : index_of(first, i);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
