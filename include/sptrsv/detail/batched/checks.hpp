// SPDX-License-Identifier: Apache-2.0
// Checks of what the solvers of batches take, on the device and on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/batch.hpp"
#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

/// The largest number of systems in a group, which the same lanes solve together: they load their values by
/// up to 16 bytes.
constexpr int max_group_systems(std::size_t value_bytes) { return value_bytes > 8 ? 1 : 2; }

/// Returns a view of the elements as the library's own scalars.
template <class T>
auto as_scalars(const batch_view<T>& v) {
  return batch_view(as_scalar(v.data), v.systems, v.rows, v.columns, v.row_stride, v.column_stride,
                    v.system_stride);
}

/// Checks options, for systems with this number of entries.
inline void check_options(const batch_options& batch, std::int64_t entries, std::size_t value_bytes) {
  SPTRSV_EXPECTS(batch.systems >= 0, errc::invalid_argument, "a batch of a negative number of systems");
  SPTRSV_EXPECTS(batch.value_stride == 0 || batch.value_stride >= entries, errc::invalid_argument,
                 "the value stride ", batch.value_stride, " is less than the ", entries,
                 " entries of a system");
  SPTRSV_EXPECTS(
      batch.lanes == 0 || batch.lanes == 4 || batch.lanes == 8 || batch.lanes == 16 || batch.lanes == 32,
      errc::invalid_argument, batch.lanes, " lanes for a system: there may be 4, 8, 16 or 32");
  SPTRSV_EXPECTS(batch.together >= 0 && batch.together <= max_group_systems(value_bytes),
                 errc::invalid_argument, batch.together,
                 " systems are solved together: there may be at most ", max_group_systems(value_bytes));
}

/// Checks that there are enough values, and returns how many the systems need.
inline std::int64_t check_values(std::size_t given, std::int64_t systems, std::int64_t entries,
                                 std::int64_t stride) {
  const std::int64_t needed =
      systems == 0 || entries == 0 ? 0 : checked_product(systems - 1, stride) + entries;
  SPTRSV_EXPECTS(static_cast<std::uint64_t>(needed) <= given, errc::size_mismatch, given, " values for ",
                 systems, " systems of ", entries, " entries at a distance of ", stride, ", which are ",
                 needed);
  return needed;
}

/// Checks the strides of an operand that has elements. `repeats`: whether strides may be 0.
template <class T>
void check_elements(const batch_view<T>& v, const char* name, bool repeats) {
  const auto dimension = [](std::int64_t stride, std::int64_t count) {  // stride and steps
    return std::pair(magnitude(stride), static_cast<std::uint64_t>(count - 1));
  };
  std::array dimensions{dimension(v.row_stride, v.rows), dimension(v.column_stride, v.columns),
                        dimension(v.system_stride, v.systems)};
  std::sort(dimensions.begin(), dimensions.end());
  const auto strides = [&] {
    return text_from(name, " of ", v.systems, " systems of ", v.rows, " rows and ", v.columns,
                     " columns, with system stride ", v.system_stride, ", row stride ", v.row_stride,
                     " and column stride ", v.column_stride);
  };
  constexpr std::uint64_t limit = static_cast<std::uint64_t>(PTRDIFF_MAX) / sizeof(T);
  std::uint64_t extent = 0;  // distance of the elements that differ in the dimensions so far
  for (const auto& [stride, steps] : dimensions) {
    if (steps == 0) {
      continue;
    }
    SPTRSV_EXPECTS(stride <= (limit - extent) / steps, errc::invalid_argument, strides(),
                   ", exceeds the address space");
    SPTRSV_EXPECTS(repeats || stride > extent, errc::invalid_argument, strides(),
                   ", has elements that overlap: a stride is too small");
    extent += stride * steps;
  }
}

/// Checks the operands of a solve. Returns whether they have elements.
template <class Executor, class T>
bool check_operands(const batch_view<const T>& b, const batch_view<T>& x, std::int64_t systems,
                    std::int64_t rows, std::int64_t max_rhs, const char* taker) {
  const auto check_size = [&](const auto& v, const char* name) {
    SPTRSV_EXPECTS(v.systems == systems && v.rows == rows, errc::size_mismatch, name, " has ", v.systems,
                   " systems of ", v.rows, " rows, the batch has ", systems, " of ", rows);
  };
  check_size(b, "b");
  check_size(x, "x");
  if (!check_columns<Executor>(b, x, systems > 0 && rows > 0, max_rhs, taker)) {
    return false;
  }
  check_elements(b, "b", true);
  check_elements(x, "x", false);
  return true;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
