// SPDX-License-Identifier: Apache-2.0
// The kernels of rewriting by levels (level_runs_rows.hpp) that take one thread for a row or an entry, and
// the kernel that computes right-hand sides.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_rows.hpp"
#include "sptrsv/detail/simt/collectives.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs {

/// Writes, for each row, its number of levels after the first one of its run, as a key to sort by, and the
/// state of a row that is not rewritten. Writes the numbers 0, 1, 2, ..., too.
template <class Index, class Offset, class Real>
struct start_rows {
  const Offset* row_offsets;
  runs<Index> in;
  std::make_unsigned_t<Index>* positions;
  Index* numbers;
  Offset* slots;  ///< of the rewritten row: none yet
  Offset* lengths;
  Offset* rhs_lengths;
  Real* inverse_sums;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(positions + row, static_cast<std::make_unsigned_t<Index>>(in.position(ctx, row)));
    ctx.store(numbers + row, static_cast<Index>(row));
    ctx.store(slots + row, Offset{0});
    ctx.store(rhs_lengths + row, Offset{0});
    ctx.store(lengths + row, ctx.load_constant(row_offsets + row + 1) - ctx.load_constant(row_offsets + row));
    ctx.store(inverse_sums + row, Real{1});
  }
};

/// The level of a row after the first one of its run, by itself.
struct position_of_key {
  template <class Key>
  SPTRSV_HOST_DEVICE std::int64_t operator()(Key key) const {
    return static_cast<std::int64_t>(key);
  }
};

/// Copies the columns of the rewritten system. Runs once per entry, see triangle_kernels::for_each_entry().
template <class Index, class Offset>
struct take_columns {
  const Offset* triangle_offsets;
  const Index* triangle_columns;
  const Offset* slots;
  const Index* listed;
  const Offset* rhs_offsets;
  const Offset* row_offsets;
  Index* columns;
  bool has_pivots;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    if (has_pivots && e + 1 == static_cast<std::int64_t>(ctx.load_constant(row_offsets + row + 1))) {
      ctx.store(columns + e, static_cast<Index>(row));
      return;
    }
    const bool is_rewritten = ctx.load_constant(rhs_offsets + row) < ctx.load_constant(rhs_offsets + row + 1);
    const Index* const from = is_rewritten ? listed + ctx.load_constant(slots + row)
                                           : triangle_columns + ctx.load_constant(triangle_offsets + row);
    const Offset number = static_cast<Offset>(e) - ctx.load_constant(row_offsets + row);
    ctx.store(columns + e, ctx.load_constant(from + number));
  }
};

/// Copies the columns of the right-hand sides, which are listed behind those of the rows. Runs once per entry
/// of the right-hand sides.
template <class Index, class Offset>
struct take_rhs_columns {
  const Offset* slots;
  const Offset* lengths;  ///< of the rows, without pivots
  const Index* listed;
  const Offset* rhs_offsets;
  Index* rhs_columns;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    const Offset from = ctx.load_constant(slots + row) + ctx.load_constant(lengths + row);
    const Offset number = static_cast<Offset>(e) - ctx.load_constant(rhs_offsets + row);
    ctx.store(rhs_columns + e, ctx.load_constant(listed + from + number));
  }
};

/// Computes c_i = alpha (b_i - sum_j w_ij b_j), by substitution index. Groups of `lanes` lanes of a warp take
/// one row and right-hand side each.
template <class Scalar, class Index, class Offset>
struct rewritten_rhs_agent {
  static constexpr int block_threads = 128;
  struct shared_storage {};
  struct params {
    std::int64_t size;
    int lanes;  ///< a power of two, at most 32
    bool reversed;
    const Offset* row_offsets;  ///< of w
    const Index* columns;
    const Scalar* values;
    Scalar alpha;
    dense_view<const Scalar> b;
    Scalar* c;  ///< size x columns, column-major
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t thread =
        static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    const std::int64_t task = thread / p.lanes;
    const auto lane = static_cast<int>(thread % p.lanes);
    const std::int64_t row = task % p.size;
    const std::int64_t column = task / p.size;
    const bool present = column < p.b.columns;
    Scalar products{};
    if (present) {
      const Offset end = ctx.load_constant(p.row_offsets + row + 1);
      for (Offset e = ctx.load_constant(p.row_offsets + row) + static_cast<Offset>(lane); e < end;
           e += static_cast<Offset>(p.lanes)) {
        const auto needs = static_cast<std::int64_t>(ctx.load_constant(p.columns + e));
        products = products + ctx.load_constant(p.values + e) * rhs(ctx, p, needs, column);
      }
    }
    products = simt::reduce(warp, products, p.lanes, simt::plus{});
    if (present && lane == 0) {
      ctx.store(p.c + column * p.size + row, p.alpha * (rhs(ctx, p, row, column) - products));
    }
  }

 private:
  template <class Context>
  SPTRSV_DEVICE static Scalar rhs(Context& ctx, const params& p, std::int64_t substitution_index,
                                  std::int64_t column) {
    const std::int64_t row = p.reversed ? p.size - 1 - substitution_index : substitution_index;
    return ctx.load(p.b.data + row * p.b.row_stride + column * p.b.column_stride);
  }
};

/// Copies the only column of b.
template <class Scalar>
struct copy_rhs {
  dense_view<const Scalar> b;
  Scalar* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    ctx.store(to + row, ctx.load(b.data + row * b.row_stride));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs
