// SPDX-License-Identifier: Apache-2.0
// The kernel of the analysis of an incomplete factorisation that finds the operands of whole rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/operands.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// Counts the operands of each step, or writes them, and where those of each row begin. The steps of long
/// rows are left to place_pieces_agent.
///
/// A warp has consecutive entries, one for each lane. The items of a step are its pivot and the entries of
/// the shorter one of its two parts, each of which is searched in the other part. The lanes share the items
/// of all steps of the warp, 32 at a time, so that no lane searches alone for a step with many items.
template <method Method, class Index, class Offset>
struct place_operands_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    searched_rows<Method, Index, Offset> rows;
    int warp_entries;              ///< entries of a warp, at most 32
    std::int64_t* counts;          ///< by entry: the operands; if they are written: their scan, and the total
    operand<Index, Offset>* to;    ///< null: operands are counted
    std::int64_t* first_operands;  ///< see elimination
  };

  /// Returns the number of entries that a warp has in rows of some length on average: few in long rows, whose
  /// steps have many items.
  static int entries_of_warp(std::int64_t size, std::int64_t entries) { return entries > 16 * size ? 8 : 32; }
  static std::int64_t entries_of_block(int of_warp) { return block_threads / 32 * of_warp; }

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t first =
        (std::int64_t{ctx.block_rank()} * (block_threads / 32) + warp.index()) * p.warp_entries;
    if (first >= p.rows.entries) {
      return;
    }
    const std::int64_t end =
        p.rows.entries - first < p.warp_entries ? p.rows.entries : first + p.warp_entries;
    std::int64_t row[1];
    triangle_kernels::majors_of(ctx, warp, p.rows.row_offsets, p.rows.size, first, end, row);
    const std::int64_t e = first + warp.rank();
    const bool is_entry = e < end;
    lane_steps own = open(ctx, p, row[0], e, is_entry);
    own.before = simt::exclusive_sum(warp, own.items);
    own.next = p.to != nullptr && is_entry ? ctx.load_constant(p.counts + e) : 0;
    const std::int64_t all = warp.shuffle(own.before + own.items, 31);
    std::int64_t found = 0;  // operands of the items before
    for (std::int64_t begin = 0; begin < all; begin += 32) {
      found += place(ctx, warp, p, begin, begin + warp.rank() < all, found, own);
    }
    if (p.to == nullptr && is_entry) {
      ctx.store(p.counts + e, own.items > 0 ? own.end - own.begin : 0);
    }
  }

 private:
  using range = typename searched_rows<Method, Index, Offset>::range;
  /// The entry of a lane, and, if it is a step of a whole row, the step.
  struct lane_steps {
    Offset entry;         ///< level order
    Offset row_begin;     ///< first entry of the row
    Offset pivot;         ///< entry of the pivot; for Cholesky the solve index of its row
    bool searches_own;    ///< whether the entries of the other row are searched in the own one
    range few;            ///< the part whose entries are items
    range many;           ///< the part where they are searched
    std::int64_t items;   ///< 0: no step
    std::int64_t before;  ///< items of the lanes before
    std::int64_t next;    ///< where the operands of the step are written
    std::int64_t begin;   ///< operands of the warp before those of the step
    std::int64_t end;     ///< and with those of the step
  };

  template <class Context>
  SPTRSV_DEVICE static lane_steps open(Context& ctx, const params& p, std::int64_t r, std::int64_t e,
                                       bool is_entry) {
    lane_steps own{};
    if (!is_entry) {
      return own;
    }
    own.entry = static_cast<Offset>(e);
    own.row_begin = ctx.load_constant(p.rows.row_offsets + r);
    const Offset row_end = ctx.load_constant(p.rows.row_offsets + r + 1);
    const auto below = static_cast<Offset>(ctx.load_constant(p.rows.diagonal_slots + r));
    if (p.to != nullptr && own.entry == own.row_begin) {
      ctx.store(p.first_operands + r, ctx.load_constant(p.counts + e));
      if (r == p.rows.size - 1) {
        ctx.store(p.first_operands + r + 1, ctx.load_constant(p.counts + row_end));
      }
    }
    if (own.entry - own.row_begin < below && p.rows.limits.pieces_of(row_end - own.row_begin, below) == 1) {
      const auto step = p.rows.step_of(ctx, r, e);
      own.pivot = Method == method::lu ? step.pivot : static_cast<Offset>(step.k);
      own.searches_own = step.other.end - step.other.begin <= step.own.end - step.own.begin;
      own.few = own.searches_own ? step.other : step.own;
      own.many = own.searches_own ? step.own : step.other;
      own.items = static_cast<std::int64_t>(own.few.end - own.few.begin) + 1;
    }
    return own;
  }

  /// Looks at item begin + rank of the warp. Returns the number of operands of the 32 items. `found`: of the
  /// items before.
  template <class Context, class Warp>
  SPTRSV_DEVICE static int place(Context& ctx, const Warp& warp, const params& p, std::int64_t begin,
                                 bool is_item, std::int64_t found, lane_steps& own) {
    const std::int64_t item = begin + warp.rank();
    int owner = 0;  // the lane with the step of the item: the last one that does not begin behind it
    for (int distance = 16; distance > 0; distance /= 2) {
      owner += warp.shuffle(own.before, owner + distance) <= item ? distance : 0;
    }
    const auto index = static_cast<Offset>(item - warp.shuffle(own.before, owner));
    const range few{warp.shuffle(own.few.begin, owner), warp.shuffle(own.few.end, owner)};
    range many{warp.shuffle(own.many.begin, owner), warp.shuffle(own.many.end, owner)};
    // LU: the pivot is the first item; Cholesky: it is the last one.
    const bool is_pivot = index == (Method == method::lu ? Offset{0} : few.end - few.begin);
    const Offset e = few.begin + index - (Method == method::lu ? Offset{1} : Offset{0});
    const bool is_operand =
        is_item && (is_pivot || p.rows.search(ctx, many, ctx.load_constant(p.rows.columns + e)));
    const std::uint32_t operands = warp.ballot(is_operand);
    const std::int64_t first = own.before - begin;
    const std::int64_t last = first + own.items;
    own.begin = first >= 0 && first < 32
                    ? found + simt::bit_count(operands & bits_below(static_cast<int>(first)))
                    : own.begin;
    own.end = last > 0 && last <= 32 ? found + simt::bit_count(operands & bits_below(static_cast<int>(last)))
                                     : own.end;
    if (p.to != nullptr) {
      const std::int64_t to = warp.shuffle(own.next - own.begin, owner) + found +
                              simt::bit_count(operands & bits_below(warp.rank()));
      const bool searches_own = warp.shuffle(static_cast<int>(own.searches_own), owner) != 0;
      const Offset pivot = warp.shuffle(own.pivot, owner);
      const Offset row_begin = warp.shuffle(own.row_begin, owner);
      const Offset step = warp.shuffle(own.entry, owner);
      if (is_operand) {
        const Offset from = is_pivot ? pivot : searches_own ? e : many.begin;
        const Offset slot = (is_pivot ? step : searches_own ? many.begin : e) - row_begin;
        ctx.store(p.to + to, operand<Index, Offset>{Method == method::cholesky && is_pivot
                                                        ? from
                                                        : ctx.load_constant(p.rows.sources + from),
                                                    static_cast<Index>(is_pivot ? -1 - slot : slot)});
      }
    }
    return simt::bit_count(operands);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
