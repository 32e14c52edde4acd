// What consecutive solves of a policy that polls values share: two pages of flagged values.
//
// Solve s of a workspace (solve_tickets.hpp) finds page s mod 2 pending, solves in it, and resets the other
// one, which the solve before it filled. So no solve needs a kernel, a memset or a barrier beside its own
// work, and a captured solve can be replayed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::detail {

/// The pages as kernels see them: column-major, `size` components a right-hand side, by place.
template <class Scalar>
struct double_buffer {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  word* solved[2];
  solve_state* state;
  std::int64_t size;

  SPTRSV_DEVICE static std::uint32_t half_of(unsigned long long solve) {
    return static_cast<std::uint32_t>(solve % 2);
  }

  SPTRSV_DEVICE word* component(std::uint32_t half, std::int64_t column, std::int64_t solve_index) const {
    return solved[half] + (column * size + solve_index) * flag::words;
  }

  /// Marks the component pending in each of the first `columns` columns; `rank` of `lanes` threads share
  /// them.
  template <class Context>
  SPTRSV_DEVICE void reset(Context& ctx, std::uint32_t half, std::int64_t solve_index, std::int64_t columns,
                           int rank, int lanes) const {
    for (std::int64_t k = rank; k < columns; k += lanes) {
      flag::reset(ctx, component(half, k, solve_index));
    }
  }

  template <class Context>
  SPTRSV_DEVICE void record_nonfinite(Context& ctx, std::uint32_t half,
                                      std::int64_t substitution_index) const {
    state->record_nonfinite(ctx, half, substitution_index);
  }
};

/// The share of a block in a solve that writes one buffer and resets the other; in shared memory.
struct block_start : block_ticket {
  std::int64_t rhs_to_reset;  ///< right-hand sides that the other buffer holds
  unsigned long long solve;   ///< how many solves of the workspace went before
};

/// Draws a ticket and stores the share of the block to `start`. One thread of the block calls it; the others
/// may read `start` after a barrier. `columns`: right-hand sides of the solve. `blocks`: of all launches of
/// the solve.
template <class Context>
SPTRSV_DEVICE void take_block(Context& ctx, block_start& start, solve_state* state, std::int64_t columns,
                              std::uint32_t blocks) {
  // Both are loaded before the ticket says which one is needed: to load after it costs one more trip to
  // memory.
  const std::int64_t used[2] = {ctx.load_relaxed(&state->used_rhs[0]), ctx.load_relaxed(&state->used_rhs[1])};
  start.solve = take_block(ctx, start, state, blocks);
  start.rhs_to_reset = start.half == 0 ? used[1] : used[0];
  if (start.block == 0) {
    ctx.store_relaxed(&state->used_rhs[start.half], columns);
  }
}

/// Calls take_block on one thread of the block and waits for it. All threads of the block call it. `blocks`:
/// of all launches of the solve.
template <class Context>
SPTRSV_DEVICE void start_block(Context& ctx, block_start& start, solve_state* state, std::int64_t columns,
                               std::uint32_t blocks) {
  if (ctx.thread_rank() == 0) {
    take_block(ctx, start, state, columns, blocks);
  }
  ctx.barrier();
}
/// Does the same where the solve is one launch.
template <class Context>
SPTRSV_DEVICE void start_block(Context& ctx, block_start& start, solve_state* state, std::int64_t columns) {
  start_block(ctx, start, state, columns, ctx.grid_blocks());
}

/// What a launch of a solve has of it.
struct launch_share {
  std::uint32_t first_block;       ///< as many blocks are in launches before it
  std::uint32_t solve_blocks;      ///< of all launches
  std::int64_t first_solve_index;  ///< of the pages

  /// Whether a launch of so many blocks is all of the solve.
  [[nodiscard]] bool is_whole_solve(std::uint32_t blocks) const { return solve_blocks == blocks; }
};

/// The pages' owner, for one solve in flight.
template <class Scalar>
class double_buffer_storage {
 public:
  using word = typename value_flag<Scalar>::word;

  template <class Executor>
  double_buffer_storage(std::int64_t size, std::int64_t max_columns, const Executor& on,
                        memory_resource& resource)
      : size_(size),
        buffer_words_(words(size, max_columns)),
        solved_(2 * buffer_words_, resource, on.stream()),
        state_(on, resource) {
    on.fill_bytes(solved_.data(), 0xff, solved_.bytes());
  }

  [[nodiscard]] double_buffer<Scalar> buffers() const {
    return {{solved_.data(), solved_.data() + buffer_words_}, state_.data(), size_};
  }

  /// Of the last solve, whose launches had `blocks` blocks; -1 if none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    return state_.first_nonfinite_index(blocks, on);
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return 2 * words(size, max_columns) * sizeof(word) + sizeof(solve_state);
  }

 private:
  static std::size_t words(std::int64_t size, std::int64_t max_columns) {
    return static_cast<std::size_t>(size * max_columns) * value_flag<Scalar>::words;
  }

  std::int64_t size_;
  std::size_t buffer_words_;
  buffer<word> solved_;
  solve_state_storage state_;
};

}  // namespace sptrsv::detail
