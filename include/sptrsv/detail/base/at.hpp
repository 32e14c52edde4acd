// SPDX-License-Identifier: Apache-2.0
// Indices of containers.
#pragma once

#include <cassert>
#include <cstddef>
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

}  // namespace sptrsv::SPTRSV_ABI::detail
