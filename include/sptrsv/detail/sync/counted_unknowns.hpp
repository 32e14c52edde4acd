// What consecutive solves of a policy that counts share: for each unknown a counter, and a value for each
// right-hand side, which is what has been summed up for it, or its solution.
//
// A counter tells how many of the unknowns that its unknown waits for have come. It counts up to the
// in-degree, and whoever has waited for it sets it back to zero, as it does with the sums that it has read:
// so every solve finds what it needs and no launch or memset prepares it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar_words.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::detail {

template <class Scalar, class Index>
struct counted_unknowns {
  Index* counts;   ///< by place
  Scalar* values;  ///< by place, `stride` right-hand sides each
  std::int64_t stride;
  solve_state* state;

  SPTRSV_DEVICE Scalar* value(std::int64_t solve_index, std::int64_t rhs) const {
    return values + solve_index * stride + rhs;
  }

  /// Returns when `in_degree` unknowns have counted for `place`; what they did before, the thread then sees.
  template <class Context>
  SPTRSV_DEVICE void wait(Context& ctx, std::int64_t solve_index, Index in_degree) const {
    if (in_degree > 0) {
      simt::wait_until(ctx, counts + solve_index, [=](Index count) { return count == in_degree; });
      ctx.fence_acquire();  // once, not at each look: it drops what the SM's cache holds
    }
  }

  /// For the next solve, by one thread, after the wait of all that look at the counter.
  template <class Context>
  SPTRSV_DEVICE void restore_count(Context& ctx, std::int64_t solve_index, Index in_degree) const {
    if (in_degree > 0) {
      ctx.store_relaxed(counts + solve_index, Index{0});
    }
  }

  /// After the wait.
  template <class Context>
  SPTRSV_DEVICE Scalar sum(Context& ctx, std::int64_t solve_index, std::int64_t rhs) const {
    return load_words_relaxed(ctx, value(solve_index, rhs));
  }

  /// For the next solve, by the thread that has read the sum.
  template <class Context>
  SPTRSV_DEVICE void restore_sum(Context& ctx, std::int64_t solve_index, std::int64_t rhs) const {
    store_words_relaxed(ctx, value(solve_index, rhs), Scalar{});
  }
};

/// The owner, for one solve in flight.
template <class Scalar, class Index>
class counted_storage {
 public:
  template <class Executor>
  counted_storage(std::int64_t size, std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : stride_(max_columns),
        counts_(make_buffer<Index>(size, on, resource)),
        values_(make_buffer<Scalar>(size * max_columns, on, resource)),
        state_(on, resource) {
    on.fill_bytes(counts_.data(), 0, counts_.bytes());
    on.fill_bytes(values_.data(), 0, values_.bytes());
  }

  [[nodiscard]] counted_unknowns<Scalar, Index> unknowns() const {
    return {counts_.data(), values_.data(), stride_, state_.data()};
  }

  /// Of the last solve, whose launches had `blocks` blocks; -1 if none. Synchronises.
  template <class Executor>
  [[nodiscard]] std::int64_t first_nonfinite_index(std::uint32_t blocks, const Executor& on) const {
    return state_.first_nonfinite_index(blocks, on);
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return static_cast<std::size_t>(size) *
               (sizeof(Index) + static_cast<std::size_t>(max_columns) * sizeof(Scalar)) +
           sizeof(solve_state);
  }

 private:
  std::int64_t stride_;
  buffer<Index> counts_;
  buffer<Scalar> values_;
  solve_state_storage state_;
};

}  // namespace sptrsv::detail
