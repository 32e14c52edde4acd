// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation that find the operands of whole rows.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/row_pieces.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// The entry of a lane, and, if it is a step of a whole row, the step. The items of a step are its pivot and
/// the entries of its shorter part. The search looks for each of these entries in the longer part.
template <class Index, class Offset>
struct row_step {
  std::int64_t count;        ///< operands of the entry
  Index row;                 ///< solve index
  bool is_cut;               ///< whether the row is cut into pieces
  Offset entry;              ///< in level order
  Offset row_begin;          ///< first entry of the row
  Offset pivot;              ///< entry of the pivot; for Cholesky the solve index of its row
  bool searches_own;         ///< whether the entries of the other row are searched in the own one
  entry_range<Offset> few;   ///< the part whose entries are items
  entry_range<Offset> many;  ///< the part where they are searched
  std::int64_t items;        ///< 0: no step
  std::int64_t before;       ///< items of the lanes before
};

/// Finds the operands of the steps of a warp, which has one step in each lane at most. The lanes share the
/// items of all these steps, 32 at a time, so that no lane searches alone for a step with many items.
template <method Method, class Index, class Offset>
struct find_operands {
  searched_rows<Method, Index, Offset> rows;
  operand<Index, Offset>* to;
  std::int64_t room;  ///< operands behind it are not written

  /// Returns entry `e` of row `r`.
  template <class Context>
  SPTRSV_DEVICE row_step<Index, Offset> open(Context& ctx, std::int64_t r, std::int64_t e) const {
    row_step<Index, Offset> own{};
    own.row = static_cast<Index>(r);
    own.entry = static_cast<Offset>(e);
    own.row_begin = ctx.load_constant(rows.row_offsets + r);
    const std::int64_t length = triangle_kernels::row_length(ctx, rows.row_offsets, r);
    const auto below = static_cast<std::int64_t>(ctx.load_constant(rows.diagonal_slots + r));
    own.is_cut = rows.limits.pieces_of(length, below) > 1;
    if (e - static_cast<std::int64_t>(own.row_begin) < below && !own.is_cut) {
      const auto step = rows.step_of(ctx, r, e);
      own.pivot = Method == method::lu ? step.pivot : static_cast<Offset>(step.k);
      own.searches_own = step.other.end - step.other.begin <= step.own.end - step.own.begin;
      own.few = own.searches_own ? step.other : step.own;
      own.many = own.searches_own ? step.own : step.other;
      own.items = static_cast<std::int64_t>(own.few.end - own.few.begin) + 1;
    }
    return own;
  }

  /// Returns the `count` entries of a warp, at most, from `first` on.
  template <class Context, class Warp>
  SPTRSV_DEVICE row_step<Index, Offset> open_all(Context& ctx, const Warp& warp, std::int64_t first,
                                                 std::int64_t count) const {
    const std::int64_t all = rows.entries(ctx);
    if (first >= all) {
      return {};
    }
    const std::int64_t end = all - first < count ? all : first + count;
    std::int64_t row[1];
    triangle_kernels::majors_of(ctx, warp, rows.row_offsets, rows.size, first, end, row);
    const std::int64_t e = first + warp.rank();
    row_step<Index, Offset> own{};
    if (e < end) {
      own = open(ctx, row[0], e);
    }
    own.before = simt::exclusive_sum(warp, own.items);
    return own;
  }

  /// Returns the number of operands of the step of this lane. `writes`: whether they are written, from `next`
  /// on.
  template <class Context, class Warp>
  SPTRSV_DEVICE std::int64_t find(Context& ctx, const Warp& warp, const row_step<Index, Offset>& own,
                                  bool writes, std::int64_t next) const {
    const std::int64_t all = warp.shuffle(own.before + own.items, 31);
    std::int64_t found = 0;  // operands of the items before
    std::int64_t begin = 0;  // operands of the warp before those of this step
    std::int64_t end = 0;    // and with them
    for (std::int64_t first = 0; first < all; first += 32) {
      const shared_item item = item_of(ctx, warp, own, first, all);
      const std::uint32_t operands = warp.ballot(item.is_operand);
      const auto before = [&](std::int64_t number) {
        return found + simt::bit_count(operands & bits_below(static_cast<int>(number)));
      };
      const std::int64_t own_first = own.before - first;
      const std::int64_t own_end = own_first + own.items;
      begin = own_first >= 0 && own_first < 32 ? before(own_first) : begin;
      end = own_end > 0 && own_end <= 32 ? before(own_end) : end;
      if (writes) {
        write(ctx, warp, own, item, warp.shuffle(next - begin, item.owner) + before(warp.rank()));
      }
      found += simt::bit_count(operands);
    }
    return own.items > 0 ? end - begin : 0;
  }

 private:
  /// One of 32 items.
  struct shared_item {
    int owner;  ///< the lane with its step
    bool is_operand;
    bool is_pivot;
    Offset in_few;   ///< the entry, if it is not a pivot
    Offset in_many;  ///< the entry in the same column
  };

  template <class Context, class Warp>
  SPTRSV_DEVICE shared_item item_of(Context& ctx, const Warp& warp, const row_step<Index, Offset>& own,
                                    std::int64_t first, std::int64_t all) const {
    const std::int64_t number = first + warp.rank();
    shared_item item{};
    for (int distance = 16; distance > 0; distance /= 2) {  // the last step that does not begin behind it
      item.owner += warp.shuffle(own.before, item.owner + distance) <= number ? distance : 0;
    }
    const auto index = static_cast<Offset>(number - warp.shuffle(own.before, item.owner));
    const entry_range<Offset> few{warp.shuffle(own.few.begin, item.owner),
                                  warp.shuffle(own.few.end, item.owner)};
    entry_range<Offset> many{warp.shuffle(own.many.begin, item.owner),
                             warp.shuffle(own.many.end, item.owner)};
    // LU: the pivot is the first item; Cholesky: it is the last one.
    item.is_pivot = index == (Method == method::lu ? Offset{0} : few.end - few.begin);
    item.in_few = few.begin + index - (Method == method::lu ? Offset{1} : Offset{0});
    item.is_operand = number < all && (item.is_pivot ||
                                       rows.search(ctx, many, ctx.load_constant(rows.columns + item.in_few)));
    item.in_many = many.begin;
    return item;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE void write(Context& ctx, const Warp& warp, const row_step<Index, Offset>& own,
                           const shared_item& item, std::int64_t at) const {
    const bool searches_own = warp.shuffle(static_cast<int>(own.searches_own), item.owner) != 0;
    const Offset pivot = warp.shuffle(own.pivot, item.owner);
    const Offset row_begin = warp.shuffle(own.row_begin, item.owner);
    const Offset step = warp.shuffle(own.entry, item.owner);
    if (!item.is_operand || at >= room) {
      return;
    }
    operand<Index, Offset> made;
    if (item.is_pivot) {
      made = {Method == method::lu ? ctx.load_constant(rows.sources + pivot) : pivot,
              static_cast<Index>(-1 - (step - row_begin))};
    } else {
      made = {ctx.load_constant(rows.sources + (searches_own ? item.in_few : item.in_many)),
              static_cast<Index>((searches_own ? item.in_many : item.in_few) - row_begin)};
    }
    ctx.store(to + at, made);
  }
};

/// The body of a scan over the entries in level order, or more elements: counts the operands of each entry,
/// finds where they begin, and writes those that there is room for. Rows that are cut have none.
template <method Method, class Index, class Offset, int WarpEntries>
struct count_operands {
  static constexpr int warp_elements = WarpEntries;

  find_operands<Method, Index, Offset> find;
  std::int64_t* starts;          ///< by entry, and the total
  std::int64_t* first_operands;  ///< see elimination
  operand_totals* totals;        ///< output: operands

  template <class Context, class Warp>
  SPTRSV_DEVICE row_step<Index, Offset> load(Context& ctx, const Warp& warp, std::int64_t i, bool) const {
    row_step<Index, Offset> own = find.open_all(ctx, warp, i - warp.rank(), warp_elements);
    own.count = find.find(ctx, warp, own, false, 0);
    return own;
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void store(Context& ctx, const Warp& warp, std::int64_t i, bool is_present,
                           const row_step<Index, Offset>& own, std::int64_t before) const {
    const std::int64_t entries = find.rows.entries(ctx);
    if (is_present && i < entries) {
      ctx.store(starts + i, before);
      if (own.entry == own.row_begin) {
        ctx.store(first_operands + own.row, before);
      }
      if (i == entries - 1) {
        ctx.store(starts + i + 1, before + own.count);
        ctx.store(first_operands + find.rows.size, before + own.count);
        ctx.store(&totals->operands, before + own.count);
      }
    }
    if (find.room > 0) {
      static_cast<void>(find.find(ctx, warp, own, true, before));
    }
  }
};

/// Writes the operands of whole rows. A warp has run number i of `WarpEntries` entries.
template <method Method, class Index, class Offset, int WarpEntries>
struct write_operands {
  find_operands<Method, Index, Offset> find;
  const std::int64_t* starts;  ///< by entry

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t i) const {
    const auto own = find.open_all(ctx, warp, i * WarpEntries, WarpEntries);
    const std::int64_t next = own.items > 0 ? ctx.load_constant(starts + own.entry) : 0;
    static_cast<void>(find.find(ctx, warp, own, true, next));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
