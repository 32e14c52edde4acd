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

struct solve_state {
  alignas(128) unsigned long long tickets;  ///< every block writes it: a cache line of its own
  alignas(128) std::int64_t used_rhs[2];    ///< by page: right-hand sides of the solve that filled it
  std::int64_t first_nonfinite[2];          ///< by page: the first position whose x is not finite
};

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
    ctx.atomic_min(&state->first_nonfinite[half], substitution_index);
  }
};

/// A block's work in a solve; in shared memory.
struct block_start {
  std::int64_t block;         ///< in the order of starting
  std::int64_t rhs_to_reset;  ///< of the other page
  unsigned long long solve;   ///< how many solves went before
  std::uint32_t half;
};

/// One thread of the block calls it; the others may read `start` after a barrier. The solve has `blocks`
/// blocks in all its launches.
template <class Context>
SPTRSV_DEVICE void draw_start(Context& ctx, block_start& start, solve_state* state, std::int64_t columns,
                              std::uint32_t blocks) {
  // Of both pages, of which this solve writes one: to load after the ticket would be a trip more.
  const std::int64_t used[2] = {ctx.load_relaxed(&state->used_rhs[0]), ctx.load_relaxed(&state->used_rhs[1])};
  const solve_ticket drawn = draw_ticket(ctx, &state->tickets, blocks);
  start.block = drawn.block;
  start.solve = drawn.solve;
  start.half = static_cast<std::uint32_t>(drawn.solve % 2);
  start.rhs_to_reset = start.half == 0 ? used[1] : used[0];
  if (start.block == 0) {
    ctx.store_relaxed(&state->used_rhs[start.half], columns);
    ctx.store(&state->first_nonfinite[start.half ^ 1u], all_finite);
  }
}

/// All threads of the block call it. The solve has `blocks` blocks in all its launches.
template <class Context>
SPTRSV_DEVICE void start_block(Context& ctx, block_start& start, solve_state* state, std::int64_t columns,
                               std::uint32_t blocks) {
  if (ctx.thread_rank() == 0) {
    draw_start(ctx, start, state, columns, blocks);
  }
  ctx.barrier();
}
/// The same where the solve is one launch.
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
        page_words_(words(size, max_columns)),
        solved_(2 * page_words_, resource, on.stream()),
        state_(1, resource, on.stream()) {
    on.fill_bytes(solved_.data(), 0xff, solved_.bytes());
    const solve_state start{0, {0, 0}, {all_finite, all_finite}};
    on.upload(state_.data(), &start, sizeof(start));
  }

  [[nodiscard]] double_buffer<Scalar> buffers() const {
    return {{solved_.data(), solved_.data() + page_words_}, state_.data(), size_};
  }

  /// Of the last solve, whose launches had `blocks` blocks; -1 if none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    solve_state state;
    on.download(&state, state_.data(), sizeof(state));
    const std::int64_t bad = state.first_nonfinite[(state.tickets / blocks + 1) % 2];
    return bad == all_finite ? -1 : bad;
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return 2 * words(size, max_columns) * sizeof(word) + sizeof(solve_state);
  }

 private:
  static std::size_t words(std::int64_t size, std::int64_t max_columns) {
    return static_cast<std::size_t>(size * max_columns) * value_flag<Scalar>::words;
  }

  std::int64_t size_;
  std::size_t page_words_;
  buffer<word> solved_;
  buffer<solve_state> state_;
};

}  // namespace sptrsv::detail
