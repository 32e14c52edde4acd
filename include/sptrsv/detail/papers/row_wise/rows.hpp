// SPDX-License-Identifier: Apache-2.0
// Rows that poll the components that they need: one lane for each row, or a group of lanes. All components of
// a batch of entries are polled together, so after the last one has arrived one memory round trip is left.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/paper_system.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

/// Up to `Entries` entries of a row, for `Columns` right-hand sides. `System`: as paper_system.
template <int Entries, int Columns, class System>
class batch {
  using Scalar = typename System::scalar;
  using Index = typename System::index;
  using Offset = typename System::offset;

 public:
  using flag = typename std::decay_t<decltype(System::buffers)>::flag;
  using word = typename flag::word;

  /// Range of columns [from, to); take() skips entries outside of it.
  struct range {
    std::int64_t from;
    std::int64_t to;
  };
  SPTRSV_DEVICE static range everything() { return {0, INT64_MAX}; }

  SPTRSV_DEVICE batch(const System& p, std::uint32_t half, std::int64_t first)
      : p_(p), half_(half), first_(first) {}

  /// Takes the entries e, e + stride, ... in the columns `wanted`, and loads once. Returns their number.
  template <class Context>
  SPTRSV_DEVICE int take(Context& ctx, Offset e, Offset end, Offset stride, const range& wanted) {
    int taken = 0;
    for (int i = 0; i < Entries; ++i) {
      const Offset after = stride * static_cast<Offset>(i);
      column_[i] = after < end - e ? p_.column(ctx, e + after) : Index{-1};
      const std::int64_t column = column_[i];
      column_[i] = column >= wanted.from && column < wanted.to ? column_[i] : Index{-1};
      value_[i] = column_[i] >= 0 ? p_.value(ctx, e + after) : Scalar{};
      taken += column_[i] >= 0 ? 1 : 0;
    }
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        const int at = i * Columns + k;
        column_[i] >= 0 ? components_.try_load(ctx, at, component(at)) : components_.set_zero(at);
      }
    }
    return taken;
  }

  /// Loads the pending components once more. Returns the address of a word that is still pending, or null.
  template <class Context>
  SPTRSV_DEVICE const word* poll(Context& ctx) {
    components_.poll(ctx, addresses());
    return components_.missing(addresses());
  }

  /// Polls until all components are known. Call it only if no row that is waited for depends on this warp.
  template <class Context>
  SPTRSV_DEVICE void wait(Context& ctx) {
    components_.wait(ctx, addresses());
  }

  /// Adds value * component to `sums`, in the order of the entries. Entries that were not taken add zero.
  SPTRSV_DEVICE void add_to(array_of<Scalar, Columns>& sums) const {
    for (int i = 0; i < Entries; ++i) {
      for (int k = 0; k < Columns; ++k) {
        sums[k] = sums[k] + value_[i] * components_.value(i * Columns + k);
      }
    }
  }

 private:
  /// Returns the address of component `at` = entry * Columns + right-hand side.
  SPTRSV_DEVICE auto component(int at) const {
    // A right-hand side past the end reads the first one instead, so that the poll ends.
    const std::int64_t rhs = first_ + at % Columns < p_.x.columns ? first_ + at % Columns : first_;
    return p_.buffers.component(half_, rhs, static_cast<std::int64_t>(column_[at / Columns]));
  }
  SPTRSV_DEVICE auto addresses() const {
    return [this](int at) { return component(at); };
  }

  const System& p_;
  std::uint32_t half_;
  std::int64_t first_;
  array_of<Index, Entries> column_;  ///< -1 if there is no entry
  array_of<Scalar, Entries> value_;
  polled_batch<flag, Entries * Columns> components_;
};

/// Solves 32 rows per warp. One sweep over the rows solves `Columns` right-hand sides; a lane polls `Entries`
/// entries of its row together.
///
/// CapelliniSpTRSV (Su, Zhang, Liu et al., ICPP 2020), per lane and sweep:
///   1. Load the row's offsets, pivot and right-hand side.
///   2. Two-phase form only (`earlier` > 0): take the entries in columns before `earlier`, a batch at a
///      time, and poll each batch until its components are known. The rows of these columns belong to
///      earlier warps, which do not wait for this warp, so a loop of the lane's own cannot deadlock.
///   3. Take the remaining entries in rounds that all lanes execute together (add_in_rounds): poll the
///      batch once; if all its components are known, add it to the sum and take the next batch; after the
///      last batch publish the component.
///
/// A lane never loops in step 3 on its own, so a lane that other lanes of the warp wait for can always go on.
template <int Entries, int Columns, class System>
struct lane_rows {
  using Scalar = typename System::scalar;
  using Offset = typename System::offset;
  using row = typename System::row;
  using entry_batch = batch<Entries, Columns, System>;

  /// Solves the row at `solve_index` if `present`; a lane without a row passes the solve index of any row.
  /// `earlier`: see step 2. All lanes of the warp call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const System& p, std::uint32_t half,
                                  std::int64_t solve_index, bool present, std::int64_t earlier) {
    row r = p.open(ctx, solve_index);
    r.end = present ? r.end : r.begin;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      array_of<Scalar, Columns> b;
      array_of<Scalar, Columns> sums = {};
      for (int k = 0; k < Columns; ++k) {
        b[k] = present && first + k < p.x.columns ? p.load_b(ctx, r, first + k) : Scalar{};
      }
      entry_batch entries(p, half, first);
      auto wanted = entry_batch::everything();
      Offset begin = r.begin;
      if (earlier > 0) {
        const bool any_left = add_earlier(ctx, entries, r, earlier, sums);
        wanted.from = earlier;
        begin = any_left ? begin : r.end;
        warp.sync();  // lanes that waited for different components go on together
      }
      const auto finish = [&] {
        for (int k = 0; k < Columns; ++k) {
          if (first + k < p.x.columns) {
            p.finish(ctx, r, half, first + k, b[k], sums[k]);
          }
        }
      };
      add_in_rounds(ctx, warp, entries, begin, r.end, wanted, present, sums, finish);
    }
  }

 private:
  /// Step 2. Tells whether entries are left.
  template <class Context>
  SPTRSV_DEVICE static bool add_earlier(Context& ctx, entry_batch& entries, const row& r,
                                        std::int64_t earlier, array_of<Scalar, Columns>& sums) {
    Offset left = r.end - r.begin;
    for (Offset e = r.begin; e < r.end; e += Entries) {
      left -= static_cast<Offset>(entries.take(ctx, e, r.end, 1, {0, earlier}));
      entries.wait(ctx);
      entries.add_to(sums);
    }
    return left > 0;
  }

  /// Step 3, for the entries [e, end). Calls `finish` after the last one.
  template <class Context, class Warp, class Finish>
  SPTRSV_DEVICE static void add_in_rounds(Context& ctx, const Warp& warp, entry_batch& entries, Offset e,
                                          Offset end, const typename entry_batch::range& wanted, bool present,
                                          array_of<Scalar, Columns>& sums, const Finish& finish) {
    bool done = !present;
    if (!done) {
      entries.take(ctx, e, end, 1, wanted);
    }
    for (;;) {
      const typename entry_batch::word* missing = nullptr;
      bool advanced = false;
      if (!done) {
        missing = entries.poll(ctx);
        advanced = missing == nullptr;
      }
      if (advanced) {
        entries.add_to(sums);
        done = end - e <= Entries;
        if (done) {
          finish();
        } else {
          e += Entries;
          entries.take(ctx, e, end, 1, wanted);
        }
      }
      if (warp.all(done)) {
        return;
      }
      if (!warp.any(advanced) && missing != nullptr) {
        ctx.pause(missing);
      }
    }
  }
};

/// One sweep over the rows solves `Columns` right-hand sides; a lane polls `Entries` entries together.
///
/// Per row and sweep:
///   1. Lane k of the row loads the right-hand side first + k.
///   2. The lanes share the row's entries round-robin. Each lane polls its components and adds its products.
///   3. The lanes add their sums in a butterfly of fixed order.
///   4. Lane k divides by the pivot and publishes right-hand side first + k.
///
/// A lane waits in a loop of its own (step 2). The rows of a warp must therefore not depend on one another.
template <int Entries, int Columns, class System>
struct tile_rows {
  using Scalar = typename System::scalar;
  using Offset = typename System::offset;
  using row = typename System::row;

  /// Solves the row at `solve_index`, if `present`, together with the other lanes of the aligned group of
  /// `lanes` lanes. `lanes` is a power of two and the same in the whole warp; a group without a row passes
  /// the solve index of any row. All lanes of the warp call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const System& p, std::uint32_t half,
                                  std::int64_t solve_index, bool present, int lanes) {
    const int rank = warp.rank() & (lanes - 1);
    row r = p.open(ctx, solve_index);
    r.end = present ? r.end : r.begin;
    const bool is_short = lanes == 32 && r.end - r.begin <= 32;  // the row is the only one of its warp
    // With several right-hand sides a lane without entries may finish one, and needs the sum.
    const int summed_lanes =
        is_short && Columns == 1 ? simt::ceil_power_of_two(static_cast<int>(r.end - r.begin)) : lanes;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      // Lane k of the row finishes right-hand side first + k. Its b is loaded before the wait.
      const auto finishes = [&](int k) {
        return present && rank == (k & (lanes - 1)) && first + k < p.x.columns;
      };
      array_of<Scalar, Columns> b;
      array_of<Scalar, Columns> sums = {};
      for (int k = 0; k < Columns; ++k) {
        b[k] = finishes(k) ? p.load_b(ctx, r, first + k) : Scalar{};
      }
      if (is_short) {
        add_entries<1>(ctx, p, half, r, rank, lanes, first, sums);
      } else {
        add_entries<Entries>(ctx, p, half, r, rank, lanes, first, sums);
      }
      // Lanes that waited for different components go on together: shuffles of a diverged warp are slow.
      warp.sync();
      for (int k = 0; k < Columns; ++k) {
        const Scalar sum = simt::reduce(warp, sums[k], summed_lanes, simt::plus{});
        if (finishes(k)) {
          p.finish(ctx, r, half, first + k, b[k], sum);
        }
      }
    }
  }

 private:
  /// Adds a_e x_e to sums[k] for this lane's entries of the row.
  template <int Count, class Context>
  SPTRSV_DEVICE static void add_entries(Context& ctx, const System& p, std::uint32_t half, const row& r,
                                        int rank, int lanes, std::int64_t first,
                                        array_of<Scalar, Columns>& sums) {
    batch<Count, Columns, System> entries(p, half, first);
    for (Offset e = r.begin + static_cast<Offset>(rank); e < r.end; e += static_cast<Offset>(Count * lanes)) {
      entries.take(ctx, e, r.end, static_cast<Offset>(lanes), entries.everything());
      entries.wait(ctx);
      entries.add_to(sums);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
