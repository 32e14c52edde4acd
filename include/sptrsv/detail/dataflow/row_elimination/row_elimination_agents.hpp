// SPDX-License-Identifier: Apache-2.0
// The kernels that rewrite rows in row blocks, and that compute the right-hand sides of the rewritten system:
// one warp for each row block of 32 rows (see row_elimination_rows.hpp).
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rows.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// Chooses the rows that are rewritten, and lists their columns.
template <class Scalar, class Index, class Offset>
struct choose_rows_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    valued_triangle<Scalar, Index, Offset> triangle;
    real_t<Scalar> max_growth;
    Offset longest_row;   ///< entries of a row that is rewritten, at most
    const Offset* slots;  ///< rows + 1: where the columns of a row are listed, with room for the longest row
    Index* columns;
    Offset* lengths;            ///< by row
    std::uint32_t* eliminated;  ///< by row: one bit for each row of the row block whose entries it eliminates
    Offset* eliminated_entries;  ///< by row block
    std::int64_t* rewritten;     ///< number of rewritten rows; starts at 0
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row_block =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    const std::int64_t base = row_block * row_block_rows;
    if (base >= p.triangle.size) {
      return;
    }
    const std::int64_t rows =
        p.triangle.size - base < row_block_rows ? p.triangle.size - base : std::int64_t{row_block_rows};
    real_t<Scalar> inverse_sum = 1;  // of the row with this lane's number; so is length
    Offset length = 0;
    std::int64_t entries = 0;
    std::int64_t rewritten = 0;
    for (int k = 0; k < rows; ++k) {
      const auto r = open_row(ctx, warp, p.triangle, base, base + k);
      const real_t<Scalar> needed_sum = warp.shuffle(inverse_sum, r.needs);
      const auto e = eliminate(ctx, warp, p.triangle, base, base + k, r, [&] { return needed_sum; });
      Offset made = r.end - r.begin;
      bool is_rewritten = r.inside > 0 && made <= p.longest_row && e.is_finite && e.growth() <= p.max_growth;
      if (is_rewritten) {
        const Offset slot = ctx.load_constant(p.slots + base + k);
        const Offset max_count = ctx.load_constant(p.slots + base + k + 1) - slot;
        const Offset merged = list_columns(ctx, warp, p, base, slot, r, length, max_count);
        is_rewritten = merged <= max_count;
        made = is_rewritten ? merged : made;
      }
      warp.sync();
      if (!is_rewritten) {
        copy_columns(ctx, warp, p, base + k, r);
      }
      if (warp.rank() == k) {
        inverse_sum = is_rewritten ? e.inverse_sum : real_t<Scalar>{1};
        length = made;
        ctx.store(p.lengths + base + k, made);
        ctx.store(p.eliminated + base + k, is_rewritten ? r.all : 0u);
      }
      entries += is_rewritten ? r.inside : 0;
      rewritten += is_rewritten ? 1 : 0;
      warp.sync();
    }
    if (warp.rank() == 0) {
      ctx.store(p.eliminated_entries + row_block, static_cast<Offset>(entries));
      ctx.atomic_add(p.rewritten, rewritten);
    }
  }

 private:
  /// Lists the columns of the rewritten row and returns their number; stops above `max_count`.
  template <class Context, class Warp>
  SPTRSV_DEVICE static Offset list_columns(Context& ctx, const Warp& warp, const params& p, std::int64_t base,
                                           Offset slot, const block_row<Offset>& r, Offset length,
                                           Offset max_count) {
    const Offset length_of_needed = warp.shuffle(length, r.needs);
    sorted_list<Index, Offset> list{p.triangle.columns, r.begin, r.begin};
    if (warp.rank() == 0) {
      list.end = r.end - static_cast<Offset>(r.inside);
    } else if (r.has_entry) {
      list.columns = p.columns;
      list.next = ctx.load_constant(p.slots + base + r.needs);
      list.end = list.next + length_of_needed;
    }
    return merge(ctx, warp, list, p.columns, slot, max_count);
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void copy_columns(Context& ctx, const Warp& warp, const params& p, std::int64_t row,
                                         const block_row<Offset>& r) {
    const Offset slot = ctx.load_constant(p.slots + row);
    for (Offset i = static_cast<Offset>(warp.rank()); i < r.end - r.begin; i += 32) {
      ctx.store(p.columns + slot + i, ctx.load_constant(p.triangle.columns + r.begin + i));
    }
  }
};

/// Computes the values of the rewritten system.
template <class Scalar, class Index, class Offset>
struct rewrite_rows_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    valued_triangle<Scalar, Index, Offset> triangle;
    real_t<Scalar> max_growth;
    const std::uint32_t* eliminated;  ///< by row, as choose_rows_agent found them
    const Offset* factor_offsets;     ///< row blocks + 1
    Scalar* factors;                  ///< l_kj / d_j of the eliminated entries, by row, columns ascending
    const Offset* row_offsets;        ///< of the rewritten system, with its pivots unless they are unit
    const Index* columns;
    Scalar* values;
    std::int64_t* first_grown;  ///< the first rewritten row whose growth is too large; starts beyond all rows
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t row_block =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    const std::int64_t base = row_block * row_block_rows;
    if (base >= p.triangle.size) {
      return;
    }
    const std::int64_t rows =
        p.triangle.size - base < row_block_rows ? p.triangle.size - base : std::int64_t{row_block_rows};
    Offset factors = ctx.load_constant(p.factor_offsets + row_block);
    real_t<Scalar> inverse_sum = 1;  // of the row with this lane's number
    for (int k = 0; k < rows; ++k) {
      const auto r = open_row(ctx, warp, p.triangle, base, base + k);
      if (ctx.load_constant(p.eliminated + base + k) == 0) {
        copy_values(ctx, warp, p, base + k, r);
      } else {
        const real_t<Scalar> needed_sum = warp.shuffle(inverse_sum, r.needs);
        const auto e = eliminate(ctx, warp, p.triangle, base, base + k, r, [&] { return needed_sum; });
        if (r.has_entry) {
          ctx.store(p.factors + factors + static_cast<Offset>(r.inside - warp.rank()), e.factor);
        }
        factors += static_cast<Offset>(r.inside);
        inverse_sum = warp.rank() == k ? e.inverse_sum : inverse_sum;
        const bool finite = combine(ctx, warp, p, base, k, r, e.factor);
        if (warp.rank() == 0 && !(finite && e.is_finite && e.growth() <= p.max_growth)) {
          ctx.atomic_min(p.first_grown, base + k);
        }
      }
      if (warp.rank() == 0 && p.triangle.diagonal_sources != nullptr) {
        ctx.store(p.values + ctx.load_constant(p.row_offsets + base + k + 1) - 1,
                  p.triangle.pivot(ctx, base + k));
      }
      warp.sync();
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void copy_values(Context& ctx, const Warp& warp, const params& p, std::int64_t row,
                                        const block_row<Offset>& r) {
    const Offset to = ctx.load_constant(p.row_offsets + row);
    for (Offset i = static_cast<Offset>(warp.rank()); i < r.end - r.begin; i += 32) {
      ctx.store(p.values + to + i, p.triangle.entry(ctx, row, r.begin + i));
    }
  }

  /// Computes the values of the rewritten row; returns whether they are finite.
  template <class Context, class Warp>
  SPTRSV_DEVICE static bool combine(Context& ctx, const Warp& warp, const params& p, std::int64_t base, int k,
                                    const block_row<Offset>& r, Scalar factor) {
    const Offset pivot = p.triangle.diagonal_sources == nullptr ? 0 : 1;
    eliminated_row<Scalar, Offset> eliminated{0, 0, factor};
    if (r.has_entry) {
      eliminated.begin = ctx.load_constant(p.row_offsets + base + r.needs);
      eliminated.end = ctx.load_constant(p.row_offsets + base + r.needs + 1) - pivot;
    }
    const Offset own_end = r.end - static_cast<Offset>(r.inside);
    return combine_rows(ctx, warp, p.columns, p.values, ctx.load_constant(p.row_offsets + base + k),
                        ctx.load_constant(p.row_offsets + base + k + 1) - pivot, eliminated, r.inside,
                        [&](Index column) {
                          const Offset e = find_column(ctx, p.triangle.columns, r.begin, own_end, column);
                          return e < own_end ? p.triangle.entry(ctx, base + k, e) : Scalar{};
                        });
  }
};

/// Computes c_k = alpha b_k - sum_j (l_kj / d_j) c_j over the eliminated entries, by substitution index. One
/// warp for each row block and right-hand side.
template <class Scalar, class Offset>
struct eliminated_rhs_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    std::int64_t row_blocks;
    bool reversed;
    const std::uint32_t* eliminated;
    const Offset* factor_offsets;
    const Scalar* factors;
    Scalar alpha;
    dense_view<const Scalar> b;
    Scalar* c;  ///< size x columns, column-major
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t task =
        static_cast<std::int64_t>(ctx.block_rank()) * (block_threads / 32) + warp.index();
    const std::int64_t row_block = task % p.row_blocks;
    const std::int64_t column = task / p.row_blocks;
    if (column >= p.b.columns) {
      return;
    }
    const std::int64_t substitution_index = row_block * row_block_rows + warp.rank();
    const bool present = substitution_index < p.size;
    const std::uint32_t needs = present ? ctx.load_constant(p.eliminated + substitution_index) : 0u;
    Scalar c{};
    if (present) {
      const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
      c = p.alpha * ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
    }
    const int count = simt::bit_count(needs);
    Offset next = ctx.load_constant(p.factor_offsets + row_block) +
                  static_cast<Offset>(simt::exclusive_sum(warp, count));
    std::uint32_t needed = simt::reduce(warp, needs, 32, simt::bit_or{});
    for (; needed != 0; needed &= needed - 1) {
      const int k = simt::lowest_bit(needed);
      const Scalar other = warp.shuffle(c, k);
      if ((needs >> k & 1u) != 0) {
        c = c - ctx.load_constant(p.factors + next) * other;
        ++next;
      }
    }
    if (present) {
      ctx.store(p.c + column * p.size + substitution_index, c);
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
