// SPDX-License-Identifier: Apache-2.0
// Several right-hand sides: the contributions that other supernodes send to a row or column, forward.
#pragma once

#include <cstdint>

#include "sptrsv/detail/supernodal/pack/supernodal_pack.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Rows or columns that a warp takes at once, in up to 4 batches of 8: lane l serves number l / 4 of each
/// batch, for its pair, and finds the contributions to number l % 8 of batch l / 8.
struct warp_batches {
  static constexpr int capacity = 4;
  std::int64_t first;  ///< of the first batch
  std::int64_t step;   ///< from batch to batch
  std::int64_t end;    ///< numbers from here on do not exist

  /// Returns whether batch `u` has any; the same in all lanes.
  [[nodiscard]] SPTRSV_DEVICE bool has_batch(int u) const { return first + u * step < end; }
  /// Returns what a lane serves in batch `u`.
  [[nodiscard]] SPTRSV_DEVICE std::int64_t served(int u, int lane) const {
    return first + u * step + lane / pack_pairs;
  }
  /// Returns for what a lane finds the contributions.
  [[nodiscard]] SPTRSV_DEVICE std::int64_t found(int lane) const {
    return first + lane / octet_rows * step + lane % octet_rows;
  }
  /// Returns the lane that has found the contributions to what `lane` serves.
  [[nodiscard]] SPTRSV_DEVICE static int finder(int u, int lane) {
    return u * octet_rows + lane / pack_pairs;
  }
};
static_assert(warp_batches::capacity * octet_rows == 32, "a lane finds the contributions to one number");

/// The contributions to a sum. Up to two are loaded before they are waited for.
template <class Scalar, class Index, class Offset>
struct pack_contributions {
  using params = pack_params<Scalar, Index, Offset>;
  using pair = rhs_pair<Scalar>;
  using flag = value_flag<pair>;
  struct readings {
    typename flag::reading of[2];
  };
  named_sources<Offset> named;

  /// Finds the contributions to sum number `index`; none if `index` is negative.
  template <class Context>
  SPTRSV_DEVICE static pack_contributions open(Context& ctx, const params& p, std::int64_t index) {
    return {index < 0 ? named_sources<Offset>{-1, -1} : ctx.load_constant(p.named + index)};
  }
  /// Returns the list of another lane. The lanes of the warp call it together.
  template <class Warp>
  SPTRSV_DEVICE pack_contributions of_lane(const Warp& warp, int lane) const {
    return {{warp.shuffle(named.first, lane), warp.shuffle(named.second, lane)}};
  }
  [[nodiscard]] SPTRSV_DEVICE bool is_long() const { return named.first < -1; }
  /// Loads the contributions once if they are at most two.
  template <class Rhs>
  SPTRSV_DEVICE readings try_load(const Rhs& rhs) const {
    return {{named.first >= 0 ? rhs.try_load(named.first) : flag::zero(),
             named.first >= 0 && named.second >= 0 ? rhs.try_load(named.second) : flag::zero()}};
  }
  /// Adds the contributions to `sum`, in their order, and returns the result. `seen`: from try_load.
  template <class Rhs>
  SPTRSV_DEVICE pair add(const Rhs& rhs, const readings& seen, pair sum) const {
    if (rhs.count == 0 || named.first == -1) {
      return sum;
    }
    if (!is_long()) {
      sum = sum + rhs.wait(named.first, seen.of[0]);
      return named.second >= 0 ? sum + rhs.wait(named.second, seen.of[1]) : sum;
    }
    constexpr int at_once = 4;
    const Offset* const sources = rhs.p.sources + (-2 - named.first);
    for (Offset begin = 0; begin < named.second; begin += at_once) {
      Offset source[at_once];
      typename flag::reading loaded[at_once];
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        source[i] = begin + i < named.second ? rhs.ctx.load_constant(sources + begin + i) : Offset{-1};
        loaded[i] = source[i] >= 0 ? rhs.try_load(source[i]) : flag::zero();
      }
      SPTRSV_UNROLL
      for (int i = 0; i < at_once; ++i) {
        sum = source[i] >= 0 ? sum + rhs.wait(source[i], loaded[i]) : sum;
      }
    }
    return sum;
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
