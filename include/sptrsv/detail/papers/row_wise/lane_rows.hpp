// SPDX-License-Identifier: Apache-2.0
// One lane solves one row. The 32 rows of a warp may depend on one another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/papers/row_wise/row_wise_batch.hpp"

namespace sptrsv::SPTRSV_ABI::detail::row_wise {

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
  using params = System;
  using row = typename params::row;
  using entry_batch = batch<Entries, Columns, System>;

  /// Solves the row at `solve_index` if `present`; a lane without a row passes the solve index of any row. If
  /// `earlier` > 0, lanes first wait for the components before solve index `earlier`, whose rows do not wait
  /// for this warp, and only then for components of one another. All lanes of the warp call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
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
  /// Adds the entries whose components are solved by earlier warps, which do not wait for this one. Returns
  /// true if the row has other entries.
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

  /// Adds the entries [e, end) and calls `finish` after the last one. In each round a lane polls its pending
  /// components once, adds the batch if all are known, and finishes its row after the last batch. No lane
  /// blocks the others, so lanes of one warp can wait for each other.
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

}  // namespace sptrsv::SPTRSV_ABI::detail::row_wise
