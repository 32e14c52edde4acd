// SPDX-License-Identifier: Apache-2.0
// The kernel of scheme: one template for all code variants of AG-SpTRSV (Hu et al. 2024, section 4.2).
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/papers/row_wise/rows.hpp"
#include "sptrsv/detail/papers/scheme/assignment.hpp"
#include "sptrsv/detail/sync/fenced_values.hpp"
#include "sptrsv/scheme/scheme.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// Elimination of waits: rows that need only earlier launches read with plain loads and never poll.
template <class Buffers>
struct settled_buffers : Buffers {
  struct flag : Buffers::flag {
    using typename Buffers::flag::reading;

    SPTRSV_HOST_DEVICE static bool is_known(const reading&) { return true; }
    template <class Context, class Component>
    SPTRSV_DEVICE static reading try_load(Context& ctx, const Component& at) {
      return Buffers::flag::read(ctx, at);
    }
    template <class Context, class Component>
    SPTRSV_DEVICE static void poll(Context&, const Component&, reading&) {}
    template <class Component>
    SPTRSV_DEVICE static const typename Buffers::flag::word* missing(const Component&, const reading&) {
      return nullptr;
    }
  };
};

/// A view of one right-hand side, whose number is a compile-time constant.
template <class Scalar>
struct one_column {
  static constexpr std::int64_t columns = 1;
  SPTRSV_DEVICE explicit one_column(const dense_view<Scalar>&) {}
};

/// The system as one lane sees it. The entries of its rows may be in shared memory. The object refers to the
/// kernel's parameters, because the compiler would put a copy into local memory, and keeps the data of a row
/// in few registers.
template <class Scalar, class Index, class Offset, class Buffers, bool Buffered, bool OneRhs>
class lane_system {
 public:
  using system_params = paper_system<Scalar, Index, Offset, Buffers>;
  using scalar = Scalar;
  using index = Index;
  using offset = Offset;

  struct row {
    Index solve_index;
    Index number;  ///< row index in b and x
    Offset begin;  ///< first entry
    Offset end;    ///< one past the last entry
    /// The pivot. With early division: its reciprocal, or must_divide if the reciprocal is not safe.
    Scalar divisor;
  };

  std::conditional_t<OneRhs, one_column<Scalar>, const dense_view<Scalar>&> x;
  const Buffers& buffers;

  SPTRSV_DEVICE lane_system(const system_params& p, bool divides_early)
      : x(p.x), buffers(p.buffers), p_(p), divides_early_(divides_early) {}

  /// Uses entries in shared memory: entry e is at index e + shift of both arrays.
  SPTRSV_DEVICE void use_buffer(const Index* columns, const Scalar* values, std::int64_t shift) {
    columns_ = columns;
    values_ = values;
    shift_ = shift;
  }

  template <class Context>
  SPTRSV_DEVICE Index column(Context& ctx, Offset e) const {
    return Buffered && columns_ != nullptr ? columns_[e + shift_] : p_.column(ctx, e);
  }
  template <class Context>
  SPTRSV_DEVICE Scalar value(Context& ctx, Offset e) const {
    return Buffered && columns_ != nullptr ? values_[e + shift_] : p_.value(ctx, e);
  }
  template <class Context>
  SPTRSV_DEVICE row open(Context& ctx, std::int64_t solve_index) const {
    const Index number = static_cast<Index>(p_.mirrored(
        p_.substitution_indices != nullptr ? ctx.load_constant(p_.substitution_indices + solve_index)
                                           : solve_index));
    row r{static_cast<Index>(solve_index), number, ctx.load_constant(p_.offsets + solve_index),
          ctx.load_constant(p_.offsets + solve_index + 1), p_.pivot(ctx, solve_index)};
    if (divides_early_) {
      const pivot_divisor<Scalar> pivot(r.divisor);
      r.divisor = pivot.is_safe() ? pivot.reciprocal() : must_divide<Scalar>();
    }
    return r;
  }
  template <class Context>
  SPTRSV_DEVICE Scalar load_b(Context& ctx, const row& r, std::int64_t column) const {
    return p_.load_b(ctx, r, column);
  }
  template <class Context>
  SPTRSV_DEVICE void finish(Context& ctx, const row& r, std::uint32_t half, std::int64_t column,
                            Scalar b_value, Scalar sum) const {
    const Scalar dividend = p_.alpha * b_value - sum;
    const bool multiplies = divides_early_ && is_finite(r.divisor);
    p_.publish(ctx, r, p_.mirrored(r.number), half, column,
               multiplies ? dividend * r.divisor
                          : divide(dividend, divides_early_ ? p_.pivot(ctx, r.solve_index) : r.divisor));
  }

 private:
  const system_params& p_;
  bool divides_early_;
  const Index* columns_ = nullptr;  ///< in shared memory; null: the entries are read from global memory
  const Scalar* values_ = nullptr;
  std::int64_t shift_ = 0;
};

/// One warp solves one group of nodes at a time; a sub-warp solves one node, a run of consecutive solve
/// indices. Group g has the nodes g * sub_warps ... (g + 1) * sub_warps - 1; its last ones may be empty.
/// `Buffers` defines how components are published and whether rows wait for them. One sweep over a row solves
/// `rhs_per_sweep` right-hand sides; `OneRhs`: the solve has a single one.
///
///   1. One thread per block draws a ticket and decides with the other blocks of the launch whether warps
///      take groups as assigned or by ticket (assignment.hpp).
///   2. For each group of the warp:
///      a. Find the rows of each sub-warp's node.
///      b. Collaborative read (`Buffered`): copy the entries of all nodes to shared memory, if they fit.
///      c. Solve the rows of each node, all lanes on one row or one lane per row (row_wise/rows.hpp).
///      d. Reset the rows' components in the other half of the double buffer to pending.
///
/// Progress: a group waits for earlier groups only; assignment.hpp explains why their warps run.
template <class Tuning, class Scalar, class Index, class Offset, class Buffers, bool Buffered, bool OneRhs>
struct agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int rhs_per_sweep = OneRhs ? 1 : Tuning::rhs_per_sweep;
  static constexpr int warps_per_processor = OneRhs ? Tuning::warps_per_processor : 16;
  static constexpr int entries_at_once = OneRhs ? Tuning::entries_at_once : 1;
  static constexpr int max_buffered =
      Buffered ? Tuning::buffer_bytes / static_cast<int>(sizeof(Scalar) + sizeof(Index)) : 1;
  using system_params = paper_system<Scalar, Index, Offset, Buffers>;
  using system_type = lane_system<Scalar, Index, Offset, Buffers, Buffered, OneRhs>;
  using by_lanes = row_wise::lane_rows<entries_at_once, rhs_per_sweep, system_type>;
  using by_tile = row_wise::tile_rows<entries_at_once, rhs_per_sweep, system_type>;

  struct warp_buffer {
    array_of<Scalar, max_buffered> values;
    array_of<Index, max_buffered> columns;
  };
  struct shared_storage {
    block_start start;
    std::uint32_t half;
    bool by_ticket;
    array_of<warp_buffer, Buffered ? block_threads / 32 : 1> buffers;
  };
  struct params {
    system_params system;
    assignment<Index> work;
    const Index* first_rows;     ///< by node: solve index of its first row; null: node n is row n
    const Index* node_rows;      ///< by node: its number of rows
    std::uint32_t solve_blocks;  ///< blocks in all launches of a solve
    int lane_bits;               ///< a sub-warp has 2^lane_bits lanes
    /// Average entries of the rows of a node above which all lanes solve one row after the other; otherwise
    /// each lane solves one row. 0: always together; scheme::unlimited: never.
    int together_above;
    bool early_division;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    if (ctx.thread_rank() == 0) {
      block_start& start = shared.start;
      take_block(ctx, start, p.system.buffers.state, p.system.x.columns, p.solve_blocks);
      start.block -= p.work.first_block;
      shared.half = Buffers::half_of(start.solve);
      shared.by_ticket =
          p.work.state != nullptr && !decide(ctx, p.work, start.block, start.half, Tuning::patience);
    }
    ctx.barrier();
    const auto warps = static_cast<std::uint32_t>(ctx.block_threads() / 32);
    const auto block = static_cast<std::uint32_t>(shared.start.block);
    for_each_group(ctx, warp, p.work, block * warps + static_cast<std::uint32_t>(warp.index()),
                   p.work.blocks * warps, shared.by_ticket, shared.start.half,
                   [&](std::int64_t group) { solve_group(ctx, warp, shared, p, group); });
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_group(Context& ctx, const Warp& warp, shared_storage& shared,
                                        const params& p, std::int64_t group) {
    const int lanes = 1 << p.lane_bits;
    const int rank = warp.rank() & (lanes - 1);
    const std::int64_t node = (group << (5 - p.lane_bits)) + (warp.rank() >> p.lane_bits);
    const bool is_row = p.first_rows == nullptr;
    const auto first = static_cast<Index>(is_row ? node : ctx.load_constant(p.first_rows + node));
    const int rows = is_row ? 1 : static_cast<int>(ctx.load_constant(p.node_rows + node));
    system_type system(p.system, p.early_division);
    bool together = p.together_above == 0;
    if (Buffered || (!together && p.together_above != scheme::unlimited)) {
      const Offset begin = ctx.load_constant(p.system.offsets + first);
      const Offset end = ctx.load_constant(p.system.offsets + first + rows);
      together = static_cast<std::int64_t>(end - begin) + rows >  // entries and diagonals
                 static_cast<std::int64_t>(p.together_above) * rows;
      if constexpr (Buffered) {
        buffer_entries(ctx, warp, shared.buffers[warp.index()], p, lanes, begin, end, system);
      }
    }
    for (int k = 0; warp.any(together && k < rows); ++k) {
      const bool present = together && k < rows;
      by_tile::solve(ctx, warp, system, shared.half, first + (present ? k : 0), present, lanes);
    }
    for (int k = 0; warp.any(!together && k < rows); k += lanes) {
      const bool present = !together && k + rank < rows;
      by_lanes::solve(ctx, warp, system, shared.half, first + (present ? k + rank : 0), present, 0);
    }
    for (int k = rank; k < rows; k += lanes) {
      p.system.buffers.reset(ctx, shared.half ^ 1u, first + k, shared.start.rhs_to_reset, 0, 1);
    }
  }

  /// Collaborative read: the warp copies the entries of all its nodes to shared memory with coalesced loads,
  /// if they fit and are at least Tuning::min_buffered.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void buffer_entries(Context& ctx, const Warp& warp, warp_buffer& to, const params& p,
                                           int lanes, Offset begin, Offset end, system_type& system) {
    const auto own = static_cast<std::int64_t>(end - begin);
    std::int64_t before = 0;
    std::int64_t all = 0;
    for (int other = 0; other < 32; other += lanes) {
      const std::int64_t entries = warp.shuffle(own, other);
      before += other < warp.rank() / lanes * lanes ? entries : 0;
      all += entries;
    }
    if (all > max_buffered || all < Tuning::min_buffered) {
      return;
    }
    warp.sync();  // no lane needs the previous contents any more
    for (int other = 0; other < 32; other += lanes) {
      const auto from = warp.shuffle(begin, other);
      const auto entries = static_cast<int>(warp.shuffle(own, other));
      const auto at = static_cast<int>(warp.shuffle(before, other));
      for (int k = warp.rank(); k < entries; k += 32) {
        to.columns[at + k] = ctx.load_constant(p.system.indices + from + k);
        to.values[at + k] = ctx.load_constant(p.system.values + from + k);
      }
    }
    warp.sync();
    system.use_buffer(to.columns, to.values, before - static_cast<std::int64_t>(begin));
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
