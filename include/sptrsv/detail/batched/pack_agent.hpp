// SPDX-License-Identifier: Apache-2.0
// The kernel that puts the values of the stored matrices into the order of a batched solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/batched/batched_params.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

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
    const Scalar stored = ctx.load_constant(p.stored + system * p.stored_stride +
                                            (is_pivot ? static_cast<Offset>(-2 - source) : source));
    const Scalar value = p.conjugated ? conjugate(stored) : stored;
    if (!is_pivot) {
      return value;
    }
    ctx.store(p.pivots + system * p.size + ctx.load_constant(p.rows + slot), value);
    const pivot_divisor<Scalar> pivot(value);
    return pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>();
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
