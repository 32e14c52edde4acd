// SPDX-License-Identifier: Apache-2.0
// Products of sizes that must not wrap.
#pragma once

#include <cstdint>
#include <limits>

#include "sptrsv/error.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Returns the product of sizes, which are not negative. Throws errc::out_of_memory if it exceeds 2^63 - 1,
/// which no address space holds.
template <class... Sizes>
std::int64_t checked_product(Sizes... sizes) {
  std::int64_t product = 1;
  const auto multiply = [&](std::int64_t size) {
    SPTRSV_EXPECTS(
        size <= 0 || product <= std::numeric_limits<std::int64_t>::max() / size, errc::out_of_memory, product,
        " times ", size,
        " elements exceed the address space: a smaller max_rhs, or fewer systems of a batch, need less");
    product *= size;
  };
  (multiply(static_cast<std::int64_t>(sizes)), ...);
  return product;
}

}  // namespace sptrsv::SPTRSV_ABI::detail
