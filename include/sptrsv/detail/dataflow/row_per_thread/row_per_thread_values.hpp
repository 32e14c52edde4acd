// SPDX-License-Identifier: Apache-2.0
// The values of the packed form of the row_per_thread path.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/row_per_thread/sliced_ell.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread {

/// Writes the values of the entries of each row and lane past the last row, if rows are stored runs.
template <class Scalar, class Index, class Offset, class Stored>
struct gather_run_values {
  static constexpr int at_once = 4;  ///< loads of a row that are under way together
  std::int64_t size;
  const Offset* offsets;
  const entry_shift* shifts;
  const Offset* diagonals;
  const Index* substitution_indices;  ///< by solve index, -1: partial row; null: there are none
  const Scalar* stored;
  Stored* values;
  Stored* pivots;  ///< null if the diagonal is unit
  bool reversed;
  bool conjugated;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const auto end = static_cast<std::int64_t>(ctx.load_constant(offsets + row / slice_rows + 1));
    const stored_run<Offset> run{row < size ? ctx.load_constant(diagonals + row) : 0, reversed};
    std::int64_t slot =
        static_cast<std::int64_t>(ctx.load_constant(offsets + row / slice_rows)) + row % slice_rows;
    for (; slot < end; slot += at_once * slice_rows) {
      entry_shift shift[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        shift[i] = slot + i * slice_rows < end ? ctx.load_constant(shifts + slot + i * slice_rows) : no_entry;
      }
      Scalar value[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        value[i] = shift[i] == minus_one ? Scalar{} - pivot_divisor<Scalar>::one() : Scalar{};
        if (shift[i] > minus_one) {
          const std::int64_t from_end = (end - slot + slice_rows - 1) / slice_rows - i;
          value[i] =
              load_value(ctx, stored + run.source(static_cast<Offset>(from_end - shift[i])), conjugated);
        }
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (slot + i * slice_rows < end) {
          ctx.store(values + slot + i * slice_rows, entry_cast<Stored>(value[i]));
        }
      }
    }
    if (pivots != nullptr && row < size) {
      const bool is_partial =
          substitution_indices != nullptr && ctx.load_constant(substitution_indices + row) < 0;
      ctx.store(pivots + row,
                entry_cast<Stored>(is_partial ? pivot_divisor<Scalar>::one()
                                              : load_value(ctx, stored + run.diagonal, conjugated)));
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_per_thread
