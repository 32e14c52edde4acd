// SPDX-License-Identifier: Apache-2.0
// The parameters of a batched solve, and the numbers of systems that are solved together.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/batched/batched_plan.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

/// The numbers of `Count` systems that stand beside each other in memory and are computed together.
template <class Scalar, int Count>
struct alignas(Count * sizeof(Scalar) > 16 ? 16 : Count * sizeof(Scalar)) system_pack {
  array_of<Scalar, Count> of;

  SPTRSV_DEVICE static system_pack ones() {
    system_pack made{};
    for (Scalar& one : made.of) {
      one = pivot_divisor<Scalar>::one();
    }
    return made;
  }
  /// Returns a + b * c.
  friend SPTRSV_DEVICE system_pack add_product(system_pack a, const system_pack& b, const system_pack& c) {
    SPTRSV_UNROLL
    for (int u = 0; u < Count; ++u) {
      a.of[u] = a.of[u] + b.of[u] * c.of[u];
    }
    return a;
  }
};

/// The value of first_nonfinite for a system whose components are all finite: all bits are set.
inline constexpr std::uint32_t no_row = UINT32_MAX;

template <class Scalar>
struct solve_params {
  std::int64_t systems;
  std::int32_t size;   ///< rows of a system
  std::int32_t steps;  ///< at least 1
  bool reversed;
  bool unit;
  std::int32_t shared_bytes;    ///< of a group
  std::int64_t stream_slots;    ///< values of a system
  const lane_step* lane_steps;  ///< by step and lane, see plan
  const Scalar* values;         ///< by group: its stream, in which each slot has a value of each system
  const Scalar* pivots;         ///< by system and substitution index
  /// By system: the smallest substitution index with a component that is not finite, or no_row.
  std::uint32_t* first_nonfinite;
  Scalar alpha;
  batch_view<const Scalar> b;
  batch_view<Scalar> x;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
