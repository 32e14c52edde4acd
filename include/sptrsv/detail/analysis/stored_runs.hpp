// Rows whose entries stand side by side in the stored matrix: to find them there, a number a row will do.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail {

/// Counts the stored entries of a row from its diagonal, which is number 0: they are 1, 2, ... from there.
template <class Offset>
struct stored_run {
  Offset diagonal;  ///< where it is stored, or would be
  bool reversed;    ///< see triangle_form

  [[nodiscard]] SPTRSV_HOST_DEVICE constexpr Offset source(std::int64_t number) const {
    return static_cast<Offset>(reversed ? diagonal + static_cast<Offset>(number)
                                        : diagonal - static_cast<Offset>(number));
  }
};

/// Finds the runs of a triangle that has them (device_triangle::rows_are_stored_runs).
template <class Offset>
struct stored_run_reader {
  const Offset* row_offsets;
  const Offset* sources;
  const Offset* diagonal_sources;  ///< null if the diagonal is unit
  bool reversed;

  /// Of the row; of no use where it has neither stored entries nor a pivot.
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
