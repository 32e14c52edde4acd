// SPDX-License-Identifier: Apache-2.0
// The operands of an incomplete factorisation: the entries of earlier rows that each row needs, and the
// kernels that find them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/incomplete/method.hpp"

namespace sptrsv::detail::incomplete {

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

  /// Calls `found(slot, entry)` for each operand of step `e` of row `r` in its order: `entry` is the index of
  /// the operand in level order, and of a reciprocal the solve index of its row.
  template <class Context, class Found>
  SPTRSV_DEVICE void visit(Context& ctx, std::int64_t r, std::int64_t e, const Found& found) const {
    const Offset begin = ctx.load_constant(row_offsets + r);
    const auto slot = static_cast<Index>(static_cast<Offset>(e) - begin);
    if (slot >= ctx.load_constant(diagonal_slots + r)) {
      return;
    }
    const Index k = ctx.load_constant(solve_index_of_row + ctx.load_constant(columns + e));
    const Offset row_k = ctx.load_constant(row_offsets + k);
    const Offset pivot = row_k + static_cast<Offset>(ctx.load_constant(diagonal_slots + k));
    const auto own_entry = static_cast<Offset>(e);
    if constexpr (Method == method::lu) {
      found(static_cast<Index>(-1 - slot), pivot);
      const range own{static_cast<Offset>(own_entry + 1), ctx.load_constant(row_offsets + r + 1), begin};
      const range other{static_cast<Offset>(pivot + 1), ctx.load_constant(row_offsets + k + 1), row_k};
      intersect(ctx, own, other, found);
    } else {
      intersect(ctx, range{begin, own_entry, begin}, range{row_k, pivot, row_k}, found);
      found(static_cast<Index>(-1 - slot), static_cast<Offset>(k));
    }
  }

 private:
  /// Visits the entries of `other` whose column `own` has, too: searches the longer part for the entries of
  /// the shorter one.
  template <class Context, class Found>
  SPTRSV_DEVICE void intersect(Context& ctx, const range& own, const range& other, const Found& found) const {
    const bool searches_own = other.end - other.begin <= own.end - own.begin;
    const range& few = searches_own ? other : own;
    range many = searches_own ? own : other;
    for (Offset e = few.begin; e < few.end; ++e) {
      const Index column = ctx.load_constant(columns + e);
      many.begin += static_cast<Offset>(
          triangle_kernels::count_below(ctx, columns + many.begin, many.end - many.begin, column));
      if (many.begin < many.end && ctx.load_constant(columns + many.begin) == column) {
        const Offset in_own = searches_own ? many.begin : e;
        found(static_cast<Index>(in_own - own.row_begin), searches_own ? e : many.begin);
      }
    }
  }
};

/// Counts the operands of each step. Runs once per entry in level order, see for_each_entry().
template <method Method, class Index, class Offset>
struct count_operands {
  find_operands<Method, Index, Offset> steps;
  std::int64_t* counts;  ///< by entry

  template <class Context>
  SPTRSV_DEVICE bool hold(Context&) const {
    return true;
  }
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    std::int64_t count = 0;
    steps.visit(ctx, r, e, [&](Index, Offset) { ++count; });
    ctx.store(counts + e, count);
  }
};

/// Writes the operands of each step. Runs once per entry in level order, see for_each_entry().
template <method Method, class Index, class Offset>
struct write_operands {
  find_operands<Method, Index, Offset> steps;
  const Offset* sources;                ///< by entry
  const std::int64_t* operand_offsets;  ///< by entry
  operand<Index, Offset>* to;

  template <class Context>
  SPTRSV_DEVICE bool hold(Context&) const {
    return true;
  }
  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    std::int64_t next = ctx.load_constant(operand_offsets + e);
    steps.visit(ctx, r, e, [&](Index slot, Offset entry) {
      const bool is_reciprocal = Method == method::cholesky && slot < 0;
      ctx.store(to + next,
                operand<Index, Offset>{is_reciprocal ? entry : ctx.load_constant(sources + entry), slot});
      ++next;
    });
  }
};

/// Takes the offset of each row's first operand. Runs once per solve index and once for the end.
template <class Offset>
struct take_first_operands {
  const Offset* row_offsets;
  const std::int64_t* operand_offsets;  ///< by entry
  std::int64_t* first_operands;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r) const {
    ctx.store(first_operands + r, ctx.load_constant(operand_offsets + ctx.load_constant(row_offsets + r)));
  }
};

}  // namespace sptrsv::detail::incomplete
