// SPDX-License-Identifier: Apache-2.0
// The kernels of the Krylov methods: a step works on the rows of vectors, with sums over all rows. A block
// publishes its part of each sum; the blocks of a later kernel each add up all parts, in one order. So a sum
// needs no atomics and no kernel of its own, and scalars never leave the device. On the host a block has one
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/host_team.hpp"
#include "sptrsv/detail/factors/factors_kernels.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/krylov_options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::krylov {
SPTRSV_BEGIN_ANY_CONTEXT

using sptrsv::krylov::reason;

/// The type of sums and scalars: double precision, whatever the vectors have.
template <class Scalar>
using wide_t = std::conditional_t<is_complex_v<Scalar>, cplx<double>, double>;
template <class Scalar>
SPTRSV_HOST_DEVICE wide_t<Scalar> widen(Scalar v) {
  return entry_cast<wide_t<Scalar>>(v);
}
/// Returns conj(x) y.
template <class Scalar>
SPTRSV_HOST_DEVICE wide_t<Scalar> inner(Scalar x, Scalar y) {
  return conjugate(widen(x)) * widen(y);
}

inline constexpr std::int64_t max_parts = 1024;  ///< of a sum: blocks of a launch
inline constexpr int max_totals = 32;            ///< sums that a block adds up at a time

/// `progress::stop` is 0 while the method goes on, 1 + a reason, or says that a cycle of gmres is full.
inline constexpr std::int32_t cycle_is_full = -1;
SPTRSV_HOST_DEVICE constexpr std::int32_t code_of(reason why) { return 1 + static_cast<std::int32_t>(why); }

/// What the kernels of a method know of it. No kernel reads a member that it writes, but for `stop` and
/// `iterations`, which the leader alone changes.
template <class Wide>
struct progress {
  std::int32_t stop;
  std::int32_t iterations;
  std::int32_t max_iterations;
  std::int32_t step;  ///< of the cycle of gmres
  std::int32_t next_step;
  double b_norm;
  double limit;  ///< norm of the residual that is small enough
  double norm;   ///< of the residual at the start of the cycle
  Wide rho;
  Wide rho_before;
  Wide alpha;
  Wide omega;
};

/// The arrays of a method, which all its kernels get.
template <class Wide>
struct method_data {
  progress<Wide>* state;
  Wide* parts;         ///< of sums: max_parts for each slot
  double* history;     ///< relative residuals by iteration; null: not kept
  std::uint64_t loop;  ///< the condition of a CUDA graph that is cleared when the method stops; 0: none
};

template <class Wide>
struct block_storage {
  std::int32_t stop;
  Wide totals[max_totals];
  Wide of_warps[8 * 16];  ///< of eight sums and 16 warps
};

/// Returns the sum over aligned groups of `width` lanes.
template <class Warp, class T>
SPTRSV_HOST_DEVICE T sum_of_lanes(const Warp& warp, T v, int width) {
  if constexpr (Warp::lanes > 1) {
    v = simt::reduce(warp, v, width, simt::plus{});
  }
  return v;
}

/// A thread in its block. The block's rows are consecutive; the thread has `first`, `first + stride`, ... up
/// to `end`.
template <class Context, class Wide>
struct block_thread {
  Context& ctx;
  block_storage<Wide>& shared;
  const method_data<Wide>& data;
  int stride;
  bool is_leader;  ///< the first thread of the first block
  std::int64_t begin;
  std::int64_t first;
  std::int64_t end;

  SPTRSV_HOST_DEVICE block_thread(Context& in, block_storage<Wide>& memory, const method_data<Wide>& of,
                                  std::int64_t rows)
      : ctx(in), shared(memory), data(of), stride(in.block_threads()) {
    const std::int64_t share = ((rows - 1) / static_cast<std::int64_t>(ctx.grid_blocks()) + 32) / 32 * 32;
    is_leader = ctx.block_rank() == 0 && ctx.thread_rank() == 0;
    begin = share * static_cast<std::int64_t>(ctx.block_rank());
    first = begin + ctx.thread_rank();
    end = begin + share < rows ? begin + share : rows;
  }

  /// Returns whether the method has ended, the same to all threads of the block.
  SPTRSV_HOST_DEVICE bool has_stopped() {
    if (ctx.thread_rank() == 0) {
      shared.stop = ctx.load(&data.state->stop);
    }
    ctx.barrier();
    return shared.stop != 0;
  }

  /// Adds the summands of the threads of the block, and stores the block's part of each of the first `count`
  /// sums. `summands`: of this thread, one for each sum; at most eight.
  template <std::size_t Count>
  SPTRSV_HOST_DEVICE void publish(std::int64_t slot, const Wide (&summands)[Count], int count) {
    const auto warp = ctx.template group<32>();
    const int warps = stride / warp.lanes;
    for (int s = 0; s < static_cast<int>(Count); ++s) {
      const Wide v = sum_of_lanes(warp, summands[s], warp.lanes);
      if (warp.rank() == 0) {
        shared.of_warps[s * warps + warp.index()] = v;
      }
    }
    ctx.barrier();
    for (int s = warp.index(); s < count; s += warps) {
      const Wide v = warp.rank() < warps ? shared.of_warps[s * warps + warp.rank()] : Wide{};
      const Wide part = sum_of_lanes(warp, v, warp.lanes);
      if (warp.rank() == 0) {
        ctx.store(data.parts + (slot + s) * max_parts + ctx.block_rank(), part);
      }
    }
    ctx.barrier();
  }
  /// Adds up the parts of `count` <= max_totals sums to shared.totals.
  SPTRSV_HOST_DEVICE void add_parts(std::int64_t slot, int count, std::int64_t parts) {
    const auto warp = ctx.template group<32>();
    const int warps = stride / warp.lanes;
    const int sharing = warps > count ? warps / count : 1;  // warps that add up one sum
    for (int t = warp.index(); t < count * sharing; t += warps) {
      const Wide* const of_sum = data.parts + (slot + t / sharing) * max_parts;
      Wide v{};
      for (std::int64_t k = t % sharing * warp.lanes + warp.rank(); k < parts; k += sharing * warp.lanes) {
        v = v + ctx.load(of_sum + k);
      }
      v = sum_of_lanes(warp, v, warp.lanes);
      if (warp.rank() == 0) {
        shared.of_warps[t] = v;
      }
    }
    ctx.barrier();
    for (int s = ctx.thread_rank(); s < count; s += stride) {
      Wide v = shared.of_warps[s * sharing];
      for (int t = 1; t < sharing; ++t) {
        v = v + shared.of_warps[s * sharing + t];
      }
      shared.totals[s] = v;
    }
    ctx.barrier();
  }

  /// Ends the method after this kernel; the leader calls it.
  SPTRSV_HOST_DEVICE void stop(std::int32_t code) {
    ctx.store(&data.state->stop, code);
    ctx.end_loop(data.loop);
  }
  /// Counts an iteration that leaves a residual of this norm; the leader calls it. Ends the method with
  /// `otherwise` if it is not 0 and nothing else ends it.
  SPTRSV_HOST_DEVICE void finish_iteration(double norm, std::int32_t otherwise) {
    const auto* const state = data.state;
    const std::int32_t done = ctx.load(&state->iterations) + 1;
    ctx.store(&data.state->iterations, done);
    if (data.history != nullptr) {
      ctx.store(data.history + done, norm / ctx.load(&state->b_norm));
    }
    std::int32_t code = otherwise;
    if (!is_finite(norm)) {
      code = code_of(reason::not_finite);
    } else if (norm <= ctx.load(&state->limit)) {
      code = code_of(reason::converged);
    } else if (done >= ctx.load(&state->max_iterations)) {
      code = code_of(reason::iteration_limit);
    }
    if (code != 0) {
      stop(code);
    }
  }
};

/// Runs `body.run(thread)` in each thread, unless the method has ended. Body is trivially copyable.
template <class Body>
struct step_agent {
  static constexpr int block_threads = 512;
  using wide = typename Body::wide;
  using shared_storage = block_storage<wide>;
  struct params {
    std::int64_t rows;
    method_data<wide> data;
    Body body;
  };

  template <class Context>
  static SPTRSV_HOST_DEVICE void run(Context& ctx, shared_storage& shared, const params& p) {
    block_thread<Context, wide> thread(ctx, shared, p.data, p.rows);
    if (!thread.has_stopped()) {
      p.body.run(thread);
    }
  }
};

/// Returns the number of blocks of a step. It depends on nothing else, so that sums are the same everywhere.
inline std::int64_t step_blocks(std::int64_t rows) { return std::min<std::int64_t>(rows / 512 + 1, 256); }

/// The context of a block of one thread on the host, as far as the steps use it.
struct serial_context : simt::host_context {
  struct warp {
    static constexpr int lanes = 1;
    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] static int index() { return 0; }
  };

  std::int64_t block;
  std::int64_t blocks;

  [[nodiscard]] static int thread_rank() { return 0; }
  [[nodiscard]] static int block_threads() { return 1; }
  [[nodiscard]] std::int64_t block_rank() const { return block; }
  [[nodiscard]] std::int64_t grid_blocks() const { return blocks; }
  template <int Lanes>
  [[nodiscard]] warp group() const {
    return {};
  }
  static void barrier() {}
  static void end_loop(std::uint64_t) {}
};

/// Launches an agent on the device, or runs it on the host, where threads take a few blocks at a time.
template <class Agent, class Executor>
void launch(const Executor& on, std::int64_t blocks, const typename Agent::params& p) {
  if constexpr (simt::has_kernels<Executor>) {
    on.template launch<Agent>(static_cast<std::uint32_t>(blocks), p);
  } else {
    constexpr std::int64_t taken = 8;
    for_each_taken_in_chunks(blocks, taken, p.rows > 20000 ? host_team::allowed_threads() : 1,
                             [&](std::int64_t block, std::size_t) {
                               typename Agent::shared_storage shared;
                               serial_context ctx{{}, block, blocks};
                               Agent::run(ctx, shared, p);
                             });
  }
}

SPTRSV_END_ANY_CONTEXT
}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
