// SPDX-License-Identifier: Apache-2.0
// The kernel of an incomplete factorisation.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/piece_row.hpp"
#include "sptrsv/detail/incomplete/row_state.hpp"
#include "sptrsv/detail/incomplete/short_row.hpp"
#include "sptrsv/detail/incomplete/warp_row.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Factorises the matrix in one launch. A warp computes 32 / Lanes rows that follow each other in level
/// order, each by `Lanes` lanes. The values of the factors that rows wait for are their own flags
/// (value_flag), pending before the launch. Per warp, until there are no rows left:
///
///   1. Draw a ticket, which selects the rows.
///   2. If the rows fit in registers, compute them there (short_row). Otherwise, if the warp has one row,
///      compute it step by step (warp_row). Otherwise:
///   3. Load the row's values of A; apply the shift of the diagonal.
///   4. Take the row's operands in batches, one for each lane (`operand`). The values of the next batch are
///      loaded before the current one is used, and the operands of the batch after it, too.
///   5. In rounds of the whole warp: compute the steps whose operands are known, in their order, then poll
///      the others. LU: l = a_ik / u_kk, then a_ij -= l u_kj. Cholesky: the lanes sum the products
///      l_ij conj(l_kj) in a butterfly, then l = (a_ik - sum) (1 / l_kk), which they publish at once.
///   6. After the last step publish the other values, those first that other rows need.
///
/// Progress: a row needs rows with smaller solve indices. They have the same ticket, or smaller ones, whose
/// warps have started. No lane waits in a loop of its own, so rows of one warp may need each other.
template <class Tuning, method Method, class Scalar, class Index, class Offset, int Lanes>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int block_warps = block_threads / 32;
  static constexpr int warp_rows = 32 / Lanes;
  static constexpr int block_rows = block_warps * warp_rows;
  struct shared_storage {};  // the values of the rows are in dynamic shared memory
  using params = factor_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const auto shared = memory_of_row(ctx, p);
    for_each_task(ctx, warp, p, [&](std::int64_t task, std::uint32_t half) {
      factorize_rows(ctx, warp, p,
                     row_place<Scalar, Index, Offset>::load(ctx, p, task * warp_rows + warp.rank() / Lanes),
                     shared, half);
    });
  }

  /// Calls work(task, half) for the tasks that this warp draws. `half`: number of the factorisation mod 2.
  template <class Context, class Warp, class Work>
  SPTRSV_DEVICE static void for_each_task(Context& ctx, const Warp& warp, const params& p, const Work& work) {
    for (;;) {
      solve_ticket ticket{0, 0};
      if (warp.rank() == 0) {
        ticket = draw_solve_ticket(ctx, &p.state->tickets, p.draws);
      }
      const std::int64_t task = warp.shuffle(ticket.block, 0);
      const auto half = warp.shuffle(static_cast<std::uint32_t>(ticket.solve % 2), 0);
      if (task == 0 && warp.rank() == 0) {
        ctx.store(&p.state->first_breakdown[half ^ 1u], all_finite);
        ctx.store(&p.state->boosted_pivots[half ^ 1u], std::int64_t{0});
      }
      if (task >= p.tasks) {
        return;
      }
      work(task, half);
    }
  }

  using shared_memory = shared_row<Scalar, Offset>;

  /// Returns the memory for the row that this thread computes with others: the block has the values of all
  /// its rows, then their targets.
  template <class Context>
  SPTRSV_DEVICE static shared_memory memory_of_row(Context& ctx, const params& p) {
    auto* const values = static_cast<Scalar*>(ctx.dynamic_shared());
    auto* const targets = reinterpret_cast<Offset*>(values + block_rows * p.shared_slots);
    const std::int64_t first = ctx.thread_rank() / Lanes * p.shared_slots;
    return {values + first, targets + first};
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize_rows(Context& ctx, const Warp& warp, const params& p,
                                           const row_place<Scalar, Index, Offset>& at,
                                           const shared_memory& shared, std::uint32_t half) {
    if constexpr (Tuning::short_rows_in_registers) {
      using short_row = incomplete::short_row<Method, Scalar, Index, Offset, Lanes>;
      if (warp.all(short_row::fits(at))) {
        short_row::factorize(ctx, warp, p, at, half);
        warp.sync();  // no data needs it: the lanes are together again
        return;
      }
    }
    if constexpr (Lanes == 32) {
      warp_row<Method, Scalar, Index, Offset>::factorize(ctx, warp, p, at, shared, half);
    } else {
      factorize_in_rounds(ctx, warp, p, at, shared, half);
    }
  }

 private:
  using flag = value_flag<Scalar>;
  using row_state = incomplete::row_state<Method, Scalar, Index, Offset, Lanes>;

  /// Computes rows that share a warp.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void factorize_in_rounds(Context& ctx, const Warp& warp, const params& p,
                                                const row_place<Scalar, Index, Offset>& at,
                                                const shared_memory& shared, std::uint32_t half) {
    row_state row = row_state::start(ctx, p, at, warp.rank() % Lanes, shared);
    warp.sync();
    for (;;) {
      compute_known_steps(ctx, warp, p, row);
      bool advanced = false;
      if (row.open && row.used == row.count) {
        advanced = row.take_next_batch(ctx, p);
        if (!advanced) {
          publish<Method>(ctx, p, row, row.square_sum, row.found, half);
          row.open = false;
        }
      }
      if (warp.all(!row.open)) {
        warp.sync();  // the next rows of the warp overwrite the values
        return;
      }
      if (!warp.any(advanced)) {
        row.poll(ctx, warp, p);
      }
    }
  }

  /// Computes the steps of each row whose operands are known. The rows of the warp take their steps together,
  /// by collectives of the whole warp: those of a part of it would be executed one part after the other.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void compute_known_steps(Context& ctx, const Warp& warp, const params& p,
                                                row_state& row) {
    const int first_lane = warp.rank() - row.lane;
    if constexpr (Method == method::lu) {
      prepare_pivot<Scalar>(row.now, row.is_prepared, row.divides);
    }
    const std::uint32_t known = warp.ballot(flag::is_known(row.now.seen)) >> first_lane;
    const std::uint32_t pivots =
        warp.ballot(row.now.is_present() && row.now.is_pivot()) >> first_lane & bits_below(Lanes);
    for (;;) {
      const int end = end_of_step(pivots, row.used, row.count);
      const std::uint32_t needed = bits_below(end) & ~bits_below(row.used);
      const bool ready = row.used < row.count && (known & needed) == needed;
      if (!warp.any(ready)) {
        return;
      }
      compute(ctx, warp, p, row, ready, pivots, end);
      row.used = ready ? end : row.used;
      warp.sync();
    }
  }

  /// Returns one past the last operand of the step, or of the part of it that is in this batch.
  SPTRSV_DEVICE static int end_of_step(std::uint32_t pivots, int begin, int count) {
    if constexpr (Method == method::lu) {
      const std::uint32_t after = pivots & ~bits_below(begin + 1);
      return after != 0 ? simt::lowest_bit(after) : count;
    } else {
      const std::uint32_t rest = pivots & ~bits_below(begin);
      return rest != 0 ? simt::lowest_bit(rest) + 1 : count;
    }
  }

  /// Uses the operands of the lanes row.used ... end - 1 of the row, all of one step, if the row is `ready`.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void compute(Context& ctx, const Warp& warp, const params& p, row_state& row,
                                    bool ready, std::uint32_t pivots, int end) {
    const int first_lane = warp.rank() - row.lane;
    const bool is_used = ready && row.lane >= row.used && row.lane < end;
    const bool is_product = is_used && !row.now.is_pivot();
    Scalar solved{};  // of the lane with the pivot: the multiplier, or the entry of L
    if constexpr (Method == method::lu) {
      if (is_used && row.now.is_pivot()) {
        const Scalar dividend = row.get(ctx, -1 - row.now.slot);
        const Scalar known = row.now.seen.value();
        solved = row.divides ? divide(dividend, known) : dividend * known;
        row.set(ctx, -1 - row.now.slot, solved);
      }
      solved = warp.shuffle(solved, first_lane + row.used % Lanes);
      if (ready && (pivots >> row.used & 1u) != 0) {
        row.carried = solved;
      }
      if (is_product) {
        row.set(ctx, row.now.slot, row.get(ctx, row.now.slot) - row.carried * row.now.seen.value());
      }
    } else {
      if (warp.any(is_product)) {
        const Scalar product =
            is_product ? row.get(ctx, row.now.slot) * conjugate(row.now.seen.value()) : Scalar{};
        row.carried = row.carried + simt::reduce(warp, product, Lanes, simt::plus{});
      }
      if (is_used && row.now.is_pivot()) {
        const Index slot = -1 - row.now.slot;
        solved = (row.get(ctx, slot) - row.carried) * row.now.seen.value();
        row.set(ctx, slot, solved);
        flag::publish(ctx, flag::address(p.factors, row.target(ctx, p, slot)), solved);
        row.found.add(solved, false);
      }
      solved = warp.shuffle(solved, first_lane + (end + Lanes - 1) % Lanes);
      if (ready && (pivots >> (end - 1) & 1u) != 0) {
        row.square_sum += squared(solved);
        row.carried = Scalar{};
      }
    }
  }
};

/// The kernel of a matrix with long rows, which are cut into pieces: a ticket selects a piece, or a whole
/// row, for a warp. The rest is as in `agent`.
template <class Tuning, method Method, class Scalar, class Index, class Offset>
struct pieces_agent : agent<Tuning, Method, Scalar, Index, Offset, 32> {
  using of_rows = agent<Tuning, Method, Scalar, Index, Offset, 32>;
  using params = piece_params<Scalar, Index, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, typename of_rows::shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const auto shared = of_rows::memory_of_row(ctx, p);
    of_rows::for_each_task(ctx, warp, p, [&](std::int64_t task, std::uint32_t half) {
      const Index r = ctx.load_constant(&p.pieces[task].row);
      const auto at = row_place<Scalar, Index, Offset>::load(ctx, p, r);
      if (p.limits.pieces_of(at.length, at.below) > 1) {
        piece_row<Method, Scalar, Index, Offset>::factorize(ctx, warp, p, at, task, half);
      } else {
        of_rows::factorize_rows(ctx, warp, p, at, shared, half);
      }
    });
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
