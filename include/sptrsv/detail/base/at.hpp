// SPDX-License-Identifier: Apache-2.0
// Indices and sizes of containers, and arrays whose size is a number of type int.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/scalar.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the index of a container that a signed number stands for: the library counts in signed types, and
/// containers in std::size_t. The number must not be negative.
template <class Integer>
SPTRSV_HOST_DEVICE constexpr std::size_t at(Integer i) {
  static_assert(std::is_integral_v<Integer>);
  if constexpr (std::is_signed_v<Integer>) {
    assert(i >= 0);
  }
  return static_cast<std::size_t>(i);
}

/// Returns the number of elements of a container as the library counts.
template <class Container>
std::int64_t count_of(const Container& c) {
  return static_cast<std::int64_t>(c.size());
}

template <class T, int... Sizes>
struct array_type {
  using type = T;
};
template <class T, int Size, int... Sizes>
struct array_type<T, Size, Sizes...> {
  using type = typename array_type<T, Sizes...>::type[at(Size)];
};

/// The type of `a` after `T a[Size][...]`. GCC warns of that declaration in a template (-Wsign-conversion),
/// because it does not know there that the size, which all other code uses as an int, is positive.
template <class T, int... Sizes>
using array_of = typename array_type<T, Sizes...>::type;

/// Number of elements of a type of array.
template <class Array>
inline constexpr int length_of = static_cast<int>(std::extent_v<Array>);

}  // namespace sptrsv::SPTRSV_ABI::detail
