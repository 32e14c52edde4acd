// SPDX-License-Identifier: Apache-2.0
// The pattern of the stored matrix, how the system is stored in it, and the errors that analyses report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/check_space.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/error.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

SPTRSV_BEGIN_ANY_CONTEXT
/// A compressed matrix without its values: `size` rows (columns if `by_columns`). Value e belongs to entry e,
/// unless the matrix is stored in blocks: then each `block` consecutive rows have the same columns, in blocks
/// of as many columns, and the values of a block stand together (bsr_view).
template <class Index, class Offset>
struct pattern_view {
  std::int64_t size;
  std::int64_t entries;
  const Offset* offsets;  ///< by row (column), size + 1
  const Index* indices;   ///< by entry: its column (row)
  bool by_columns;
  std::int64_t block = 1;              ///< rows of a block; 1: the matrix is not stored in blocks
  bool has_blocks_by_columns = false;  ///< whether the values of a block are by columns

  /// Returns the index of the value of entry `e`, which is in row (column) `m`.
  template <class Context>
  [[nodiscard]] SPTRSV_HOST_DEVICE Offset value_index(Context& ctx, std::int64_t m, std::int64_t e) const {
    if (block == 1) {
      return static_cast<Offset>(e);
    }
    const std::int64_t row = m % block;
    const std::int64_t first = load_index(ctx, offsets + m - row);  // of the block row
    const std::int64_t k = e - load_index(ctx, offsets + m);
    const std::int64_t inside = has_blocks_by_columns ? k % block * block + row : row * block + k % block;
    return static_cast<Offset>(first + k / block * block * block + inside);
  }
};
SPTRSV_END_ANY_CONTEXT

/// A pattern with its values, for engines whose plan depends on the values.
template <class Scalar, class Pattern>
struct valued : Pattern {
  const Scalar* values;  ///< by entry
};
template <class Scalar, class Index, class Offset>
using valued_pattern = valued<Scalar, pattern_view<Index, Offset>>;

template <class Scalar, class Pattern>
valued<Scalar, Pattern> with_values(const Pattern& a, const Scalar* values) {
  return {a, values};
}

/// How the lower triangular system is stored in the matrix. Rows of the system are numbered by substitution
/// index: the rows of op(T) in the order of substitution, from the last if T is upper.
struct triangle_form {
  bool transposed = false;  ///< the rows of op(T) are the minor dimension of the storage
  bool reversed = false;    ///< substitution index p is row size - 1 - p of op(T)
  bool unit = false;        ///< the diagonal is one
  bool conjugated = false;  ///< values are conjugated

  triangle_form() = default;
  triangle_form(const system_options& options, bool by_columns)
      : transposed(by_columns == (options.operation == op::none)),
        reversed((options.part == uplo::upper) == (options.operation == op::none)),
        unit(options.diagonal == diag::unit),
        conjugated(options.operation == op::conj_transpose) {}

  /// Returns the row (column) of the storage that holds an entry of the system. `size`: rows of the system.
  [[nodiscard]] SPTRSV_HOST_DEVICE std::int64_t stored_major(std::int64_t size, std::int64_t row,
                                                             std::int64_t column) const {
    const std::int64_t major = transposed ? column : row;
    return reversed ? size - 1 - major : major;
  }
};

/// Row and column of a stored entry as substitution indices; column <= row inside the triangle.
template <class Index>
struct triangle_entry {
  Index row;
  Index column;
};

/// Returns the substitution indices of the stored entry (major, minor). `last` is size - 1.
template <class Index>
SPTRSV_HOST_DEVICE triangle_entry<Index> triangle_entry_of(const triangle_form& form, Index last, Index major,
                                                           Index minor) {
  const Index row = form.transposed ? minor : major;
  const Index column = form.transposed ? major : minor;
  if (form.reversed) {
    return {static_cast<Index>(last - row), static_cast<Index>(last - column)};
  }
  return {row, column};
}

/// The faults of a pattern, in the order in which they are reported.
enum class pattern_fault { offsets, index, duplicate, diagonal };

/// Throws the error for the first offending row (column if `by_columns`). `from_one`: whether the offsets
/// (indices) with the fault would be right if they counted from 1. `block`: rows of a block whose offsets or
/// indices are wrong.
[[noreturn]] inline void throw_pattern_fault(pattern_fault fault, std::int64_t major, bool by_columns,
                                             bool from_one = false, std::int64_t block = 1) {
  const std::string unit = by_columns ? "column " : block > 1 ? "block row " : "row ";
  major /= block;
  const std::string where = unit + std::to_string(major);
  switch (fault) {
    case pattern_fault::offsets:
      throw error(errc::offsets_not_monotone,
                  "the " + unit + "offsets of " + where +
                      " are wrong: they must start at 0, never decrease and end at the number of entries" +
                      (from_one ? "; these offsets count from 1" : ""),
                  major);
    case pattern_fault::index:
      throw error(errc::index_out_of_range,
                  where + " holds an index that is negative or not below the dimension" +
                      (from_one ? ": these indices count from 1, and must count from 0" : ""),
                  major);
    case pattern_fault::duplicate:
      throw error(errc::duplicate_entry, where + " holds an entry of the triangle twice", major);
    default:
      throw error(errc::missing_diagonal,
                  where + " has no diagonal entry, and the diagonal was not said to be unit", major);
  }
}

/// The largest number of rows, or of entries, that `Count` may count. It is a bit less than the largest value
/// of the type: loops of kernels step past the end of a row by up to the threads of a block, each with
/// several entries, and must not overflow there.
template <class Count>
inline constexpr std::int64_t max_count = static_cast<std::int64_t>(std::numeric_limits<Count>::max()) -
                                          (sizeof(Count) >= 4 ? 65536 : 0);

/// Checks the dimensions of a matrix.
template <class Index, class Offset>
void check_counts(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  SPTRSV_EXPECTS(rows >= 0 && columns >= 0 && entries >= 0, errc::invalid_argument,
                 "the matrix has a negative dimension or number of entries");
  SPTRSV_EXPECTS(rows <= max_count<Index>, errc::invalid_argument, rows, " rows do not fit the index type");
  SPTRSV_EXPECTS(columns <= max_count<Index>, errc::invalid_argument, columns,
                 " columns do not fit the index type");
  SPTRSV_EXPECTS(entries <= max_count<Offset>, errc::invalid_argument, entries,
                 " entries do not fit the offset type");
}

/// Checks the dimensions of the matrix of a system and of the right-hand sides.
template <class Value, class Index, class Offset>
void check_dimensions(std::int64_t rows, std::int64_t columns, std::int64_t entries,
                      const system_options& options) {
  SPTRSV_EXPECTS(rows < 0 || columns < 0 || entries < 0 || rows == columns, errc::not_square,
                 "a triangular solve needs a square matrix, this one is ", rows, " x ", columns);
  check_counts<Index, Offset>(rows, columns, entries);
  SPTRSV_EXPECTS(options.max_rhs >= 1, errc::invalid_argument, "max_rhs must be at least 1");
  SPTRSV_EXPECTS(options.max_rhs <=
                     PTRDIFF_MAX / static_cast<std::int64_t>(sizeof(Value)) / std::max<std::int64_t>(rows, 1),
                 errc::invalid_argument, "max_rhs = ", options.max_rhs, ": so many right-hand sides of ",
                 rows, " rows exceed the address space");
}

/// Checks the dimensions of a system whose matrix is compressed.
template <class Value, class Index, class Offset>
void check_shape(std::int64_t rows, std::int64_t columns, const pattern_view<Index, Offset>& a,
                 const system_options& options) {
  check_dimensions<Value, Index, Offset>(rows, columns, a.entries, options);
}

/// Checks that the arrays of a pattern are where the executor computes, and that a matrix without rows has no
/// entries. Callers check the values before: a null pointer is the first fault. `taker`: see check_space.
template <class Executor, class Index, class Offset>
void check_spaces(const pattern_view<Index, Offset>& a, const char* taker) {
  check_space<Executor>(a.offsets, a.size, "the array of offsets", taker);
  check_space<Executor>(a.indices, a.entries, "the array of indices", taker);
  SPTRSV_EXPECTS(a.size > 0 || a.entries == 0, errc::offsets_not_monotone,
                 "a matrix of size 0 cannot have entries");
}

/// Throws for the first row (column) of the storage with wrong offsets, or else with an index that is not
/// below `minors`. `first`: the number of the first row (column). `block`: rows of a block if `a` is the
/// pattern of the blocks of a matrix.
template <class Index, class Offset>
void validate_storage_on_host(const pattern_view<Index, Offset>& a, std::int64_t minors,
                              std::int64_t first = 0, std::int64_t block = 1) {
  const std::int64_t one = a.block * a.block;  // where offsets that count from 1 start
  for (std::int64_t m = 0; m < a.size; ++m) {
    if ((m == 0 && a.offsets[0] != 0) || a.offsets[m] > a.offsets[m + 1] ||
        (m == a.size - 1 && a.offsets[a.size] != a.entries)) {
      throw_pattern_fault(pattern_fault::offsets, (first + m) * block, a.by_columns,
                          a.offsets[0] == one && a.offsets[a.size] == a.entries + one, block * a.block);
    }
  }
  for (std::int64_t m = 0; m < a.size; ++m) {
    for (Offset e = a.offsets[m]; e < a.offsets[m + 1]; ++e) {
      if (a.indices[e] < 0 || a.indices[e] >= minors) {
        throw_pattern_fault(pattern_fault::index, (first + m) * block, a.by_columns,
                            std::all_of(a.indices, a.indices + a.entries,
                                        [&](Index i) { return i >= a.block && i < minors + a.block; }),
                            block * a.block);
      }
    }
  }
}

/// A matrix of square blocks without its values, each block as one entry; see bsr_view.
template <class Index, class Offset>
struct block_pattern {
  static constexpr bool by_columns = false;

  std::int64_t size;     ///< block rows
  std::int64_t entries;  ///< blocks
  const Offset* offsets;
  const Index* indices;
  std::int64_t columns;  ///< columns of blocks
  std::int64_t block;    ///< rows of a block
  bool has_blocks_by_columns;

  /// Returns the pattern of the blocks, as if each was one entry.
  [[nodiscard]] pattern_view<Index, Offset> of_blocks() const {
    return {size, entries, offsets, indices, false};
  }
};

/// The largest number of rows of a block.
inline constexpr std::int64_t max_block_size = 1024;

/// Checks the sizes of a matrix of blocks.
inline void check_blocks(std::int64_t rows, std::int64_t columns, std::int64_t block_size) {
  SPTRSV_EXPECTS(block_size >= 1 && block_size <= max_block_size, errc::invalid_argument, "block_size is ",
                 block_size, ": it must be from 1 to ", max_block_size);
  SPTRSV_EXPECTS(rows % block_size == 0 && columns % block_size == 0, errc::invalid_argument, "a matrix of ",
                 rows, " x ", columns, " is none of blocks of ", block_size, " x ", block_size);
}

/// Checks the dimensions of a system whose matrix is one of blocks.
template <class Value, class Index, class Offset>
void check_shape(std::int64_t rows, std::int64_t columns, const block_pattern<Index, Offset>& a,
                 const system_options& options) {
  check_dimensions<Value, Index, Offset>(rows, columns, a.entries, options);
}

/// Checks that the arrays of a pattern are where the executor computes. `taker`: see check_space.
template <class Executor, class Index, class Offset>
void check_spaces(const block_pattern<Index, Offset>& a, const char* taker) {
  check_spaces<Executor>(a.of_blocks(), taker);
}

/// A copy of a pattern that is in the memory of an executor.
template <class Index, class Offset>
struct pattern_copy {
  pattern_view<Index, Offset> of;
  std::vector<Offset> offsets;
  std::vector<Index> indices;

  /// Copies the arrays, unchecked. Synchronises.
  template <class Executor>
  pattern_copy(const pattern_view<Index, Offset>& a, const Executor& on)
      : of(a),
        offsets(download_array(a.offsets, a.size > 0 ? a.size + 1 : 0, on)),
        indices(download_array(a.indices, a.entries, on)) {
    offsets.resize(at(a.size) + 1);
  }

  [[nodiscard]] pattern_view<Index, Offset> view() const {
    pattern_view<Index, Offset> copy = of;
    copy.offsets = offsets.data();
    copy.indices = indices.data();
    return copy;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail
