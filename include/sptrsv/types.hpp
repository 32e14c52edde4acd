// SPDX-License-Identifier: Apache-2.0
// Types that all other headers use: enumerations, and non-owning views of dense vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The triangle T of the stored matrix A that is solved; entries outside it are ignored.
enum class uplo {
  lower,  ///< the entries on and below the diagonal
  upper   ///< the entries on and above the diagonal
};

/// The diagonal of T.
enum class diag {
  non_unit,  ///< the stored diagonal entries; every row must have one
  unit       ///< ones; stored diagonal entries are ignored
};

/// The operation on T in `op(T) x = alpha b`.
enum class op {
  none,           ///< T
  transpose,      ///< the transpose of T
  conj_transpose  ///< the conjugate transpose of T
};

/// The order of the values of a block in a matrix of blocks.
enum class block_order {
  by_rows,    ///< row after row
  by_columns  ///< column after column
};

namespace detail {

/// T; template argument deduction does not look at it.
template <class T>
using identity_t = std::enable_if_t<true, T>;

}  // namespace detail

/// Non-owning view of `size()` contiguous values, in host or device memory: each function says which it
/// needs. Trivially copyable. The values must outlive the use of the view.
template <class T>
class span {
 public:
  using element_type = T;                  ///< the type of the values, const for a view of constants
  using value_type = std::remove_cv_t<T>;  ///< the type of the values without const

  /// Constructs an empty view.
  constexpr span() noexcept = default;
  /// Constructs a view of `size` values from `data` on.
  constexpr span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// Constructs a view of any contiguous container of T with `data()` and `size()`: a std::vector, a buffer,
  /// or a span of the non-const type. As with std::span, a temporary that owns its values is taken only for
  /// constants, and the view must not outlive the expression.
  template <class Container,
            class = std::enable_if_t<
                std::is_convertible_v<
                    std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]> &&
                (std::is_lvalue_reference_v<Container> || std::is_const_v<T> ||
                 std::is_trivially_copyable_v<Container>)>>
  constexpr span(Container&& container) noexcept : data_(container.data()), size_(container.size()) {}

  /// Returns the address of the first value.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// Returns the number of values.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Returns value `i`, which must be less than size(); only where the memory can be accessed.
  [[nodiscard]] constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Returns the address of the first value.
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  /// Returns the address after the last value.
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Non-owning view of a dense matrix whose columns are right-hand sides or solutions: element (i, j) is
/// `data[i * row_stride + j * column_stride]`. Trivially copyable. The elements, in host or device memory,
/// must outlive the use of the view.
///
/// Strides may be negative. The elements of a view that is written must not overlap: in a column-major view
/// of several columns the leading dimension is at least the number of rows, in a row-major view of several
/// rows at least the number of columns. In a view that is only read, a stride may also be 0: all rows
/// (columns) are the same then. The stride of a dimension of extent 1 has no meaning. The functions that take
/// a view say what they check.
template <class T>
struct dense_view {
  T* data = nullptr;               ///< address of element (0, 0)
  std::int64_t rows = 0;           ///< number of rows
  std::int64_t columns = 0;        ///< number of columns
  std::int64_t row_stride = 1;     ///< distance in elements from row to row of a column
  std::int64_t column_stride = 0;  ///< distance in elements from column to column of a row

  /// Constructs a view without elements.
  constexpr dense_view() noexcept = default;
  /// Constructs a view from all its members, in their order.
  constexpr dense_view(T* first, std::int64_t row_count, std::int64_t column_count, std::int64_t row_step,
                       std::int64_t column_step) noexcept
      : data(first),
        rows(row_count),
        columns(column_count),
        row_stride(row_step),
        column_stride(column_step) {}

  /// Constructs a view of one column: any contiguous container of T with `data()` and `size()`, or a span.
  template <class Container, class = decltype(span<T>(std::declval<Container>()))>
  constexpr dense_view(Container&& vector) noexcept
      : data(vector.data()),
        rows(static_cast<std::int64_t>(vector.size())),
        columns(1),
        column_stride(rows) {}

  /// Constructs a view of constants from a view of variables.
  template <class U,
            class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr dense_view(const dense_view<U>& other) noexcept
      : dense_view(other.data, other.rows, other.columns, other.row_stride, other.column_stride) {}

  /// Returns a view whose column j starts at `data + j * leading_dimension`.
  static constexpr dense_view column_major(T* data, std::int64_t rows, std::int64_t columns,
                                           std::int64_t leading_dimension) noexcept {
    return {data, rows, columns, 1, leading_dimension};
  }
  /// Returns a view whose row i starts at `data + i * leading_dimension`.
  static constexpr dense_view row_major(T* data, std::int64_t rows, std::int64_t columns,
                                        std::int64_t leading_dimension) noexcept {
    return {data, rows, columns, leading_dimension, 1};
  }
};

/// The precision in which a solver keeps the entries of a triangle.
enum class entry_storage {
  as_values,  ///< that of the values
  /// Entries and pivots are rounded to single precision when the solver takes them. All arithmetic, b and x
  /// keep the precision of the values.
  single
};

}  // namespace sptrsv::SPTRSV_ABI
