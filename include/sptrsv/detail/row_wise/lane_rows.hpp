// A lane per row: a warp solves 32 rows, which may depend on one another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/batch.hpp"

namespace sptrsv::detail::row_wise {

/// `Columns` right-hand sides are solved in one sweep over the rows, further ones in further sweeps; a lane
/// polls `Entries` entries of its row together.
template <int Entries, int Columns, class System>
struct lane_rows {
  using Scalar = typename System::scalar;
  using Offset = typename System::offset;
  using params = System;
  using row = typename params::row;
  using entry_batch = batch<Entries, Columns, System>;

  /// This lane has the row at `place` (some row's place) if it is `present`. Where `earlier` is not 0 lanes
  /// first wait for what they need of rows before that place, which do not wait for this warp, and only then
  /// for one another. All lanes call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, std::uint32_t half,
                                  std::int64_t solve_index, bool present, std::int64_t earlier) {
    row r = p.open(ctx, solve_index);
    r.end = present ? r.end : r.begin;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      Scalar b[Columns];
      Scalar sums[Columns] = {};
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
        warp.sync();  // lanes that waited for different values go on together
      }
      const auto finish = [&] {
        for (int k = 0; k < Columns; ++k) {
          if (first + k < p.x.columns) {
            p.finish(ctx, r, half, first + k, b[k], sums[k]);
          }
        }
      };
      add_in_turns(ctx, warp, entries, begin, r.end, wanted, present, sums, finish);
    }
  }

 private:
  /// Entries whose producers are in earlier warps, which do not wait for this one. Returns whether the row
  /// has others.
  template <class Context>
  SPTRSV_DEVICE static bool add_earlier(Context& ctx, entry_batch& entries, const row& r,
                                        std::int64_t earlier, Scalar (&sums)[Columns]) {
    Offset left = r.end - r.begin;
    for (Offset e = r.begin; e < r.end; e += Entries) {
      left -= static_cast<Offset>(entries.take(ctx, e, r.end, 1, {0, earlier}));
      entries.wait(ctx);
      entries.add_to(sums);
    }
    return left > 0;
  }

  /// No lane holds up another: in each turn a lane looks once at what it misses, consumes what has come, and
  /// finishes its row if that was all. So a lane that waits for another of its warp lets it go on.
  template <class Context, class Warp, class Finish>
  SPTRSV_DEVICE static void add_in_turns(Context& ctx, const Warp& warp, entry_batch& entries, Offset e,
                                         Offset end, const typename entry_batch::range& wanted, bool present,
                                         Scalar (&sums)[Columns], const Finish& finish) {
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

}  // namespace sptrsv::detail::row_wise
