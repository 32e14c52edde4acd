// SPDX-License-Identifier: Apache-2.0
// Synchronisation by counters: each unknown has a counter and one value for each right-hand side. The value
// is the sum of the products that have been added for the unknown, or its solution.
//
// The counter of an unknown counts the unknowns that it waits for and that are solved; it counts up to the
// in-degree. The thread that has waited for the counter sets it to zero again, and the thread that has read a
// sum sets the sum to zero. So the next solve needs no launch and no memset before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar_words.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// The counters and values as kernels see them.
template <class Scalar, class Index>
struct counted_unknowns {
  Index* counts;   ///< by solve index
  Scalar* values;  ///< by solve index, `stride` right-hand sides each
  std::int64_t stride;
  solve_state* state;

  SPTRSV_DEVICE Scalar* value(std::int64_t solve_index, std::int64_t rhs) const {
    return values + solve_index * stride + rhs;
  }

  /// Waits until `in_degree` unknowns have counted for the unknown at `solve_index`. The thread then sees
  /// what their threads wrote before they counted.
  template <class Context>
  SPTRSV_DEVICE void wait(Context& ctx, std::int64_t solve_index, Index in_degree) const {
    if (in_degree > 0) {
      simt::wait_until(ctx, counts + solve_index, [=](Index count) { return count == in_degree; });
      ctx.fence_acquire();  // once and not at each poll: it drops what the cache of the SM holds
    }
  }

  /// Sets the counter to zero for the next solve. One thread calls it, after all threads that poll the
  /// counter have seen its last value.
  template <class Context>
  SPTRSV_DEVICE void restore_count(Context& ctx, std::int64_t solve_index, Index in_degree) const {
    if (in_degree > 0) {
      ctx.store_relaxed(counts + solve_index, Index{0});
    }
  }

  /// Returns the sum that other unknowns have added. Call it after wait().
  template <class Context>
  SPTRSV_DEVICE Scalar sum(Context& ctx, std::int64_t solve_index, std::int64_t rhs) const {
    return load_words_relaxed(ctx, value(solve_index, rhs));
  }

  /// Sets the sum to zero for the next solve. The thread that has read the sum calls it.
  template <class Context>
  SPTRSV_DEVICE void restore_sum(Context& ctx, std::int64_t solve_index, std::int64_t rhs) const {
    store_words_relaxed(ctx, value(solve_index, rhs), Scalar{});
  }
};

/// Owns the counters and values of a workspace, which serves one solve at a time.
template <class Scalar, class Index>
class counted_storage : public solve_state_storage {
 public:
  template <class Executor>
  counted_storage(std::int64_t size, std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : solve_state_storage(on, resource),
        stride_(max_columns),
        counts_(make_buffer<Index>(size, on, resource)),
        values_(make_buffer<Scalar>(checked_product(size, max_columns), on, resource)) {
    reset(on);
  }

  template <class Executor>
  void reset(const Executor& on) {
    on.fill_bytes(counts_.data(), 0, counts_.bytes());
    on.fill_bytes(values_.data(), 0, values_.bytes());
    solve_state_storage::reset(on);
  }

  [[nodiscard]] counted_unknowns<Scalar, Index> unknowns() const {
    return {counts_.data(), values_.data(), stride_, state()};
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return at(size) * (sizeof(Index) + at(max_columns) * sizeof(Scalar)) + sizeof(solve_state);
  }

 private:
  std::int64_t stride_;
  buffer<Index> counts_;
  buffer<Scalar> values_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
