// SPDX-License-Identifier: Apache-2.0
// The values of batches: the numbers of systems that are solved together, the parameters of a solve, and the
// kernel that puts the values of the stored matrices into its order.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/batched/batched_plan.hpp"

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

template <class Scalar, class Offset>
struct pack_params {
  const Scalar* stored;
  std::int64_t stored_stride;  ///< elements from system to system
  std::int64_t systems;
  std::int64_t size;          ///< rows of a system
  std::int64_t slots;         ///< of a group
  std::int64_t stream_slots;  ///< the same with those behind the last one, which are set to zero
  std::uint32_t blocks_of_group;
  bool conjugated;
  const Offset* sources;      ///< by slot, see plan
  const std::uint16_t* rows;  ///< by slot
  Scalar* values;             ///< by group: its stream, in which each slot has a value of each system
  Scalar* pivots;             ///< by system and substitution index
};

/// Writes the streams of values. A block writes up to block_slots slots of one group. The last group may have
/// systems that do not exist: their values are zeros.
template <class Scalar, class Offset, int Systems>
struct pack_agent {
  static constexpr int block_threads = 256;
  static constexpr int block_slots = 4 * block_threads;
  struct shared_storage {};
  using params = pack_params<Scalar, Offset>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t group = ctx.block_rank() / p.blocks_of_group;
    const std::int64_t begin =
        static_cast<std::int64_t>(ctx.block_rank() % p.blocks_of_group) * block_slots + ctx.thread_rank();
    for (std::int64_t slot = begin; slot < begin + block_slots && slot < p.stream_slots;
         slot += block_threads) {
      // -1: an unused slot
      const Offset source = slot < p.slots ? ctx.load_constant(p.sources + slot) : Offset{-1};
      pack values{};
      SPTRSV_UNROLL
      for (int u = 0; u < Systems; ++u) {
        if (source != -1 && group * Systems + u < p.systems) {
          values.of[u] = value_of(ctx, p, group * Systems + u, slot, source);
        }
      }
      ctx.store(reinterpret_cast<pack*>(p.values) + group * p.stream_slots + slot, values);
    }
  }

 private:
  using pack = system_pack<Scalar, Systems>;

  /// Returns the value of an entry. For a pivot, stores it and returns the reciprocal; NaN if the row must
  /// divide.
  template <class Context>
  SPTRSV_DEVICE static Scalar value_of(Context& ctx, const params& p, std::int64_t system, std::int64_t slot,
                                       Offset source) {
    const bool is_pivot = source < 0;
    const Offset index = is_pivot ? static_cast<Offset>(-2 - source) : source;
    const Scalar value = load_value(ctx, p.stored + system * p.stored_stride + index, p.conjugated);
    if (!is_pivot) {
      return value;
    }
    ctx.store(p.pivots + system * p.size + ctx.load_constant(p.rows + slot), value);
    const pivot_divisor<Scalar> pivot(value);
    return pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
