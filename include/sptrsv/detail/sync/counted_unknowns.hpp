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

/// The entries of a row or a column that one lane processes. It loads the first ones before it waits for x.
/// `Lanes` lanes share the entries round-robin. Each lane keeps its first `Held` entries in registers.
/// Without `HasValues` only indices are loaded.
template <class Scalar, class Index, class Offset, int Lanes, int Held, bool HasValues = true>
class prefetched_entries {
  static_assert(Held >= 1, "entries_ahead of a tuning: at least 1");

 public:
  /// Loads the first `Held` entries of lane `rank`. The lanes share the entries [begin, end).
  template <class Context>
  SPTRSV_DEVICE prefetched_entries(Context& ctx, const Index* indices, const Scalar* values, Offset begin,
                                   Offset end, int rank)
      : indices_(indices), values_(values), begin_(begin + static_cast<Offset>(rank)), end_(end) {
    SPTRSV_UNROLL
    for (int i = 0; i < Held; ++i) {
      index_[i] = has(i) ? ctx.load_constant(indices + begin_ + i * Lanes) : Index{};
      value_[i] = HasValues && has(i) ? ctx.load_constant(values + begin_ + i * Lanes) : Scalar{};
    }
  }

  /// Returns whether the lane has an entry number `i`.
  SPTRSV_DEVICE bool has(int i) const { return end_ - begin_ > static_cast<Offset>(i * Lanes); }
  /// Returns the index of the first entry of the lane; 0 if it has none.
  SPTRSV_DEVICE Index first_index() const { return index_[0]; }
  /// Returns the value of the first entry of the lane; 0 if it has none.
  SPTRSV_DEVICE Scalar first_value() const { return value_[0]; }

  /// Calls `visit(index, value)` for the entries of the lane from number `skip` on. `skip` is 0 or 1.
  template <class Context, class Visit>
  SPTRSV_DEVICE void for_each(Context& ctx, int skip, Visit visit) const {
    SPTRSV_UNROLL
    for (int i = 0; i < Held; ++i) {
      if (i >= skip && has(i)) {
        visit(index_[i], value_[i]);
      }
    }
    for (Offset past = Held * Lanes; end_ - begin_ > past; past += Lanes) {
      const Offset e = begin_ + past;
      visit(ctx.load_constant(indices_ + e), HasValues ? ctx.load_constant(values_ + e) : Scalar{});
    }
  }

 private:
  const Index* indices_;
  const Scalar* values_;
  Offset begin_;  ///< first entry of the lane
  Offset end_;    ///< end of the entries of all lanes
  array_of<Index, Held> index_;
  array_of<Scalar, Held> value_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
