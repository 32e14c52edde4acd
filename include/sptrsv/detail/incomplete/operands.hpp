// The analysis of an incomplete factorisation on the device: the rows in level order, and for each row the
// entries of earlier rows that it needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/device_levels.hpp"
#include "sptrsv/detail/incomplete/method.hpp"

namespace sptrsv::detail::incomplete {

/// An entry of the factors in an earlier row k, and what a row i does with it. The row has one step for each
/// of its entries below the diagonal. The operands of a step are the pivot of row k and, by method:
///
///   lu:       the pivot, then the entries u_kj for which (i, j) is an entry: a_ij -= l_ik u_kj;
///   cholesky: the entries l_kj, j < k, for which (i, j) is an entry, then the pivot:
///             l_ik = (a_ik - sum of l_ij conj(l_kj)) / l_kk.
template <class Index, class Offset>
struct operand {
  Offset source;  ///< index of the entry in the stored matrix
  Index slot;     ///< slot of entry (i, j) in row i; of a pivot: -1 - the slot of entry (i, k)
};

/// The rows and their operands, in device memory. A row holds the entries that the method uses: those below
/// the diagonal with ascending columns, the diagonal, and for LU those above it, with ascending columns. The
/// slot of an entry is its rank in this order.
template <class Index, class Offset>
struct elimination {
  std::int64_t size = 0;
  std::int64_t levels = 0;
  std::int64_t entries = 0;             ///< of all rows
  std::int64_t longest_row = 0;         ///< entries
  buffer<Index> rows;                   ///< by solve index: the row
  buffer<Offset> row_offsets;           ///< by solve index, size + 1
  buffer<Index> diagonal_slots;         ///< by solve index: the number of entries below the diagonal
  buffer<Offset> sources;               ///< by entry: its index in the stored matrix
  buffer<std::int64_t> first_operands;  ///< by solve index, size + 1
  buffer<operand<Index, Offset>> operands;

  [[nodiscard]] std::size_t bytes() const {
    return rows.bytes() + row_offsets.bytes() + diagonal_slots.bytes() + sources.bytes() +
           first_operands.bytes() + operands.bytes();
  }
};

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

/// The body of a scan over the rows in level order: finds where each row begins.
template <class Index, class Offset>
struct place_eliminated_rows {
  std::int64_t size;
  triangle_view<Index, Offset> lower;
  triangle_view<Index, Offset> upper;  ///< substitution index size - 1 - row; null arrays: there is none
  const Index* rows;                   ///< by solve index: the row
  Offset* row_offsets;
  Index* diagonal_slots;
  Index* solve_index_of_row;

  struct placed {
    std::int64_t count;  ///< entries
    Index row;
    Index below;  ///< entries below the diagonal
  };

  template <class Context>
  SPTRSV_DEVICE placed load(Context& ctx, std::int64_t r) const {
    const Index row = ctx.load_constant(rows + r);
    const Offset below = lower.length(ctx, row);
    const Offset above = upper.row_offsets != nullptr ? upper.length(ctx, size - 1 - row) : Offset{0};
    return {static_cast<std::int64_t>(below) + 1 + static_cast<std::int64_t>(above), row,
            static_cast<Index>(below)};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const placed& own, std::int64_t before) const {
    ctx.store(row_offsets + r, static_cast<Offset>(before));
    if (r == size - 1) {
      ctx.store(row_offsets + size, static_cast<Offset>(before + own.count));
    }
    ctx.store(diagonal_slots + r, own.below);
    ctx.store(solve_index_of_row + own.row, static_cast<Index>(r));
  }
};

/// Writes column and source of each entry. Runs once per entry in level order.
template <class Index, class Offset>
struct place_entries {
  std::int64_t size;
  triangle_view<Index, Offset> lower;
  const Offset* diagonal_sources;      ///< by row
  triangle_view<Index, Offset> upper;  ///< see place_eliminated_rows
  const Index* rows;
  const Offset* row_offsets;
  const Index* diagonal_slots;
  Index* columns;
  Offset* sources;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t r = triangle_kernels::major_of(ctx, row_offsets, size, e);
    const Index row = ctx.load_constant(rows + r);
    const auto slot = static_cast<Offset>(static_cast<Offset>(e) - ctx.load_constant(row_offsets + r));
    const auto below = static_cast<Offset>(ctx.load_constant(diagonal_slots + r));
    if (slot < below) {
      const Offset from = lower.begin(ctx, row) + slot;
      put(ctx, e, ctx.load_constant(lower.columns + from), ctx.load_constant(lower.sources + from));
    } else if (slot == below) {
      put(ctx, e, row, ctx.load_constant(diagonal_sources + row));
    } else {  // the upper triangle counts rows and columns from the last
      const Offset from = upper.begin(ctx, size - row) - (slot - below);
      put(ctx, e, static_cast<Index>(size - 1 - ctx.load_constant(upper.columns + from)),
          ctx.load_constant(upper.sources + from));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE void put(Context& ctx, std::int64_t e, Index column, Offset source) const {
    ctx.store(columns + e, column);
    ctx.store(sources + e, source);
  }
};

/// Finds the operands of the steps. Runs once per entry in level order; entries below the diagonal are steps.
/// The rows are the ones of `elimination`.
template <method Method, class Index, class Offset>
struct find_operands {
  std::int64_t size;
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

  /// Calls `found(slot, entry)` for each operand of step `e` in its order: `entry` is the index of the
  /// operand in level order.
  template <class Context, class Found>
  SPTRSV_DEVICE void visit(Context& ctx, std::int64_t e, const Found& found) const {
    const std::int64_t r = triangle_kernels::major_of(ctx, row_offsets, size, e);
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
      found(static_cast<Index>(-1 - slot), pivot);
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

/// Counts the operands of each step. Runs once per entry in level order.
template <method Method, class Index, class Offset>
struct count_operands {
  find_operands<Method, Index, Offset> steps;
  std::int64_t* counts;  ///< by entry

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    std::int64_t count = 0;
    steps.visit(ctx, e, [&](Index, Offset) { ++count; });
    ctx.store(counts + e, count);
  }
};

/// Writes the operands of each step. Runs once per entry in level order.
template <method Method, class Index, class Offset>
struct write_operands {
  find_operands<Method, Index, Offset> steps;
  const Offset* sources;                ///< by entry
  const std::int64_t* operand_offsets;  ///< by entry
  operand<Index, Offset>* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    std::int64_t next = ctx.load_constant(operand_offsets + e);
    steps.visit(ctx, e, [&](Index slot, Offset entry) {
      ctx.store(to + next, operand<Index, Offset>{ctx.load_constant(sources + entry), slot});
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

/// Returns the number of entries of a row, by solve index.
template <class Offset>
struct length_of_row {
  const Offset* row_offsets;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t r) const {
    return static_cast<std::int64_t>(ctx.load_constant(row_offsets + r + 1) -
                                     ctx.load_constant(row_offsets + r));
  }
};

/// Analyses the pattern. Synchronises. Throws for the first offending row as `analyze` does, for LU for both
/// triangles.
template <method Method, class Index, class Offset, class Executor>
elimination<Index, Offset> analyze_elimination(const pattern_view<Index, Offset>& a, const Executor& on,
                                               memory_resource& resource) {
  const auto form_of = [&](uplo part) { return triangle_form(system_options{part}, a.by_columns); };
  device_triangle<Index, Offset> lower = build_on_device(a, form_of(uplo::lower), on, resource);
  device_triangle<Index, Offset> upper;
  if constexpr (Method == method::lu) {
    upper = build_on_device(a, form_of(uplo::upper), on, resource);
  }
  elimination<Index, Offset> made;
  made.size = a.size;
  if (a.size == 0) {
    return made;
  }
  device_levels<Index> levels = levels_on_device(lower, on, resource);
  made.levels = levels.count;
  made.rows = std::move(levels.rows);
  made.entries = lower.entries() + a.size + upper.entries();

  // 1. The rows in level order.
  made.row_offsets = make_buffer<Offset>(a.size + 1, on, resource);
  made.diagonal_slots = make_buffer<Index>(a.size, on, resource);
  made.sources = make_buffer<Offset>(made.entries, on, resource);
  const auto solve_index_of_row = make_buffer<Index>(a.size, on, resource);
  const auto columns = make_buffer<Index>(made.entries, on, resource);
  const auto lower_view = triangle_view<Index, Offset>::of(lower);
  const auto upper_view = triangle_view<Index, Offset>::of(upper);
  scan(on, a.size,
       place_eliminated_rows<Index, Offset>{a.size, lower_view, upper_view, made.rows.data(),
                                            made.row_offsets.data(), made.diagonal_slots.data(),
                                            solve_index_of_row.data()},
       resource);
  simt::for_each(
      on, made.entries,
      place_entries<Index, Offset>{a.size, lower_view, lower.diagonal_sources.data(), upper_view,
                                   made.rows.data(), made.row_offsets.data(), made.diagonal_slots.data(),
                                   columns.data(), made.sources.data()});
  lower = {};
  upper = {};
  const auto counts = make_buffer<std::int64_t>(made.entries + 1, on, resource);
  on.fill_bytes(counts.data(), 0, counts.bytes());
  simt::find_largest(on, a.size, length_of_row<Offset>{made.row_offsets.data()}, counts.data());
  on.download(&made.longest_row, counts.data(), sizeof(made.longest_row));

  // 2. The operands of their steps.
  const find_operands<Method, Index, Offset> steps{
      a.size, made.row_offsets.data(), made.diagonal_slots.data(), columns.data(), solve_index_of_row.data()};
  simt::for_each(on, made.entries, count_operands<Method, Index, Offset>{steps, counts.data()});
  on.exclusive_scan(counts.data(), counts.data(), made.entries + 1, resource);
  std::int64_t operands = 0;
  on.download(&operands, counts.data() + made.entries, sizeof(operands));
  made.operands = make_buffer<operand<Index, Offset>>(operands, on, resource);
  made.first_operands = make_buffer<std::int64_t>(a.size + 1, on, resource);
  simt::for_each(
      on, made.entries,
      write_operands<Method, Index, Offset>{steps, made.sources.data(), counts.data(), made.operands.data()});
  simt::for_each(
      on, a.size + 1,
      take_first_operands<Offset>{made.row_offsets.data(), counts.data(), made.first_operands.data()});
  return made;
}

}  // namespace sptrsv::detail::incomplete
