// SPDX-License-Identifier: Apache-2.0
// A condition or a number that is known at run time, as a template argument.
#pragma once

#include <type_traits>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Calls use(std::true_type{}) if the condition holds, and use(std::false_type{}) otherwise.
template <class Use>
void with_constant(bool condition, const Use& use) {
  if (condition) {
    use(std::true_type{});
  } else {
    use(std::false_type{});
  }
}

/// Calls use(std::integral_constant<int, N>{}) with that number N of First, More... that is `number`, or with
/// the last one if none is.
template <int First, int... More, class Use>
void with_one_of(int number, const Use& use) {
  if constexpr (sizeof...(More) > 0) {
    if (number != First) {
      with_one_of<More...>(number, use);
      return;
    }
  }
  use(std::integral_constant<int, First>{});
}

}  // namespace sptrsv::SPTRSV_ABI::detail
