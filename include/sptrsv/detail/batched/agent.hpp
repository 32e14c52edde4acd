// The kernels of a batched solve: one that solves, and one that puts the values of the stored matrices into
// the order of the solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/batched/plan.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::batched {

/// The value of first_nonfinite for a system whose components are all finite: all bits are set.
inline constexpr std::uint32_t no_row = UINT32_MAX;

/// The right-hand sides or solutions of all systems.
template <class T>
struct operand {
  T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t system_stride;
};

template <class Scalar>
struct solve_params {
  std::int64_t systems;
  std::int64_t right_hand_sides;
  std::int32_t size;   ///< rows of a system
  std::int32_t steps;  ///< at least 1
  bool reversed;
  bool unit;
  std::int32_t shared_bytes;    ///< of a system
  std::int64_t stream_bytes;    ///< of the values of a system
  const lane_step* lane_steps;  ///< by step and lane
  const unsigned char* values;  ///< by system: its stream
  const Scalar* pivots;         ///< by system and substitution index
  /// By system: the smallest substitution index with a component that is not finite, or no_row.
  std::uint32_t* first_nonfinite;
  Scalar alpha;
  operand<const Scalar> b;
  operand<Scalar> x;
};

/// Solves 32 / Lanes systems in a warp, each by `Lanes` lanes. All systems are at the same place of the plan
/// at the same time. For each right-hand side:
///
///   1. Copy b to x in shared memory, and the first stages of the values to the ring buffer, asynchronously.
///   2. For each step: wait for its values; multiply the entries of each lane with components of x. In the
///      last step of a row, add up the sums of the lanes that share it, in a butterfly, and write the
///      component. A sync orders this before the next step. What the lane does in the next two steps is
///      loaded meanwhile.
///   3. Copy x from shared memory, and find the first component that is not finite.
template <class Scalar, int Lanes>
struct solve_agent {
  static constexpr int block_threads = 32;
  static constexpr int block_systems = 32 / Lanes;
  struct shared_storage {};
  using params = solve_params<Scalar>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    const std::int64_t own = static_cast<std::int64_t>(ctx.block_rank()) * block_systems + tile.index();
    lane_state s{};
    s.rank = tile.rank();
    s.is_present = own < p.systems;
    s.system = s.is_present ? own : p.systems - 1;  // a tile without a system solves with values of the last
    s.ring = static_cast<unsigned char*>(ctx.dynamic_shared()) + tile.index() * p.shared_bytes;
    s.x = reinterpret_cast<Scalar*>(s.ring + ring_bytes(Lanes, sizeof(Scalar)));
    std::uint32_t first_nonfinite = no_row;
    for (std::int64_t column = 0; column < p.right_hand_sides; ++column) {
      copy_rhs(ctx, p, s, column);
      solve(ctx, tile, p, s);
      const std::uint32_t found = store_solution(ctx, p, s, column);
      first_nonfinite = found < first_nonfinite ? found : first_nonfinite;
    }
    for (int mask = Lanes / 2; mask > 0; mask /= 2) {
      const std::uint32_t other = tile.shuffle_xor(first_nonfinite, mask);
      first_nonfinite = other < first_nonfinite ? other : first_nonfinite;
    }
    if (s.is_present && s.rank == 0) {
      ctx.store(p.first_nonfinite + s.system, first_nonfinite);
    }
  }

 private:
  struct lane_state {
    int rank;
    bool is_present;
    std::int64_t system;
    unsigned char* ring;
    Scalar* x;
  };

  /// Returns the address of the element of this lane's first row, and the distance to that of its next row.
  template <class T>
  SPTRSV_DEVICE static T* first_element(const params& p, const lane_state& s, const operand<T>& of,
                                        std::int64_t column, std::int64_t& step) {
    const std::int64_t row = p.reversed ? p.size - 1 - s.rank : s.rank;
    step = (p.reversed ? -Lanes : Lanes) * of.row_stride;
    return of.data + s.system * of.system_stride + column * of.column_stride + row * of.row_stride;
  }

  /// Starts to copy b; the copies belong to the first stage of the values.
  template <class Context>
  SPTRSV_DEVICE static void copy_rhs(Context& ctx, const params& p, const lane_state& s,
                                     std::int64_t column) {
    std::int64_t step = 0;
    const Scalar* from = first_element(p, s, p.b, column, step);
    for (std::int32_t i = s.rank; i < p.size; i += Lanes, from += step) {
      if (s.is_present) {
        constexpr int word = static_cast<int>(alignof(Scalar));  // a complex number of the user has no more
        for (int at = 0; at < static_cast<int>(sizeof(Scalar)); at += word) {
          ctx.template copy_async<word>(reinterpret_cast<unsigned char*>(s.x + i) + at,
                                        reinterpret_cast<const unsigned char*>(from) + at);
        }
      } else {
        s.x[i] = Scalar{};
      }
    }
  }

  /// The next stage of the values: where this lane copies from and to.
  struct stage_copies {
    const unsigned char* from;
    const unsigned char* end;  ///< of the stream
    int to;                    ///< place in the ring buffer

    /// Starts to copy the stage, as far as the stream goes.
    template <class Context>
    SPTRSV_DEVICE void start(Context& ctx, unsigned char* ring) {
      SPTRSV_UNROLL
      for (int c = 0; c < copies_per_stage(sizeof(Scalar)); ++c) {
        if (from < end) {
          ctx.template copy_async<copy_bytes>(ring + to, from);
        }
        from += Lanes * copy_bytes;
        to = (to + Lanes * copy_bytes) & (ring_bytes(Lanes, sizeof(Scalar)) - 1);
      }
      ctx.commit_copies();
    }
  };

  template <class Context>
  SPTRSV_DEVICE static lane_step load_step(Context& ctx, const lane_step* from) {
    std::uint64_t words[2];
    ctx.template load_words<2>(reinterpret_cast<const std::uint64_t*>(from), words);
    return bit_cast<lane_step>(words);
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE static void solve(Context& ctx, const Tile& tile, const params& p, const lane_state& s) {
    const auto warp = ctx.template group<32>();
    const unsigned char* const stream = p.values + s.system * p.stream_bytes;
    stage_copies copies{stream + s.rank * copy_bytes, stream + p.stream_bytes, s.rank * copy_bytes};
    for (int stage = 0; stage < stages_ahead; ++stage) {
      copies.start(ctx, s.ring);
    }
    const lane_step* from = p.lane_steps + s.rank;
    lane_step now = load_step(ctx, from);
    lane_step next = load_step(ctx, from + Lanes);
    Scalar sum{};
    for (std::int32_t i = 0; i < p.steps; ++i) {
      const lane_step after_next = load_step(ctx, from + 2 * Lanes);
      from += Lanes;
      if (int advance = now.flags & lane_step::advance_mask; advance != 0) {
        for (; advance > 0; --advance) {
          ctx.template wait_copies<stages_ahead - 1>();
          copies.start(ctx, s.ring);
        }
        warp.sync();
      }
      sum = do_step(ctx, tile, p, s, now, sum);
      warp.sync();
      now = next;
      next = after_next;
    }
  }

  /// Returns the sum of the products so far; zero after the last step of a row.
  template <class Context, class Tile>
  SPTRSV_DEVICE static Scalar do_step(Context& ctx, const Tile& tile, const params& p, const lane_state& s,
                                      const lane_step& step, Scalar sum) {
    const auto* const values = reinterpret_cast<const Scalar*>(s.ring + step.place);
    SPTRSV_UNROLL
    for (int k = 0; k < step_entries; ++k) {
      if (k < step.entries) {
        sum = sum + values[k] * s.x[step.columns[k]];
      }
    }
    if ((step.flags & lane_step::is_last) == 0) {
      return sum;
    }
    const int shift = step.flags >> lane_step::shift_bit & lane_step::shift_mask;
    for (int mask = 1; mask < 1 << shift; mask *= 2) {
      sum = sum + tile.shuffle_xor(sum, mask);
    }
    if ((step.flags & lane_step::writes) != 0) {
      const Scalar rest = p.alpha * s.x[step.row] - sum;
      Scalar solved = rest;
      if (!p.unit) {
        solved = rest * values[step.entries];
        if (!is_finite(solved)) {
          solved = divide(rest, ctx.load_constant(p.pivots + s.system * p.size + step.row));
        }
      }
      s.x[step.row] = solved;
    }
    return Scalar{};
  }

  /// Returns the first component of this lane that is not finite, or no_row.
  template <class Context>
  SPTRSV_DEVICE static std::uint32_t store_solution(Context& ctx, const params& p, const lane_state& s,
                                                    std::int64_t column) {
    std::int64_t step = 0;
    Scalar* to = first_element(p, s, p.x, column, step);
    std::uint32_t first_nonfinite = no_row;
    for (std::int32_t i = s.rank; i < p.size && s.is_present; i += Lanes, to += step) {
      const Scalar component = s.x[i];
      ctx.store(to, component);
      if (!is_finite(component) && first_nonfinite == no_row) {
        first_nonfinite = static_cast<std::uint32_t>(i);
      }
    }
    return first_nonfinite;
  }
};

/// Writes the streams of values. A block writes up to block_slots slots of one system.
template <class Scalar, class Offset>
struct pack_agent {
  static constexpr int block_threads = 256;
  static constexpr int block_slots = 4 * block_threads;
  struct shared_storage {};
  struct params {
    const Scalar* stored;
    std::int64_t stored_stride;  ///< elements from system to system
    std::int64_t size;           ///< rows of a system
    std::int64_t slots;          ///< of a system
    std::int64_t stream_slots;   ///< the same with those behind the last one, which are set to zero
    std::uint32_t blocks_of_system;
    bool conjugated;
    const Offset* sources;      ///< by slot, see plan
    const std::uint16_t* rows;  ///< by slot
    Scalar* values;             ///< by system: stream_slots slots
    Scalar* pivots;             ///< by system and substitution index
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t system = ctx.block_rank() / p.blocks_of_system;
    const std::int64_t begin =
        static_cast<std::int64_t>(ctx.block_rank() % p.blocks_of_system) * block_slots + ctx.thread_rank();
    for (std::int64_t slot = begin; slot < begin + block_slots && slot < p.stream_slots;
         slot += block_threads) {
      ctx.store(p.values + system * p.stream_slots + slot,
                slot < p.slots ? value_of(ctx, p, system, slot) : Scalar{});
    }
  }

 private:
  /// Returns the value of an entry, zero for an unused slot. For a pivot, stores it and returns the
  /// reciprocal; NaN if the row must divide.
  template <class Context>
  SPTRSV_DEVICE static Scalar value_of(Context& ctx, const params& p, std::int64_t system,
                                       std::int64_t slot) {
    const Offset source = ctx.load_constant(p.sources + slot);
    if (source == -1) {
      return {};
    }
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

/// Returns, for find_largest, how many systems follow a system with a component that is not finite, itself
/// included; 0 for other systems.
struct systems_from_fault {
  const std::uint32_t* first_nonfinite;
  std::int64_t systems;

  template <class Context>
  SPTRSV_DEVICE std::int64_t operator()(Context& ctx, std::int64_t system) const {
    return ctx.load_constant(first_nonfinite + system) == no_row ? 0 : systems - system;
  }
};

}  // namespace sptrsv::detail::batched
