// SPDX-License-Identifier: Apache-2.0
// The kernel of a batched solve.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/batched/batched_values.hpp"
#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::batched {

/// Solves 32 / Lanes groups of `Systems` systems in a warp, each group by `Lanes` lanes. All systems are at
/// the same place of the plan at the same time, and each lane does the same for all systems of its group. For
/// each right-hand side:
///
///   1. Copy b to x in shared memory, and load the values of the first steps into registers.
///   2. For each step: load the values of a later step; multiply the entries of each lane with components of
///      x. In the last step of a row, add up the sums of the lanes that share it, in a butterfly, and write
///      the component. A sync orders this before the next step.
///   3. Copy x from shared memory, and find the first component that is not finite.
///
/// The steps ahead are held in registers in turn, so the loop is unrolled by their number. In step i:
///
///     step              i      i + 1    i + 2    i + 3         i + 4
///     values            used   loaded   loaded   being loaded
///     lane_step         used   loaded   loaded   loaded        being loaded
template <class Scalar, int Lanes, int Systems>
struct solve_agent {
  static constexpr int block_threads = 32;
  static constexpr int block_groups = 32 / Lanes;
  struct shared_storage {};
  using params = solve_params<Scalar>;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    const std::int64_t groups = (p.systems + Systems - 1) / Systems;
    const std::int64_t own = static_cast<std::int64_t>(ctx.block_rank()) * block_groups + tile.index();
    lane_state s{};
    s.rank = static_cast<std::uint32_t>(tile.rank());
    s.group = own < groups ? own : groups - 1;  // a tile without a group solves with values of the last one
    s.first_system = own * Systems;
    s.x = reinterpret_cast<pack*>(static_cast<unsigned char*>(ctx.dynamic_shared()) +
                                  (block_groups == 1 ? 0 : tile.index() * p.shared_bytes));
    array_of<std::uint32_t, Systems> first_nonfinite;
    for (std::uint32_t& first : first_nonfinite) {
      first = no_row;
    }
    for (std::int64_t column = 0; column < p.x.columns; ++column) {
      SPTRSV_UNROLL
      for (int u = 0; u < Systems; ++u) {
        copy_rhs(ctx, p, s, u, column);
      }
      ctx.commit_copies();
      solve(ctx, p, s);
      SPTRSV_UNROLL
      for (int u = 0; u < Systems; ++u) {
        const std::uint32_t found = store_solution(ctx, p, s, u, column);
        first_nonfinite[u] = found < first_nonfinite[u] ? found : first_nonfinite[u];
      }
    }
    SPTRSV_UNROLL
    for (int u = 0; u < Systems; ++u) {
      first_nonfinite[u] = simt::reduce(tile, first_nonfinite[u], Lanes, simt::minimum{});
      if (s.first_system + u < p.systems && s.rank == 0) {
        ctx.store(p.first_nonfinite + s.first_system + u, first_nonfinite[u]);
      }
    }
  }

 private:
  using pack = system_pack<Scalar, Systems>;

  struct lane_state {
    std::uint32_t rank;
    std::int64_t group;
    std::int64_t first_system;  ///< may not exist
    pack* x;
  };
  /// A lane_step as it was loaded: its fields are taken out where they are used, so that nothing waits for
  /// the load before.
  struct packed_step {
    std::uint32_t words[4];
  };
  /// The values that a lane needs in a step. A value that the step does not need keeps what it had before.
  struct lane_values {
    pack entries[step_entries];
    pack reciprocal;  ///< of the pivot, 1 with a unit diagonal; NaN if the row must divide
  };

  /// Returns the address of the element of this lane's first row in system `u` of the group, and the distance
  /// to that of its next row.
  template <class T>
  SPTRSV_DEVICE static T* first_element(const params& p, const lane_state& s, const batch_view<T>& of, int u,
                                        std::int64_t column, std::int64_t& step) {
    const std::int64_t rank = s.rank;
    const std::int64_t row = p.reversed ? p.size - 1 - rank : rank;
    step = (p.reversed ? -Lanes : Lanes) * of.row_stride;
    return of.data + (s.first_system + u) * of.system_stride + column * of.column_stride +
           row * of.row_stride;
  }

  /// Starts to copy b of system `u` of the group, or writes zeros if there is no such system.
  template <class Context>
  SPTRSV_DEVICE static void copy_rhs(Context& ctx, const params& p, const lane_state& s, int u,
                                     std::int64_t column) {
    const auto rank = static_cast<std::int32_t>(s.rank);
    if (s.first_system + u >= p.systems) {
      for (std::int32_t i = rank; i < p.size; i += Lanes) {
        s.x[i].of[u] = Scalar{};
      }
      return;
    }
    std::int64_t step = 0;
    const Scalar* from = first_element(p, s, p.b, u, column, step);
    for (std::int32_t i = rank; i < p.size; i += Lanes, from += step) {
      constexpr int word = static_cast<int>(alignof(Scalar));  // a complex number of the user has no more
      for (int at = 0; at < static_cast<int>(sizeof(Scalar)); at += word) {
        ctx.template copy_async<word>(reinterpret_cast<unsigned char*>(s.x[i].of + u) + at,
                                      reinterpret_cast<const unsigned char*>(from) + at);
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static packed_step load_step(Context& ctx, const lane_step* from) {
    packed_step loaded;
    ctx.template load_words<4>(reinterpret_cast<const std::uint32_t*>(from), loaded.words);
    return loaded;
  }

  template <class Context>
  SPTRSV_DEVICE static pack load_pack(Context& ctx, std::uintptr_t from) {
    if constexpr (Systems == 1) {
      return {{ctx.load_constant(reinterpret_cast<const Scalar*>(from))}};
    } else {
      using word = std::conditional_t<sizeof(pack) < 16, std::uint32_t, std::uint64_t>;
      constexpr int piece = sizeof(pack) < 16 ? 8 : 16;
      struct {
        word of[sizeof(pack) / sizeof(word)];
      } words;
      SPTRSV_UNROLL
      for (std::size_t at = 0; at < sizeof(pack) / piece; ++at) {
        constexpr int count = piece / sizeof(word);
        ctx.template load_words<count>(reinterpret_cast<const word*>(from) + at * count,
                                       words.of + at * count);
      }
      return bit_cast<pack>(words);
    }
  }

  /// Loads the values that `step` announces, and moves `from`, the address of this lane's first entry in the
  /// stream, to that of the step after. Addresses are numbers: the compiler would compute each address of a
  /// pointer anew from the start of the stream.
  template <class Context>
  SPTRSV_DEVICE static void load_values(Context& ctx, const lane_state& s, const lane_step& step,
                                        std::uintptr_t& from, lane_values& to) {
    constexpr std::uintptr_t bytes = sizeof(pack);
    const std::uint32_t pivots = step.next_count(step_entries);
    const std::uint32_t pivot = s.rank >> step.next_shift();
    if (pivot < pivots) {
      const auto before = static_cast<std::int64_t>(static_cast<int>(pivot) - static_cast<int>(s.rank)) *
                          static_cast<std::int64_t>(bytes);
      to.reciprocal = load_pack(ctx, from + static_cast<std::uintptr_t>(before));
    }
    from += pivots * bytes;
    SPTRSV_UNROLL
    for (int k = 0; k < step_entries; ++k) {
      const std::uint32_t count = step.next_count(k);
      if (s.rank < count) {
        to.entries[k] = load_pack(ctx, from);
      }
      from += count * bytes;
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void solve(Context& ctx, const params& p, const lane_state& s) {
    const auto warp = ctx.template group<32>();
    const lane_step* next_step = p.lane_steps + s.rank;
    lane_values values[steps_ahead];
    packed_step steps[steps_ahead];
    auto from = reinterpret_cast<std::uintptr_t>(reinterpret_cast<const pack*>(p.values) +
                                                 s.group * p.stream_slots + s.rank);
    SPTRSV_UNROLL
    for (int j = 0; j < values_ahead; ++j, next_step += Lanes) {
      steps[j] = load_step(ctx, next_step);
    }
    SPTRSV_UNROLL
    for (int j = 0; j < steps_ahead; ++j) {
      values[j] = {{}, pack::ones()};
      if (j < values_ahead) {
        load_values(ctx, s, bit_cast<lane_step>(steps[j]), from, values[j]);
      }
    }
    SPTRSV_UNROLL
    for (int j = 0; j < steps_ahead; ++j, next_step += Lanes) {
      steps[j] = load_step(ctx, next_step);
    }
    ctx.template wait_copies<0>();
    warp.sync();
    pack sum{};
    for (std::int32_t i = 0;;) {
      SPTRSV_UNROLL
      for (int j = 0; j < steps_ahead; ++j, ++i, next_step += Lanes) {
        if (i == p.steps) {
          return;
        }
        const auto step = bit_cast<lane_step>(steps[j]);
        // First, because the compiler moves records that are loaded last to other registers, and waits for
        // them there.
        steps[j] = load_step(ctx, next_step);
        load_values(ctx, s, step, from, values[(j + values_ahead) % steps_ahead]);
        sum = do_step(ctx, warp, p, s, step, values[j], sum);
        warp.sync();
      }
    }
  }

  /// Returns the sums of the products so far; zeros after the last step of a row.
  template <class Context, class Warp>
  SPTRSV_DEVICE static pack do_step(Context& ctx, const Warp& warp, const params& p, const lane_state& s,
                                    const lane_step& step, const lane_values& values, pack sum) {
    const bool writes = step.writes();
    pack rhs{};
    if (writes) {
      rhs = s.x[step.row()];
    }
    SPTRSV_UNROLL
    for (int k = 0; k < step_entries; ++k) {
      if (k < static_cast<int>(step.entries())) {
        const pack component = s.x[step.columns[k]];
        sum = add_product(sum, values.entries[k], component);
      }
    }
    const int row_lanes = step.row_lanes();
    for (int mask = 1; mask < row_lanes; mask *= 2) {
      for (Scalar& of_system : sum.of) {
        of_system = of_system + warp.shuffle_xor(of_system, mask);
      }
    }
    if (writes) {
      pack rest;
      pack solved;
      bool finite = true;
      SPTRSV_UNROLL
      for (int u = 0; u < Systems; ++u) {
        rest.of[u] = p.alpha * rhs.of[u] - sum.of[u];
        solved.of[u] = rest.of[u] * values.reciprocal.of[u];
        finite = finite && is_finite(solved.of[u]);
      }
      if (!finite) {
        SPTRSV_UNROLL
        for (int u = 0; u < Systems; ++u) {
          if (!is_finite(solved.of[u])) {
            solved.of[u] = p.unit ? rest.of[u] : divide(rest.of[u], pivot_of(ctx, p, s, u, step.row()));
          }
        }
      }
      s.x[step.row()] = solved;
    }
    return step.is_last() ? pack{} : sum;
  }

  /// Returns the pivot of a row of system `u` of the group.
  template <class Context>
  SPTRSV_DEVICE static Scalar pivot_of(Context& ctx, const params& p, const lane_state& s, int u,
                                       std::uint32_t row) {
    const std::int64_t system = s.group * Systems + u;
    return ctx.load_constant(p.pivots + (system < p.systems ? system : p.systems - 1) * p.size + row);
  }

  /// Returns the first component of this lane in system `u` of the group that is not finite, or no_row.
  template <class Context>
  SPTRSV_DEVICE static std::uint32_t store_solution(Context& ctx, const params& p, const lane_state& s, int u,
                                                    std::int64_t column) {
    std::uint32_t first_nonfinite = no_row;
    if (s.first_system + u >= p.systems) {
      return first_nonfinite;
    }
    std::int64_t step = 0;
    Scalar* to = first_element(p, s, p.x, u, column, step);
    for (auto i = static_cast<std::int32_t>(s.rank); i < p.size; i += Lanes, to += step) {
      const Scalar component = s.x[i].of[u];
      ctx.store(to, component);
      if (!is_finite(component) && first_nonfinite == no_row) {
        first_nonfinite = static_cast<std::uint32_t>(i);
      }
    }
    return first_nonfinite;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::batched
