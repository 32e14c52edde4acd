// The kernels of a batched solve: one that solves, and one that puts the values of the stored matrices into
// the order of the solve.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/batched/plan.hpp"
#include "sptrsv/types.hpp"

namespace sptrsv::detail::batched {

/// What first_nonfinite holds for a system whose components are all finite: all bits set.
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
  std::int32_t size;    ///< rows of a system
  std::int32_t slices;  ///< at least 1
  bool reversed;
  bool unit;
  std::int32_t ring_bytes;
  std::int32_t bytes_of_system;   ///< of shared memory
  std::int32_t copies_per_stage;  ///< of a lane
  std::int64_t stream_bytes;      ///< of the values of a system
  const slice* slice_list;
  const row* rows;               ///< in level order
  const std::uint16_t* columns;  ///< by slot
  const unsigned char* values;   ///< by system: its stream
  const Scalar* pivots;          ///< by system and substitution index
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
///   2. For each slice: wait for its values; multiply the entries of each row with components of x; add up
///      the sums of the lanes that share a row, in a butterfly; write the component. A sync orders this
///      before the next slice. Meanwhile the plan of the next slice is loaded.
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
    s.ring = static_cast<unsigned char*>(ctx.dynamic_shared()) + tile.index() * p.bytes_of_system;
    s.x = reinterpret_cast<Scalar*>(s.ring + p.ring_bytes);
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
  /// Entries whose columns are loaded one slice ahead.
  static constexpr int columns_ahead = 4;

  struct lane_state {
    int rank;
    bool is_present;
    std::int64_t system;
    unsigned char* ring;
    Scalar* x;
  };

  /// A row and the columns of the first entries of this lane.
  struct lane_row {
    row of;
    std::uint16_t columns[columns_ahead];
  };

  SPTRSV_DEVICE static std::int64_t stored_row(const params& p, std::int32_t i) {
    return p.reversed ? p.size - 1 - i : i;
  }

  template <class Context>
  SPTRSV_DEVICE static void copy_rhs(Context& ctx, const params& p, const lane_state& s,
                                     std::int64_t column) {
    const Scalar* const b = p.b.data + s.system * p.b.system_stride + column * p.b.column_stride;
    for (std::int32_t i = s.rank; i < p.size; i += Lanes) {
      if (s.is_present) {
        constexpr int word = static_cast<int>(alignof(Scalar));  // a complex number of the user has no more
        const auto* const from =
            reinterpret_cast<const unsigned char*>(b + stored_row(p, i) * p.b.row_stride);
        for (int at = 0; at < static_cast<int>(sizeof(Scalar)); at += word) {
          ctx.template copy_async<word>(reinterpret_cast<unsigned char*>(s.x + i) + at, from + at);
        }
      } else {
        s.x[i] = Scalar{};
      }
    }
    ctx.commit_copies();
  }

  /// Starts to copy a stage of the values, as far as the stream goes.
  template <class Context>
  SPTRSV_DEVICE static void copy_stage(Context& ctx, const params& p, const lane_state& s,
                                       std::int32_t stage) {
    const unsigned char* const stream = p.values + s.system * p.stream_bytes;
    for (int c = 0; c < p.copies_per_stage; ++c) {
      const std::int64_t at =
          (static_cast<std::int64_t>(stage) * p.copies_per_stage + c) * (Lanes * copy_bytes) +
          s.rank * copy_bytes;
      if (at < p.stream_bytes) {
        ctx.template copy_async<copy_bytes>(s.ring + (at & (p.ring_bytes - 1)), stream + at);
      }
    }
    ctx.commit_copies();
  }

  /// Loads the row of this lane in a slice; a row without entries if it has none.
  template <class Context>
  SPTRSV_DEVICE static row load_row(Context& ctx, const params& p, const lane_state& s, const slice& of) {
    const int r = s.rank >> of.shift;
    return r < of.rows ? ctx.load_constant(p.rows + of.first_row + r) : row{0, 0, 0};
  }
  template <class Context>
  SPTRSV_DEVICE static lane_row load_columns(Context& ctx, const params& p, const lane_state& s,
                                             const slice& of, const row& r) {
    lane_row made{r, {}};
    SPTRSV_UNROLL
    for (int k = 0; k < columns_ahead; ++k) {
      const int e = (s.rank & ((1 << of.shift) - 1)) + (k << of.shift);
      made.columns[k] = e < r.entries ? ctx.load_constant(p.columns + r.begin + e) : std::uint16_t{0};
    }
    return made;
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE static void solve(Context& ctx, const Tile& tile, const params& p, const lane_state& s) {
    const auto warp = ctx.template group<32>();
    const auto stage_slots =
        static_cast<std::uint32_t>(p.ring_bytes / ring_stages / static_cast<int>(sizeof(Scalar)));
    for (std::int32_t stage = 0; stage < stages_ahead; ++stage) {
      copy_stage(ctx, p, s, stage);
    }
    const auto slice_at = [&](std::int32_t i) {
      return ctx.load_constant(p.slice_list + (i < p.slices ? i : p.slices - 1));
    };
    slice now = slice_at(0);
    slice next = slice_at(1);
    lane_row own = load_columns(ctx, p, s, now, load_row(ctx, p, s, now));
    row next_row = load_row(ctx, p, s, next);
    std::int32_t ready = 0;  // stages whose values the lanes see
    for (std::int32_t i = 0; i < p.slices; ++i) {
      const slice after_next = slice_at(i + 2);
      const row row_after_next = load_row(ctx, p, s, after_next);
      const lane_row next_own = load_columns(ctx, p, s, next, next_row);
      const std::int32_t ready_before = ready;
      while (ready == 0 || static_cast<std::uint32_t>(ready) * stage_slots < now.slot_end) {
        ctx.template wait_copies<stages_ahead - 1>();
        copy_stage(ctx, p, s, ready + stages_ahead);
        ++ready;
      }
      if (ready != ready_before) {
        warp.sync();
      }
      solve_slice(ctx, tile, p, s, now, own);
      warp.sync();
      now = next;
      next = after_next;
      own = next_own;
      next_row = row_after_next;
    }
  }

  template <class Context, class Tile>
  SPTRSV_DEVICE static void solve_slice(Context& ctx, const Tile& tile, const params& p, const lane_state& s,
                                        const slice& of, const lane_row& own) {
    const auto* const ring = reinterpret_cast<const Scalar*>(s.ring);
    const auto ring_mask =
        static_cast<std::uint32_t>(p.ring_bytes) / static_cast<std::uint32_t>(sizeof(Scalar)) - 1;
    const int part = s.rank & ((1 << of.shift) - 1);
    Scalar sum{};
    SPTRSV_UNROLL
    for (int k = 0; k < columns_ahead; ++k) {
      const int e = part + (k << of.shift);
      if (e < own.of.entries) {
        sum = sum + ring[(own.of.begin + static_cast<std::uint32_t>(e)) & ring_mask] * s.x[own.columns[k]];
      }
    }
    for (int e = part + (columns_ahead << of.shift); e < own.of.entries; e += 1 << of.shift) {
      const std::uint32_t slot = own.of.begin + static_cast<std::uint32_t>(e);
      sum = sum + ring[slot & ring_mask] * s.x[ctx.load_constant(p.columns + slot)];
    }
    for (int mask = 1; mask < 1 << of.shift; mask *= 2) {
      sum = sum + tile.shuffle_xor(sum, mask);
    }
    if (part == 0 && s.rank >> of.shift < of.rows) {
      const Scalar rest = p.alpha * s.x[own.of.index] - sum;
      Scalar solved = rest;
      if (!p.unit) {
        solved = rest * ring[(own.of.begin + own.of.entries) & ring_mask];
        if (!is_finite(solved)) {
          solved = divide(rest, ctx.load_constant(p.pivots + s.system * p.size + own.of.index));
        }
      }
      s.x[own.of.index] = solved;
    }
  }

  /// Returns the first component of this lane that is not finite, or no_row.
  template <class Context>
  SPTRSV_DEVICE static std::uint32_t store_solution(Context& ctx, const params& p, const lane_state& s,
                                                    std::int64_t column) {
    Scalar* const x = p.x.data + s.system * p.x.system_stride + column * p.x.column_stride;
    std::uint32_t first_nonfinite = no_row;
    for (std::int32_t i = s.rank; i < p.size && s.is_present; i += Lanes) {
      const Scalar component = s.x[i];
      ctx.store(x + stored_row(p, i) * p.x.row_stride, component);
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
    const Offset* sources;         ///< by slot, see plan
    const std::uint16_t* columns;  ///< by slot
    Scalar* values;                ///< by system: stream_slots slots
    Scalar* pivots;                ///< by system and substitution index
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
  /// Returns the value of an entry. For a pivot, stores it and returns the reciprocal; NaN if the row must
  /// divide.
  template <class Context>
  SPTRSV_DEVICE static Scalar value_of(Context& ctx, const params& p, std::int64_t system,
                                       std::int64_t slot) {
    const Offset source = ctx.load_constant(p.sources + slot);
    const bool is_pivot = source < 0;
    const Scalar stored = ctx.load_constant(p.stored + system * p.stored_stride +
                                            (is_pivot ? static_cast<Offset>(-1 - source) : source));
    const Scalar value = p.conjugated ? conjugate(stored) : stored;
    if (!is_pivot) {
      return value;
    }
    ctx.store(p.pivots + system * p.size + ctx.load_constant(p.columns + slot), value);
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
