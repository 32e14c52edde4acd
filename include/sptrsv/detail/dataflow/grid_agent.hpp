// The kernel of the grid path: a warp has a group of 32 consecutive rows, a lane a row.
//
// Rows do not wait for the others of their warp: a row is published as soon as its own entries have come, and
// may be what another row of the same warp waits for.
#pragma once

#include <cstdint>

#include "sptrsv/detail/column_pack.hpp"
#include "sptrsv/detail/dataflow/grid_groups.hpp"
#include "sptrsv/detail/solve_pages.hpp"

namespace sptrsv::detail::dataflow {

template <class Scalar, class Index, class Offset>
struct grid_params {
  std::int64_t size;    ///< of the system
  std::int64_t places;  ///< rows, partial ones included
  int sharers;          ///< blocks that have the same rows and take turns with the right-hand sides
  bool sweep_by_sweep;  ///< all rows for a sharer's right-hand sides come before those for the next's
  bool reversed;
  const Offset* offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;  ///< by place; null if it is unit
  const Index*
      position_of_place;  ///< -1 for partial rows; null where rows stand in the order of substitution
  const Index* gates;     ///< by group: a place some levels earlier, -1 if none; null: no gates
  launch_share share;
  solve_pages<Scalar> pages;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// A lane waits for `EntriesAtOnce` entries together. `Columns` right-hand sides are solved in one sweep over
/// the group, further ones by other blocks, as far as there are sharers, and in further sweeps; with 1 the
/// kernel is for one right-hand side. In a page the components of a sweep stand together by place; the
/// last right-hand side stands for those that the last sweep misses, too.
template <class Tuning, class Scalar, class Index, class Offset, int EntriesAtOnce, int Columns>
struct grid_agent {
  static constexpr int block_threads = Tuning::block_threads;
  using params = grid_params<Scalar, Index, Offset>;
  using unknown = unknown_t<Scalar, Columns>;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start, p.pages.state, (p.x.columns + Columns - 1) / Columns * Columns,
                p.share.solve_blocks);
    const auto warp = ctx.template group<32>();
    // Through a shuffle: otherwise the compiler reads the special register, which is slow, after the wait
    // again.
    const int thread = warp.shuffle(ctx.thread_rank(), warp.rank());
    const auto block = static_cast<std::uint32_t>(start.block);
    const auto sharers = static_cast<std::uint32_t>(p.sharers);
    auto sharer = static_cast<int>(block % sharers);
    std::uint32_t rows_block = block / sharers;
    if (Columns > 1 && p.sweep_by_sweep) {
      const std::uint32_t blocks_of_sharer = ctx.grid_blocks() / sharers;
      sharer = static_cast<int>(block / blocks_of_sharer);
      rows_block = block % blocks_of_sharer;
    }
    const std::int64_t place = std::int64_t{rows_block} * block_threads + thread;
    if (std::int64_t{sharer} * Columns < p.x.columns && place - warp.rank() < p.places) {
      solve_rows(ctx, warp, p, place, sharer, start.page);
    }
    if (place < p.places) {
      word* const other = components_of(p, start.page ^ 1u) + place * flag::words;
      for (std::int64_t sweep = sharer; sweep * Columns < start.columns_to_reset; sweep += p.sharers) {
        flag::reset(ctx, other + sweep * sweep_words(p));
      }
    }
  }

 private:
  /// Some entries of a lane.
  struct batch {
    Index column[EntriesAtOnce];  ///< -1 where there is no entry
    Scalar value[EntriesAtOnce];
  };

  /// The slots of a lane: begin, begin + 32, ... below end. Batches end with the last one, so that a row of
  /// few entries, which stand last, has them in one batch.
  struct span_of_entries {
    Offset begin;
    Offset end;

    SPTRSV_DEVICE Offset first() const {
      constexpr auto stride = static_cast<Offset>(group_rows * EntriesAtOnce);
      const Offset width = (end - begin + group_rows - 1) / group_rows * group_rows;
      return begin + width - (width + stride - 1) / stride * stride;
    }
  };

  /// Of the first sweep, by place.
  SPTRSV_DEVICE static word* components_of(const params& p, std::uint32_t page) {
    return (page == 0 ? p.pages.solved[0] : p.pages.solved[1]) + p.share.first_place * flag::words;
  }
  /// From a sweep's components to those of the next.
  SPTRSV_DEVICE static std::int64_t sweep_words(const params& p) { return p.pages.size * flag::words; }

  /// The lanes of a warp go through the loop together, each with its own row: a row whose entries have come
  /// is published while the others look again.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const Warp& warp, const params& p, std::int64_t place,
                                       int sharer, std::uint32_t page) {
    // All that does not depend on x comes before the first wait.
    const bool present = place < p.places;
    const std::int64_t group = place / group_rows;
    const Offset begin = ctx.load_constant(p.offsets + group) + static_cast<Offset>(place % group_rows);
    const Offset end = ctx.load_constant(p.offsets + group + 1);
    const span_of_entries entries{begin, end};
    const Offset first_entry = entries.first();
    const batch first_entries = read(ctx, p, entries, first_entry);
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + group);
    const Index position = !present                         ? Index{-1}
                           : p.position_of_place == nullptr ? static_cast<Index>(place)
                                                            : ctx.load_constant(p.position_of_place + place);
    const pivot_divisor<Scalar> pivot(p.diagonal == nullptr || !present
                                          ? pivot_divisor<Scalar>::one()
                                          : ctx.load_constant(p.diagonal + place));
    word* const components = components_of(p, page);
    const std::int64_t sweeps = Columns == 1 ? 1 : (p.x.columns + Columns - 1) / Columns;
    std::int64_t sweep = Columns == 1 ? 0 : sharer;
    if (gate >= 0) {
      wait_for_gate(ctx, components + sweep * sweep_words(p) + static_cast<std::int64_t>(gate) * flag::words);
    }
    constexpr auto stride = static_cast<Offset>(group_rows * EntriesAtOnce);
    for (;;) {
      const std::int64_t first = Columns == 1 ? 0 : sweep * Columns;
      unknown rest = side_of(ctx, p, position, first);
      word* const solved = components + sweep * sweep_words(p);
      Offset e = first_entry;
      batch now = first_entries;
      batch next = read(ctx, p, entries, e + stride);
      awaited wait = awaited_by(ctx, now, solved);
      bool done = !present;
      do {
        const bool known = flag::look_at_all(ctx, wait.components, wait.seen);
        if (!done && known) {
          subtract_products(now, wait, rest);
          e += stride;
          done = e >= end;
          if (done) {
            publish(ctx, p, place, position, page, first, pivot, rest, solved);
          } else {
            now = next;
            next = read(ctx, p, entries, e + stride);
            wait = awaited_by(ctx, now, solved);
          }
        } else if (!done) {
          const word* const missing = flag::missing_of(wait.components, wait.seen);
          gate < 0 ? ctx.pause(missing) : ctx.spin(missing);  // without gates many poll
        }
      } while (warp.any(!done));
      sweep += p.sharers;
      if (Columns == 1 || sweep >= sweeps) {
        return;
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const params& p, std::int64_t place, Index position,
                                    std::uint32_t page, std::int64_t first,
                                    const pivot_divisor<Scalar>& pivot, unknown rest, word* solved) {
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      column_of(rest, k) = pivot(column_of(rest, k));
    }
    flag::publish(ctx, solved + place * flag::words, rest);
    if (position < 0) {
      return;
    }
    Scalar* const to = p.x.data + row_of(p, position) * p.x.row_stride;
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      ctx.store(to + present_column(p, first + k) * p.x.column_stride, column_of(rest, k));
    }
    if (!is_finite(rest)) {
      p.pages.note_bad(ctx, page, static_cast<std::int64_t>(position));
    }
  }

  /// Of the right-hand sides from `first` on, scaled; of partial rows zero.
  template <class Context>
  SPTRSV_DEVICE static unknown side_of(Context& ctx, const params& p, Index position, std::int64_t first) {
    unknown side{};
    if (position < 0) {
      return side;
    }
    const Scalar* const from = p.b.data + row_of(p, position) * p.b.row_stride;
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      column_of(side, k) = ctx.load(from + present_column(p, first + k) * p.b.column_stride);
    }
    return p.alpha * side;
  }

  /// Of the right-hand sides of a sweep; the last one stands for those that are missing, too.
  SPTRSV_DEVICE static std::int64_t present_column(const params& p, std::int64_t column) {
    return Columns == 1 ? 0 : column < p.x.columns ? column : p.x.columns - 1;
  }

  SPTRSV_DEVICE static std::int64_t row_of(const params& p, Index position) {
    return p.reversed ? p.size - 1 - position : static_cast<std::int64_t>(position);
  }

  /// What a lane waits for.
  struct awaited {
    const word* components[EntriesAtOnce];
    typename flag::reading seen[EntriesAtOnce];
  };

  template <class Context>
  SPTRSV_DEVICE static awaited awaited_by(Context& ctx, const batch& entries, const word* solved) {
    awaited made;
    for (int i = 0; i < EntriesAtOnce; ++i) {
      made.components[i] = solved + static_cast<std::int64_t>(entries.column[i]) * flag::words;
      made.seen[i] = entries.column[i] >= 0 ? flag::look_in_cache(ctx, made.components[i]) : flag::zero();
    }
    return made;
  }

  /// One word to look at while the solve is still some levels away: otherwise thousands of warps would ask
  /// for all that they need again and again, and slow down those whose turn it is.
  template <class Context>
  SPTRSV_DEVICE static void wait_for_gate(Context& ctx, const word* gate) {
    simt::wait_until(ctx, gate, [](word w) { return w != flag::pending; });
  }

  template <class Context>
  SPTRSV_DEVICE static batch read(Context& ctx, const params& p, const span_of_entries& entries, Offset e) {
    batch made;
    for (int i = 0; i < EntriesAtOnce; ++i) {
      const Offset slot = e + static_cast<Offset>(group_rows * i);
      const bool present = slot >= entries.begin && slot < entries.end;
      made.column[i] = present ? ctx.load_constant(p.columns + slot) : Index{-1};
      made.value[i] = present ? ctx.load_constant(p.values + slot) : Scalar{};
    }
    return made;
  }

  /// Of the entries with their components.
  SPTRSV_DEVICE static void subtract_products(const batch& entries, const awaited& wait, unknown& rest) {
    unknown sum[2] = {};  // in two parts, whose order is fixed: half the latency of one
    for (int i = 0; i < EntriesAtOnce; ++i) {
      sum[i % 2] = sum[i % 2] + entries.value[i] * wait.seen[i].value();
    }
    rest = rest - (sum[0] + sum[1]);
  }
};

}  // namespace sptrsv::detail::dataflow
