// SPDX-License-Identifier: Apache-2.0
// The numbers of systems that are solved together.
#pragma once

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::detail::batched {

/// The numbers of `Count` systems that stand beside each other in memory and are computed together.
template <class Scalar, int Count>
struct alignas(Count * sizeof(Scalar) > 16 ? 16 : Count * sizeof(Scalar)) system_pack {
  array_of<Scalar, Count> of;

  /// Returns a + b * c.
  friend SPTRSV_DEVICE system_pack add_product(system_pack a, const system_pack& b, const system_pack& c) {
    SPTRSV_UNROLL
    for (int u = 0; u < Count; ++u) {
      a.of[u] = a.of[u] + b.of[u] * c.of[u];
    }
    return a;
  }
};

}  // namespace sptrsv::detail::batched
