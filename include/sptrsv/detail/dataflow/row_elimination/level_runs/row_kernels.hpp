// The kernels of rewriting by levels that take one thread for each row.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/dataflow/row_elimination/level_runs/rows.hpp"

namespace sptrsv::detail::dataflow::level_runs {

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
    const Index level = ctx.load_constant(in.levels + row);
    ctx.store(positions + row,
              static_cast<std::make_unsigned_t<Index>>(level - ctx.load_constant(in.starts + level)));
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

/// Copies the columns of each row, and then that of its pivot, and those of its right-hand side.
template <class Index, class Offset>
struct take_columns {
  const Offset* triangle_offsets;
  const Index* triangle_columns;
  const Offset* slots;
  const Index* listed;
  const Offset* row_offsets;
  Index* columns;
  const Offset* rhs_offsets;
  Index* rhs_columns;
  Offset pivots;  ///< pivots of a row: 0 or 1

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Offset rhs_to = ctx.load_constant(rhs_offsets + row);
    const Offset rhs_count = ctx.load_constant(rhs_offsets + row + 1) - rhs_to;
    const Offset to = ctx.load_constant(row_offsets + row);
    const Offset count = ctx.load_constant(row_offsets + row + 1) - to - pivots;
    const Index* const from = rhs_count > 0 ? listed + ctx.load_constant(slots + row)
                                            : triangle_columns + ctx.load_constant(triangle_offsets + row);
    for (Offset i = 0; i < count; ++i) {
      ctx.store(columns + to + i, ctx.load_constant(from + i));
    }
    if (pivots != 0) {
      ctx.store(columns + to + count, static_cast<Index>(row));
    }
    for (Offset i = 0; i < rhs_count; ++i) {
      ctx.store(rhs_columns + rhs_to + i, ctx.load_constant(from + count + i));
    }
  }
};

}  // namespace sptrsv::detail::dataflow::level_runs
