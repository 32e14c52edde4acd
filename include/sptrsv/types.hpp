// The vocabulary that every other header uses: enumerations, the traits of scalar types, and the non-owning
// views of dense vectors.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/error.hpp"

namespace sptrsv {

/// Which triangle of the stored matrix A holds the system; entries outside it are ignored.
enum class uplo { lower, upper };

/// Whether the diagonal is taken from A or is one (then stored diagonal entries are ignored).
enum class diag { non_unit, unit };

/// The operation on the chosen triangle: `op(A) x = alpha b`.
enum class op { none, transpose, conj_transpose };

namespace detail {

/// T, in a place where it is not deduced.
template <class T>
struct identity {
  using type = T;
};
template <class T>
using identity_t = typename identity<T>::type;

}  // namespace detail

/// Non-owning view of `size()` contiguous values; trivially copyable. It does not know in which memory space
/// they live: each function says which it needs.
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() noexcept = default;
  constexpr span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// From any contiguous container of T with `data()` and `size()`, or a span of the non-const type.
  template <class Container,
            class = std::enable_if_t<std::is_convertible_v<
                std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]>>>
  constexpr span(Container&& container) noexcept : data_(container.data()), size_(container.size()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Non-owning view of a dense matrix, one right-hand side (or solution) a column: element (i, j) is
/// `data[i * row_stride + j * column_stride]`. Trivially copyable.
template <class T>
struct dense_view {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 1;
  std::int64_t column_stride = 0;

  constexpr dense_view() noexcept = default;
  constexpr dense_view(T* first, std::int64_t row_count, std::int64_t column_count, std::int64_t row_step,
                       std::int64_t column_step) noexcept
      : data(first),
        rows(row_count),
        columns(column_count),
        row_stride(row_step),
        column_stride(column_step) {}

  /// One column: any contiguous container of T with `data()` and `size()`, or a span.
  template <class Container, class = decltype(span<T>(std::declval<Container>()))>
  constexpr dense_view(Container&& vector) noexcept
      : data(vector.data()),
        rows(static_cast<std::int64_t>(vector.size())),
        columns(1),
        column_stride(rows) {}

  /// A view of constants from one of variables.
  template <class U,
            class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr dense_view(const dense_view<U>& other) noexcept
      : dense_view(other.data, other.rows, other.columns, other.row_stride, other.column_stride) {}

  /// Column j starts at `data + j * leading_dimension`.
  static constexpr dense_view column_major(T* data, std::int64_t rows, std::int64_t columns,
                                           std::int64_t leading_dimension) noexcept {
    return {data, rows, columns, 1, leading_dimension};
  }
  /// Row i starts at `data + i * leading_dimension`.
  static constexpr dense_view row_major(T* data, std::int64_t rows, std::int64_t columns,
                                        std::int64_t leading_dimension) noexcept {
    return {data, rows, columns, leading_dimension, 1};
  }
};

}  // namespace sptrsv
