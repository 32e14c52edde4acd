// A lane per row: a warp solves 32 rows, which may depend on one another.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/batch.hpp"

namespace sptrsv::detail::row_wise {

/// `Columns` right-hand sides are solved in one sweep over the rows, further ones in further sweeps; a lane
/// polls `Entries` entries of its row together.
template <int Entries, int Columns, class Scalar, class Index, class Offset,
          class Params = system_params<Scalar, Index, Offset>>
struct lane_rows {
  using params = Params;
  using row = typename params::row;
  using entry_batch = batch<Entries, Columns, Scalar, Index, Offset, Params>;

  /// Lane r has the row at first_place + r, if that lies below `end_place`. With `waits_first` lanes first
  /// wait for what they need of rows before `first_place`, and only then for one another. All lanes call it.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve(Context& ctx, const Warp& warp, const params& p, std::uint32_t page,
                                  std::int64_t first_place, std::int64_t end_place, bool waits_first) {
    const std::int64_t place = first_place + warp.rank();
    const bool present = place < end_place;
    row r = p.open(ctx, present ? place : first_place);
    r.end = present ? r.end : r.begin;
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      Scalar b[Columns];
      Scalar sums[Columns] = {};
      for (int k = 0; k < Columns; ++k) {
        b[k] = present && first + k < p.x.columns ? p.load_b(ctx, r, first + k) : Scalar{};
      }
      entry_batch entries(p, page, first);
      auto wanted = entry_batch::everything();
      Offset begin = r.begin;
      if (waits_first) {
        const bool any_left = add_earlier(ctx, entries, r, first_place, sums);
        wanted.from = first_place;
        begin = any_left ? begin : r.end;
        warp.sync();  // lanes that waited for different values go on together
      }
      const auto finish = [&] {
        for (int k = 0; k < Columns; ++k) {
          if (first + k < p.x.columns) {
            p.finish(ctx, r, page, first + k, b[k], sums[k]);
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
                                        std::int64_t first_place, Scalar (&sums)[Columns]) {
    Offset left = r.end - r.begin;
    for (Offset e = r.begin; e < r.end; e += Entries) {
      left -= static_cast<Offset>(entries.take(ctx, e, r.end, 1, {0, first_place}));
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
        missing = entries.look_again(ctx);
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
