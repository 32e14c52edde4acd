// SPDX-License-Identifier: Apache-2.0
// Synchronisation by flagged values (value_flag.hpp) in two buffers that consecutive solves share.
//
// Solve number s of a workspace (tickets.hpp) finds buffer s mod 2 pending, writes the components of x to it,
// and resets the other buffer, which the solve before it wrote. So no solve needs a kernel, a memset or a
// barrier before its own work, and a captured solve can be replayed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/sync/tickets.hpp"
#include "sptrsv/detail/sync/value_flag.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The two buffers as kernels see them. Components stand by solve index, `size` for each right-hand side.
template <class Scalar>
struct double_buffer {
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  word* solved[2];  ///< the buffers
  solve_state* state;
  std::int64_t size;

  /// Returns the index of the buffer that a solve writes.
  SPTRSV_DEVICE static std::uint32_t half_of(unsigned long long solve) {
    return static_cast<std::uint32_t>(solve % 2);
  }

  /// Returns the address of a component in buffer `half`.
  SPTRSV_DEVICE word* component(std::uint32_t half, std::int64_t column, std::int64_t solve_index) const {
    return flag::address(solved[half], column * size + solve_index);
  }

  /// Marks the components at `solve_index` pending for the first `columns` right-hand sides. `lanes` threads
  /// share the work; this is thread `rank` of them.
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
/// may read `start` after a barrier. `columns`: right-hand sides. `blocks`: of all launches of the solve.
template <class Context>
SPTRSV_DEVICE void take_block(Context& ctx, block_start& start, solve_state* state, std::int64_t columns,
                              std::uint32_t blocks) {
  // Both are loaded before the ticket says which is needed: a load after it costs one more trip to memory.
  const std::int64_t used[2] = {ctx.load_relaxed(&state->used_rhs[0]), ctx.load_relaxed(&state->used_rhs[1])};
  start.solve = take_block(ctx, start, state, blocks);
  start.rhs_to_reset = start.half == 0 ? used[1] : used[0];
  if (start.block == 0) {
    ctx.store_relaxed(&state->used_rhs[start.half], columns);
  }
}

/// Calls take_block on one thread and waits for it. All threads of the block call it. `blocks`: as there.
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

/// The share of one launch in a solve of several launches.
struct launch_share {
  std::uint32_t first_block;       ///< number of blocks in the launches before it
  std::uint32_t solve_blocks;      ///< number of blocks in all launches
  std::int64_t first_solve_index;  ///< solve index of the first row of the launch

  /// Returns whether a launch of `blocks` blocks is the whole solve.
  [[nodiscard]] bool is_whole_solve(std::uint32_t blocks) const { return solve_blocks == blocks; }
};

/// Owns the two buffers and the state of a workspace, which serves one solve at a time; and room for a copy
/// of the right-hand sides, if it is wanted.
template <class Scalar>
class double_buffer_storage : public solve_state_storage {
 public:
  using word = typename value_flag<Scalar>::word;

  template <class Executor>
  double_buffer_storage(std::int64_t size, std::int64_t max_columns, const Executor& on,
                        memory_resource& resource, std::int64_t copied_scalars = 0)
      : solve_state_storage(on, resource),
        size_(size),
        buffer_words_(words(size, max_columns)),
        solved_(make_buffer<word>(checked_product(buffer_words_, 2), on, resource)),
        copy_(make_buffer<Scalar>(copied_scalars, on, resource)) {
    reset(on);
  }

  template <class Executor>
  void reset(const Executor& on) {
    on.fill_bytes(solved_.data(), 0xff, solved_.bytes());
    solve_state_storage::reset(on);
  }

  [[nodiscard]] double_buffer<Scalar> buffers() const {
    return {{solved_.data(), solved_.data() + buffer_words_}, state(), size_};
  }

  /// Returns the room for a copy of the right-hand sides; null if there is none.
  [[nodiscard]] Scalar* copy() const { return copy_.data(); }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns,
                                         std::int64_t copied_scalars = 0) {
    return at(checked_product(words(size, max_columns), 2, sizeof(word))) +
           at(copied_scalars) * sizeof(Scalar) + sizeof(solve_state);
  }

 private:
  static std::int64_t words(std::int64_t size, std::int64_t max_columns) {
    return checked_product(size, max_columns, value_flag<Scalar>::words);
  }

  std::int64_t size_;
  std::int64_t buffer_words_;
  buffer<word> solved_;
  buffer<Scalar> copy_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
