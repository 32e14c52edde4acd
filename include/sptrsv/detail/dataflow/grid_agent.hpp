// The kernel of the grid path: a warp has a group of consecutive rows, a row 1, 4 or 16 lanes.
//
// Rows do not wait for the others of their warp: a row is published as soon as its own entries have come, and
// may be what another row of the same warp waits for. (Threads of a warp make progress on their own from
// sm_70 on.)
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/grid_groups.hpp"
#include "sptrsv/detail/solve_pages.hpp"

namespace sptrsv::detail::dataflow {

template <class Scalar, class Index, class Offset>
struct grid_params {
  std::int64_t size;    ///< of the system
  std::int64_t places;  ///< rows, partial ones included
  std::int64_t groups;
  bool reversed;
  const Offset* offsets;
  const Index* columns;
  const Scalar* values;
  const Scalar* diagonal;  ///< by place; null if it is unit
  const Index*
      position_of_place;  ///< -1 for partial rows; null where rows stand in the order of substitution
  const Index* gates;     ///< by group: a place some levels earlier, -1 if none; null: no gates
  solve_pages<Scalar> pages;
  Scalar alpha;
  dense_view<const Scalar> b;
  dense_view<Scalar> x;
};

/// `Columns` right-hand sides are solved in one sweep over the group, further ones in further sweeps.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns>
struct grid_agent {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int groups_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using params = grid_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    start_block(ctx, start, p.pages.state, p.x.columns);
    const std::int64_t place =
        start.block * groups_per_block * (slice_slots / Lanes) + ctx.thread_rank() / Lanes;
    const std::int64_t group = start.block * groups_per_block + ctx.thread_rank() / 32;
    if (group < p.groups) {
      solve_row(ctx, tile, p, group, place, start.page);
      if (place < p.places && tile.rank() == 0) {
        p.pages.reset(ctx, start.page ^ 1u, place, start.columns_to_reset, 0, 1);
      }
    }
  }

 private:
  using columns_of = Scalar[Columns];

  /// Some entries of a lane.
  struct batch {
    Index column[entries_at_once];  ///< -1 where there is no entry
    Scalar value[entries_at_once];
  };

  template <class Context, class Tile>
  SPTRSV_DEVICE static void solve_row(Context& ctx, const Tile& tile, const params& p, std::int64_t group,
                                      std::int64_t place, std::uint32_t page) {
    // All that does not depend on x comes before the first wait.
    const bool present = place < p.places;
    const Offset begin = ctx.load_constant(p.offsets + group) + static_cast<Offset>(ctx.thread_rank() % 32);
    const Offset end = ctx.load_constant(p.offsets + group + 1);
    const batch first_entries = read(ctx, p, begin, end);
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + group);
    std::int64_t position = present ? place : -1;
    if (present && p.position_of_place != nullptr) {
      position = static_cast<std::int64_t>(ctx.load_constant(p.position_of_place + place));
    }
    const std::int64_t row = p.reversed ? p.size - 1 - position : position;
    const pivot_divisor<Scalar> pivot(present && p.diagonal != nullptr ? ctx.load_constant(p.diagonal + place)
                                                                       : pivot_divisor<Scalar>::one());
    if (gate >= 0) {
      wait_for_gate(ctx, p, page, gate);
    }
    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      columns_of rest;
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs = first + k;
        rest[k] = position >= 0 && rhs < p.x.columns
                      ? p.alpha * ctx.load(p.b.data + row * p.b.row_stride + rhs * p.b.column_stride)
                      : Scalar{};
      }
      columns_of sums = {};
      batch now = first_entries;
      for (Offset e = begin; e < end; e += slice_slots * entries_at_once) {
        const batch next = read(ctx, p, static_cast<Offset>(e + slice_slots * entries_at_once), end);
        add_products(ctx, p, page, now, first, sums);
        now = next;
      }
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs = first + k;
        const Scalar x = pivot(rest[k] - simt::tile_sum(tile, sums[k], Lanes));
        if (present && tile.rank() == 0 && rhs < p.x.columns) {
          flag::publish(ctx, p.pages.component(page, rhs, place), x);
          if (position >= 0) {
            ctx.store(p.x.data + row * p.x.row_stride + rhs * p.x.column_stride, x);
            if (!is_finite(x)) {
              p.pages.note_bad(ctx, page, position);
            }
          }
        }
      }
    }
  }

  /// One word to look at while the solve is still some levels away: otherwise thousands of warps would ask
  /// for all that they need again and again, and slow down those whose turn it is.
  template <class Context>
  SPTRSV_DEVICE static void wait_for_gate(Context& ctx, const params& p, std::uint32_t page, Index gate) {
    const word* const component = p.pages.component(page, 0, static_cast<std::int64_t>(gate));
    simt::wait_until(ctx, component, [](word w) { return w != flag::pending; });
  }

  template <class Context>
  SPTRSV_DEVICE static batch read(Context& ctx, const params& p, Offset e, Offset end) {
    batch made;
    for (int i = 0; i < entries_at_once; ++i) {
      const bool present = e + slice_slots * i < end;
      made.column[i] = present ? ctx.load_constant(p.columns + e + slice_slots * i) : Index{-1};
      made.value[i] = present ? ctx.load_constant(p.values + e + slice_slots * i) : Scalar{};
    }
    return made;
  }

  /// sums[k] += the entries times x_k, when they have come.
  template <class Context>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, std::uint32_t page,
                                         const batch& entries, std::int64_t first, columns_of& sums) {
    const word* component[entries_at_once * Columns];
    typename flag::reading seen[entries_at_once * Columns];
    for (int i = 0; i < entries_at_once; ++i) {
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs =
            first + k < p.x.columns ? first + k : first;  // past the end: any that will come
        component[i * Columns + k] =
            p.pages.component(page, rhs, static_cast<std::int64_t>(entries.column[i]));
        seen[i * Columns + k] = entries.column[i] >= 0 ? flag::unseen() : flag::zero();
      }
    }
    flag::wait_all(ctx, component, seen);
    for (int i = 0; i < entries_at_once; ++i) {
      for (int k = 0; k < Columns; ++k) {
        if (entries.column[i] >= 0) {
          sums[k] = sums[k] + entries.value[i] * seen[i * Columns + k].value();
        }
      }
    }
  }
};

}  // namespace sptrsv::detail::dataflow
