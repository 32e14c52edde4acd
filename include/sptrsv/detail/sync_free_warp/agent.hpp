// The kernel of sync_free_warp: a warp solves a row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/value_flag.hpp"

namespace sptrsv::detail::sync_free_warp {

/// What the solves on one workspace hand on to each other. `solved` has two buffers: a solve finds the one
/// named by `parity` pending, solves in it, and resets the other one, which the solve before it left full; so
/// no solve needs a kernel or a memset beside its own, and the next finds its buffer ready. The last block
/// turns the page.
struct solve_state {
  std::uint32_t tickets;
  std::uint32_t finished_blocks;
  std::uint32_t parity;
  std::uint32_t unused;
  std::int64_t dirty_columns;  ///< right-hand sides of the solve before: what the other buffer holds
  std::int64_t first_bad[2];   ///< by parity: the first position whose x is not finite
};
inline constexpr std::int64_t none_bad = INT64_MAX;

template <class Scalar, class Index, class Offset>
struct system_params {
  using word = typename value_flag<Scalar>::word;

  std::int64_t size;
  bool reversed;
  const Offset* row_offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;  ///< null if it is unit
  word* solved[2];         ///< column-major, `size` components a right-hand side, by position
  solve_state* state;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// `Columns` right-hand sides are solved in one sweep over the row, further ones in further sweeps.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int rows_per_block = block_threads / 32;
  using params = system_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  struct shared_storage {
    std::uint32_t ticket;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::uint32_t parity = ctx.load_relaxed(&p.state->parity);
    const std::int64_t dirty_columns = ctx.load_relaxed(&p.state->dirty_columns);
    const std::uint32_t ticket = simt::take_ticket(ctx, shared.ticket, &p.state->tickets);
    const std::int64_t position = static_cast<std::int64_t>(ticket) * rows_per_block + warp.index();
    if (position < p.size) {
      solve_row(ctx, warp, p, position, parity);
      reset_row(ctx, warp, p, position, parity ^ 1u, dirty_columns);
    }
    ctx.barrier();
    if (ctx.thread_rank() == 0 && ctx.atomic_add(&p.state->finished_blocks, 1u) == ctx.grid_blocks() - 1) {
      turn_page(ctx, p, parity);
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_row(Context& ctx, const Warp& warp, const params& p, std::int64_t position,
                                      std::uint32_t parity) {
    const Offset begin = ctx.load_constant(p.row_offsets + position);
    const Offset end = ctx.load_constant(p.row_offsets + position + 1);
    const pivot_divisor<Scalar> pivot(p.diagonal != nullptr ? ctx.load_constant(p.diagonal + position)
                                                            : pivot_divisor<Scalar>::one());
    const int active_lanes = end - begin >= 32 ? 32 : simt::ceil_power_of_two(static_cast<int>(end - begin));
    const std::int64_t row = p.reversed ? p.size - 1 - position : position;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k finishes right-hand side first + k; its b is on the way while the row waits.
      const std::int64_t mine = first + warp.rank();
      const bool finishes = warp.rank() < Columns && mine < p.x.columns;
      const Scalar b =
          finishes ? ctx.load(p.b.data + row * p.b.row_stride + mine * p.b.column_stride) : Scalar{};
      Scalar sums[Columns] = {};
      for (Offset e = begin + static_cast<Offset>(warp.rank()); e < end; e += 32) {
        add_entry(ctx, p, p.solved[parity], e, first, sums);
      }
      Scalar sum{};
      for (int k = 0; k < Columns; ++k) {
        const Scalar total = simt::tile_sum(warp, sums[k], Columns > 1 ? 32 : active_lanes);
        sum = warp.rank() == k ? total : sum;
      }
      if (finishes) {
        const Scalar solved = pivot(p.alpha * b - sum);
        flag::publish(ctx, p.solved[parity] + (mine * p.size + position) * flag::words, solved);
        ctx.store(p.x.data + row * p.x.row_stride + mine * p.x.column_stride, solved);
        if (!is_finite(solved)) {
          ctx.atomic_min(&p.state->first_bad[parity], position);
        }
      }
    }
  }

  /// sums[k] += a_e x_k for the entry e; all right-hand sides are looked at before any is waited for.
  template <class Context>
  SPTRSV_DEVICE static void add_entry(Context& ctx, const params& p, const word* solved, Offset e,
                                      std::int64_t first, Scalar (&sums)[Columns]) {
    const std::int64_t column = ctx.load_constant(p.columns + e);
    const Scalar value = ctx.load_constant(p.values + e);
    const word* components[Columns];
    typename flag::reading seen[Columns];
    for (int k = 0; k < Columns; ++k) {
      const std::int64_t rhs =
          first + k < p.x.columns ? first + k : first;  // past the end: any that will come
      components[k] = solved + (rhs * p.size + column) * flag::words;
      seen[k] = flag::look(ctx, components[k]);
    }
    for (int k = 0; k < Columns; ++k) {
      sums[k] = sums[k] + value * flag::wait(ctx, components[k], seen[k]);
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void reset_row(Context& ctx, const Warp& warp, const params& p, std::int64_t position,
                                      std::uint32_t parity, std::int64_t dirty_columns) {
    for (std::int64_t k = warp.rank(); k < dirty_columns; k += 32) {
      flag::reset(ctx, p.solved[parity] + (k * p.size + position) * flag::words);
    }
  }

  /// By one thread, when every block has taken its ticket and read the parity.
  template <class Context>
  SPTRSV_DEVICE static void turn_page(Context& ctx, const params& p, std::uint32_t parity) {
    ctx.store_relaxed(&p.state->tickets, 0u);
    ctx.store_relaxed(&p.state->finished_blocks, 0u);
    ctx.store_relaxed(&p.state->parity, parity ^ 1u);
    ctx.store_relaxed(&p.state->dirty_columns, p.x.columns);
    ctx.store_relaxed(&p.state->first_bad[parity ^ 1u], none_bad);
  }
};

}  // namespace sptrsv::detail::sync_free_warp
