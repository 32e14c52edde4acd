// The kernels of the grid path: a warp has a group of 32 consecutive rows, a lane a row.
//
// Rows do not wait for the others of their warp: a row is published as soon as its own entries have come, and
// may be what another row of the same warp waits for.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/grid_row.hpp"

namespace sptrsv::detail::dataflow {

/// Which row a thread has, and which right-hand sides.
struct grid_place {
  std::int64_t place;
  int sharer;  ///< among the blocks that have the same rows

  template <int BlockThreads, class Context, class Warp>
  SPTRSV_DEVICE static grid_place of(Context& ctx, const Warp& warp, const block_start& start, int sharers) {
    // Through a shuffle: otherwise the compiler reads the special register, which is slow, after the wait
    // again.
    const int thread = warp.shuffle(ctx.thread_rank(), warp.rank());
    const auto block = static_cast<std::uint32_t>(start.block);
    const auto by = static_cast<std::uint32_t>(sharers);
    return {static_cast<std::int64_t>(block / by) * BlockThreads + thread, static_cast<int>(block % by)};
  }
};

/// Each lane waits on its own, for `EntriesAtOnce` entries together. (Threads of a warp make progress on
/// their own from sm_70 on.) `Columns` right-hand sides are solved in one sweep over the group, further ones
/// by other blocks, as far as there are sharers, and in further sweeps; with 1 the kernel is for one.
template <class Tuning, class Scalar, class Index, class Offset, int EntriesAtOnce, int Columns>
struct grid_agent {
  static constexpr int block_threads = Tuning::block_threads;
  using params = grid_params<Scalar, Index, Offset>;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start, p.pages.state, p.x.columns);
    const auto warp = ctx.template group<32>();
    const auto at = grid_place::of<block_threads>(ctx, warp, start, p.sharers);
    if (at.place < p.places) {
      if (at.sharer * Columns < p.x.columns) {
        solve_row(ctx, p, at, start.page);
      }
      p.pages.reset(ctx, start.page ^ 1u, at.place, start.columns_to_reset, at.sharer, p.sharers);
    }
  }

 private:
  using row_type = grid_row<Scalar, Index, Offset, EntriesAtOnce>;
  using batch = typename row_type::batch;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using columns_of = Scalar[Columns];

  template <class Context>
  SPTRSV_DEVICE static void solve_row(Context& ctx, const params& p, const grid_place& at,
                                      std::uint32_t page) {
    const row_type row = row_type::open(ctx, p, at.place);
    word* const components = page == 0 ? p.pages.solved[0] : p.pages.solved[1];
    const std::int64_t column_words = p.pages.size * flag::words;
    const std::int64_t columns = Columns == 1 ? 1 : p.x.columns;
    std::int64_t first = Columns == 1 ? 0 : std::int64_t{at.sharer} * Columns;
    row.wait_for_gate(ctx, components + first * column_words);
    for (; first < columns; first += std::int64_t{p.sharers} * Columns) {
      columns_of rest;
      for (int k = 0; k < Columns; ++k) {
        rest[k] = first + k < columns ? row.load_b(ctx, p, first + k) : Scalar{};
      }
      word* const solved = components + first * column_words;
      batch now = row.first_entries;
      for (Offset e = row.first(); e < row.end; e += row.stride()) {
        const batch next = row.read(ctx, p, static_cast<Offset>(e + row.stride()));
        subtract_products(ctx, now, solved, column_words, columns - first, rest);
        now = next;
      }
      for (int k = 0; k < Columns; ++k) {
        if (first + k < columns) {
          const Scalar x = row.pivot(rest[k]);
          flag::publish(ctx, solved + at.place * flag::words + k * column_words, x);
          row.store_x(ctx, p, page, first + k, x);
        }
      }
    }
  }

  /// rest[k] -= the entries times x_k, when they have come; `columns` of the right-hand sides are present.
  template <class Context>
  SPTRSV_DEVICE static void subtract_products(Context& ctx, const batch& entries, const word* solved,
                                              std::int64_t column_words, std::int64_t columns,
                                              columns_of& rest) {
    const word* component[EntriesAtOnce * Columns];
    typename flag::reading seen[EntriesAtOnce * Columns];
    for (int i = 0; i < EntriesAtOnce; ++i) {
      const word* const first = solved + static_cast<std::int64_t>(entries.column[i]) * flag::words;
      for (int k = 0; k < Columns; ++k) {
        component[i * Columns + k] = first + (k < columns ? k : 0) * column_words;  // absent: one that comes
        seen[i * Columns + k] = entries.column[i] >= 0 ? flag::unseen() : flag::zero();
      }
    }
    flag::wait_all(ctx, component, seen);
    for (int k = 0; k < Columns; ++k) {
      rest[k] = rest[k] - sum_of_products(entries.value, [&](int i) { return seen[i * Columns + k]; });
    }
  }
};

/// For one right-hand side and rows of many entries. The lanes of a warp look together, in turns, each at
/// `EntriesAtOnce` entries: those whose entries have come go on to the next ones, or publish their row while
/// the others' looks are under way.
template <class Tuning, class Scalar, class Index, class Offset, int EntriesAtOnce>
struct grid_turns_agent {
  static constexpr int block_threads = Tuning::block_threads;
  using params = grid_params<Scalar, Index, Offset>;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start, p.pages.state, p.x.columns);
    const auto warp = ctx.template group<32>();
    const auto at = grid_place::of<block_threads>(ctx, warp, start, p.sharers);
    if (at.place - warp.rank() < p.places && at.sharer == 0) {
      solve_rows(ctx, warp, p, at.place, start.page);
    }
    if (at.place < p.places) {
      p.pages.reset(ctx, start.page ^ 1u, at.place, start.columns_to_reset, at.sharer, p.sharers);
    }
  }

 private:
  using row_type = grid_row<Scalar, Index, Offset, EntriesAtOnce>;
  using batch = typename row_type::batch;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using readings = typename flag::reading[EntriesAtOnce];

  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const Warp& warp, const params& p, std::int64_t place,
                                       std::uint32_t page) {
    const row_type row = row_type::open(ctx, p, place);
    word* const solved = page == 0 ? p.pages.solved[0] : p.pages.solved[1];
    Scalar rest = row.load_b(ctx, p, 0);
    row.wait_for_gate(ctx, solved);
    warp.sync();
    Offset e = row.first();
    batch now = row.first_entries;
    batch next = row.read(ctx, p, static_cast<Offset>(e + row.stride()));
    readings seen;
    begin(now, seen);
    bool is_done = place >= p.places;
    bool is_ready = e >= row.end;
    Scalar x{};
    for (;;) {
      if (!is_done && !is_ready) {
        look(ctx, now, solved, seen);
      }
      if (is_ready && !is_done) {
        x = row.pivot(rest);
        flag::publish(ctx, solved + place * flag::words, x);
        is_done = true;
      }
      warp.sync();
      if (warp.all(is_done)) {
        break;
      }
      const word* const missing = is_done ? nullptr : pending_word(now, solved, seen);
      const bool advances = !is_done && missing == nullptr;
      if (advances) {
        rest = rest - sum_of_products(now.value, [&](int i) { return seen[i]; });
        e += row.stride();
        is_ready = e >= row.end;
        now = next;
        next = row.read(ctx, p, static_cast<Offset>(e + row.stride()));
        begin(now, seen);
      }
      if (!warp.any(advances) && missing != nullptr) {
        ctx.spin(missing);
      }
    }
    row.store_x(ctx, p, page, 0, x);
  }

  SPTRSV_DEVICE static void begin(const batch& entries, readings& seen) {
    for (int i = 0; i < EntriesAtOnce; ++i) {
      seen[i] = entries.column[i] >= 0 ? flag::unseen() : flag::zero();
    }
  }

  /// Once at all that is pending.
  template <class Context>
  SPTRSV_DEVICE static void look(Context& ctx, const batch& entries, const word* solved, readings& seen) {
    for (int i = 0; i < EntriesAtOnce; ++i) {
      for (int w = 0; w < flag::words; ++w) {
        if (seen[i].bits[w] == flag::pending) {
          seen[i].bits[w] = ctx.load_relaxed(component(entries, i, solved) + w);
        }
      }
    }
  }

  /// Null if there is none.
  SPTRSV_DEVICE static const word* pending_word(const batch& entries, const word* solved,
                                                const readings& seen) {
    const word* missing = nullptr;
    for (int i = 0; i < EntriesAtOnce; ++i) {
      for (int w = 0; w < flag::words; ++w) {
        missing = seen[i].bits[w] == flag::pending ? component(entries, i, solved) + w : missing;
      }
    }
    return missing;
  }

  SPTRSV_DEVICE static const word* component(const batch& entries, int i, const word* solved) {
    return solved + static_cast<std::int64_t>(entries.column[i]) * flag::words;
  }
};

}  // namespace sptrsv::detail::dataflow
