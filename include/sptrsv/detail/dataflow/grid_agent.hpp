// The kernel of the grid path: a warp solves a group of consecutive rows, each with `Lanes` lanes.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/grid_system.hpp"

namespace sptrsv::detail::dataflow {

/// `Columns` right-hand sides are solved in one sweep over the group, further ones in further sweeps.
template <class Tuning, class Scalar, class Index, class Offset, int Lanes, int Columns>
struct grid_agent {
  static constexpr int group_rows = slice_slots / Lanes;
  /// Half as many where the shared memory would not fit in the 48 KiB that every device gives unasked.
  static constexpr int block_threads =
      Tuning::block_threads / 32 * internal_scalars(group_rows) * sizeof(Scalar) > 32 * 1024
          ? Tuning::block_threads / 2
          : Tuning::block_threads;
  static constexpr std::size_t internal_bytes =
      block_threads / 32 * internal_scalars(group_rows) * sizeof(Scalar);
  static constexpr int groups_per_block = block_threads / 32;
  static constexpr int entries_at_once = Columns == 1 ? Tuning::entries_at_once : 1;
  using params = system_params<Scalar, Index, Offset>;
  using flag = value_flag<Scalar>;
  using word = typename flag::word;
  using shared_storage = block_start;

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& start, const params& p) {
    const auto warp = ctx.template group<32>();
    start_block(ctx, start, p.pages.state, p.x.columns);
    const std::int64_t group = start.block * groups_per_block + warp.index();
    if (group < p.groups) {
      solve_group(ctx, warp, p, group, start.page);
      const std::int64_t place = group * group_rows + warp.rank() / Lanes;
      if (place < p.size && leads(warp)) {
        p.pages.reset(ctx, start.page ^ 1u, place, start.columns_to_reset, 0, 1);
      }
    }
  }

 private:
  using columns_of = Scalar[Columns];

  /// Whether the lane speaks for its row.
  template <class Warp>
  SPTRSV_DEVICE static bool leads(const Warp& warp) {
    return warp.rank() % Lanes == 0;
  }

  template <class Context, class Warp>
  SPTRSV_DEVICE static void solve_group(Context& ctx, const Warp& warp, const params& p, std::int64_t group,
                                        std::uint32_t page) {
    const int row_in_group = warp.rank() / Lanes;
    const std::int64_t place = group * group_rows + row_in_group;
    const bool present = place < p.size;
    const Index gate = p.gates == nullptr ? Index{-1} : ctx.load_constant(p.gates + group);
    const Offset first_slot = ctx.load_constant(p.offsets + group) + static_cast<Offset>(warp.rank());
    const Offset end_slot = ctx.load_constant(p.offsets + group + 1);
    const Offset internal_slot =
        first_slot + static_cast<Offset>(slice_slots * ctx.load_constant(p.external_width + group));
    const std::int64_t position =
        present && p.position_of_place != nullptr
            ? static_cast<std::int64_t>(ctx.load_constant(p.position_of_place + place))
            : place;
    const std::int64_t row = p.reversed ? p.size - 1 - position : position;
    const pivot_divisor<Scalar> pivot(present && p.diagonal != nullptr ? ctx.load_constant(p.diagonal + place)
                                                                       : pivot_divisor<Scalar>::one());
    // All that does not depend on x comes before the first wait.
    internal_rows<Scalar> internal{
        static_cast<Scalar*>(ctx.dynamic_shared()) + warp.index() * internal_scalars(group_rows) + row_in_group, 0,
        0};
    bool exact = !pivot.is_safe();
    for (Offset slot = internal_slot; slot < end_slot; slot += slice_slots) {
      const Index column = ctx.load_constant(p.columns + slot);
      if (column >= 0) {
        const int r = static_cast<int>(column % group_rows);
        const Scalar value = ctx.load_constant(p.values + slot);
        const Scalar scaled = value * pivot.reciprocal();
        internal.own[group_rows * r] = scaled;
        internal.needs |= 1u << r;
        exact = exact || !(is_safe_factor(scaled) || value == Scalar{});
      }
    }
    exact = warp.any(exact);
    internal.needed = internal.needs;
    SPTRSV_UNROLL
    for (int mask = 1; mask < 32; mask *= 2) {
      internal.needed |= warp.shuffle_xor(internal.needed, mask);
      internal.needs = mask == Lanes / 2 ? internal.needed : internal.needs;  // of all lanes of the row
    }
    if (gate >= 0) {
      wait_for_gate(ctx, p, page, gate);
    }
    if (exact) {
      unscale(ctx, p, internal, internal_slot, end_slot);
    }

    for (std::int64_t first = 0; first < p.x.columns; first += Columns) {
      columns_of rest;
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs = first + k;
        rest[k] = present && rhs < p.x.columns
                      ? p.alpha * ctx.load(p.b.data + row * p.b.row_stride + rhs * p.b.column_stride)
                      : Scalar{};
      }
      subtract_long_rows(ctx, warp, p, page, group, first, rest);
      columns_of sums = {};
      add_products(ctx, p, page, {p.columns, p.values}, first_slot, internal_slot, first, sums);
      warp.sync();  // lanes that waited for different values go on together: shuffles of a diverged warp are slow
      for (int k = 0; k < Columns; ++k) {
        sums[k] = simt::tile_sum(warp, sums[k], Lanes);
      }

      columns_of x;
      if (!exact) {
        for (int k = 0; k < Columns; ++k) {
          x[k] = (rest[k] - sums[k]) * pivot.reciprocal();
        }
        substitute(warp, internal, x);
        bool finite = true;
        for (int k = 0; k < Columns; ++k) {
          finite = finite && is_finite(x[k]);
        }
        if (!warp.all(finite)) {  // scaling may have overflowed where division does not
          exact = true;
          warp.sync();
          unscale(ctx, p, internal, internal_slot, end_slot);
          warp.sync();
        }
      }
      if (exact) {
        for (int k = 0; k < Columns; ++k) {
          x[k] = rest[k] - sums[k];
        }
        substitute_exactly(warp, internal, pivot, x);
      }
      for (int k = 0; k < Columns; ++k) {
        const std::int64_t rhs = first + k;
        if (present && leads(warp) && rhs < p.x.columns) {
          flag::publish(ctx, p.pages.component(page, rhs, place), x[k]);
          ctx.store(p.x.data + row * p.x.row_stride + rhs * p.x.column_stride, x[k]);
          if (!is_finite(x[k])) {
            p.pages.note_bad(ctx, page, position);
          }
        }
      }
    }
  }

  /// One word to look at while the solve is still some levels away: otherwise thousands of warps would ask for
  /// all that they need again and again, and slow down those whose turn it is.
  template <class Context>
  SPTRSV_DEVICE static void wait_for_gate(Context& ctx, const params& p, std::uint32_t page, Index gate) {
    const word* const component = p.pages.component(page, 0, static_cast<std::int64_t>(gate));
    simt::wait_until(ctx, component, [](word w) { return w != flag::pending; });
  }

  /// Puts the internal entries into shared memory as they are, not divided by the pivots.
  template <class Context>
  SPTRSV_DEVICE static void unscale(Context& ctx, const params& p, const internal_rows<Scalar>& internal,
                                    Offset slot, Offset end_slot) {
    for (; slot < end_slot; slot += slice_slots) {
      const Index column = ctx.load_constant(p.columns + slot);
      if (column >= 0) {
        internal.own[group_rows * static_cast<int>(column % group_rows)] = ctx.load_constant(p.values + slot);
      }
    }
  }

  /// Forward substitution inside the group on entries that are divided by the pivots: row r is final when its
  /// turn comes. Lanes that do not need it subtract zero times its value: that changes nothing unless the
  /// value is not finite, and then the result is not used.
  template <class Warp>
  SPTRSV_DEVICE static void substitute(const Warp& warp, const internal_rows<Scalar>& internal,
                                       columns_of& x) {
    if (simt::bit_count(internal.needed) > Tuning::unrolled_rows) {
      SPTRSV_UNROLL
      for (int r = 0; r < group_rows - 1; ++r) {
        substitute_row(warp, internal, r, x);
      }
    } else {
      for (std::uint32_t left = internal.needed; left != 0; left &= left - 1) {
        substitute_row(warp, internal, simt::lowest_bit(left), x);
      }
    }
  }
  template <class Warp>
  SPTRSV_DEVICE static void substitute_row(const Warp& warp, const internal_rows<Scalar>& internal, int r,
                                           columns_of& x) {
    const Scalar entry = (internal.needs >> r & 1u) != 0 ? internal.own[group_rows * r] : Scalar{};
    for (int k = 0; k < Columns; ++k) {
      x[k] = x[k] - entry * warp.shuffle(x[k], r * Lanes);
    }
  }

  /// The same on entries as they are, with a division a row: for pivots or values that do not bear scaling.
  template <class Warp>
  SPTRSV_DEVICE static void substitute_exactly(const Warp& warp, const internal_rows<Scalar>& internal,
                                               const pivot_divisor<Scalar>& pivot, columns_of& rest) {
    for (std::uint32_t left = internal.needed; left != 0; left &= left - 1) {
      const int r = simt::lowest_bit(left);
      for (int k = 0; k < Columns; ++k) {
        const Scalar x = warp.shuffle(pivot(rest[k]), r * Lanes);
        if ((internal.needs >> r & 1u) != 0) {
          rest[k] = rest[k] - internal.own[group_rows * r] * x;
        }
      }
    }
    for (int k = 0; k < Columns; ++k) {
      rest[k] = pivot(rest[k]);
    }
  }

  /// What rows have beyond the group's width: the whole warp takes one such row after the other.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void subtract_long_rows(Context& ctx, const Warp& warp, const params& p,
                                               std::uint32_t page, std::int64_t group, std::int64_t first,
                                               columns_of& rest) {
    const std::int64_t place = group * group_rows + warp.rank() / Lanes;
    const Offset begin = ctx.load_constant(p.long_offsets + (place < p.size ? place : p.size));
    const Offset end = ctx.load_constant(p.long_offsets + (place < p.size ? place + 1 : p.size));
    std::uint32_t rows = warp.ballot(leads(warp) && begin < end);
    for (; rows != 0; rows &= rows - 1) {
      const int r = simt::lowest_bit(rows);
      columns_of sums = {};
      add_products(ctx, p, page, {p.long_columns, p.long_values},
                   warp.shuffle(begin, r) + static_cast<Offset>(warp.rank()), warp.shuffle(end, r), first,
                   sums);
      for (int k = 0; k < Columns; ++k) {
        const Scalar sum = simt::tile_sum(warp, sums[k], 32);
        rest[k] = warp.rank() / Lanes == r / Lanes ? rest[k] - sum : rest[k];
      }
    }
  }

  /// Where entries stand.
  struct entry_arrays {
    const Index* columns;
    const Scalar* values;
  };
  /// Some entries of a lane, and what their components of x held when they were looked at.
  struct batch {
    Index column[entries_at_once];  ///< -1 where there is no entry
    Scalar value[entries_at_once];
    const word* component[entries_at_once * Columns];
    typename flag::reading seen[entries_at_once * Columns];
  };

  /// sums[k] += a_e x_k for e = begin, begin + 32, ... below `end`. While a batch waits, the next one is on
  /// its way.
  template <class Context>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, std::uint32_t page,
                                         const entry_arrays& a, Offset begin, Offset end, std::int64_t first,
                                         columns_of& sums) {
    batch now = look_at(ctx, p, page, a, begin, end, first);
    for (Offset e = begin; e < end; e += 32 * entries_at_once) {
      batch next = look_at(ctx, p, page, a, static_cast<Offset>(e + 32 * entries_at_once), end, first);
      flag::wait_all(ctx, now.component, now.seen);
      for (int i = 0; i < entries_at_once; ++i) {
        for (int k = 0; k < Columns; ++k) {
          if (now.column[i] >= 0) {
            sums[k] = sums[k] + now.value[i] * now.seen[i * Columns + k].value();
          }
        }
      }
      now = next;
    }
  }

  template <class Context>
  SPTRSV_DEVICE static batch look_at(Context& ctx, const params& p, std::uint32_t page, const entry_arrays& a,
                                     Offset e, Offset end, std::int64_t first) {
    batch made;
    for (int i = 0; i < entries_at_once; ++i) {
      const bool present = e + 32 * i < end;
      made.column[i] = present ? ctx.load_constant(a.columns + e + 32 * i) : Index{-1};
      made.value[i] = present ? ctx.load_constant(a.values + e + 32 * i) : Scalar{};
    }
    for (int i = 0; i < entries_at_once; ++i) {
      for (int k = 0; k < Columns; ++k) {
        const int at = i * Columns + k;
        made.component[at] = component(p, page, first, k, made.column[i]);
        made.seen[at] = made.column[i] >= 0 ? flag::look(ctx, made.component[at]) : flag::zero();
      }
    }
    return made;
  }

  SPTRSV_DEVICE static const word* component(const params& p, std::uint32_t page, std::int64_t first, int k,
                                             Index column) {
    const std::int64_t rhs = first + k < p.x.columns ? first + k : first;  // past the end: any that will come
    return p.pages.component(page, rhs, static_cast<std::int64_t>(column));
  }
};

}  // namespace sptrsv::detail::dataflow
