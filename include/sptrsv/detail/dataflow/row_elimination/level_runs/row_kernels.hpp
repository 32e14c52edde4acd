// SPDX-License-Identifier: Apache-2.0
// The kernels of rewriting by levels that take one thread for each row.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/dataflow/row_elimination/level_runs/level_runs_rows.hpp"

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

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::level_runs
