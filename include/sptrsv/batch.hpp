// SPDX-License-Identifier: Apache-2.0
// The types of batches of small systems: their options and vectors. sptrsv/batched.hpp and
// sptrsv/any/any_batch.hpp have the solvers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The size of a batch, the layout of its values, and how many threads solve one system.
struct batch_options {
  std::int64_t systems = 1;  ///< number of systems, at least 0
  /// Distance in elements between the values of consecutive systems; 0: the number of entries of the matrix.
  std::int64_t value_stride = 0;
  /// Threads that share a system: 4, 8, 16 or 32. 0: chosen by the pattern and the number of systems.
  int lanes = 0;
  /// Systems that these threads solve together: 1, or 2 if a value has at most 8 bytes. 0: chosen.
  int together = 0;
};

/// Non-owning view of a dense matrix for each system of a batch, whose columns are right-hand sides or
/// solutions: element (i, j) of system s is `data[s * system_stride + i * row_stride + j * column_stride]`.
/// Trivially copyable. Strides may be negative.
template <class T>
struct batch_view {
  T* data = nullptr;               ///< address of element (0, 0) of system 0
  std::int64_t systems = 0;        ///< number of systems
  std::int64_t rows = 0;           ///< number of rows of each system
  std::int64_t columns = 1;        ///< number of columns of each system
  std::int64_t row_stride = 1;     ///< distance in elements from row to row of a column
  std::int64_t column_stride = 0;  ///< distance in elements from column to column of a row
  std::int64_t system_stride = 0;  ///< distance in elements from system to system

  /// Constructs a view without elements.
  constexpr batch_view() noexcept = default;
  /// Constructs a view from all its members, in their order.
  constexpr batch_view(T* first, std::int64_t system_count, std::int64_t row_count, std::int64_t column_count,
                       std::int64_t row_step, std::int64_t column_step, std::int64_t system_step) noexcept
      : data(first),
        systems(system_count),
        rows(row_count),
        columns(column_count),
        row_stride(row_step),
        column_stride(column_step),
        system_stride(system_step) {}
  /// Constructs a view of constants from a view of variables.
  template <class U,
            class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr batch_view(const batch_view<U>& other) noexcept
      : batch_view(other.data, other.systems, other.rows, other.columns, other.row_stride,
                   other.column_stride, other.system_stride) {}

  /// Returns a view without gaps: column after column of a system, system after system.
  static constexpr batch_view contiguous(T* data, std::int64_t systems, std::int64_t rows,
                                         std::int64_t columns = 1) noexcept {
    // Wraps for sizes that no batch has: the functions that take a view compare the sizes first.
    const auto stride = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns);
    return {data, systems, rows, columns, 1, rows, static_cast<std::int64_t>(stride)};
  }
};

}  // namespace sptrsv::SPTRSV_ABI
