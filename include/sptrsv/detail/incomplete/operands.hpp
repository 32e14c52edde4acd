// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation: they write the rows in level order, and find
// their operands, the entries of earlier rows that each row needs.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/incomplete/method.hpp"

namespace sptrsv::SPTRSV_ABI::detail::incomplete {

/// A triangle of the matrix as kernels see it, see device_triangle.
template <class Index, class Offset>
struct triangle_view {
  const Offset* row_offsets;
  const Index* columns;
  const Offset* sources;

  static triangle_view of(const device_triangle<Index, Offset>& t) {
    return {t.row_offsets.data(), t.columns.data(), t.sources.data()};
  }
  template <class Context>
  SPTRSV_DEVICE Offset begin(Context& ctx, std::int64_t row) const {
    return ctx.load_constant(row_offsets + row);
  }
  template <class Context>
  SPTRSV_DEVICE Offset length(Context& ctx, std::int64_t row) const {
    return begin(ctx, row + 1) - begin(ctx, row);
  }
};

/// The rows that are written.
template <class Index, class Offset>
struct eliminated_rows {
  std::int64_t size;
  triangle_view<Index, Offset> lower;
  const Offset* diagonal_sources;      ///< by row
  triangle_view<Index, Offset> upper;  ///< substitution index size - 1 - row; null arrays: there is none
  const Index* rows;                   ///< by solve index: the row
  Offset* row_offsets;                 ///< see elimination
  Index* diagonal_slots;
  Offset* sources;
  Index* columns;  ///< by entry
  Index* solve_index_of_row;
};

/// The body of a scan over the rows in level order: finds where each row begins.
template <class Index, class Offset>
struct place_eliminated_rows {
  eliminated_rows<Index, Offset> to;
  std::int64_t* longest_row;  ///< output: its entries

  struct placed {
    std::int64_t count;  ///< entries
    Index row;
    Index below;  ///< entries below the diagonal
  };

  template <class Context>
  SPTRSV_DEVICE placed load(Context& ctx, std::int64_t r) const {
    const Index row = ctx.load_constant(to.rows + r);
    const Offset below = to.lower.length(ctx, row);
    const Offset above =
        to.upper.row_offsets != nullptr ? to.upper.length(ctx, to.size - 1 - row) : Offset{0};
    return {static_cast<std::int64_t>(below) + 1 + static_cast<std::int64_t>(above), row,
            static_cast<Index>(below)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const placed& own, std::int64_t before) const {
    ctx.store(to.row_offsets + r, static_cast<Offset>(before));
    if (r == to.size - 1) {
      ctx.store(to.row_offsets + to.size, static_cast<Offset>(before + own.count));
    }
    ctx.store(to.diagonal_slots + r, own.below);
    ctx.store(to.solve_index_of_row + own.row, static_cast<Index>(r));
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish(Context& ctx, const Warp& warp, const placed& own) const {
    simt::raise_largest(ctx, warp, own.count, longest_row);
  }
};

/// Writes column and source of each entry. Runs once per entry in level order, see for_each_entry().
template <class Index, class Offset>
struct place_entries {
  eliminated_rows<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Index row = ctx.load_constant(to.rows + r);
    const auto slot = static_cast<Offset>(static_cast<Offset>(e) - ctx.load_constant(to.row_offsets + r));
    const auto below = static_cast<Offset>(ctx.load_constant(to.diagonal_slots + r));
    if (slot < below) {
      const Offset from = to.lower.begin(ctx, row) + slot;
      put(ctx, e, ctx.load_constant(to.lower.columns + from), ctx.load_constant(to.lower.sources + from));
    } else if (slot == below) {
      put(ctx, e, row, ctx.load_constant(to.diagonal_sources + row));
    } else {  // the upper triangle counts rows and columns from the last
      const Offset from = to.upper.begin(ctx, to.size - row) - (slot - below);
      put(ctx, e, static_cast<Index>(to.size - 1 - ctx.load_constant(to.upper.columns + from)),
          ctx.load_constant(to.upper.sources + from));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void put(Context& ctx, std::int64_t e, Index column, Offset source) const {
    ctx.store(to.columns + e, column);
    ctx.store(to.sources + e, source);
  }
};

/// An entry of the factors in an earlier row k, and what a row i does with it. The row has one step for each
/// of its entries below the diagonal. The operands of a step are, by method:
///
///   lu:       the pivot of row k, then the entries u_kj for which (i, j) is an entry: a_ij -= l_ik u_kj;
///   cholesky: the entries l_kj, j < k, for which (i, j) is an entry, then the reciprocal of the pivot:
///             l_ik = (a_ik - sum of l_ij conj(l_kj)) (1 / l_kk).
template <class Index, class Offset>
struct operand {
  Offset source;  ///< index of the entry in the stored matrix; of a reciprocal: the solve index of row k
  Index slot;     ///< slot of entry (i, j) in row i; of a pivot: -1 - the slot of entry (i, k)
};

/// Finds the operands of the steps; entries below the diagonal are steps.
/// The rows are the ones of `elimination`.
template <method Method, class Index, class Offset>
struct find_operands {
  const Offset* row_offsets;
  const Index* diagonal_slots;
  const Index* columns;  ///< by entry
  const Index* solve_index_of_row;

  /// A sorted part of a row.
  struct range {
    Offset begin;
    Offset end;
    Offset row_begin;  ///< of the row that it is a part of
  };

  /// The elimination of entry (r, k): row r subtracts a multiple of row k (lu), or computes l_rk from row k
  /// (cholesky). The entries in the columns that both parts share are its operands.
  struct step {
    Index slot;    ///< of entry (r, k) in row r
    Index k;       ///< solve index of row k
    Offset pivot;  ///< the entry of the pivot of row k
    range own;     ///< the part of row r
    range other;   ///< the part of row k

    /// Returns the number of entries of the shorter part. visit() searches the longer part for each of them.
    [[nodiscard]] SPTRSV_HOST_DEVICE Offset length() const {
      const Offset a = own.end - own.begin;
      const Offset b = other.end - other.begin;
      return b <= a ? b : a;
    }
  };

  template <class Context>
  SPTRSV_DEVICE bool is_step(Context& ctx, std::int64_t r, std::int64_t e) const {
    return static_cast<Offset>(e) - ctx.load_constant(row_offsets + r) <
           static_cast<Offset>(ctx.load_constant(diagonal_slots + r));
  }
  /// Returns step `e` of row `r`.
  template <class Context>
  SPTRSV_DEVICE step step_of(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Offset begin = ctx.load_constant(row_offsets + r);
    const auto own_entry = static_cast<Offset>(e);
    const Index k = ctx.load_constant(solve_index_of_row + ctx.load_constant(columns + e));
    const Offset row_k = ctx.load_constant(row_offsets + k);
    const Offset pivot = row_k + static_cast<Offset>(ctx.load_constant(diagonal_slots + k));
    const auto slot = static_cast<Index>(own_entry - begin);
    if constexpr (Method == method::lu) {
      return {slot,
              k,
              pivot,
              {static_cast<Offset>(own_entry + 1), ctx.load_constant(row_offsets + r + 1), begin},
              {static_cast<Offset>(pivot + 1), ctx.load_constant(row_offsets + k + 1), row_k}};
    } else {
      return {slot, k, pivot, {begin, own_entry, begin}, {row_k, pivot, row_k}};
    }
  }
  /// Calls `found(is_operand, slot, entry)` for the operands of a step, with those of one call in the order
  /// of the lanes of `tile`, which share the step and call `found` together. `entry` is the index of the
  /// operand in level order, and of a reciprocal the solve index of its row.
  template <class Context, class Tile, class Found>
  SPTRSV_DEVICE void visit(Context& ctx, const Tile& tile, const step& of, const Found& found) const {
    const auto pivot_slot = static_cast<Index>(-1 - of.slot);
    if constexpr (Method == method::lu) {
      found(tile.rank() == 0, pivot_slot, of.pivot);
    }
    const bool searches_own = of.other.end - of.other.begin <= of.own.end - of.own.begin;
    const range& few = searches_own ? of.other : of.own;
    range many = searches_own ? of.own : of.other;
    for (Offset first = few.begin; first < few.end; first += static_cast<Offset>(Tile::lanes)) {
      const auto e = static_cast<Offset>(first + static_cast<Offset>(tile.rank()));
      bool is_common = false;
      if (e < few.end) {
        const Index column = ctx.load_constant(columns + e);
        many.begin += static_cast<Offset>(
            triangle_kernels::count_below(ctx, columns + many.begin, many.end - many.begin, column));
        is_common = many.begin < many.end && ctx.load_constant(columns + many.begin) == column;
      }
      const Offset in_own = searches_own ? many.begin : e;
      found(is_common, static_cast<Index>(in_own - of.own.row_begin), searches_own ? e : many.begin);
    }
    if constexpr (Method != method::lu) {
      found(tile.rank() == 0, pivot_slot, static_cast<Offset>(of.k));
    }
  }
};

/// A step is long if the shorter part of its rows has more entries than this. A thread would take longer for
/// such a step than all others for the rest: a warp takes it.
inline constexpr std::int64_t longest_short_step = 128;

/// Counts the operands of each step, or writes them. Runs once per entry in level order, see
/// for_each_entry(), and lists the long steps for long_steps_agent.
template <method Method, class Index, class Offset>
struct place_operands {
  find_operands<Method, Index, Offset> steps;
  const Offset* sources;          ///< by entry
  std::int64_t* operand_offsets;  ///< by entry: the counts; if operands are written: their scan
  operand<Index, Offset>* to;     ///< null: operands are counted
  std::uint64_t* long_count;      ///< of long steps; null: no step can be long
  Offset* long_steps;             ///< in any order

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    if (!steps.is_step(ctx, r, e)) {
      if (to == nullptr) {
        ctx.store(operand_offsets + e, std::int64_t{0});
      }
      return;
    }
    const auto step = steps.step_of(ctx, r, e);
    if (long_count == nullptr || step.length() <= static_cast<Offset>(longest_short_step)) {
      place(ctx, ctx.template group<1>(), e, step);
    } else if (to == nullptr) {
      ctx.store(long_steps + ctx.atomic_add(long_count, std::uint64_t{1}), static_cast<Offset>(e));
    }
  }

  /// Counts or writes the operands of step `e`, which the lanes of `tile` share.
  template <class Context, class Tile, class Step>
  SPTRSV_DEVICE void place(Context& ctx, const Tile& tile, std::int64_t e, const Step& step) const {
    const bool writes = to != nullptr;
    std::int64_t next = writes ? ctx.load_constant(operand_offsets + e) : 0;
    steps.visit(ctx, tile, step, [&](bool is_operand, Index slot, Offset entry) {
      const std::uint32_t found = tile.ballot(is_operand);
      if (writes && is_operand) {
        const bool is_reciprocal = Method == method::cholesky && slot < 0;
        ctx.store(to + next + simt::bit_count(found & ((1u << tile.rank()) - 1)),
                  operand<Index, Offset>{is_reciprocal ? entry : ctx.load_constant(sources + entry), slot});
      }
      next += simt::bit_count(found);
    });
    if (!writes && tile.rank() == 0) {
      ctx.store(operand_offsets + e, next);
    }
  }
};

/// Places the operands of the long steps: a warp takes one after the other, each far from the last in the
/// list, because those of one row stand together.
template <method Method, class Index, class Offset>
struct long_steps_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    place_operands<Method, Index, Offset> placed;
    std::int64_t size;  ///< rows
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const auto& steps = p.placed.steps;
    constexpr std::uint64_t block_warps = block_threads / 32;
    const std::uint64_t count = ctx.load_constant(p.placed.long_count);
    for (std::uint64_t i = ctx.block_rank() * block_warps + static_cast<std::uint64_t>(warp.index());
         i < count; i += ctx.grid_blocks() * block_warps) {
      const Offset e = ctx.load_constant(p.placed.long_steps + i);
      const std::int64_t r =
          triangle_kernels::count_below(ctx, steps.row_offsets + 1, p.size, static_cast<Offset>(e + 1));
      p.placed.place(ctx, warp, e, steps.step_of(ctx, r, e));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
