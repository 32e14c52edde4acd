// SPDX-License-Identifier: Apache-2.0
// The kernels of a distributed solve: those of supernodal, with what goes from one PE to another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/distributed/parameters.hpp"
#include "sptrsv/detail/supernodal/solve/backward_agent.hpp"
#include "sptrsv/detail/supernodal/solve/forward_agent.hpp"

namespace sptrsv::SPTRSV_ABI::detail::distributed {

/// Does the tasks of a solve on one PE. `Agent`: forward_agent or backward_agent with pe_params. The blocks
/// of the first tickets send b to the PEs that solve for its rows, and reset what the solve before has
/// received. Those of the last tickets receive x. The others are blocks of Agent.
///
/// Progress: all PEs have their supernodes in one common order, by levels. A task waits for others that come
/// earlier in it, of whichever PE, or for blocks of the first tickets, which wait for no task. So the first
/// task that is not done can be done, if one block is resident on each PE. Where PEs share a GPU, a launch
/// has only as many blocks as are resident, and they stay until no task is left.
template <class Agent>
struct pe_agent {
  static constexpr int block_threads = Agent::block_threads;
  static constexpr int warps_per_processor = Agent::warps_per_processor;
  static constexpr int values_per_block = 4 * block_threads;  ///< that a block sends, resets or receives
  using shared_storage = typename Agent::shared_storage;
  using params = typename Agent::params;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    do {
      supernodal::begin_arrivals(ctx, shared.arrivals);
      if (ctx.thread_rank() == 0) {
        take_task(ctx, shared.start, p);
      }
      ctx.barrier();
      const std::int64_t task = shared.start.block;
      if (task < -p.exchange_blocks) {
        p.mail.deliver(ctx, (task + p.exchange_blocks + p.waiting_blocks) * block_threads + ctx.thread_rank(),
                       p.buffers);
      } else if (task < 0) {
        exchange(ctx, p, task + p.exchange_blocks);
      } else if (task < p.solve_blocks) {
        Agent::do_task(ctx, shared, p);
      } else if (task < p.solve_blocks + p.collect_blocks) {
        collect(ctx, p, task - p.solve_blocks);
      } else {
        return;
      }
      if (task >= -p.exchange_blocks && task < p.solve_blocks) {
        p.mail.post(ctx, task + p.exchange_blocks);
      }
      if (p.stays) {
        ctx.barrier();
        if (ctx.thread_rank() < Agent::arrival_count) {
          ctx.end_bulk(&shared.arrivals[ctx.thread_rank()]);
        }
      }
    } while (p.stays);
  }

 private:
  /// Draws a ticket. `start.block`: number of the task, counted from the first one of Agent. There is none if
  /// a PE has failed.
  template <class Context>
  SPTRSV_DEVICE static void take_task(Context& ctx, block_start& start, const params& p) {
    const unsigned long long drawn = ctx.atomic_add(&p.state->tickets, 1ull);
    const auto ticket = static_cast<std::int64_t>(drawn - p.first_ticket);
    start.half = 0;
    start.rhs_to_reset = p.rhs_to_reset;
    if (drawn >= no_more_tasks) {
      start.block = p.solve_blocks + p.collect_blocks;
      return;
    }
    if (ticket == 0) {
      if (p.begins_call) {
        ctx.store(&p.state->first_nonfinite[p.call ^ 1], all_finite);
      }
      if (p.in.size > 1) {
        p.announce(ctx);
      }
    }
    const std::int64_t sender = ticket - p.waiting_blocks;
    if (p.sends != nullptr && sender >= 0 && sender < p.exchange_blocks + p.solve_blocks &&
        ctx.load_constant(p.sends + sender) != 0) {
      p.in.wait_for_others(ctx, p.mail.failure);
    }
    start.block = sender - p.exchange_blocks;
  }

  template <class Context>
  SPTRSV_DEVICE static void exchange(Context& ctx, const params& p, std::int64_t number) {
    const std::int64_t begin = number * values_per_block;
    for (std::int64_t i = begin + ctx.thread_rank(); i < begin + values_per_block; i += block_threads) {
      if (i < p.sent_row_count) {
        const sent_row row = ctx.load_constant(p.sent_rows + i);
        for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
          p.send(ctx, row.to, rhs, p.load_row(ctx, row.row, rhs));
        }
      }
      if (i < p.received_count) {
        p.buffers.reset(ctx, 1, ctx.load_constant(p.received + i), p.rhs_to_reset, 0, 1);
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void collect(Context& ctx, const params& p, std::int64_t number) {
    const std::int64_t begin = number * values_per_block;
    for (std::int64_t i = begin + ctx.thread_rank(); i < begin + values_per_block; i += block_threads) {
      if (i < p.received_row_count) {
        const received_row row = ctx.load_constant(p.received_rows + i);
        for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
          p.store_row(ctx, row.row, rhs, p.wait(ctx, 0, rhs, row.index));
        }
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::distributed
