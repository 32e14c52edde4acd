// SPDX-License-Identifier: Apache-2.0
// The kernel of the row_per_thread path. A warp solves a slice of 32 consecutive rows in solve order, one row
// for each lane. With several right-hand sides neighbouring lanes take the same row, each for some of them,
// and a warp has so many rows fewer. Each lane:
//
//   1. load the first entries, the pivot and the index of the row: all that does not depend on x
//   2. poll the slice's gate, if it has one, until it is solved
//   3. repeat until all rows of the warp are solved:
//      poll the components of x that the next entries need; if all have come, subtract the products and go on
//      with the entries after them; after the last ones divide by the pivot, publish the component and store
//      it to x
//
// A lane does not wait for the other rows of its warp: it publishes its component as soon as its own entries
// have come. So another row of the same warp may need this component.
//
// Progress: a row needs rows with smaller solve indices only, and blocks take their rows in the order of
// their tickets.
//
// The file is long because it is the body of one kernel, with and without rewritten right-hand sides.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/rhs_pack.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"
#include "sptrsv/detail/sync/polled_batch.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

/// A lane polls `EntriesAtOnce` entries together. It solves a row for a pack of `Columns` right-hand sides,
/// and the lanes of a row solve it for as many packs: that is a sweep. Further right-hand sides are solved by
/// other blocks (rhs_blocks) and in further sweeps. `OneRhs`: the kernel solves a single right-hand side, and
/// `Columns` is 1. `CombinesRhs`: rows have rewritten right-hand sides, which the kernel combines before it
/// waits; b and x must not overlap. `SharesRows`: 2 to the power of `lane_bits` lanes have the same row,
/// otherwise one. In the double buffer the components of one sweep stand by solve index, all of a row side by
/// side, so that the lanes of a row read neighbouring words. If the last pack has fewer right-hand sides, the
/// last one stands for the missing ones, too; lanes without a pack have no work.
template <class Tuning, class Scalar, class Index, class Offset, int EntriesAtOnce, int Columns, bool OneRhs,
          bool CombinesRhs = false, bool SharesRows = false>
struct agent {
  static_assert(!OneRhs || Columns == 1);
  static_assert(!CombinesRhs || OneRhs);
  static_assert(!SharesRows || !OneRhs);
  static constexpr int block_threads = Tuning::block_threads;
  using stored = stored_entry_t<Scalar, Tuning::entries>;
  using params = kernel_params<Scalar, Index, Offset, stored>;
  using unknown = unknown_t<Scalar, Columns>;
  using flag = value_flag<unknown>;
  using word = typename flag::word;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    start_block(ctx, start, p.buffers.state, (p.x.columns + Columns - 1) / Columns * Columns,
                p.share.solve_blocks);
    const auto warp = ctx.template group<32>();
    // The shuffle keeps the value in a register; the compiler would read the slow special register again.
    const int thread = warp.shuffle(ctx.thread_rank(), warp.rank());
    const auto block = static_cast<std::uint32_t>(start.block);
    const auto rhs_blocks = static_cast<std::uint32_t>(p.rhs_blocks);
    auto rhs_block = static_cast<int>(block % rhs_blocks);
    std::uint32_t rows_block = block / rhs_blocks;
    if (!OneRhs && p.sweep_by_sweep) {
      const std::uint32_t blocks_of_rhs_block = ctx.grid_blocks() / rhs_blocks;
      rhs_block = static_cast<int>(block / blocks_of_rhs_block);
      rows_block = block % blocks_of_rhs_block;
    }
    const std::int64_t lane = std::int64_t{rows_block} * block_threads + thread;
    const std::int64_t solve_index = lane >> lane_bits(p);
    const int pack = SharesRows ? static_cast<int>(lane & ((1 << lane_bits(p)) - 1)) : 0;
    const bool has_rows = (lane - warp.rank()) >> lane_bits(p) < p.solve_size;
    if ((std::int64_t{rhs_block} << lane_bits(p)) * Columns < p.x.columns && has_rows) {
      solve_rows(ctx, warp, p, solve_index, pack, rhs_block, start.half);
    }
    if (solve_index < p.solve_size) {
      // Whatever the layout of the other buffer is, it fills the words of its right-hand sides.
      word* const other = flag::address(components_of(p, start.half ^ 1u), solve_index);
      for (std::int64_t column = (std::int64_t{rhs_block} << lane_bits(p)) + pack;
           column * Columns < start.rhs_to_reset; column += std::int64_t{p.rhs_blocks} << lane_bits(p)) {
        flag::reset(ctx, other + column * pack_words(p));
      }
    }
  }

 private:
  /// The entries of a lane that are polled together.
  struct batch {
    array_of<Index, EntriesAtOnce> column;  ///< -1 where there is no entry
    array_of<stored, EntriesAtOnce> value;
  };

  /// The components of x that the entries of a batch need.
  struct needed_components {
    stored_addresses<word, EntriesAtOnce> addresses;
    polled_batch<flag, EntriesAtOnce> components;
  };

  /// The slots of a lane: begin, begin + 32, ... below end. Batches end with the last slot: the entries of a
  /// short row stand last, so that they are in one batch.
  struct span_of_entries {
    Offset begin;
    Offset end;

    SPTRSV_DEVICE Offset first() const {
      constexpr auto stride = static_cast<Offset>(slice_rows * EntriesAtOnce);
      const Offset width = (end - begin + slice_rows - 1) / slice_rows * slice_rows;
      return begin + width - (width + stride - 1) / stride * stride;
    }
  };

  /// The components of a pack of right-hand sides, by solve index.
  struct pack_components {
    word* first;
    int row_words;  ///< distance from a row to the next one

    SPTRSV_DEVICE word* at(std::int64_t solve_index) const {
      return SharesRows ? first + solve_index * row_words : flag::address(first, solve_index);
    }
  };

  SPTRSV_DEVICE static int lane_bits(const params& p) { return SharesRows ? p.lane_bits : 0; }
  /// Returns the components of the first sweep, by solve index.
  SPTRSV_DEVICE static word* components_of(const params& p, std::uint32_t half) {
    return flag::address(half == 0 ? p.buffers.solved[0] : p.buffers.solved[1], p.share.first_solve_index);
  }
  /// Returns the number of words that one pack takes in a buffer.
  SPTRSV_DEVICE static std::int64_t pack_words(const params& p) { return p.buffers.size * flag::words; }

  /// Solves the rows of a warp. The lanes go through the loop together, each with its own row: a lane whose
  /// entries have come goes on while the others poll again. It is long because its steps share registers.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_rows(Context& ctx, const Warp& warp, const params& p,
                                       std::int64_t solve_index, int pack, int rhs_block,
                                       std::uint32_t half) {
    // All that does not depend on x is loaded before the first wait.
    bool present = solve_index < p.solve_size;
    const std::int64_t slice = solve_index / slice_rows;
    const Offset begin = ctx.load_constant(p.offsets + slice) + static_cast<Offset>(solve_index % slice_rows);
    const Offset end = ctx.load_constant(p.offsets + slice + 1);
    const span_of_entries entries{begin, end};
    const Offset first_entry = entries.first();
    const batch first_entries = read(ctx, p, entries, first_entry);
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + slice);
    Index substitution_index = !present ? Index{-1}
                               : p.substitution_indices == nullptr
                                   ? static_cast<Index>(solve_index)
                                   : ctx.load_constant(p.substitution_indices + solve_index);
    const pivot_divisor<Scalar> pivot(p.diagonal == nullptr || !present
                                          ? pivot_divisor<Scalar>::one()
                                          : entry_cast<Scalar>(ctx.load_constant(p.diagonal + solve_index)));
    word* const components = components_of(p, half);
    const Scalar products = CombinesRhs ? products_of_rhs(ctx, p, substitution_index) : Scalar{};
    const std::int64_t packs = OneRhs ? 1 : (p.x.columns + Columns - 1) / Columns;
    std::int64_t first_pack = OneRhs ? 0 : std::int64_t{rhs_block} << lane_bits(p);
    if (gate >= 0) {
      // Any of the gate's components will do: that of the first pack is always solved.
      wait_for_gate(ctx, components_of_pack(p, components, packs, first_pack, 0).at(gate));
    }
    constexpr auto stride = static_cast<Offset>(slice_rows * EntriesAtOnce);
    for (;;) {
      if (SharesRows && first_pack + pack >= packs) {
        present = false;
        substitution_index = Index{-1};
        pack = 0;
      }
      const std::int64_t first = OneRhs ? 0 : (first_pack + pack) * Columns;
      unknown rest = rhs_of(ctx, p, substitution_index, first);
      if constexpr (CombinesRhs) {
        rest = rest - p.alpha * products;
      }
      const pack_components solved = components_of_pack(p, components, packs, first_pack, pack);
      Offset e = first_entry;
      batch now = first_entries;
      batch next = read(ctx, p, entries, e + stride);
      needed_components needed = load_components(ctx, now, solved);
      bool done = !present;
      do {
        const bool known = needed.components.poll(ctx, needed.addresses);
        if (!done && known) {
          subtract_products(now, needed, rest);
          e += stride;
          done = e >= end;
          if (done) {
            publish(ctx, p, solve_index, substitution_index, half, first, pivot, rest, solved);
          } else {
            now = next;
            next = read(ctx, p, entries, e + stride);
            needed = load_components(ctx, now, solved);
          }
        } else if (!done) {
          const word* const missing = needed.components.missing(needed.addresses);
          gate < 0 ? ctx.pause(missing) : ctx.spin(missing);  // without gates many warps poll
        }
      } while (warp.any(!done));
      first_pack += std::int64_t{p.rhs_blocks} << lane_bits(p);
      if (OneRhs || first_pack >= packs) {
        return;
      }
    }
  }

  /// Returns the components of pack `pack` of the sweep that begins with `first_pack`, of `packs` in all.
  SPTRSV_DEVICE static pack_components components_of_pack(const params& p, word* components,
                                                          std::int64_t packs, std::int64_t first_pack,
                                                          int pack) {
    if constexpr (SharesRows) {
      const std::int64_t left = packs - first_pack;
      const int row_packs = left >> lane_bits(p) == 0 ? static_cast<int>(left) : 1 << lane_bits(p);
      return {components + first_pack * pack_words(p) + pack * flag::words, row_packs * flag::words};
    } else {
      return {components + first_pack * pack_words(p), flag::words};
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const params& p, std::int64_t solve_index,
                                    Index substitution_index, std::uint32_t half, std::int64_t first,
                                    const pivot_divisor<Scalar>& pivot, unknown rest,
                                    const pack_components& solved) {
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      rhs_value(rest, k) = pivot(rhs_value(rest, k));
    }
    flag::publish(ctx, solved.at(solve_index), rest);
    if (substitution_index < 0) {
      return;
    }
    Scalar* const to = p.x.data + row_of(p, substitution_index) * p.x.row_stride;
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      ctx.store(to + present_rhs(p, first + k) * p.x.column_stride, rhs_value(rest, k));
    }
    if (!is_finite(rest)) {
      p.buffers.record_nonfinite(ctx, half, static_cast<std::int64_t>(substitution_index));
    }
  }

  /// Returns alpha times the right-hand sides from `first` on; zero for a partial row.
  template <class Context>
  SPTRSV_DEVICE static unknown rhs_of(Context& ctx, const params& p, Index substitution_index,
                                      std::int64_t first) {
    unknown rhs{};
    if (substitution_index < 0) {
      return rhs;
    }
    const Scalar* const from = p.b.data + row_of(p, substitution_index) * p.b.row_stride;
    SPTRSV_UNROLL
    for (int k = 0; k < Columns; ++k) {
      rhs_value(rhs, k) = ctx.load(from + present_rhs(p, first + k) * p.b.column_stride);
    }
    return p.alpha * rhs;
  }

  /// Returns sum_j w_ij b_j of the row.
  template <class Context>
  SPTRSV_DEVICE static Scalar products_of_rhs(Context& ctx, const params& p, Index substitution_index) {
    constexpr int loads = 8;  // that are in flight together
    Scalar sum{};
    if (substitution_index < 0) {
      return sum;
    }
    const Offset end = ctx.load_constant(p.rhs.row_offsets + substitution_index + 1);
    for (Offset e = ctx.load_constant(p.rhs.row_offsets + substitution_index); e < end; e += loads) {
      Index needs[loads];
      Scalar factors[loads];
      SPTRSV_UNROLL
      for (int i = 0; i < loads; ++i) {
        const bool present = e + static_cast<Offset>(i) < end;
        needs[i] = present ? ctx.load_constant(p.rhs.columns + e + i) : Index{-1};
        factors[i] = present ? ctx.load_constant(p.rhs.values + e + i) : Scalar{};
      }
      Scalar b[loads];
      SPTRSV_UNROLL
      for (int i = 0; i < loads; ++i) {
        b[i] = needs[i] >= 0 ? ctx.load(p.b.data + row_of(p, needs[i]) * p.b.row_stride) : Scalar{};
      }
      SPTRSV_UNROLL
      for (int i = 0; i < loads; ++i) {
        sum = sum + factors[i] * b[i];
      }
    }
    return sum;
  }

  /// Returns the column of b and x; the last one stands for those that the last pack misses.
  SPTRSV_DEVICE static std::int64_t present_rhs(const params& p, std::int64_t column) {
    return OneRhs ? 0 : column < p.x.columns ? column : p.x.columns - 1;
  }

  SPTRSV_DEVICE static std::int64_t row_of(const params& p, Index substitution_index) {
    return p.reversed ? p.size - 1 - substitution_index : static_cast<std::int64_t>(substitution_index);
  }

  /// Loads the components of a batch for the first time.
  template <class Context>
  SPTRSV_DEVICE static needed_components load_components(Context& ctx, const batch& entries,
                                                         const pack_components& solved) {
    needed_components made;
    for (int i = 0; i < EntriesAtOnce; ++i) {
      made.addresses.of[i] = solved.at(entries.column[i]);
      if (entries.column[i] >= 0) {
        made.components.try_load_cached(ctx, i, made.addresses(i));
      } else {
        made.components.set_zero(i);
      }
    }
    return made;
  }

  /// Polls a single word while the solve is still some levels away. Otherwise thousands of warps would poll
  /// all that they need again and again, and slow down the warps whose rows can be solved.
  template <class Context>
  SPTRSV_DEVICE static void wait_for_gate(Context& ctx, const word* gate) {
    simt::wait_until(ctx, gate, [](word w) { return w != flag::pending; });
  }

  template <class Context>
  SPTRSV_DEVICE static batch read(Context& ctx, const params& p, const span_of_entries& entries, Offset e) {
    batch made;
    for (int i = 0; i < EntriesAtOnce; ++i) {
      const Offset slot = e + static_cast<Offset>(slice_rows * i);
      const bool present = slot >= entries.begin && slot < entries.end;
      made.column[i] = present ? ctx.load_constant(p.columns + slot) : Index{-1};
      made.value[i] = present ? ctx.load_constant(p.values + slot) : stored{};
    }
    return made;
  }

  /// Subtracts the products of the entries and their components.
  SPTRSV_DEVICE static void subtract_products(const batch& entries, const needed_components& needed,
                                              unknown& rest) {
    unknown sum[2] = {};  // two sums, added in a fixed order: half the latency of one
    for (int i = 0; i < EntriesAtOnce; ++i) {
      sum[i % 2] = sum[i % 2] + entry_cast<Scalar>(entries.value[i]) * needed.components.value(i);
    }
    rest = rest - (sum[0] + sum[1]);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
