// SPDX-License-Identifier: Apache-2.0
// A condition that is known at run time, as a template argument.
#pragma once

#include <type_traits>

namespace sptrsv::detail {

/// Calls use(std::true_type{}) if the condition holds, and use(std::false_type{}) otherwise.
template <class Use>
void with_constant(bool condition, const Use& use) {
  if (condition) {
    use(std::true_type{});
  } else {
    use(std::false_type{});
  }
}

}  // namespace sptrsv::detail
