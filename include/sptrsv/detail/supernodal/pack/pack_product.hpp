// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides: products of parts of panels with packs.
#pragma once

#include <type_traits>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Returns the pair of a pack in an array of shared memory with 8 right-hand sides for each row.
template <class Scalar>
SPTRSV_DEVICE rhs_pair<Scalar>& pair_at(Scalar* pack, int row, int pair) {
  return *reinterpret_cast<rhs_pair<Scalar>*>(pack + row * pack_width + 2 * pair);
}

/// How the warps of a team share the products of `octets` octets of 8 rows. Groups of warps take the octets
/// round-robin; the warps of a group share the terms of the sums.
struct warp_share {
  int parts;   ///< warps of a group, a power of two
  int part;    ///< number of the warp in its group
  int group;   ///< number of the group
  int groups;  ///< number of groups

  /// If the warps are more than the octets, no group has more than one octet.
  SPTRSV_DEVICE warp_share(int octets, int warps, int warp) : parts(1) {
    while (2 * parts * octets <= warps) {
      parts *= 2;
    }
    part = warp % parts;
    group = warp / parts;
    groups = warps / parts;
  }
};

/// Multiplies octets with a pack and adds the products to `sums`: one octet for each element of `sums` at
/// most, each lane for its row and its pair of columns. A sum has `terms` terms; the warp adds its share of
/// them. All lanes of the warp must call this function together.
///
/// `pack`: shared memory, a row of 8 values for each term. The rows from `terms` on to a multiple of 4 are
/// zero.
/// `factors(u, t)` is the factor of term t in octet u, or zero if there is none; `factors.has(ctx, u, t)`
/// says whether there is one by structure: if not all values of the pack are finite, the other terms are left
/// out. From factors.dense_begin to factors.dense_end, both multiples of 4, `factors.dense(u, t)` is the
/// factor, too, and faster.
///
/// The function is long because both kinds of terms use the same fragments in registers.
template <class Context, class Warp, class Scalar, class Factors, class Sums>
SPTRSV_DEVICE void multiply_octets(Context& ctx, const Warp& warp, const warp_share& share, int octets,
                                   int terms, bool all_finite, Scalar* pack, const Factors& factors,
                                   Sums& sums) {
  constexpr int most_octets = length_of<Sums>;
  const int lane = warp.rank();
  if (!all_finite) {
    for (int t = share.part; t < terms; t += share.parts) {
      SPTRSV_UNROLL
      for (int u = 0; u < most_octets; ++u) {
        if (u < octets && factors.has(ctx, u, t)) {
          sums[u] = sums[u] + factors(u, t) * pair_at(pack, t, lane % pack_pairs);
        }
      }
    }
    return;
  }
  const auto factor_of = [&](int u, int i, auto is_dense) {
    if constexpr (decltype(is_dense)::value) {
      return factors.dense(u, i);
    } else {
      return factors(u, i);
    }
  };
  // Adds the terms t to t + 3 of octet u.
  const auto add = [&](int u, int t, auto is_dense, rhs_pair<Scalar>& sum) {
    const auto factor = [&](int i) { return factor_of(u, i, is_dense); };
    if constexpr (Warp::template has_multiply_add<Scalar>) {
      warp.multiply_add(factor(t + lane % 4), pack[(t + lane % 4) * pack_width + lane / 4], sum.of);
    } else {
      SPTRSV_UNROLL
      for (int i = t; i < t + 4; ++i) {
        sum = sum + factor(i) * pair_at(pack, i, lane % pack_pairs);
      }
    }
  };
  const auto add_all = [&](int t, auto is_dense) {
    SPTRSV_UNROLL
    for (int u = 0; u < most_octets; ++u) {
      if constexpr (most_octets % 2 == 0 && Warp::template has_multiply_add<Scalar>) {
        if (u % 2 == 0 && u < octets) {  // two octets at once
          const int i = t + lane % 4;
          const Scalar of_rows[2] = {factor_of(u, i, is_dense),
                                     u + 1 < octets ? factor_of(u + 1, i, is_dense) : Scalar{}};
          warp.multiply_add(of_rows, pack[i * pack_width + lane / 4], sums[u].of, sums[u + 1].of);
        }
      } else if (u < octets) {
        add(u, t, is_dense, sums[u]);
      }
    }
  };
  const int step = 4 * share.parts;
  int t = 4 * share.part;
  for (; t < factors.dense_begin && t < terms; t += step) {
    add_all(t, std::false_type{});
  }
  if constexpr (most_octets == 1) {
    // An addition to a sum waits for the one before it, so that one octet needs several sums.
    rhs_pair<Scalar> others[3] = {};
    for (; t + 3 * step < factors.dense_end; t += 4 * step) {
      add(0, t, std::true_type{}, sums[0]);
      SPTRSV_UNROLL
      for (int c = 0; c < 3; ++c) {
        add(0, t + (c + 1) * step, std::true_type{}, others[c]);
      }
    }
    sums[0] = (sums[0] + others[0]) + (others[1] + others[2]);
  }
  for (; t < factors.dense_end; t += step) {
    add_all(t, std::true_type{});
  }
  for (; t < terms; t += step) {
    add_all(t, std::false_type{});
  }
}

/// Adds the sums of the warps of each group; the result is in the first warp of the group. All threads of the
/// team call it. `products`: shared memory, 32 pairs for each warp.
template <class Team, class Scalar>
SPTRSV_DEVICE rhs_pair<Scalar> add_parts(Team& team, const warp_share& share, rhs_pair<Scalar>* products,
                                         rhs_pair<Scalar> sum) {
  if (Team::size > 32 && share.parts > 1) {
    products[team.rank()] = sum;
    team.sync();
    for (int part = 1; share.part == 0 && part < share.parts; ++part) {
      sum = sum + products[team.rank() + 32 * part];
    }
  }
  return sum;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
