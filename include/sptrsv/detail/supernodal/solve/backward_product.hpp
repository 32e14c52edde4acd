// SPDX-License-Identifier: Apache-2.0
// Backward, one sweep: products of columns of a panel with z.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/supernodal/solve/supernodal_team.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Products of columns of a panel with z: `Columns` right-hand sides.
template <class Tuning, class Scalar, class Index, class Offset, int Columns>
struct backward_product {
  static constexpr int block_threads = Tuning::block_threads;
  static constexpr int warps = block_threads / 32;
  using params = solve_params<Scalar, Index, Offset>;

  /// Adds the products of `count` entries of a column with z, those of every warps-th row from row `i` of the
  /// panel on.
  template <class Context>
  SPTRSV_DEVICE static void add_strip(Context& ctx, const params& p, const supernode& node, std::int64_t i,
                                      int count, int column, const Scalar* entries, const Scalar* z,
                                      array_of<Scalar, Columns>& sums) {
    array_of<Scalar, Columns> added = {};
    const auto add = [&](int t) {
      SPTRSV_UNROLL
      for (int c = 0; c < Columns; ++c) {
        added[c] = added[c] + entries[t * warps * strip_columns] * z[c * block_threads + t];
      }
    };
    if (count == 32) {
      SPTRSV_UNROLL
      for (int t = 0; t < 32; ++t) {
        add(t);
      }
    } else {
      for (int t = 0; t < count; ++t) {
        add(t);
      }
    }
    bool finite = true;
    for (int c = 0; c < Columns; ++c) {
      finite = finite && is_finite(added[c]);
    }
    for (int c = 0; !finite && c < Columns; ++c) {
      added[c] = Scalar{};
    }
    for (int t = 0; !finite && t < count; ++t) {  // leave out the zeros by structure
      if (p.of.depends(ctx, node, i + t * warps, column)) {
        add(t);
      }
    }
    for (int c = 0; c < Columns; ++c) {
      sums[c] = sums[c] + added[c];
    }
  }

  /// Adds this thread's share of a column times z: every `groups`-th row from `group` on. `entries`: where
  /// row 0 of the panel would have the column in shared memory.
  template <int Capacity, class Context>
  SPTRSV_DEVICE static void add_products(Context& ctx, const params& p, const supernode& node,
                                         std::int64_t base, std::int64_t end, int column, int group,
                                         int groups, const Scalar* entries, const Scalar* z,
                                         array_of<Scalar, Columns>& sums) {
    array_of<Scalar, Columns> added = {};
    multiply<Capacity, false>(ctx, p, node, base, end, column, group, groups, entries, z, added);
    bool finite = true;
    for (int c = 0; c < Columns; ++c) {
      finite = finite && is_finite(added[c]);
    }
    if (!finite) {  // where z is not finite, the zeros by structure must be left out
      for (int c = 0; c < Columns; ++c) {
        added[c] = Scalar{};
      }
      multiply<Capacity, true>(ctx, p, node, base, end, column, group, groups, entries, z, added);
    }
    for (int c = 0; c < Columns; ++c) {
      sums[c] = sums[c] + added[c];
    }
  }

 private:
  /// Does add_products(). `Checks`: leave out what is zero by structure.
  template <int Capacity, bool Checks, class Context>
  SPTRSV_DEVICE static void multiply(Context& ctx, const params& p, const supernode& node, std::int64_t base,
                                     std::int64_t end, int column, int group, int groups,
                                     const Scalar* entries, const Scalar* z,
                                     array_of<Scalar, Columns>& sums) {
    constexpr int at_once = Checks ? 1 : 8;
    const int k = static_cast<int>(node.columns);
    const int count = static_cast<int>(end - base < Capacity ? end - base : Capacity);
    const int below = base < k ? static_cast<int>(k - base) : 0;  // the first row below the diagonal block
    const int diagonal = count < below ? count : below;
    const auto add = [&](Scalar factor, int t) {
      SPTRSV_UNROLL
      for (int c = 0; c < Columns; ++c) {
        sums[c] = sums[c] + factor * z[c * Capacity + t];
      }
    };
    // The diagonal of V is one and not stored; above it V is zero.
    const auto factor_in_diagonal = [&](int t) {
      const int i = static_cast<int>(base) + t;
      return i > column ? entries[panel_row(i, k)] : i == column ? pivot_divisor<Scalar>::one() : Scalar{};
    };
    int t = group;
    for (; !Checks && t + (at_once - 1) * groups < diagonal; t += at_once * groups) {
      array_of<Scalar, at_once> factors;
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        factors[r] = factor_in_diagonal(t + r * groups);
      }
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        add(factors[r], t + r * groups);
      }
    }
    for (; t < diagonal; t += groups) {
      const std::int64_t i = base + t;
      if (i >= column && (!Checks || p.of.depends(ctx, node, i, column))) {
        add(factor_in_diagonal(t), t);
      }
    }
    const Scalar* const first_below = entries + panel_row(base + below, k);
    for (; t + (at_once - 1) * groups < count; t += at_once * groups) {
      array_of<Scalar, at_once> factors;
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        factors[r] = first_below[(t + r * groups - below) * k];
      }
      SPTRSV_UNROLL
      for (int r = 0; r < at_once; ++r) {
        if (!Checks || p.of.depends(ctx, node, base + t + r * groups, column)) {
          add(factors[r], t + r * groups);
        }
      }
    }
    for (; t < count; t += groups) {
      if (!Checks || p.of.depends(ctx, node, base + t, column)) {
        add(first_below[(t - below) * k], t);
      }
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
