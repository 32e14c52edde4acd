// SPDX-License-Identifier: Apache-2.0
// Rows whose entries are adjacent in the stored matrix. One number per row suffices to find their values.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail {

/// Addresses the stored entries of a row relative to its diagonal entry: entry 0 is the diagonal entry,
/// entries 1, 2, ... follow in the direction away from it.
template <class Offset>
struct stored_run {
  Offset diagonal;  ///< index in the stored matrix, or where it would be if the diagonal is not stored
  bool reversed;    ///< true if substitution starts at the last row

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr Offset source(std::int64_t number) const {
    return static_cast<Offset>(reversed ? diagonal + static_cast<Offset>(number)
                                        : diagonal - static_cast<Offset>(number));
  }
};

/// Finds the run of a row of a triangle with device_triangle::rows_are_stored_runs.
template <class Offset>
struct stored_run_reader {
  const Offset* row_offsets;       ///< by row, size + 1
  const Offset* sources;           ///< by entry
  const Offset* diagonal_sources;  ///< by row; null if the diagonal is unit
  bool reversed;

  /// Returns the run of `row`. The result is meaningless if the row has neither stored entries nor a pivot.
  template <class Context>
  SPTRSV_DEVICE stored_run<Offset> operator()(Context& ctx, std::int64_t row) const {
    const Offset pivot = diagonal_sources == nullptr ? Offset{-1} : ctx.load_constant(diagonal_sources + row);
    if (pivot >= 0) {
      return {pivot, reversed};
    }
    const Offset end = ctx.load_constant(row_offsets + row + 1);
    const Offset last = end > ctx.load_constant(row_offsets + row) ? ctx.load_constant(sources + end - 1) : 0;
    return {static_cast<Offset>(reversed ? last - 1 : last + 1), reversed};
  }
};

}  // namespace sptrsv::detail
