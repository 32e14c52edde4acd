// The kernel of sync_free_warp: a warp solves a row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/value_flag.hpp"

namespace sptrsv::detail::sync_free_warp {

/// What the solves on one workspace hand on to each other.
///
/// Tickets are drawn by blocks and never reset: solve number s of a workspace draws s * blocks ... (s + 1) *
/// blocks - 1, so a ticket tells the solve's number and the block's work. `solved` has two buffers: solve s
/// finds buffer s mod 2 pending, solves in it, and resets the other one, which the solve before it filled. So
/// no solve needs a kernel, a memset or a barrier beside its own work, and a captured solve can be replayed.
struct solve_state {
  alignas(128) unsigned long long tickets;    ///< every block writes it: a cache line of its own
  alignas(128) std::int64_t used_columns[2];  ///< by parity of the solve: its right-hand sides
  std::int64_t first_bad[2];                  ///< likewise: the first position whose x is not finite
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
  const Scalar* diagonal;          ///< null if it is unit
  const Index* position_of_place;  ///< null where rows are solved in the order of substitution
  word* solved[2];                 ///< column-major, `size` components a right-hand side, by place
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

  static constexpr int entries_at_once = Tuning::entries_at_once;

  struct shared_storage {
    std::int64_t first_place;
    std::int64_t columns_to_reset;
    std::uint32_t parity;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    if (ctx.thread_rank() == 0) {
      begin_block(ctx, shared, p);
    }
    ctx.barrier();
    const std::int64_t place = shared.first_place + warp.index();
    if (place < p.size) {
      solve_row(ctx, warp, p, place, shared.parity);
      reset_row(ctx, warp, p, place, p.solved[shared.parity ^ 1u], shared.columns_to_reset);
    }
  }

 private:
  /// Blocks start in any order, and CUDA promises progress to those only that have started: so work is given
  /// out in the order of starting.
  template <class Context>
  SPTRSV_DEVICE static void begin_block(Context& ctx, shared_storage& shared, const params& p) {
    const unsigned long long ticket = ctx.atomic_add(&p.state->tickets, 1ull);
    const unsigned long long solve = ticket / ctx.grid_blocks();
    const auto block = static_cast<std::int64_t>(ticket - solve * ctx.grid_blocks());
    const auto parity = static_cast<std::uint32_t>(solve % 2);
    shared.first_place = block * rows_per_block;
    shared.parity = parity;
    shared.columns_to_reset = ctx.load(&p.state->used_columns[parity ^ 1u]);
    if (block == 0) {
      ctx.store(&p.state->used_columns[parity], p.x.columns);
      ctx.store(&p.state->first_bad[parity ^ 1u], none_bad);
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_row(Context& ctx, const Warp& warp, const params& p, std::int64_t place,
                                      std::uint32_t parity) {
    word* const solved = p.solved[parity];
    const Offset begin = ctx.load_constant(p.row_offsets + place);
    const Offset end = ctx.load_constant(p.row_offsets + place + 1);
    const std::int64_t position =
        p.position_of_place != nullptr
            ? static_cast<std::int64_t>(ctx.load_constant(p.position_of_place + place))
            : place;
    const pivot_divisor<Scalar> pivot(p.diagonal != nullptr ? ctx.load_constant(p.diagonal + place)
                                                            : pivot_divisor<Scalar>::one());
    const int summed_lanes = end - begin >= 32 ? 32 : simt::ceil_power_of_two(static_cast<int>(end - begin));
    const std::int64_t row = p.reversed ? p.size - 1 - position : position;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k finishes right-hand side first + k; its b is on the way while the row waits.
      const std::int64_t mine = first + warp.rank();
      const bool finishes = warp.rank() < Columns && mine < p.x.columns;
      const Scalar b =
          finishes ? ctx.load(p.b.data + row * p.b.row_stride + mine * p.b.column_stride) : Scalar{};
      Scalar sums[Columns] = {};
      Offset e = begin + static_cast<Offset>(warp.rank());
      for (; Columns == 1 && end - e > 32 * (entries_at_once - 1); e += 32 * entries_at_once) {
        add_entries<entries_at_once>(ctx, p, solved, e, first, sums);
      }
      for (; e < end; e += 32) {
        add_entries<1>(ctx, p, solved, e, first, sums);
      }
      Scalar sum{};
      for (int k = 0; k < Columns; ++k) {
        const Scalar total = simt::tile_sum(warp, sums[k], Columns > 1 ? 32 : summed_lanes);
        sum = warp.rank() == k ? total : sum;
      }
      if (finishes) {
        const Scalar x = pivot(p.alpha * b - sum);
        flag::publish(ctx, solved + (mine * p.size + place) * flag::words, x);
        ctx.store(p.x.data + row * p.x.row_stride + mine * p.x.column_stride, x);
        if (!is_finite(x)) {
          ctx.atomic_min(&p.state->first_bad[parity], position);
        }
      }
    }
  }

  /// sums[k] += a_e x_k for this lane's next `Entries` entries; all values are looked at before any is waited
  /// for.
  template <int Entries, class Context>
  SPTRSV_DEVICE static void add_entries(Context& ctx, const params& p, const word* solved, Offset e,
                                        std::int64_t first, Scalar (&sums)[Columns]) {
    Scalar values[Entries];
    const word* components[Entries][Columns];
    typename flag::reading seen[Entries][Columns];
    for (int i = 0; i < Entries; ++i) {
      const std::int64_t column = ctx.load_constant(p.columns + e + 32 * i);
      values[i] = ctx.load_constant(p.values + e + 32 * i);
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs =
            first + k < p.x.columns ? first + k : first;  // past the end: any that will come
        components[i][k] = solved + (rhs * p.size + column) * flag::words;
        seen[i][k] = flag::look(ctx, components[i][k]);
      }
    }
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        sums[k] = sums[k] + values[i] * flag::wait(ctx, components[i][k], seen[i][k]);
      }
    }
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void reset_row(Context& ctx, const Warp& warp, const params& p, std::int64_t place,
                                      word* solved, std::int64_t dirty_columns) {
    for (std::int64_t k = warp.rank(); k < dirty_columns; k += 32) {
      flag::reset(ctx, solved + (k * p.size + place) * flag::words);
    }
  }
};

}  // namespace sptrsv::detail::sync_free_warp
