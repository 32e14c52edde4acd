// SPDX-License-Identifier: Apache-2.0
// The kernels of the analysis of an incomplete factorisation: they write the rows in level order, and find
// their operands, the entries of earlier rows that each row needs.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/incomplete/method.hpp"
#include "sptrsv/detail/sync/tickets.hpp"

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
};

/// What consecutive factorisations share, in device memory. Pairs are indexed by the number of the
/// factorisation mod 2.
struct factor_state {
  unsigned long long tickets = 0;  ///< drawn so far
  std::int64_t unused[15] = {};    ///< a kernel writes them too, so that the whole state can be copied
  std::int64_t first_breakdown[2] = {all_finite, all_finite};  ///< smallest breakdown::number()
  std::int64_t boosted_pivots[2] = {0, 0};                     ///< pivots that were replaced
};
static_assert(std::has_unique_object_representations_v<factor_state>, "padding would stay uninitialised");

/// Whether triangles are sound, sorted, and have their levels. Kernels ask for it that are launched before
/// the host knows.
struct known_triangles {
  const triangle_kernels::report* found;  ///< by triangle; null: they are known to be
  int count;

  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE bool hold(Context& ctx) const {
    if (found == nullptr) {
      return true;
    }
    bool are_known = ctx.load_constant(&found->searches[0].given_up) == 0;
    for (int k = 0; k < count; ++k) {
      are_known = are_known && ctx.load_constant(&found[k].offsets) == INT64_MAX &&
                  ctx.load_constant(&found[k].index) == INT64_MAX &&
                  ctx.load_constant(&found[k].duplicate) == INT64_MAX &&
                  ctx.load_constant(&found[k].diagonal) == INT64_MAX &&
                  ctx.load_constant(&found[k].unsorted) == 0;
    }
    return are_known;
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
  unsigned char* is_used;  ///< null: it is not wanted
  factor_state* state;
};

/// The body of a scan over the rows in level order: finds where each row begins, and initialises the state of
/// the factorisations. Rows of triangles that do
/// not fulfil the condition have no entries.
template <class Index, class Offset>
struct place_eliminated_rows {
  eliminated_rows<Index, Offset> to;
  known_triangles condition;
  std::int64_t* longest_row;  ///< output: its entries

  struct placed {
    std::int64_t count;  ///< entries
    Index row;
    Index below;  ///< entries below the diagonal
  };

  template <class Context>
  SPTRSV_DEVICE placed load(Context& ctx, std::int64_t r) const {
    const Index row = ctx.load_constant(to.rows + r);
    if (!condition.hold(ctx)) {
      return {0, row, Index{0}};
    }
    using triangle_kernels::row_length;
    const std::int64_t below = row_length(ctx, to.lower.row_offsets, row);
    const std::int64_t above =
        to.upper.row_offsets != nullptr ? row_length(ctx, to.upper.row_offsets, to.size - 1 - row) : 0;
    return {below + 1 + above, row, static_cast<Index>(below)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const placed& own, std::int64_t before) const {
    ctx.store(to.row_offsets + r, static_cast<Offset>(before));
    if (r == to.size - 1) {
      ctx.store(to.row_offsets + to.size, static_cast<Offset>(before + own.count));
    }
    if (r == 0) {
      ctx.store(to.state, factor_state{});
    }
    ctx.store(to.diagonal_slots + r, own.below);
    ctx.store(to.solve_index_of_row + own.row, static_cast<Index>(r));
  }
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish(Context& ctx, const Warp& warp, const placed& own) const {
    simt::raise_largest(ctx, warp, own.count, longest_row);
  }
};

/// Writes column and source of each entry. Runs once per entry in level order, see for_each_entry(), and may
/// run for more entries than there are.
template <class Index, class Offset>
struct place_entries {
  eliminated_rows<Index, Offset> to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t r, std::int64_t e) const {
    if (static_cast<Offset>(e) >= ctx.load_constant(to.row_offsets + to.size)) {
      return;
    }
    const Index row = ctx.load_constant(to.rows + r);
    const auto slot = static_cast<Offset>(static_cast<Offset>(e) - ctx.load_constant(to.row_offsets + r));
    const auto below = static_cast<Offset>(ctx.load_constant(to.diagonal_slots + r));
    if (slot < below) {
      const Offset from = ctx.load_constant(to.lower.row_offsets + row) + slot;
      put(ctx, e, ctx.load_constant(to.lower.columns + from), ctx.load_constant(to.lower.sources + from));
    } else if (slot == below) {
      put(ctx, e, row, ctx.load_constant(to.diagonal_sources + row));
    } else {  // the upper triangle counts rows and columns from the last
      const Offset from = ctx.load_constant(to.upper.row_offsets + to.size - row) - (slot - below);
      put(ctx, e, static_cast<Index>(to.size - 1 - ctx.load_constant(to.upper.columns + from)),
          ctx.load_constant(to.upper.sources + from));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void put(Context& ctx, std::int64_t e, Index column, Offset source) const {
    ctx.store(to.columns + e, column);
    ctx.store(to.sources + e, source);
    if (to.is_used != nullptr) {
      ctx.store(to.is_used + source, static_cast<unsigned char>(1));
    }
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

/// A part of a row, whose entries have ascending columns.
template <class Offset>
struct entry_range {
  Offset begin;
  Offset end;
};

/// The limits that decide which rows are cut into pieces. One warp computes one piece.
struct piece_limits {
  std::int64_t whole;  ///< entries of the longest row with steps that is not cut
  std::int64_t piece;  ///< entries of a piece of a longer row, at most; at most 32
  /// Entries of the longest row that is cut: the operands of a row are searched in time that grows with the
  /// square of its length.
  std::int64_t longest;

  /// Returns the number of pieces of a row; 1 if the row is not cut. `length`: its entries; `below`: those
  /// below the diagonal, which have steps.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t pieces_of(std::int64_t length, std::int64_t below) const {
    return length <= whole || length > longest || below == 0 ? 1 : simt::ceil_div(length, piece);
  }
  /// Returns the slot in its row where piece `p` begins.
  SPTRSV_HOST_DEVICE static std::int64_t begin(std::int64_t p, std::int64_t length, std::int64_t pieces) {
    return p * length / pieces;
  }
};

/// The rows of `elimination` as the search for operands sees them. Entries below the diagonal are steps.
template <method Method, class Index, class Offset>
struct searched_rows {
  std::int64_t size;  ///< rows
  const Offset* row_offsets;
  const Index* diagonal_slots;
  const Index* columns;  ///< by entry
  const Offset* sources;
  const Index* solve_index_of_row;
  piece_limits limits;

  using range = entry_range<Offset>;

  /// The elimination of entry (r, k): row r subtracts a multiple of row k (lu), or computes l_rk from row k
  /// (cholesky). The entries in the columns that both parts share are its operands.
  struct step {
    Index k;       ///< solve index of row k
    Offset pivot;  ///< the entry of the pivot of row k
    range own;     ///< the part of row r
    range other;   ///< the part of row k
  };

  /// Returns the number of entries of all rows.
  template <class Context>
  SPTRSV_DEVICE std::int64_t entries(Context& ctx) const {
    return static_cast<std::int64_t>(ctx.load_constant(row_offsets + size));
  }
  /// Returns the entry of the diagonal in row `r`.
  template <class Context>
  SPTRSV_DEVICE Offset diagonal_of(Context& ctx, std::int64_t r) const {
    return ctx.load_constant(row_offsets + r) + static_cast<Offset>(ctx.load_constant(diagonal_slots + r));
  }
  /// Returns the entries of row `r` that steps use together with entry `e`: for LU those behind it, for
  /// Cholesky those before it. Those beside its diagonal are what other rows need of it.
  template <class Context>
  SPTRSV_DEVICE range beside(Context& ctx, std::int64_t r, Offset e) const {
    if constexpr (Method == method::lu) {
      return {static_cast<Offset>(e + 1), ctx.load_constant(row_offsets + r + 1)};
    } else {
      return {ctx.load_constant(row_offsets + r), e};
    }
  }
  /// Returns step `e` of row `r`.
  template <class Context>
  SPTRSV_DEVICE step step_of(Context& ctx, std::int64_t r, std::int64_t e) const {
    const Index k = ctx.load_constant(solve_index_of_row + ctx.load_constant(columns + e));
    const Offset pivot = diagonal_of(ctx, k);
    return {k, pivot, beside(ctx, r, static_cast<Offset>(e)), beside(ctx, k, pivot)};
  }
  /// Cuts the entries before `column` off the range. Returns whether its first entry is in that column.
  template <class Context>
  SPTRSV_DEVICE bool search(Context& ctx, range& in, Index column) const {
    in.begin += static_cast<Offset>(
        triangle_kernels::count_below(ctx, columns + in.begin, in.end - in.begin, column));
    return in.begin < in.end && ctx.load_constant(columns + in.begin) == column;
  }
};

/// Returns a mask of the bits before bit `end`.
SPTRSV_DEVICE std::uint32_t bits_below(int end) { return end < 32 ? (1u << end) - 1u : ~0u; }

}  // namespace sptrsv::SPTRSV_ABI::detail::incomplete
