// SPDX-License-Identifier: Apache-2.0
// Arrays whose size is a number of type int.
#pragma once

#include <type_traits>

#include "sptrsv/detail/base/at.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

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
