// A row of the grid path, as the lane sees it that solves it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/grid_groups.hpp"
#include "sptrsv/detail/solve_pages.hpp"

namespace sptrsv::detail::dataflow {

template <class Scalar, class Index, class Offset>
struct grid_params {
  std::int64_t size;    ///< of the system
  std::int64_t places;  ///< rows, partial ones included
  int sharers;          ///< blocks that have the same rows and take turns with the right-hand sides
  bool reversed;
  const Offset* offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;  ///< by place; null if it is unit
  const Index*
      position_of_place;  ///< -1 for partial rows; null where rows stand in the order of substitution
  const Index* gates;     ///< by group: a place some levels earlier, -1 if none; null: no gates
  solve_pages<Scalar> pages;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// What does not depend on x: read before the first wait. `Entries` are taken together.
template <class Scalar, class Index, class Offset, int Entries>
struct grid_row {
  using params = grid_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;

  /// Some entries.
  struct batch {
    Index column[Entries];  ///< -1 where there is no entry
    Scalar value[Entries];
  };

  Offset begin;  ///< the slots are begin, begin + 32, ... below end
  Offset end;
  batch first_entries;
  Index gate;             ///< -1: none
  std::int64_t position;  ///< of substitution; -1 for partial rows
  std::int64_t number;    ///< in b and x
  pivot_divisor<Scalar> pivot;

  /// `place` may lie behind the last row's, in its group.
  template <class Context>
  SPTRSV_DEVICE static grid_row open(Context& ctx, const params& p, std::int64_t place) {
    const std::int64_t group = place / group_rows;
    const bool present = place < p.places;
    const Offset begin = ctx.load_constant(p.offsets + group) + static_cast<Offset>(place % group_rows);
    const Offset end = ctx.load_constant(p.offsets + group + 1);
    const batch entries = read(ctx, p, begin, end, first_slot(begin, end));
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + group);
    const std::int64_t position =
        !present ? -1
        : p.position_of_place == nullptr
            ? place
            : static_cast<std::int64_t>(ctx.load_constant(p.position_of_place + place));
    return {begin,
            end,
            entries,
            gate,
            position,
            p.reversed ? p.size - 1 - position : position,
            pivot_divisor<Scalar>(p.diagonal == nullptr || !present ? pivot_divisor<Scalar>::one()
                                                                    : ctx.load_constant(p.diagonal + place))};
  }

  /// Of the first batch. Batches end with the last one, so that a row of few entries, which stand last, has
  /// them in one batch.
  [[nodiscard]] SPTRSV_DEVICE Offset first() const { return first_slot(begin, end); }
  SPTRSV_DEVICE static constexpr Offset stride() { return static_cast<Offset>(group_rows * Entries); }

  /// The batch at slot `e`, empty behind the end.
  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE batch read(Context& ctx, const params& p, Offset e) const {
    return read(ctx, p, begin, end, e);
  }

  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE Scalar load_b(Context& ctx, const params& p, std::int64_t column) const {
    return position < 0 ? Scalar{}
                        : p.alpha * ctx.load(p.b.data + number * p.b.row_stride + column * p.b.column_stride);
  }

  /// To the user's array; partial rows have no place there.
  template <class Context>
  SPTRSV_DEVICE void store_x(Context& ctx, const params& p, std::uint32_t page, std::int64_t column,
                             Scalar x) const {
    if (position >= 0) {
      ctx.store(p.x.data + number * p.x.row_stride + column * p.x.column_stride, x);
      if (!is_finite(x)) {
        p.pages.note_bad(ctx, page, position);
      }
    }
  }

  /// One word to look at while the solve is still some levels away: otherwise thousands of warps would ask
  /// for all that they need again and again, and slow down those whose turn it is. `solved`: of the first
  /// right-hand side that is wanted.
  template <class Context>
  SPTRSV_DEVICE void wait_for_gate(Context& ctx, const word* solved) const {
    if (gate >= 0) {
      simt::wait_until(ctx, solved + static_cast<std::int64_t>(gate) * flag::words,
                       [](word w) { return w != flag::pending; });
    }
  }

 private:
  SPTRSV_DEVICE static Offset first_slot(Offset begin, Offset end) {
    const Offset width = (end - begin + group_rows - 1) / group_rows * group_rows;
    return begin + width - (width + stride() - 1) / stride() * stride();
  }

  template <class Context>
  SPTRSV_DEVICE static batch read(Context& ctx, const params& p, Offset begin, Offset end, Offset e) {
    batch made;
    for (int i = 0; i < Entries; ++i) {
      const Offset slot = e + static_cast<Offset>(group_rows * i);
      const bool present = slot >= begin && slot < end;
      made.column[i] = present ? ctx.load_constant(p.columns + slot) : Index{-1};
      made.value[i] = present ? ctx.load_constant(p.values + slot) : Scalar{};
    }
    return made;
  }
};

/// sum of a_i x_i, in two parts, whose order is fixed: half the latency of one. `x(i)`: a reading.
template <int Entries, class Scalar, class Read>
SPTRSV_DEVICE Scalar sum_of_products(const Scalar (&values)[Entries], const Read& x) {
  Scalar sum[2] = {};
  for (int i = 0; i < Entries; ++i) {
    sum[i % 2] = sum[i % 2] + values[i] * x(i).value();
  }
  return sum[0] + sum[1];
}

}  // namespace sptrsv::detail::dataflow
